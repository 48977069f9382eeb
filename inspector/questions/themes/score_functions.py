"""Score functions: dot product and additive attention. Questions 34, 35 and 37 to 40."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from inspector.costs import score_functions as costs
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below
from inspector.questions.record.measured import RANDOM
from inspector.questions.record.measured import SMALL as SMALL_NETWORKS
from inspector.questions.record.papers import BAHDANAU_2015, BRITZ_2017, VASWANI_2017
from inspector.questions.record.picture import Bars
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
from inspector.questions.themes.queries import SEES_QUERIES
from inspector.questions.themes.trained import LOSS, NATS, Pair, from_seeds, loss_of, losses
from inspector.scores import functions
from models.training import lab
from models.training.tiny.experiments import LabRun, Switches
from models.training.tiny.solvers import solver
from models.transformer.config import Score


def _on_head(subject: Subject) -> functions.FunctionsOnHead:
    """The score functions on the first head whose queries and keys are of one width."""

    def make() -> functions.FunctionsOnHead:
        for site in subject.trace.sites:
            with suppress(ValueError):  # raised for a head whose queries and keys were not seen, or differ in width
                return functions.on_head(subject.trace.record_of_head(site.layer, 0, site.stream, call=site.call))
        raise UnanswerableError(
            f"No head of {subject.loaded.card.id} shows queries and keys of one width on this text.",
            f"{subject.loaded.card.id} 在该文本上没有哪个头能看到宽度相同的 Q 和 K。",
        )

    return subject.once("score functions on a head", make)


_FIRST_HEAD = Both(
    "Queries and keys of the first head on the text; what the score functions learn is drawn from seed 0.",
    "该文本在第一个头中的 Q 和 K；打分函数的参数随机抽取，种子 0。",
)


class NotesAttention(nn.Module):
    """The class that interview notes give for additive attention, its loop over the queries included.

    It makes v^T tanh(W [q; k] + b), a bias of v, and no mask.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.joined = nn.Linear(2 * width, width)  # W
        self.v = nn.Linear(width, 1)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """query [Q, E], key [T, E] -> weights [Q, T]."""
        rows = [torch.cat([row.expand(len(key), -1), key], dim=-1) for row in query]
        scores = torch.stack([self.v(torch.tanh(self.joined(row))).squeeze(-1) for row in rows])
        return scores.softmax(dim=-1)


