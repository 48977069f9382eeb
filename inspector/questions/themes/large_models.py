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

from inspector.questions.record.both import Both
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.continued import batch_of, is_large, logits_of, losses, row_of
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
from models.transformer.config import NormPlacement
from models.transformer.generation import chooser

LOSS = Both("loss, nats a token", "损失，nat/token")
LOSS_A_DIGIT = Both("loss, nats a digit", "损失，nat/数字")


# --- 150: the base of RoPE -----------------------------------------------------------------------------------------

RAISED = 500_000.0  # Llama 3's
COUNTED, READ = 128, 640  # tokens whose loss is taken, the last; tokens of the whole text


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
            Series(
                Both(f"{place}-norm", f"{place.title()}-LN"),
                [10.0 * step for step in range(1, len(course) + 1)],
                course,
                "norm",
                dashed=place == "pre",
            )
            for place, course in courses.items()
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
        for block in list(copied.get_submodule("encoder.layers").modules()):
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


MEASURES: dict[int, Measure] = {
    150: _based,
    151: lambda subject: subject.cached("norms placed", _placed_quickly),
    152: lambda subject: subject.cached("routed", _routed),
    153: _temperature,
    154: _top_p,
    155: lambda subject: subject.cached("low rank", _low_rank),
}
RUNS: dict[int, Run] = {
    151: _placed,
    155: _every_rank,
}
