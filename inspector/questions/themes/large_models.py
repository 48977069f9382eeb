"""Large models: how they are trained, tuned and written with. Questions 150 to 155."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import models
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above, around, at_least, below, equal
from inspector.questions.record.kinds import Kind
from inspector.questions.record.measured import SMALL
from inspector.questions.record.papers import (
    FEDUS_2021,
    HOLTZMAN_2020,
    HU_2021,
    SHAZEER_2017,
    SU_2021,
    XIONG_2020,
    XIONG_2023,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.continued import CONTINUES, batch_of, is_large, logits_of, losses, row_of
from inspector.questions.themes.trained import GUESSING
from models.attention import AttentionCall, editing
from models.attention.seam import Compute
from models.decoding import Decoding
from models.training import lab
from models.training.schedules import learning_rate
from models.training.tiny import depth
from models.training.tiny.experiments import BATCH, LabRun, Switches, Task
from models.training.tiny.puzzles import draw
from models.training.tiny.solvers import seeded, solver
from models.transformer.config import NormPlacement, TransformerConfig
from models.transformer.generation import chooser

NATS = Both("nats a token", "nat/token")
A_DIGIT = Both("nats a digit", "nat/数字")
LOSS = Both("loss, nats a token", "损失，nat/token")
LOSS_A_DIGIT = Both("loss, nats a digit", "损失，nat/数字")


# --- 150: the base of RoPE -----------------------------------------------------------------------------------------

RAISED = 500_000.0  # Llama 3's
COUNTED, READ = 128, 640  # tokens whose loss is taken, the last; tokens of the whole text
SHORT = 512  # the most tokens that a model was trained on, so that the passages are longer


def _rotates(loaded: models.LoadedModel) -> bool:
    config = loaded.config
    return (
        isinstance(config, TransformerConfig)
        and config.positions == "rope"
        and loaded.predict is not None
        and loaded.shape == "decoder"
        and loaded.max_tokens <= SHORT
    )


SHORT_ROTATES = Kind(
    _rotates,
    Both(
        "is no decoder of Headlight's own with RoPE that was trained on 512 tokens or fewer",
        "不是 Headlight 自己的、使用 RoPE 且训练长度不超过 512 个 token 的解码器",
    ),
    ("mini-gpt",),
)


def angles(tokens: int, width: int, base: float) -> Tensor:
    """The angle by which each pair of features is turned at each position: p base^(-2i/E), float64 [T, E / 2]."""
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    return torch.outer(torch.arange(tokens, dtype=torch.float64), base ** -(pairs / width))


def rebased(own: float, base: float) -> Callable[[AttentionCall, Compute], Tensor]:
    """Turn queries and keys on, from the angles of their own base to those of another."""

    def edit(call: AttentionCall, compute: Compute) -> Tensor:
        def turned(x: Tensor) -> Tensor:
            more = angles(x.shape[2], x.shape[3], base) - angles(x.shape[2], x.shape[3], own)
            cos, sin = more.cos().to(x), more.sin().to(x)
            even, odd = x[..., 0::2], x[..., 1::2]
            return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(start_dim=-2)

        return compute(replace(call, query=turned(call.query), key=turned(call.key)))

    return edit


def _based(subject: Subject) -> Measurement:
    loaded = subject.loaded
    own, width, trained = loaded.config.rope_base, loaded.config.head_width, loaded.max_tokens
    row = row_of(subject, tokens=READ)
    near_by = row[:, -min(trained, row.shape[1] // 2) :]

    def last(ids: Tensor) -> Tensor:
        return losses(logits_of(loaded, ids), ids)[0, -min(COUNTED, near_by.shape[1] // 2) :]

    each = {"within": last(near_by), "beyond": last(row)}
    with editing(rebased(own, RAISED)):
        each |= {"within_raised": last(near_by), "beyond_raised": last(row)}
    distances = [0, *(2**power for power in range(12))]
    turns = {base: angles(2048 + 1, width, base).cos().mean(dim=1)[distances] for base in (own, RAISED)}
    picture = Lines(
        tuple(
            Series(
                Both(f"base {base:,.0f}", f"base = {base:.0f}"),
                [float(max(distance, 0.5)) for distance in distances],
                turn.tolist(),
                "positions",
                dashed=base == RAISED,
            )
            for base, turn in turns.items()
        ),
        x_title=Both("distance in tokens", "相隔的 token 数"),
        y_title=Both("product of a like query and key, of that at distance 0", "相同的 q、k 的点积，与距离 0 时之比"),
        log_x=True,
        mark_x=float(trained),
    )
    return Measurement(
        {
            **{name: float(found.mean()) for name, found in each.items()},
            "tokens": float(row.shape[1]),
            "trained": float(trained),
            "product": float(angles(257, width, own).cos().mean(dim=1)[256]),
            "product_raised": float(angles(257, width, RAISED).cos().mean(dim=1)[256]),
        },
        picture,
    )


BASED = Question(
    150,
    reads_text=False,
    asked=Both(
        "RoPE: does a larger base let a model read longer texts?",
        "RoPE：把 base 调大，模型就能读更长的文本吗？",
    ),
    claim=Both(
        "RoPE knows distances alone, so a model reads on beyond its trained length; with a larger base, 500,000 in "
        "place of 10,000, it does so even without training, and loses nothing on short texts.",
        "RoPE 只看相对距离，所以能外推到训练长度之外；把 base 从 10000 调到 500000，不训练也能读更长的文本，"
        "短文本也不受影响。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Beyond the trained length, with its own base, the loss of the same tokens rises by less than 5 %.",
                "超出训练长度后，base 不变，同样的 token 损失上升不到 5%。",
            ),
            (below("beyond", "within", times=1.05),),
        ),
        ClaimPart(
            Both(
                "With the larger base, without training, it rises there by less than 5 %.",
                "把 base 调大而不训练，超出训练长度后损失上升不到 5%。",
            ),
            (below("beyond_raised", "within", times=1.05),),
        ),
        ClaimPart(
            Both(
                "Within the trained length the larger base raises the loss by less than 5 %.",
                "在训练长度之内，调大 base 使损失上升不到 5%。",
            ),
            (below("within_raised", "within", times=1.05),),
        ),
        ClaimPart(
            Both(
                "With a larger base the score of a like pair falls more slowly with the distance.",
                "base 越大，相同的 q、k 的分数随距离下降得越慢。",
            ),
            (above("product_raised", "product"),),
            role="mechanism",
        ),
    ),
    measure=_based,
    numbers={
        "within": Label(Both("loss within the trained length, own base", "训练长度之内的损失，原 base"), NATS),
        "beyond": Label(
            Both("loss of the same tokens beyond it, own base", "同样的 token 超出之后的损失，原 base"), NATS
        ),
        "within_raised": Label(Both("loss within it, base 500,000", "训练长度之内的损失，base = 500000"), NATS),
        "beyond_raised": Label(Both("loss beyond it, base 500,000", "超出之后的损失，base = 500000"), NATS),
        "trained": Label(Both("tokens that the model was trained on", "训练时的长度"), Both("tokens", "个 token")),
        "tokens": Label(Both("tokens of the long text", "长文本的长度"), Both("tokens", "个 token")),
        "product": Label(Both("product 256 tokens apart, own base", "相隔 256 个 token 的点积，原 base")),
        "product_raised": Label(Both("the same, base 500,000", "同上，base = 500000")),
    },
    setting=Both(
        "The last 128 tokens of three passages read as one text, about 640 tokens: with all of them before, and with "
        "as many as the model was trained on. Queries and keys are turned on to the other base in every layer, without "
        "training; 500,000 is Llama 3's. Products: of a query and a key of ones, over that at distance 0. 5 %: less "
        "than the loss differs between passages.",
        "三段短文连成一段约 640 个 token 的文本，取最后 128 个 token 的损失：一次读全部前文，一次只读训练长度那么多。"
        "在每一层把 Q、K 转到另一个 base 的角度，不训练；500000 是 Llama 3 的取值。点积：分量全为 1 的 q、k，"
        "与距离 0 时之比。5%：小于几段短文之间的损失差别。",
    ),
    because=Both(
        "The score depends on the distance alone, but slow pairs of features meet angles beyond the trained length "
        "that no training showed them. A larger base turns them back into the range that is known, and moves the fast "
        "ones little. The papers train on after it, for texts thirty times as long, not two or three times.",
        "分数确实只取决于相对距离，但超出训练长度之后，转得慢的那些维度会遇到训练中从未见过的角度。base 调大，"
        "又把它们转回熟悉的范围，而转得快的维度变化很小。论文在调大之后还要继续训练，而且是为了长几十倍的文本，不是两三倍。",
    ),
    refuted=Both(
        "A model with RoPE whose loss stays as it is beyond the trained length with its own base, or rises with a "
        "larger one.",
        "如果用原来的 base，超出训练长度后损失不变，或者调大 base 反而更差，判断就会改变。",
    ),
    formula=r"w_i = b^{-2i/d}: \quad L = <within>, \qquad L_{beyond} = <beyond> \; (b), \qquad"
    r" <beyond_raised> \; (b = 500000)",
    papers=(SU_2021, XIONG_2023),
    see=PageLink("positions", {"section": "The table"}),
    of=SHORT_ROTATES,
)

# --- 151: pre-norm and post-norm -----------------------------------------------------------------------------------

QUICK_LAYERS, QUICK_STEPS = 6, 50
DEEP, DEEP_STEPS, SEEDS = 8, 80, 6
PLACES: tuple[NormPlacement, ...] = ("post", "pre")


def _course(place: NormPlacement, *, layers: int, steps: int, warm: bool, seed: int = 0) -> list[float]:
    """Train on turning 4 digits around -> the loss of every 10 steps, in nats a digit."""
    switches = Switches(layers=layers, norm_placement=place, warmup=None if warm else 0)
    run = LabRun(task="reverse", length=4, steps=steps, learning_rate=0.01, switches=switches, seed=seed)
    return [report.loss for report in lab.train(solver(run), run)]


def _last(course: list[float]) -> float:
    return course[-1] if math.isfinite(course[-1]) else math.inf


def _placed_quickly() -> Measurement:
    courses = {place: _course(place, layers=QUICK_LAYERS, steps=QUICK_STEPS, warm=False) for place in PLACES}
    picture = Lines(
        [
            Series(name, [10.0 * step for step in range(1, len(courses[place]) + 1)], courses[place], "norm", dashed)
            for place, name, dashed in (
                ("post", Both("post-norm", "Post-LN"), False),
                ("pre", Both("pre-norm", "Pre-LN"), True),
            )
        ],
        x_title=Both("step", "训练步数"),
        y_title=LOSS_A_DIGIT,
        mark_y=GUESSING,
    )
    return Measurement(
        {
            **{place: _last(course) for place, course in courses.items()},
            "guessing": GUESSING,
        },
        picture,
    )


def _placed(subject: Subject, watch: Watch) -> Measurement:
    """Train eight layers, the norm before or after, with warm-up and without, from six seeds."""
    ends: dict[str, list[float]] = {}
    total, done = 4 * SEEDS, 0
    series = []
    for warm in (False, True):
        for place in PLACES:
            for seed in range(SEEDS):
                watch(done, total)
                course = _course(place, layers=DEEP, steps=DEEP_STEPS, warm=warm, seed=seed)
                ends.setdefault(f"{place}_{'warm' if warm else 'cold'}", []).append(_last(course))
                if not warm:
                    name = f"{place}-norm" if seed == 0 else f"{place}-norm, {seed}"
                    steps = [10.0 * step for step in range(1, len(course) + 1)]
                    series.append(Series(name, steps, course, "norm", dashed=place == "pre"))
                done += 1
    watch(total, total)
    picture = Lines(series, Both("step, without warm-up", "训练步数，无预热"), LOSS_A_DIGIT, mark_y=GUESSING)
    return Measurement(
        {
            "post_cold_least": min(ends["post_cold"]),
            "pre_cold_most": max(ends["pre_cold"]),
            "post_warm": float(np.mean(ends["post_warm"])),
            "pre_warm": float(np.mean(ends["pre_warm"])),
            "post_wins": float(np.mean(np.array(ends["post_warm"]) < np.array(ends["pre_warm"]))),
        },
        picture,
    )


PLACED = Question(
    151,
    reads_text=False,
    asked=Both(
        "Pre-norm or post-norm: which trains without warm-up?",
        "Pre-LN 还是 Post-LN：哪个不用预热也能训练？",
    ),
    claim=Both(
        "Pre-norm trains without warm-up and faster; post-norm learns nothing without it, and ends better with it.",
        "Pre-LN 不用预热也能训练，而且更快；Post-LN 没有预热就学不会，有预热则最终更好。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Six layers, no warm-up: pre-norm is below three quarters of guessing after 50 steps.",
                "6 层、无预热：50 步之后，Pre-LN 的损失低于瞎猜的四分之三。",
            ),
            (below("pre", "guessing", times=0.75),),
        ),
        ClaimPart(
            Both(
                "Post-norm is still within 5 % of guessing.",
                "Post-LN 仍与瞎猜相差不到 5%。",
            ),
            (above("post", "guessing", times=0.95),),
        ),
        ClaimPart(
            Both("Pre-norm is ahead of post-norm.", "Pre-LN 领先于 Post-LN。"),
            (below("pre", "post"),),
        ),
    ),
    measure=lambda subject: subject.cached("norms placed", _placed_quickly),
    numbers={
        "post": Label(
            Both("loss after 50 steps, post-norm, no warm-up", "50 步后的损失，Post-LN，无预热"), A_DIGIT, of=SMALL
        ),
        "pre": Label(
            Both("loss after 50 steps, pre-norm, no warm-up", "50 步后的损失，Pre-LN，无预热"), A_DIGIT, of=SMALL
        ),
        "guessing": Label(Both("loss of guessing one of ten digits", "十个数字里瞎猜的损失"), A_DIGIT),
    },
    setting=Both(
        "The Lab's encoder, 6 layers of width 48, learns to reverse 4 digits at a rate of 0.01, seed 0. The whole run "
        "has 8 layers, with warm-up too, from six seeds, for one seed decides nothing. Three quarters of guessing and "
        "5 %: it has clearly begun to learn, or clearly not.",
        "Lab 的编码器，6 层、宽度 48，学习把 4 个数字倒过来，学习率 0.01，种子 0。一个种子说明不了问题，完整实验用 "
        "8 层、有无预热、六个种子。四分之三与 5%：明显开始学会，或明显没有。",
    ),
    because=Both(
        "After a post-norm sublayer the stream itself is normalised, and the gradient to lower layers passes every "
        "norm; before a pre-norm one it runs untouched. Warm-up keeps the first steps of post-norm small (Xiong et al. "
        "2020). What is better in the end depends on depth, data and rate: large models are pre-norm because they "
        "train at all.",
        "Post-LN 归一化的是残差流本身，传往低层的梯度要穿过每一个归一化；Pre-LN 的残差流不经改动一路到底。预热让 "
        "Post-LN 的最初几步足够小（Xiong 等人，2020）。最终谁更好取决于深度、数据和学习率；大模型用 Pre-LN，"
        "首先是因为训得动。",
    ),
    refuted=Both(
        "Deep post-norm networks that learn without warm-up from every seed as fast as pre-norm ones.",
        "如果较深的 Post-LN 网络无预热时每个种子都学得和 Pre-LN 一样快，判断就会改变。",
    ),
    formula=r"\mathrm{post}: x \leftarrow \mathrm{LN}(x + F(x)) \;\to\; <post>, \qquad"
    r" \mathrm{pre}: x \leftarrow x + F(\mathrm{LN}(x)) \;\to\; <pre>",
    papers=(XIONG_2020,),
    see=PageLink(
        "lab",
        {
            "lab_steps": "200",
            "lab_rate": "0.01",
            "lab_a_layers": "8",
            "lab_a_warmup": "0",
            "lab_b_layers": "8",
            "lab_b_warmup": "0",
            "lab_b_norm_placement": "pre",
            "lab_b_positions": "sinusoidal",
        },
    ),
    whole=LongExperiment(
        run=_placed,
        about=Both(
            "The Lab's encoder with 8 layers, post-norm and pre-norm, without warm-up and with it, 80 steps each from "
            "six seeds; about a minute on one core.",
            "Lab 的 8 层编码器，Post-LN 与 Pre-LN，有无预热，各 80 步、六个种子；单核约一分钟。",
        ),
        parts=(
            ClaimPart(
                Both(
                    "Without warm-up pre-norm learns from every seed.",
                    "无预热时，Pre-LN 每个种子都学得会。",
                ),
                (below("pre_cold_most", 0.75 * GUESSING),),
            ),
            ClaimPart(
                Both("Without it post-norm learns from no seed.", "无预热时，Post-LN 没有一个种子学得会。"),
                (above("post_cold_least", 0.95 * GUESSING),),
            ),
            ClaimPart(
                Both(
                    "With warm-up post-norm ends lower than pre-norm, from most seeds.",
                    "有预热时，多数种子下 Post-LN 最终损失低于 Pre-LN。",
                ),
                (above("post_wins", 0.5),),
            ),
        ),
        numbers={
            "post_cold_least": Label(
                Both("loss, post-norm, no warm-up, best seed", "损失，Post-LN，无预热，最好的种子"), A_DIGIT, of=SMALL
            ),
            "pre_cold_most": Label(
                Both("loss, pre-norm, no warm-up, worst seed", "损失，Pre-LN，无预热，最差的种子"), A_DIGIT, of=SMALL
            ),
            "post_warm": Label(
                Both("loss, post-norm, warm-up, mean", "损失，Post-LN，有预热，均值"), A_DIGIT, of=SMALL
            ),
            "pre_warm": Label(Both("loss, pre-norm, warm-up, mean", "损失，Pre-LN，有预热，均值"), A_DIGIT, of=SMALL),
            "post_wins": Label(
                Both("seeds from which post-norm ends lower, warm-up", "有预热时 Post-LN 更低的种子"), "%", of=SMALL
            ),
        },
        stored=None,
    ),
)

# --- 152: routing --------------------------------------------------------------------------------------------------

EXPERTS, FEATURES, KINDS = 8, 16, 8
ROUTED_STEPS, ROUTED_SEEDS, BALANCE = 200, 3, 0.1


@dataclass(frozen=True)
class Routed:
    """A trained mixture on fresh inputs. error: mean square; shares [EXPERTS]: of the inputs, the largest first."""

    error: float
    shares: Tensor

    @property
    def used(self) -> int:
        """The number of experts that read one input in a hundred, or more."""
        return int((self.shares >= 0.01).sum())


class Mixture(nn.Module):
    """Experts of one matrix each and a router that sends each input to the likeliest (Fedus et al. 2021, eq. 1, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(FEATURES, EXPERTS, bias=False)
        self.experts = nn.Parameter(torch.randn(FEATURES, EXPERTS * FEATURES) / FEATURES**0.5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x [N, F] -> the chosen expert's output times its probability [N, F], probabilities [N, E], choices [N]."""
        probabilities = self.router(x).softmax(dim=-1)
        weight, chosen = probabilities.max(dim=-1)
        outputs = (x @ self.experts).view(len(x), EXPERTS, FEATURES)
        return outputs[torch.arange(len(x)), chosen] * weight[:, None], probabilities, chosen


def unevenness(probabilities: Tensor, chosen: Tensor) -> Tensor:
    """The balance loss N sum f_i P_i of an even load is 1 (Fedus et al. 2021, eq. 4): [N, E], [N] -> a number."""
    load = torch.bincount(chosen, minlength=EXPERTS) / len(chosen)
    return EXPERTS * (load * probabilities.mean(dim=0)).sum()


def routed(*, balance: float, seed: int, steps: int = ROUTED_STEPS, kinds: int = KINDS) -> Routed:
    """Train a mixture on inputs of several kinds, each turned by a matrix of its own, and measure it on fresh ones."""
    with seeded(seed):
        centres, turns = 1.5 * torch.randn(kinds, FEATURES), torch.randn(kinds, FEATURES, FEATURES) / FEATURES**0.5
        mixture = Mixture()

        def drawn(count: int) -> tuple[Tensor, Tensor]:
            kind = torch.randint(kinds, (count,))
            x = centres[kind] + 0.5 * torch.randn(count, FEATURES)
            every = (x @ turns.transpose(0, 1).flatten(start_dim=1)).view(count, kinds, FEATURES)
            return x, every[torch.arange(count), kind]

        optimizer = torch.optim.Adam(mixture.parameters(), lr=0.01)
        for _ in range(steps):
            x, wanted = drawn(256)
            made, probabilities, chosen = mixture(x)
            loss = (made - wanted).square().mean() + balance * unevenness(probabilities, chosen)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.inference_mode():
            x, wanted = drawn(4096)
            made, _, chosen = mixture(x)
    shares = torch.bincount(chosen, minlength=EXPERTS).double().sort(descending=True).values / len(chosen)
    return Routed(float((made - wanted).square().mean()), shares)


def _routed() -> Measurement:
    found = {
        name: [routed(balance=balance, seed=seed) for seed in range(ROUTED_SEEDS)]
        for name, balance in (("without", 0.0), ("with", BALANCE))
    }
    errors = {name: float(np.mean([one.error for one in several])) for name, several in found.items()}
    shares = {name: torch.stack([one.shares for one in several]).mean(dim=0) for name, several in found.items()}
    places = [float(place) for place in range(1, EXPERTS + 1)]
    picture = Lines(
        (
            Series(Both("without the balance loss", "无均衡损失"), places, (100 * shares["without"]).tolist(), "ffn"),
            Series(
                Both("with the balance loss", "有均衡损失"), places, (100 * shares["with"]).tolist(), "ffn", dashed=True
            ),
        ),
        x_title=Both("expert, the busiest first", "专家，按负载从大到小"),
        y_title=Both("share of the inputs, mean of seeds, %", "输入占比，各种子均值，%"),
        mark_y=100 / EXPERTS,
    )
    return Measurement(
        {
            "busiest": min(float(one.shares[0]) for one in found["without"]),
            "busiest_balanced": max(float(one.shares[0]) for one in found["with"]),
            "used": float(max(one.used for one in found["without"])),
            "used_balanced": float(min(one.used for one in found["with"])),
            "error": errors["without"],
            "error_balanced": errors["with"],
        },
        picture,
    )


ROUTED = Question(
    152,
    reads_text=False,
    asked=Both(
        "Mixture of experts: what does the balance loss do?",
        "混合专家模型：均衡损失起什么作用？",
    ),
    claim=Both(
        "Without a balance loss the router collapses onto one expert or two; with it all are used, at no cost in "
        "quality.",
        "没有均衡损失，路由会坍缩到一两个专家上；有了它，所有专家都用得上，效果也不受影响。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Without it one expert reads half of the inputs or more, from every seed.",
                "没有均衡损失时，每个种子都有一个专家占去至少一半的输入。",
            ),
            (above("busiest", 0.5),),
        ),
        ClaimPart(
            Both("With it every expert is used, from every seed.", "有均衡损失时，每个种子下所有专家都被用到。"),
            (equal("used_balanced", EXPERTS),),
        ),
        ClaimPart(
            Both("With it the error is no more than 5 % higher.", "有均衡损失时，误差最多高 5%。"),
            (below("error_balanced", "error", times=1.05),),
        ),
        ClaimPart(
            Both(
                "Without it some expert stays unused, from every seed.",
                "没有均衡损失时，每个种子都有专家闲置。",
            ),
            (below("used", EXPERTS),),
            role="mechanism",
        ),
    ),
    measure=lambda subject: subject.cached("routed", _routed),
    numbers={
        "busiest": Label(
            Both("inputs of the busiest expert, without, least of seeds", "最忙专家的输入，无均衡损失，各种子最小"),
            "%",
            of=SMALL,
        ),
        "busiest_balanced": Label(
            Both("the same with the balance loss, most of seeds", "同上，有均衡损失，各种子最大"), "%", of=SMALL
        ),
        "used": Label(Both("experts in use, without, most of seeds", "用到的专家，无均衡损失，各种子最多"), of=SMALL),
        "used_balanced": Label(
            Both("experts in use, with it, fewest of seeds", "用到的专家，有均衡损失，各种子最少"), of=SMALL
        ),
        "error": Label(Both("mean square error, without, mean of seeds", "均方误差，无均衡损失，各种子均值"), of=SMALL),
        "error_balanced": Label(Both("mean square error, with it", "均方误差，有均衡损失"), of=SMALL),
    },
    setting=Both(
        "Eight experts of one 16 × 16 matrix each; a router sends each input to the likeliest, whose output is times "
        "its probability. Eight kinds of inputs, each turned by a matrix of its own, are learned in 200 steps of 256, "
        "seeds 0 to 2; measured on 4,096 fresh ones. Balance loss: 0.1 N Σ f P (the Switch Transformer has 0.01, of a "
        "larger loss). In use: an input in a hundred or more.",
        "8 个专家，各是一个 16 × 16 的矩阵；路由把每个输入交给最可能的专家，输出乘以其概率。8 类输入，"
        "各按自己的矩阵变换，"
        "训练 200 步、每步 256 个，种子 0 到 2；在 4096 个新输入上测量。均衡损失：0.1·N·Σ f·P"
        "（Switch Transformer 的系数是 0.01，损失也更大）。用到：至少占百分之一的输入。",
    ),
    because=Both(
        "An expert that is chosen more learns more and is chosen still more: the papers saw it collapse at their size. "
        "Where inputs fall into clear kinds, their differences spread them, and what is lost are a few experts. "
        "Balance is for machines too: each expert has a place of its own, and the busiest sets the time. An "
        "even load need not be the best, so it may cost a little.",
        "被选得多的专家学得多，于是更常被选：论文在大规模训练中看到了坍缩。输入本身分得清类别时，差异会把它们分散开，"
        "损失的只是几个专家。均衡也是为了机器：每个专家各占一处，最忙的决定快慢。均衡的分配未必最好，所以可能略有代价。",
    ),
    refuted=Both(
        "Mixtures without a balance loss of which one expert reads most inputs, and that gain by the loss.",
        "如果没有均衡损失时，一个专家读大部分输入，加上之后误差也不变大，判断就会改变。",
    ),
    formula=r"N \sum_{i=1}^{N} f_i P_i: \quad \max_i f_i = <busiest> \to <busiest_balanced>, \qquad"
    r" \mathrm{MSE} = <error> \to <error_balanced>",
    papers=(SHAZEER_2017, FEDUS_2021),
    see=PageLink("block", {}),
)