def _formula(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    generator = Generator().manual_seed(0)
    q, k, weight = (torch.randn(size, generator=generator) for size in ((64, 32), (64, 32), (32, 32)))
    shared = (q @ weight)[:, None] + (k @ weight)[None]
    swapped = (k @ weight)[:, None] + (q @ weight)[None]
    return Measurement(
        {
            "naive": on_head.naive,
            "code": _code_off(q, k),
            "shifted": on_head.shifted,
            "swapped": float((shared - swapped.transpose(0, 1)).abs().max() / shared.abs().max()),
        }
    )


@torch.no_grad()
def _code_off(query: Tensor, key: Tensor) -> float:
    """The largest difference of a weight of the notes' class from softmax(v^T tanh(W_q q + W_k k + b)), float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = NotesAttention(query.shape[-1]).double()
    query, key = query.double(), key.double()
    of_query, of_key = attention.joined.weight.chunk(2, dim=1)  # W = [W_q W_k]
    inner = (query @ of_query.T)[:, None] + (key @ of_key.T)[None] + attention.joined.bias
    weights = (torch.tanh(inner) @ attention.v.weight[0]).softmax(dim=-1)
    return float((attention(query, key) - weights).abs().max())


FORMULA = Question(
    34,
    asked=Both(
        "Is the additive score vᵀ tanh(W [q; k] + b), and does the usual code compute it?",
        "加性打分是 vᵀ tanh(W[q; k] + b) 吗？常见的代码写得对吗？",
    ),
    claim=Both(
        "Additive attention joins q and k, multiplies by W, and takes vᵀ tanh of it: vᵀ tanh(W [q; k] + b). The class "
        "AdditiveAttention of the notes computes it, and so does scores = v(tanh(W_q(q) + W_k(k))).",
        "加性注意力把 q 与 k 拼接，乘以 W，再取 vᵀ tanh：vᵀ tanh(W[q; k] + b)。笔记里的 AdditiveAttention "
        "类算的就是它，"
        "scores = v(tanh(W_q(q) + W_k(k))) 也是。",
    ),
    parts=(
        ClaimPart(
            Both("Joining and W are the same as a sum of W_q q and W_k k.", "拼接后乘以 W，等于 W_q q 与 W_k k 之和。"),
            (below("naive", 1e-5),),
        ),
        ClaimPart(
            Both("The notes' class gives the weights of the formula.", "笔记里的类给出的权重与公式一致。"),
            (below("code", 1e-12),),
        ),
        ClaimPart(
            Both("A sum with one shared W cannot tell query from key.", "若共用同一个 W 再相加，就分不清查询和键。"),
            (below("swapped", 1e-5),),
            role="limit",
        ),
        ClaimPart(
            Both("The bias of v in that class changes nothing.", "这个类里 v 的偏置不起任何作用。"),
            (below("shifted", 1e-5),),
            role="limit",
        ),
    ),
    measure=_formula,
    numbers={
        "naive": Label(Both("largest difference of a weight, joined or summed", "拼接与求和的权重最大差")),
        "code": Label(
            Both("largest difference of a weight, the notes' class or the formula", "笔记里的类与公式的权重最大差"),
            of=RANDOM,
        ),
        "shifted": Label(Both("largest change of a weight, 5 added to the bias of v", "v 的偏置加 5 后权重的最大变化")),
        "swapped": Label(
            Both("relative change when q and k change places, shared W", "共用 W 时 q、k 互换的相对变化"), of=RANDOM
        ),
    },
    setting=Both(
        _FIRST_HEAD.en + " The class and the shared W: 64 random pairs of width 32.",
        _FIRST_HEAD.zh + "笔记里的类和共用 W：宽度 32 的 64 个随机 q、k。",
    ),
    because=Both(
        "W has a half for q and a half for k, so joining is a sum of two products. Bahdanau et al. wrote it as that "
        "sum; their aim was to do away with one vector of fixed length for a whole sentence. A constant on all scores "
        "of "
        "a row cancels in the softmax. The Python loop and the missing mask of the class are a matter of speed and "
        "use.",
        "W 分成作用于 q 和 k 的两半，拼接就是两个乘积之和。Bahdanau 等人写的就是求和的形式；"
        "他们要解决的是用一个定长向量表示整句的瓶颈。一行的分数都加同一常数，softmax 中会约掉。"
        "那个类里的 Python 循环和缺少掩码，是速度与用法上的问题。",
    ),
    refuted=Both(
        "Weights of the formula and of the code that differ by more than rounding.",
        "如果公式与代码的权重差超过舍入误差，判断就会改变。",
    ),
    formula=r"W \begin{bmatrix} q \\ k \end{bmatrix} = W_q q + W_k k, \quad \max |\Delta p| = <naive>, \qquad "
    r"\mathrm{softmax}(s + 5) = \mathrm{softmax}(s): \; <shifted>",
    papers=(BAHDANAU_2015,),
    see=PageLink("scores", {"section": "Score functions"}),
    of=SEES_QUERIES,
)


def _cost(subject: Subject) -> Measurement:
    large, double = costs.Sizes(tokens=1000, width=1024), costs.Sizes(tokens=2000, width=2048)
    dot, additive, naive = (costs.cost(name, large).scores for name in ("dot", "additive", "additive_naive"))
    numbers = {
        "factorised": additive / dot,
        "naive": naive / dot,
        "doubled": costs.cost("additive", double).scores / additive,
        "bytes": float(costs.BYTES * costs.cost("additive", large).largest),
    }
    names = (
        Both("dot product", "点积"),
        Both("additive, factorised", "加性，W 拆成两半"),
        Both("additive, every pair", "加性，逐对乘 W"),
    )
    return Measurement(
        numbers, Bars(names, (dot, additive, naive), Both("FLOPs of the scores", "打分的 FLOPs"), log=True)
    )


def _cost_whole(subject: Subject, watch: Watch) -> Measurement:
    timed = costs.measure(costs.Sizes(tokens=128, width=64, batch=2), repeats=5, on_progress=watch)
    seconds = timed.seconds
    numbers = {name: seconds[name] / seconds["dot"] for name in ("additive", "additive_naive")}
    return Measurement(numbers)


COST = Question(
    35,
    reads_text=False,
    asked=Both("Does additive attention cost O(n² d²)?", "加性注意力的复杂度是 O(n² d²) 吗？"),
    claim=Both(
        "Additive attention costs O(n² d²), d times as much as the dot product.",
        "加性注意力的复杂度是 O(n² d²)，是点积的 d 倍。",
    ),
    parts=(
        ClaimPart(
            Both(
                "At n = 1,000, d = 1,024 its scores cost about d times those of dot products.",
                "n = 1000、d = 1024 时，打分的计算量约为点积的 d 倍。",
            ),
            (at_least("factorised", 500),),
        ),
        ClaimPart(
            Both("With n and d doubled they cost about 16 times as much.", "n 和 d 都加倍，计算量约为 16 倍。"),
            (at_least("doubled", 14),),
        ),
    ),
    measure=_cost,
    numbers={
        "factorised": Label(Both("FLOPs of additive scores / dot products", "打分的 FLOPs，加性 / 点积")),
        "naive": Label(
            Both("FLOPs of additive scores, W for every pair / dot products", "打分的 FLOPs，逐对乘 W 的加性 / 点积")
        ),
        "doubled": Label(
            Both("FLOPs of additive scores, n and d doubled / before", "加性打分的 FLOPs，n、d 加倍后 / 加倍前")
        ),
        "bytes": Label(Both("largest tensor of additive scores", "加性打分的最大张量"), Both("bytes", "字节")),
    },
    setting=Both(
        "Matrix products counted, 2 FLOPs for a multiply-add; n = 1,000, d = 1,024, float32.",
        "统计矩阵乘法，一次乘加算 2 FLOPs；n = 1000，d = 1024，float32。",
    ),
    because=Both(
        "W [q; k] is W_q q + W_k k, so each token is multiplied once: O(n d² + n² d). Only code that multiplies W for "
        "every pair costs n² d². What remains is a tensor of n² d numbers and its tanh, slow on a machine.",
        "W[q; k] = W_q q + W_k k，每个 token 只需乘一次：O(nd² + n²d)。只有逐对乘 W 的写法才是 n²d²。剩下的代价是 "
        "n²d 大小的张量和它的 tanh，在硬件上较慢。",
    ),
    refuted=Both("A count in which additive scores need W for every pair.", "如果加性打分必须逐对乘 W，判断就会改变。"),
    formula=r"\frac{4 n d^2 + 2 n^2 d}{2 n^2 d} = <factorised>, \qquad \frac{4 n^2 d^2 + 2 n^2 d}{2 n^2 d} = <naive>",
    papers=(BAHDANAU_2015, VASWANI_2017),
    see=PageLink("scores", {"section": "Score functions"}),
    whole=LongExperiment(
        run=_cost_whole,
        about=Both(
            "The score functions on the clock, 128 tokens of width 64, batch 2, medians of 5; a few seconds.",
            "给各打分函数计时：128 个 token，宽度 64，批次大小 2，取 5 次的中位数；几秒钟。",
        ),
        parts=(
            ClaimPart(
                Both("Additive scores take longer than dot products.", "加性打分比点积耗时长。"),
                (above("additive", 1),),
            ),
            ClaimPart(
                Both("Multiplying W for every pair takes longer still.", "逐对乘 W 耗时更长。"),
                (above("additive_naive", "additive"),),
            ),
        ),
        numbers={
            "additive": Label(Both("time of additive / dot attention", "加性 / 点积注意力的时间")),
            "additive_naive": Label(
                Both(
                    "time of additive attention, W for every pair / dot attention", "逐对乘 W 的加性 / 点积注意力的时间"
                )
            ),
        },
        stored=StoredRun(
            {"additive": 78.3, "additive_naive": 174.0},
            command="python -m inspector.questions --only 35 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


def _linear(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    return Measurement(
        {"weights": on_head.weights, "additive": on_head.doubled["additive"], "dot": on_head.doubled["dot"], **_both()}
    )


def _both() -> dict[str, float]:
    q, k = torch.randn(2, 64, generator=Generator().manual_seed(0), dtype=torch.float64)
    return {"pair": float((2 * q) @ (2 * k) / (q @ k))}


LINEAR = Question(
    37,
    asked=Both("Is the dot product a linear interaction?", "点积是线性交互吗？"),
    claim=Both(
        "Dot-product attention is linear, additive attention is not.", "点积注意力是线性的，加性注意力是非线性的。"
    ),
    parts=(
        ClaimPart(Both("Doubling q and k doubles the score.", "q、k 都加倍，分数加倍。"), (at_most("pair", 2.02),)),
        ClaimPart(
            Both(
                "Doubling all scores leaves the weights as they are, as a linear weighting would.",
                "所有分数加倍，权重保持不变，像线性加权那样。",
            ),
            (at_most("weights", 1e-6),),
        ),
    ),
    measure=_linear,
    numbers={
        "pair": Label(Both("score of (2q, 2k) / score of (q, k)", "(2q, 2k) 的分数 / (q, k) 的分数")),
        "weights": Label(Both("largest change of a weight, scores doubled", "分数加倍后权重的最大变化")),
        "dot": Label(Both("score(2q, k) off 2 score(q, k), dot product", "score(2q, k) 与 2·score(q, k) 之差，点积")),
        "additive": Label(
            Both("score(2q, k) off 2 score(q, k), additive score", "score(2q, k) 与 2·score(q, k) 之差，加性")
        ),
    },
    setting=_FIRST_HEAD,
    because=Both(
        "q · k is linear in q for a fixed k, and in k for a fixed q: bilinear. Taken together it is a product, and "
        "the softmax after it is not linear at all.",
        "k 固定时 q·k 对 q 线性，q 固定时对 k 线性，即双线性；合起来是乘积，其后的 softmax 更不是线性的。",
    ),
    refuted=Both("A dot product that only doubles when both sides do.", "如果 q、k 都加倍而点积只加倍，判断就会改变。"),
    formula=r"(2q) \cdot (2k) = <pair> \; q \cdot k",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Score functions"}),
    of=SEES_QUERIES,
)


def _parameters(subject: Subject) -> Measurement:
    sizes = costs.Sizes(tokens=64, width=64)
    dot, additive = costs.cost("dot", sizes), costs.cost("additive", sizes)
    return Measurement(
        {
            "dot": float(dot.parameters),
            "additive": float(additive.parameters + 1),
            "matmul": additive.scores / dot.scores,
            "tensor": additive.largest / dot.largest,
        }
    )


PARAMETERS = Question(
    38,
    reads_text=False,
    asked=Both(
        "Does additive attention have more parameters, and no dense matrices?",
        "加性注意力参数更多，而且不是密集矩阵运算吗？",
    ),
    claim=Both(
        "Additive attention has extra parameters, and is no dense matrix product, so a GPU is slow at it.",
        "加性注意力有额外参数，又不是密集矩阵运算，不利于 GPU。",
    ),
    parts=(
        ClaimPart(Both("The score function has more parameters.", "打分函数的参数更多。"), (above("additive", "dot"),)),
        ClaimPart(
            Both("Its scores are no matrix products: it does fewer of them.", "它的打分不是矩阵乘法：乘法量比点积少。"),
            (below("matmul", 1),),
        ),
        ClaimPart(
            Both("It makes a larger tensor, which a GPU is slow at.", "它产生更大的张量，GPU 慢在这里。"),
            (above("tensor", 1),),
            role="mechanism",
        ),
    ),
    measure=_parameters,
    numbers={
        "dot": Label(Both("parameters of the dot product", "点积的参数")),
        "additive": Label(Both("parameters of the additive score, d = 64", "加性打分的参数，d = 64")),
        "matmul": Label(Both("FLOPs of matrix products, additive / dot", "矩阵乘法 FLOPs，加性 / 点积")),
        "tensor": Label(Both("largest tensor, additive / dot", "最大张量，加性 / 点积")),
    },
    setting=Both(
        "64 tokens, d = 64, one head; the parameters with all biases.", "64 个 token，d = 64，一个头；参数含全部偏置。"
    ),
    because=Both(
        "W_q q and W_k k are dense matrix products, and so is vᵀ. A GPU is slow at the tanh of n² d numbers, which "
        "moves much memory for little arithmetic. That its parameters make it overfit is said without a test.",
        "W_q q、W_k k 和 vᵀ 都是密集矩阵乘法。GPU 慢在对 n²d 个数取 tanh：访存多而计算少。"
        "“参数多所以过拟合”并没有实验依据。",
    ),
    refuted=Both(
        "An additive score without parameters or without matrix products.",
        "如果加性打分没有参数或没有矩阵乘法，判断就会改变。",
    ),
    formula=r"2 d^2 + 2 d + 1 = <additive>",
    papers=(BAHDANAU_2015,),
    see=PageLink("scores", {"section": "Score functions"}),
)


# --- 39: wide heads ------------------------------------------------------------------------------------------------

_AS_GOOD = 0.05  # nats a digit; seeds of one network end farther apart than that


def _spread(subject: Subject) -> Measurement:
    largest = functions.variances((4, 64, 1024), seeds=2).set_index(["width", "function"])["largest"]
    trained = {
        "plain": loss_of(subject, Switches(heads=1, scale="none")),
        "scaled": loss_of(subject, Switches(heads=1)),
        "additive": loss_of(subject, Switches(heads=1, score="additive")),
    }
    names = {
        "plain": Both("dot product, no scale", "点积，不缩放"),
        "scaled": Both("dot product, scaled", "点积，缩放"),
        "additive": Both("additive", "加性"),
    }
    return Measurement(
        {
            **{name: loss[-1] for name, loss in trained.items()},
            "even_plain": float(largest[1024, "dot"]),
            "even_scaled": float(largest[1024, "scaled"]),
            "even_additive": float(largest[1024, "additive"]),
        },
        losses([(names[name], loss) for name, loss in trained.items()], parts=("ffn", "attention", "norm")),
    )


FOUND = Question(
    39,
    reads_text=False,
    mixed="conditions",
    asked=Both(
        "Are dot products as good as additive scores, as the Transformer paper is said to have found?",
        "点积的效果不亚于加性，这是 Transformer 论文发现的吗？",
    ),
    claim=Both(
        "The paper found that dot products do as well as additive scores or better, in high dimensions too.",
        "论文发现点积效果与加性相当或更好，在高维下也是如此。",
    ),
    parts=(
        ClaimPart(
            Both(
                "As in the comparison that the paper cites, without the scale: a wide head, d_k = 48, learns as well "
                "as "
                "with additive scores.",
                "像论文所引的对比那样不缩放时：宽的头（d_k = 48）学得与加性一样好。",
            ),
            (below("plain", "additive", times=1.25),),
        ),
        ClaimPart(
            Both("With the scale it learns as well.", "缩放之后学得一样好。"),
            (below("scaled", "additive", times=1.25),),
        ),
        ClaimPart(
            Both(
                "Unscaled products of d_k = 1,024 saturate before training: the largest weight is more than twice that "
                "of "
                "additive scores.",
                "d_k = 1024 时，不缩放的点积在训练之前就已饱和：最大权重是加性的两倍以上。",
            ),
            (above("even_plain", "even_additive", times=2),),
            role="mechanism",
        ),
    ),
    measure=_spread,
    numbers={
        "plain": Label(
            Both("loss, dot products without the scale, d_k = 48", "损失，不缩放的点积，d_k = 48"),
            NATS,
            of=SMALL_NETWORKS,
        ),
        "scaled": Label(
            Both("loss, scaled dot products, d_k = 48", "损失，缩放的点积，d_k = 48"), NATS, of=SMALL_NETWORKS
        ),
        "additive": Label(Both("loss, additive scores, d_k = 48", "损失，加性，d_k = 48"), NATS, of=SMALL_NETWORKS),
        "even_plain": Label(
            Both("largest weight, unscaled dot product, d_k = 1,024", "最大权重，不缩放的点积，d_k = 1024"), of=RANDOM
        ),
        "even_scaled": Label(
            Both("largest weight, scaled dot product, d_k = 1,024", "最大权重，缩放的点积，d_k = 1024"), of=RANDOM
        ),
        "even_additive": Label(
            Both("largest weight, additive score, d_k = 1,024", "最大权重，加性，d_k = 1024"), of=RANDOM
        ),
    },
    setting=Both(
        "What a paper reports cannot be measured; whether it is so can. Training: the Lab's Transformer (2 layers, one "
        "head of 48) turns 4 digits around, 120 steps, seed 0; as good: a quarter more loss at most. Weights: random "
        "queries and 64 keys, seeds 0 and 1, means over queries.",
        "论文报告了什么无法测量，但事实是否如此可以测。训练：Lab 的 Transformer（2 层，一个宽 48 的头）把 4 "
        "个数字逆序输出，"
        "120 步，种子 0；一样好：损失至多高四分之一。权重：随机的 Q 和 64 个键，种子 0 和 1，对查询取平均。",
    ),
    because=Both(
        "The paper has no such ablation (section 3.2.1). It cites Britz et al. (2017), in whose translators additive "
        "scores beat dot products without a scale, and suspects that the softmax saturates at large d_k; the scale is "
        "its answer. Its own reason for dot products is that they are faster and smaller in memory.",
        "论文没有做这个消融（3.2.1 节），只引用了 Britz 等人（2017）：在他们的翻译模型里，加性优于不缩放的点积；"
        "论文猜测 "
        "d_k 大时 softmax 会饱和，所以加上缩放。论文选点积的理由是更快、更省显存。",
    ),
    refuted=Both(
        "Wide heads that learn as well without the scale as with additive scores, or worse with it, from several "
        "seeds.",
        "如果多个种子下，宽的头不缩放也学得与加性一样好，或者缩放之后反而更差，判断就会改变。",
    ),
    formula=r"d_k = 48: \quad <plain> \;(q \cdot k), \quad <scaled> \;(q \cdot k / \sqrt{d_k}), \quad <additive> \;"
    r"(v^\top \tanh)",
    papers=(VASWANI_2017, BRITZ_2017, BAHDANAU_2015),
    see=PageLink("lab", {"lab_a_heads": "1", "lab_a_scale": "none", "lab_b_heads": "1", "lab_b_score": "additive"}),
    whole=from_seeds(
        39,
        [
            Pair(
                "plain",
                Switches(heads=1, score="additive"),
                Switches(heads=1, scale="none"),
                Both(
                    "Without the scale dot products learn worse, from every seed.",
                    "不缩放时，每个种子下点积都学得更差。",
                ),
                Both(
                    "loss of unscaled dot products less additive, d_k = 48", "不缩放的点积的损失减加性的损失，d_k = 48"
                ),
            ),
            Pair(
                "scaled",
                Switches(heads=1),
                Switches(heads=1, score="additive"),
                Both(
                    "With it they learn as well, from every seed: 0.05 nats worse at most.",
                    "缩放之后，每个种子下都学得一样好：至多差 0.05 nat。",
                ),
                Both(
                    "loss of additive scores less scaled dot products, d_k = 48",
                    "加性的损失减缩放的点积的损失，d_k = 48",
                ),
                within=_AS_GOOD,
            ),
        ],
        {"plain_least": 0.369, "plain_most": 1.41, "scaled_least": -0.0005, "scaled_most": 0.731},
    ),
)


# --- 40: small networks --------------------------------------------------------------------------------------------

RATES = (0.005, 0.01, 0.02)  # that the long run tries for each score
BEST_RATE = 0.01  # of both scores, by the long run
_SEEDS = 6
_NAMES = Both("scaled dot product", "缩放点积"), Both("additive", "加性")
_ENCODER = LabRun(task="reverse", length=4, steps=120, learning_rate=BEST_RATE, switches=Switches(), seed=0)
_ALIGNER = replace(_ENCODER, switches=Switches(shape="encoder-decoder", layers=1, heads=1))


def _trained(run: LabRun, score: Score, **changed: Any) -> tuple[float, float]:
    """Train a network with a score -> its last loss, and of an encoder-decoder the share of digits that are aligned.

    A digit is aligned where the largest weight of cross-attention lies on the digit that is written; NaN without.
    """
    run = replace(run, switches=replace(run.switches, score=score), **changed)
    network = solver(run)
    loss = list(lab.train(network, run))[-1].loss
    if run.shape != "encoder-decoder":
        return loss, math.nan
    network.eval()
    maps = lab.attention(network, lab.fresh(run, count=256))["cross"]
    places = torch.arange(run.length, 0, -1)  # of the digits, the last first; before the first is a mark
    return loss, float((maps[-1].mean(dim=1).argmax(dim=-1) == places).float().mean())


def _small(subject: Subject) -> Measurement:
    small = costs.Sizes(tokens=64, width=16)
    dot, additive = costs.cost("dot", small), costs.cost("additive", small)
    scores: tuple[Score, ...] = ("dot", "additive")
    ends = {
        (name, score): subject.cached(("small", name, score), partial(_trained, run, score))
        for name, run in (("encoder", _ENCODER), ("aligner", _ALIGNER))
        for score in scores
    }
    numbers = {f"{name}_{score}": loss for (name, score), (loss, _) in ends.items()}
    picture = Bars(
        [
            Both(f"{en}, {by.en}", f"{zh}，{by.zh}")
            for en, zh in (("4 heads of an encoder", "编码器的 4 个头"), ("aligning", "对齐"))
            for by in _NAMES
        ],
        list(numbers.values()),
        LOSS,
        log=True,
    )
    return Measurement(
        {
            "flops": additive.flops / dot.flops,
            **numbers,
            "aligned": ends["aligner", "additive"][1],
            "aligned_dot": ends["aligner", "dot"][1],
            "parameters": float(additive.parameters),
        },
        picture,
    )


def _small_whole(subject: Subject | None, watch: Watch) -> Measurement:
    """Train an encoder and an aligner with both scores at every rate from six seeds; each score gets its best rate."""
    total, done = 2 * 2 * len(RATES) * _SEEDS, 0
    watch(0, total)
    best: dict[tuple[str, Score], list[tuple[float, float]]] = {}
    numbers: dict[str, float] = {}
    for name, run in (("encoder", _ENCODER), ("aligner", _ALIGNER)):
        scores: tuple[Score, ...] = ("dot", "additive")
        for score in scores:
            by_rate = {}
            for rate in RATES:
                by_rate[rate] = [_trained(run, score, learning_rate=rate, seed=seed) for seed in range(_SEEDS)]
                done += _SEEDS
                watch(done, total)
            means = {rate: sum(loss for loss, _ in each) / _SEEDS for rate, each in by_rate.items()}
            rate = min(means, key=means.__getitem__)
            best[name, score] = by_rate[rate]
            numbers |= {f"{name}_{score}": means[rate], f"{name}_{score}_rate": rate}
        apart = [dot[0] - additive[0] for dot, additive in zip(best[name, "dot"], best[name, "additive"], strict=True)]
        numbers |= {f"{name}_least": min(apart), f"{name}_most": max(apart)}
    numbers["aligned"] = min(share for _, share in best["aligner", "additive"])
    return Measurement(numbers)


_KINDS = (
    ("encoder", Both("4 heads of an encoder", "编码器的 4 个头")),
    ("aligner", Both("one head that aligns", "一个做对齐的头")),
)
SMALL = Question(
    40,
    reads_text=False,
    mixed="conditions",
    asked=Both("Is additive attention useful for small models and alignment?", "加性注意力适合小模型和对齐任务吗？"),
    claim=Both(
        "Additive attention is a good choice for small models, where it costs little and learns as well, and for "
        "alignment.",
        "加性注意力适合小模型（代价小，学得也不差）和对齐任务。",
    ),
    parts=(
        ClaimPart(
            Both("At small sizes it costs less than twice a dot product.", "规模小时，它的计算量不到点积的 2 倍。"),
            (below("flops", 2),),
        ),
        ClaimPart(
            Both(
                "A small encoder with 4 heads learns at least as well with it as with a scaled dot product.",
                "4 个头的小编码器用它，学得至少和缩放点积一样好。",
            ),
            (at_most("encoder_additive", "encoder_dot"),),
        ),
        ClaimPart(
            Both(
                "A small encoder-decoder that has to align learns at least as well with it.",
                "需要对齐的小编码器-解码器用它，学得至少一样好。",
            ),
            (at_most("aligner_additive", "aligner_dot"),),
        ),
        ClaimPart(
            Both(
                "It aligns: nine of ten times the largest weight lies on the digit that is written.",
                "它能对齐：十次中有九次以上，最大的权重落在要写的数字上。",
            ),
            (at_least("aligned", 0.9),),
        ),
    ),
    measure=_small,
    numbers={
        "flops": Label(
            Both("FLOPs, additive / dot, 64 tokens of width 16", "FLOPs，加性 / 点积，64 个宽度 16 的 token")
        ),
        **{
            f"{name}_{score}": Label(Both(f"loss, {kind.en}, {by.en}", f"损失，{kind.zh}，{by.zh}"), NATS)
            for name, kind in _KINDS
            for score, by in zip(("dot", "additive"), _NAMES, strict=True)
        },
        "aligned": Label(Both("digits aligned, additive", "对齐正确的数字，加性"), "%"),
        "aligned_dot": Label(Both("digits aligned, scaled dot product", "对齐正确的数字，缩放点积"), "%"),
        "parameters": Label(Both("parameters of the additive score", "加性打分的参数量")),
    },
    setting=Both(
        "FLOPs: 64 tokens, d_k = 16, one head. Training: 4 digits are turned around, 120 steps, seed 0, by the Lab's "
        "encoder (2 layers, d = 48, 4 heads) and by an encoder-decoder with one layer and one head; both scores at "
        "0.01, which was the best of three learning rates for each. Aligned: on 256 fresh texts.",
        "计算量：64 个 token，d_k = 16，一个头。训练：把 4 个数字逆序输出，120 步，种子 0；一个是 Lab 的编码器"
        "（2 层，d = 48，4 个头），一个是 1 层、1 个头的编码器-解码器；两种打分的学习率都是 0.01，"
        "是三个学习率中各自最好的。"
        "对齐：256 个新的文本。",
    ),
    because=Both(
        "It worked well in small recurrent translators, where one head had to align the words of two languages. There "
        "its cost hardly shows. With several narrow heads that mix one text the picture is another. The learning rate "
        "has to be tuned for each: at one rate for both, either can be made to lose.",
        "它最早用于小型循环翻译模型，由一个头来对齐两种语言的词，在那里代价不明显。换成几个窄的头来混合一段文本，"
        "情况就不同了。"
        "学习率要分别调：如果两者共用一个学习率，哪一个都可能输。",
    ),
    refuted=Both(
        "Small sizes at which it costs many times a dot product, or a head that does not align.",
        "如果规模小时它的代价也是点积的许多倍，或者它不能对齐，判断就会改变。",
    ),
    formula=r"\frac{C_{\tanh}}{C_{\cdot}} = <flops>, \qquad \arg\max_j \alpha_{ij} = n + 1 - i: \; <aligned>",
    papers=(BAHDANAU_2015, BRITZ_2017),
    see=PageLink("lab", {"lab_length": "4", "lab_steps": "120", "lab_rate": "0.01", "lab_b_score": "additive"}),
    whole=LongExperiment(
        run=_small_whole,
        about=Both(
            "Both networks with both scores, at learning rates of 0.005, 0.01 and 0.02, from six seeds; each score is "
            "given its best rate. About two minutes on one core.",
            "两个网络、两种打分，学习率 0.005、0.01、0.02，各六个种子；每种打分取各自最好的学习率。单核约两分钟。",
        ),
        parts=(
            ClaimPart(
                Both(
                    "With 4 heads of an encoder additive scores learn better, from every seed.",
                    "编码器的 4 个头：每个种子下，加性都学得更好。",
                ),
                (above("encoder_least", 0),),
            ),
            ClaimPart(
                Both(
                    "With one head that aligns they do, from every seed.",
                    "一个做对齐的头：每个种子下，加性都学得更好。",
                ),
                (above("aligner_least", 0),),
            ),
            ClaimPart(
                Both("They align nine digits of ten or more, from every seed.", "每个种子下，对齐正确率都在九成以上。"),
                (at_least("aligned", 0.9),),
            ),
        ),
        numbers={
            **{
                f"{name}_{score}{end}": Label(Both(f"{en}, {kind.en}, {by.en}", f"{zh}，{kind.zh}，{by.zh}"), unit)
                for name, kind in _KINDS
                for score, by in zip(("dot", "additive"), _NAMES, strict=True)
                for end, en, zh, unit in (
                    ("", "loss, mean of seeds", "损失，各种子均值", NATS),
                    ("_rate", "best learning rate", "最好的学习率", ""),
                )
            },
            **{
                f"{name}_{end}": Label(
                    Both(f"loss of dot product less additive, {kind.en}, {en}", f"点积的损失减加性的，{kind.zh}，{zh}"),
                    NATS,
                )
                for name, kind in _KINDS
                for end, en, zh in (("least", "least", "最小"), ("most", "most", "最大"))
            },
            "aligned": Label(
                Both("digits aligned, additive, least of the seeds", "对齐正确的数字，加性，各种子最小"), "%"
            ),
        },
        stored=StoredRun(
            {
                "encoder_dot": 0.0195,
                "encoder_dot_rate": 0.01,
                "encoder_additive": 0.884,
                "encoder_additive_rate": 0.01,
                "encoder_least": -1.02,
                "encoder_most": -0.468,
                "aligner_dot": 0.0083,
                "aligner_dot_rate": 0.01,
                "aligner_additive": 0.0042,
                "aligner_additive_rate": 0.01,
                "aligner_least": 0.0018,
                "aligner_most": 0.0067,
                "aligned": 0.983,
            },
            command="python -m inspector.questions --only 40 --whole",
            seeds="0 … 5",
            date="2026-11-27",
        ),
    ),
)

THEME = Theme(
    "score_functions",
    Both("Dot product or additive", "点积还是加性"),
    (FORMULA, COST, LINEAR, PARAMETERS, FOUND, SMALL),
)