# --- 153, 154: temperature and top-p -------------------------------------------------------------------------------

TEMPERATURES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5)
GREEDY = 0.01  # a temperature so low that nothing else is drawn
SHARE, FEW = 0.9, 40  # of top-p, and k of top-k
BEGUN, WRITTEN, REPEATED = 16, 48, 4  # tokens of a beginning, written after it, of what counts as said again


def _passage_logits(subject: Subject) -> tuple[Tensor, Tensor]:
    """The passages' ids [B, T] and the logits of the next tokens, float64 [B, T, V]."""
    ids = batch_of(subject)
    ids = ids[:1] if is_large(subject) else ids
    return ids, logits_of(subject.loaded, ids)


def _temperature(subject: Subject) -> Measurement:
    ids, logits = subject.once("logits of passages", partial(_passage_logits, subject))
    at = {temperature: float(losses(logits / temperature, ids).mean()) for temperature in TEMPERATURES}
    bits = {t: float(_entropy(logits / t).mean()) for t in (0.7, 1.0, 1.5)}
    rows = logits[:, :-1].flatten(end_dim=1)
    order = rows.argsort(dim=-1, descending=True, stable=True)[:, :50]
    kept = [torch.equal((rows / t).argsort(dim=-1, descending=True, stable=True)[:, :50], order) for t in (0.5, 2.0)]
    picture = Lines(
        (Series(Both("loss", "损失"), list(at), list(at.values())),),
        x_title=Both("temperature", "温度"),
        y_title=LOSS,
        mark_x=1.0,
    )
    return Measurement(
        {
            "order": float(all(kept)),
            "greedy": float((rows / GREEDY).softmax(dim=-1).amax(dim=-1).median()),
            "entropy_low": bits[0.7],
            "entropy": bits[1.0],
            "entropy_high": bits[1.5],
            "loss": at[1.0],
            "loss_low": at[0.7],
            "loss_high": at[1.5],
        },
        picture,
    )


def _entropy(logits: Tensor) -> Tensor:
    """The entropy of the next token in bits: [..., V] -> [...]."""
    logs = logits.log_softmax(dim=-1)
    return -(logs.exp() * logs).sum(dim=-1) / math.log(2)


def nucleus(logits: Tensor, share: float) -> Tensor:
    """Count the fewest tokens that hold a share of the probability (Holtzman et al. 2020, eq. 2): [..., V] -> [...]."""
    falling = logits.softmax(dim=-1).sort(dim=-1, descending=True).values
    return (falling.cumsum(dim=-1) < share).sum(dim=-1) + 1


def said_again(ids: list[int]) -> float:
    """Return the share of runs of four tokens that stood in the text before."""
    runs = [tuple(ids[at : at + REPEATED]) for at in range(len(ids) - REPEATED + 1)]
    return 1 - len(set(runs)) / len(runs)


def _written(subject: Subject, how: Decoding) -> float:
    """Write on after the beginning of each passage -> the mean share of what is said again."""
    loaded, found = subject.loaded, []
    passages = batch_of(subject)[: 1 if is_large(subject) else 2, :BEGUN]
    for passage in passages:
        ids = passage[None]
        for step in range(WRITTEN // 2 if is_large(subject) else WRITTEN):
            logits = logits_of(loaded, ids, since=ids.shape[1] - 1)[:, 0].float()
            chosen = chooser(replace(how, seed=step))(logits)
            ids = torch.cat([ids, chosen[:, None]], dim=1)
        found.append(said_again(ids[0, BEGUN:].tolist()))
    return float(np.mean(found))


def _top_p(subject: Subject) -> Measurement:
    ids, logits = subject.once("logits of passages", partial(_passage_logits, subject))
    rows, true = logits[:, :-1], ids[:, 1:, None]
    sizes = nucleus(rows, SHARE).double()
    rank = (rows > rows.gather(-1, true)).sum(dim=-1)
    largest = rows.softmax(dim=-1).amax(dim=-1)
    sure, unsure = largest > 0.5, largest < 0.1
    of_few = rows.softmax(dim=-1).topk(FEW, dim=-1).values.sum(dim=-1)
    picture = Lines(
        (
            Series(
                Both("tokens of the text", "文本中的 token"),
                largest.flatten().tolist(),
                sizes.flatten().tolist(),
                points=True,
            ),
        ),
        x_title=Both("probability of the likeliest token", "最可能的 token 的概率"),
        y_title=Both("tokens that top-p keeps", "top-p 保留的 token 数"),
        log_y=True,
        mark_y=float(FEW),
    )
    return Measurement(
        {
            "sure": float(sizes[sure].median()) if bool(sure.any()) else math.nan,
            "unsure": float(sizes[unsure].median()) if bool(unsure.any()) else math.nan,
            "inside": float((rank < sizes).double().mean()),
            "least": float(of_few.quantile(0.1)),
            "most": float(of_few.quantile(0.9)),
            "greedy": _written(subject, Decoding()),
            "drawn": _written(subject, Decoding(sampled=True, top_p=SHARE)),
            "text": float(np.mean([said_again(row) for row in ids.tolist()])),
        },
        picture,
    )


TEMPERATURE = Question(
    153,
    reads_text=False,
    asked=Both(
        "Temperature: does a lower one make a model more accurate?",
        "温度：调低温度，模型就更准确吗？",
    ),
    claim=Both(
        "The temperature keeps the order of the tokens: at 0 the likeliest alone is left, above 1 the choice is more "
        "even, and a low one makes the model more accurate.",
        "温度不改变 token 的排序：趋近 0 就是贪心，大于 1 更平均；低温让模型更准确。",
    ),
    parts=(
        ClaimPart(
            Both("No temperature changes the order of the tokens.", "任何温度都不改变 token 的排序。"),
            (equal("order", 1),),
        ),
        ClaimPart(
            Both(
                "At 0.01 the likeliest token has nearly all of the probability, in the typical place.",
                "温度 0.01 时，典型位置上最可能的 token 几乎占去全部概率。",
            ),
            (above("greedy", 0.99),),
        ),
        ClaimPart(
            Both("The higher the temperature, the more even the choice.", "温度越高，选择越平均。"),
            (above("entropy", "entropy_low"), above("entropy_high", "entropy")),
        ),
        ClaimPart(
            Both(
                "At 0.7 the model expects the true next token more than at 1.",
                "温度 0.7 时，模型比温度 1 时更能料到真正的下一个 token。",
            ),
            (below("loss_low", "loss"),),
        ),
    ),
    measure=_temperature,
    numbers={
        "order": Label(
            Both(
                "order of the 50 likeliest tokens kept (1: everywhere)", "最可能的 50 个 token 排序不变（1：处处如此）"
            )
        ),
        "greedy": Label(
            Both("probability of the likeliest at 0.01, median", "温度 0.01 时最可能 token 的概率，中位数"), "%"
        ),
        "entropy_low": Label(Both("entropy of the next token at 0.7", "下一个 token 的熵，温度 0.7"), "bit"),
        "entropy": Label(Both("the same at 1", "同上，温度 1"), "bit"),
        "entropy_high": Label(Both("the same at 1.5", "同上，温度 1.5"), "bit"),
        "loss_low": Label(Both("loss of the text at 0.7", "文本的损失，温度 0.7"), NATS),
        "loss": Label(Both("loss of the text at 1", "文本的损失，温度 1"), NATS),
        "loss_high": Label(Both("loss of the text at 1.5", "文本的损失，温度 1.5"), NATS),
    },
    setting=Both(
        "The next token at every place of three passages of 128 tokens (one of 48 for a model of more than 50 million "
        "numbers). The order is held at 0.5 and 2. Loss: −ln p of the text's own next token: the distribution that is "
        "nearest to how people write has the least.",
        "三段各 128 个 token 的短文中每个位置的下一个 token（参数超过 5000 万的模型读一段、48 个）。排序在温度 0.5 "
        "与 2 "
        "时比较。损失：文本中真正的下一个 token 的 −ln p，越接近人写的文本，损失越小。",
    ),
    because=Both(
        "A low temperature draws the model's likely tokens more often, so single answers go wrong less often and "
        "differ less. It knows nothing more: training with cross-entropy fits the distribution at 1, and text that is "
        "drawn far below 1 is more certain than the text that people write.",
        "低温让模型更常抽到它认为可能的 token，所以单个答案出错更少、变化更小。但它并没有知道得更多："
        "交叉熵训练拟合的就是"
        "温度 1 的分布，温度远低于 1 时，模型比人写的文本更“自信”。",
    ),
    refuted=Both(
        "A model that expects ordinary text better at 0.7 than at 1: one that is less sure than it could be.",
        "如果某个模型在温度 0.7 时比温度 1 更能料到普通文本（也就是它过于不自信），判断就会改变。",
    ),
    formula=r"p_i \propto e^{z_i / T}: \quad L_{0.7} = <loss_low>, \quad L_1 = <loss>, \quad L_{1.5} = <loss_high>",
    papers=(HOLTZMAN_2020,),
    see=PageLink("generate", {}),
    of=CONTINUES,
)

TOP_P = Question(
    154,
    reads_text=False,
    asked=Both(
        "Top-p: does it adapt where top-k cannot?",
        "Top-p 能随情况调整，而 top-k 不能吗？",
    ),
    claim=Both(
        "Top-p keeps few tokens where the model is sure and many where it is not, nearly always the right one among "
        "them, and its text does not go round in circles.",
        "Top-p 在模型有把握时只留少数 token，没把握时留很多，几乎总包含正确的那个；写出的文本也不会原地打转。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Where the model is unsure it keeps ten times as many tokens as where it is sure.",
                "没把握时保留的 token 是有把握时的十倍以上。",
            ),
            (above("unsure", "sure", times=10),),
        ),
        ClaimPart(
            Both(
                "The text's own next token is among them nine times in ten.",
                "十次里有九次，文本真正的下一个 token 在其中。",
            ),
            (at_least("inside", SHARE),),
        ),
        ClaimPart(
            Both(
                "What is written so says as little again as people's text.",
                "这样写出的文本，重复与人写的一样少。",
            ),
            (around("drawn", "text", within=0.05),),
        ),
        ClaimPart(
            Both(
                "The likeliest token each time goes round: a quarter of its runs of four or more were said before.",
                "每次取最可能的 token 会原地打转：至少四分之一的四连 token 之前出现过。",
            ),
            (above("greedy", 0.25),),
            role="mechanism",
        ),
        ClaimPart(
            Both(
                "The 40 likeliest hold less than half of the probability in some places, and nine tenths in others.",
                "最可能的 40 个 token 有时占不到一半的概率，有时占九成以上。",
            ),
            (below("least", 0.5), above("most", 0.9)),
            role="mechanism",
        ),
    ),
    measure=_top_p,
    numbers={
        "sure": Label(
            Both("tokens kept where the likeliest has over 50 %, median", "最可能 token 超过 50% 时保留数，中位数")
        ),
        "unsure": Label(Both("tokens kept where it has under 10 %, median", "最可能 token 不到 10% 时保留数，中位数")),
        "inside": Label(Both("places whose true next token is kept", "保留了真正的下一个 token 的位置"), "%"),
        "least": Label(
            Both("probability of the 40 likeliest, 10th percentile", "最可能 40 个 token 的概率，第 10 百分位"), "%"
        ),
        "most": Label(Both("the same, 90th percentile", "同上，第 90 百分位"), "%"),
        "greedy": Label(Both("runs of four said again, likeliest token", "重复的四连 token，每次取最可能的"), "%"),
        "drawn": Label(Both("the same, drawn with top-p 0.9", "同上，top-p = 0.9 抽样"), "%"),
        "text": Label(Both("the same, of the passages themselves", "同上，短文本身"), "%"),
    },
    setting=Both(
        "p = 0.9, on the next token at every place of three passages of 128 tokens; written: 48 tokens after the first "
        "16 of two passages, once the likeliest, once drawn (a model of more than 50 million numbers: one passage, "
        "24). "
        "Said again: of all runs of four tokens the share that stood there before. Ten times: an order of magnitude.",
        "p = 0.9，取三段各 128 个 token 的短文中每个位置的下一个 token；生成：在两段短文的前 16 个 token 之后写 48 个，"
        "一次取最可能的，一次抽样（参数超过 5000 万的模型：一段，24 个）。重复：所有四连 token 中之前出现过的比例。"
        "十倍：差一个数量级。",
    ),
    because=Both(
        "The fewest tokens that hold a share of the probability are few where it is concentrated and many where it is "
        "spread; a fixed k is too many here and too few there. Loops have another cause: what was just said is likely, "
        "and once it is said again it is likelier still. Any drawing breaks them.",
        "占到一定概率的最少 token，概率集中时少，分散时多；固定的 k 这里太多、那里太少。打转另有原因："
        "刚说过的话概率高，"
        "再说一遍就更高。只要抽样，就能打破循环。",
    ),
    refuted=Both(
        "A model that is equally sure everywhere, or one whose drawn text goes round as well.",
        "如果模型处处把握相同，或者抽样写出的文本同样打转，判断就会改变。",
    ),
    formula=r"\min |S|: \sum_{i \in S} p_i \geq 0.9: \quad |S| = <sure> \ldots <unsure>, \qquad"
    r" P(x_{t+1} \in S) = <inside>",
    papers=(HOLTZMAN_2020,),
    see=PageLink("generate", {}),
    of=CONTINUES,
)

# --- 155: LoRA -----------------------------------------------------------------------------------------------------

RANKS, EVERY_RANK = (1, 8), (1, 2, 4, 8, 16)
SORTING: dict[str, Any] = {"task": "sort", "steps": 60, "rate": 0.01, "seed": 1}


class LowRank(nn.Module):
    """A frozen linear layer with a correction of low rank: W x + B A x, B = 0 at first (Hu et al. 2021, eq. 3)."""

    def __init__(self, frozen: nn.Linear, rank: int) -> None:
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, frozen.in_features) / frozen.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(frozen.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """x [..., in] -> [..., out]."""
        made: Tensor = self.frozen(x) + x @ self.down.T @ self.up.T
        return made

    def merged(self) -> nn.Linear:
        """Add the correction to the weights, after which the layer costs no more than before."""
        linear = nn.Linear(self.frozen.in_features, self.frozen.out_features, bias=self.frozen.bias is not None)
        linear.load_state_dict({**self.frozen.state_dict(), "weight": self.frozen.weight + self.up @ self.down})
        return linear


def with_low_rank(network: nn.Module, rank: int) -> nn.Module:
    """Copy a network with every linear layer of its blocks frozen and corrected in low rank; all else is frozen."""
    copied = deepcopy(network).requires_grad_(False)
    with seeded(0):
        for block in list(copied.encoder.layers.modules()):
            for name, child in list(block.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(block, name, LowRank(child, rank))
    return copied


def tuned(network: nn.Module, *, task: Task, steps: int, rate: float, seed: int) -> float:
    """Train in place what may be trained, on a task of 4 digits -> the mean loss of the last 10 steps, in nats a digit.

    Adam, a warm-up of a tenth of the steps and a linear decay, as in the Lab.
    """
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam([each for each in network.parameters() if each.requires_grad])
    last: list[float] = []
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, highest=rate, warmup=steps // 10, steps=steps, decay="linear")
        texts = draw(task, length=4, count=BATCH, generator=generator)
        loss = depth.cross_entropy(network(texts), texts)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        last.append(float(loss.detach()))
    return float(np.mean(last[-10:]))


def _trained(seed: int, *, steps: int) -> nn.Module:
    """Train the Lab's encoder on turning 4 digits around."""
    run = LabRun(task="reverse", length=4, steps=steps, learning_rate=0.005, switches=Switches(), seed=seed)
    network = solver(run)
    tuned(network, task="reverse", steps=steps, rate=0.005, seed=seed)
    return network


def _low_rank() -> Measurement:
    base = _trained(0, steps=100)
    found = {f"rank_{rank}": tuned(with_low_rank(base, rank), **SORTING) for rank in RANKS}
    low = with_low_rank(base, RANKS[-1])
    trained = sum(each.numel() for each in low.parameters() if each.requires_grad)
    whole = deepcopy(base)
    found["all"] = tuned(whole, **SORTING)
    with seeded(0), torch.no_grad():
        x, layer = torch.randn(64, 48), LowRank(nn.Linear(48, 48), RANKS[-1])
        layer.up.normal_()
        apart, merged = layer(x), layer.merged()(x)
    picture = Bars(
        [*(Both(f"rank {rank}", f"秩 {rank}") for rank in RANKS), Both("all weights", "全部权重")],
        list(found.values()),
        LOSS_A_DIGIT,
        mark=GUESSING,
    )
    return Measurement(
        {
            **found,
            "trained": trained / sum(each.numel() for each in whole.parameters()),
            "merged": float((apart - merged).abs().max() / apart.abs().max()),
        },
        picture,
    )


def _every_rank(subject: Subject, watch: Watch) -> Measurement:
    """Tune the Lab's network at every rank and with all weights, from three seeds."""
    seeds, steps, ends = 3, 150, dict[str, list[float]]()
    total, done = seeds * (len(EVERY_RANK) + 1), 0
    for seed in range(seeds):
        base = _trained(seed, steps=steps)
        for rank in (*EVERY_RANK, None):
            watch(done, total)
            network = deepcopy(base) if rank is None else with_low_rank(base, rank)
            end = tuned(network, task="sort", steps=steps, rate=0.01, seed=seed + 1)
            ends.setdefault("all" if rank is None else f"rank_{rank}", []).append(end)
            done += 1
    watch(total, total)
    means = {name: float(np.mean(several)) for name, several in ends.items()}
    ranks = [float(rank) for rank in EVERY_RANK]
    picture = Lines(
        (
            Series(Both("low rank", "低秩"), ranks, [means[f"rank_{rank}"] for rank in EVERY_RANK]),
            Series(Both("all weights", "全部权重"), ranks, [means["all"]] * len(ranks), dashed=True),
        ),
        x_title=Both("rank", "秩"),
        y_title=LOSS_A_DIGIT,
        log_x=True,
    )
    return Measurement(means, picture)


LOW_RANK = Question(
    155,
    reads_text=False,
    asked=Both(
        "LoRA: is a low rank as good as training all weights?",
        "LoRA：低秩微调和全量微调一样好吗？",
    ),
    claim=Both(
        "What a new task asks for is of low rank: a rank of 8, of a fraction of the weights, tunes a model as well as "
        "training them all, and costs nothing when it runs.",
        "适应新任务所需的改动是低秩的：秩取 8、只训练一小部分参数，效果就和全量微调一样，推理时也没有额外开销。",
    ),
    parts=(
        ClaimPart(
            Both(
                "At rank 8 the loss comes within a tenth of a nat of training all weights.",
                "秩为 8 时，损失与全量微调相差不到 0.1 nat。",
            ),
            (around("rank_8", "all", within=0.1),),
        ),
        ClaimPart(
            Both(
                "Merged into the weights, it gives the same to rounding.",
                "并入原权重之后，输出只差舍入误差。",
            ),
            (below("merged", 1e-5),),
        ),
        ClaimPart(
            Both("The rank counts: 8 comes lower than 1.", "秩有影响：8 比 1 更低。"),
            (below("rank_8", "rank_1"),),
            role="limit",
        ),
    ),
    measure=lambda subject: subject.cached("low rank", _low_rank),
    numbers={
        "rank_1": Label(Both("loss tuned at rank 1", "损失，秩 1"), A_DIGIT, of=SMALL),
        "rank_8": Label(Both("loss tuned at rank 8", "损失，秩 8"), A_DIGIT, of=SMALL),
        "all": Label(Both("loss with all weights tuned", "损失，全量微调"), A_DIGIT, of=SMALL),
        "trained": Label(Both("weights trained at rank 8, of all", "秩 8 时训练的参数占比"), "%", of=SMALL),
        "merged": Label(Both("largest difference, merged from apart", "最大差别，合并与分开相比"), of=SMALL),
    },
    setting=Both(
        "The Lab's encoder (2 layers of width 48) learns to reverse 4 digits, 100 steps, and is then tuned to sort "
        "them, 60 steps: every linear layer of its blocks corrected by B A, all else frozen, or all weights; rate "
        "0.01, "
        "seed 1. A tenth of a nat: a twentieth of what guessing loses. The whole run has three seeds, 150 steps and "
        "five ranks.",
        "Lab 的编码器（2 层，宽度 48）先学把 4 个数字倒过来，100 步；再微调成排序，60 步：各层的线性层加上 B·A，"
        "其余冻结，"
        "或者训练全部参数；学习率 0.01，种子 1。0.1 nat：瞎猜损失的二十分之一。完整实验用三个种子、150 步、五个秩。",
    ),
    because=Both(
        "The paper tunes models of billions of weights that nearly know the task; little has to change. The rank that "
        "is needed grows with how new the task is: copying instead of reversing is a small change, sorting is not. "
        "In a small network rank 8 is no small part of a matrix of 48 either.",
        "论文微调的是数十亿参数的模型，任务它几乎已经会了，需要的改动很小。任务越新，需要的秩越大：把“倒序”改成“照抄”改动小，"
        "改成“排序”就不小。何况在小网络里，对 48 维的矩阵来说，秩 8 也不算低。",
    ),
    refuted=Both(
        "Tunings to a new task in which a rank of 8 ends as low as all weights.",
        "如果微调到新任务时，秩 8 与全量微调的损失一样低，判断就会改变。",
    ),
    formula=r"W' = W + B A, \; r = 8: \quad L = <rank_8>, \qquad r = 1: <rank_1>, \qquad \mathrm{all}: <all>",
    papers=(HU_2021,),
    see=PageLink("training", {}),
    whole=LongExperiment(
        run=_every_rank,
        about=Both(
            "The Lab's encoder learns to reverse 4 digits in 150 steps, and is tuned to sort them in 150 more, at "
            "ranks 1, 2, 4, 8 and 16 and with all weights, three seeds; about a minute on one core.",
            "Lab 的编码器先用 150 步学会倒序，再用 150 步微调成排序：秩 1、2、4、8、16 和全部参数，"
            "三个种子；单核约一分钟。",
        ),
        parts=(
            ClaimPart(
                Both("Rank 8 comes within a tenth of a nat of all weights.", "秩 8 与全量微调相差不到 0.1 nat。"),
                (around("rank_8", "all", within=0.1),),
            ),
            ClaimPart(
                Both("Rank 1 does too.", "秩 1 也是。"),
                (around("rank_1", "all", within=0.1),),
            ),
        ),
        numbers={
            **{
                f"rank_{rank}": Label(Both(f"loss tuned at rank {rank}", f"损失，秩 {rank}"), A_DIGIT, of=SMALL)
                for rank in EVERY_RANK
            },
            "all": Label(Both("loss with all weights tuned", "损失，全量微调"), A_DIGIT, of=SMALL),
        },
        stored=StoredRun(
            {"rank_1": 0.664, "rank_2": 0.431, "rank_4": 0.258, "rank_8": 0.134, "rank_16": 0.0747, "all": 0.0422},
            command="python -m inspector.questions --only 155 --whole",
            seeds="0, 1, 2",
            date="2026-11-27",
        ),
    ),
)


THEME = Theme(
    "large_models",
    Both("Asked in 2026: training and writing", "2026 年常问：训练与生成"),
    (BASED, PLACED, ROUTED, TEMPERATURE, TOP_P, LOW_RANK),
)
