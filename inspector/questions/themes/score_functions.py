"""Score functions: dot product and additive attention. Questions 34 to 40."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Generator

from inspector.costs import score_functions as costs
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below
from inspector.questions.record.measured import RANDOM
from inspector.questions.record.papers import BAHDANAU_2015, VASWANI_2017
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
from inspector.questions.themes.queries import SEES_QUERIES
from inspector.questions.themes.trained import (
    GUESSING,
    RIGHT,
    courses_drawn,
    ends,
    last_right,
    loss_of,
    losses,
    train_both,
)
from inspector.scores import functions
from models.training.tiny.experiments import Experiment, Switches


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


def _formula(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    generator = Generator().manual_seed(0)
    q, k, weight = (torch.randn(size, generator=generator) for size in ((64, 32), (64, 32), (32, 32)))
    shared = (q @ weight)[:, None] + (k @ weight)[None]
    swapped = (k @ weight)[:, None] + (q @ weight)[None]
    return Measurement(
        {"naive": on_head.naive, "swapped": float((shared - swapped.transpose(0, 1)).abs().max() / shared.abs().max())}
    )


FORMULA = Question(
    34,
    asked=Both("Is the additive score vᵀ tanh(W [q; k] + b)?", "加性打分是 vᵀ tanh(W[q; k] + b) 吗？"),
    claim=Both(
        "Additive attention joins q and k, multiplies by W, and takes vᵀ tanh of it: vᵀ tanh(W [q; k] + b).",
        "加性注意力把 q 与 k 拼接，乘以 W，再取 vᵀ tanh：vᵀ tanh(W[q; k] + b)。",
    ),
    parts=(
        ClaimPart(
            Both("Joining and W are the same as a sum of W_q q and W_k k.", "拼接后乘以 W，等于 W_q q 与 W_k k 之和。"),
            (below("naive", 1e-5),),
        ),
        ClaimPart(
            Both("A sum with one shared W cannot tell query from key.", "若共用同一个 W 再相加，就分不清查询和键。"),
            (below("swapped", 1e-5),),
        ),
    ),
    measure=_formula,
    numbers={
        "naive": Label(Both("largest difference of a weight, joined or summed", "拼接与求和的权重最大差")),
        "swapped": Label(
            Both("relative change when q and k change places, shared W", "共用 W 时 q、k 互换的相对变化"), of=RANDOM
        ),
    },
    setting=Both(
        _FIRST_HEAD.en + " The shared W: 64 random pairs of width 32.",
        _FIRST_HEAD.zh + "共用 W：宽度 32 的 64 个随机 q、k。",
    ),
    because=Both(
        "W has a half for q and a half for k, so joining is a sum of two products. Bahdanau et al. wrote it as that "
        "sum; their aim was to do away with one vector of fixed length for a whole sentence.",
        "W 分成作用于 q 和 k 的两半，拼接就是两个乘积之和。Bahdanau 等人写的就是求和的形式；"
        "他们要解决的是用一个定长向量表示整句的瓶颈。",
    ),
    refuted=Both(
        "Weights of the two ways that differ by more than rounding.", "如果两种写法的权重差超过舍入误差，判断就会改变。"
    ),
    formula=r"W \begin{bmatrix} q \\ k \end{bmatrix} = W_q q + W_k k, \qquad \max |\Delta p| = <naive>",
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


def _code(subject: Subject) -> Measurement:
    on_head = _on_head(subject)
    return Measurement({"naive": on_head.naive, "shifted": on_head.shifted})


CODE = Question(
    36,
    asked=Both("Is the usual AdditiveAttention code right?", "常见的 AdditiveAttention 代码对吗？"),
    claim=Both(
        "scores = v(tanh(W_q(q) + W_k(k))) computes additive attention.",
        "scores = v(tanh(W_q(q) + W_k(k))) 实现了加性注意力。",
    ),
    parts=(
        ClaimPart(
            Both("It gives the weights of vᵀ tanh(W [q; k] + b).", "它给出的权重与 vᵀ tanh(W[q; k] + b) 一致。"),
            (below("naive", 1e-5),),
        ),
        ClaimPart(Both("A bias of v changes nothing.", "v 的偏置不起任何作用。"), (below("shifted", 1e-5),)),
    ),
    measure=_code,
    numbers={
        "naive": Label(Both("largest difference of a weight, code and formula", "代码与公式的权重最大差")),
        "shifted": Label(Both("largest change of a weight, 5 added to the bias of v", "v 的偏置加 5 后权重的最大变化")),
    },
    setting=_FIRST_HEAD,
    because=Both(
        "A constant on all scores of a row cancels in the softmax. The code is right as a formula; the Python loop "
        "and the missing mask that some notes have are a matter of speed and use.",
        "一行的分数都加同一常数，softmax 中会约掉。代码作为公式没有错；有的资料用 Python 循环、缺少掩码，"
        "那是速度与用法上的问题。",
    ),
    refuted=Both("Weights that differ by more than rounding.", "如果权重之差超过舍入误差，判断就会改变。"),
    formula=r"\mathrm{softmax}(s + 5) = \mathrm{softmax}(s): \quad \max |\Delta p| = <shifted>",
    papers=(BAHDANAU_2015,),
    see=PageLink("scores", {"section": "Score functions"}),
    of=SEES_QUERIES,
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
            Both("It does fewer matrix products than dot products do.", "矩阵乘法比点积少。"), (below("matmul", 1),)
        ),
        ClaimPart(Both("It makes a larger tensor.", "产生的张量更大。"), (above("tensor", 1),)),
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


def _spread(subject: Subject) -> Measurement:
    largest = functions.variances((4, 64, 1024), seeds=2).set_index(["width", "function"])["largest"]
    numbers = {name: float(largest[1024, name]) for name in ("dot", "scaled", "additive")}
    names = {
        "dot": Both("dot, unscaled", "点积，不缩放"),
        "scaled": Both("dot, scaled", "点积，缩放"),
        "additive": Both("additive", "加性"),
    }
    lines = [
        Series(name, (4, 64, 1024), [float(largest[width, key]) for width in (4, 64, 1024)])
        for key, name in names.items()
    ]
    return Measurement(
        numbers, Lines(lines, x_title=Both("d_k", "d_k"), y_title=Both("largest weight", "最大权重"), log_x=True)
    )


FOUND = Question(
    39,
    reads_text=False,
    asked=Both(
        "Did the Transformer paper find dot products better than additive scores?",
        "Transformer 的论文发现点积优于加性吗？",
    ),
    claim=Both(
        "The paper found that dot products do as well as additive scores or better; they suit high dimensions.",
        "论文发现点积效果与加性相当或更好；点积适合高维。",
    ),
    parts=(
        ClaimPart(
            Both(
                "At large d_k the dot product of the comparison stays as even as the additive score.",
                "d_k 大时，对比实验中的点积权重仍像加性一样均匀。",
            ),
            (at_most("dot", "additive", times=2),),
        ),
    ),
    measure=_spread,
    numbers={
        "dot": Label(Both("largest weight, unscaled dot product, d_k = 1,024", "最大权重，不缩放的点积，d_k = 1024")),
        "additive": Label(Both("largest weight, additive score", "最大权重，加性")),
        "scaled": Label(Both("largest weight, scaled dot product", "最大权重，缩放的点积")),
    },
    setting=Both(
        "Random queries and keys, 64 keys, before training, seeds 0 and 1; means over queries.",
        "随机的 Q 和 K，64 个键，训练之前，种子 0 和 1；对查询取平均。",
    ),
    because=Both(
        "The paper has no such ablation. It cites Britz et al. (2017), in whose comparison additive scores beat dot "
        "products without a scale at large d_k, and suspects saturation. With the scale the dot product is as even.",
        "论文没有做这个消融，只引用了 Britz 等人（2017）：d_k 大时，加性优于不缩放的点积，并怀疑是饱和所致。"
        "加上缩放后，点积的权重同样均匀。",
    ),
    refuted=Both(
        "Unscaled random dot products whose weights stay even at d_k = 1,024.",
        "如果 d_k = 1024 时不缩放的随机点积权重仍然均匀，判断就会改变。",
    ),
    formula=r"\max p: \quad <dot> \;(q \cdot k),"
    r" \quad <scaled> \;(q \cdot k / \sqrt{d_k}), \quad <additive> \;(v^T \tanh)",
    papers=(VASWANI_2017,),
    see=PageLink("scores", {"section": "Score functions"}),
)

DOT_OR_ADDITIVE = Experiment(task="reverse", a=Switches(), b=Switches(score="additive"), seeds=2)
_NAMES = Both("scaled dot product", "缩放点积"), Both("additive", "加性")


def _small(subject: Subject) -> Measurement:
    small = costs.Sizes(tokens=64, width=16)
    dot, additive = costs.cost("dot", small), costs.cost("additive", small)
    curves = {score: loss_of(subject, Switches(score=score)) for score in ("dot", "additive")}
    picture = losses(tuple(zip(_NAMES, curves.values(), strict=True)))
    return Measurement(
        {
            "flops": additive.flops / dot.flops,
            "dot": curves["dot"][-1],
            "additive": curves["additive"][-1],
            "parameters": float(additive.parameters),
        },
        picture,
    )


def _small_whole(subject: Subject, watch: Watch) -> Measurement:
    courses = train_both(DOT_OR_ADDITIVE, watch)
    a, b = (sum(side) / len(side) for side in ends(courses, last_right))
    picture = courses_drawn(courses, _NAMES, of=lambda report: report.exact_accuracy, y_title=RIGHT)
    return Measurement({"a": a, "b": b}, picture)


SMALL = Question(
    40,
    reads_text=False,
    asked=Both("Is additive attention useful for small models and alignment?", "加性注意力适合小模型和对齐任务吗？"),
    claim=Both(
        "Additive attention is a good choice for small models and for alignment.", "加性注意力适合小模型和对齐任务。"
    ),
    parts=(
        ClaimPart(
            Both("At small sizes it costs less than twice a dot product.", "规模小时，它的计算量不到点积的 2 倍。"),
            (below("flops", 2),),
        ),
        ClaimPart(
            Both("A small network learns with it.", "小网络用它能学会。"),
            (below("additive", 0.95 * GUESSING),),
        ),
        ClaimPart(
            Both(
                "A small network learns at least as fast with it as with a dot product.",
                "小网络用它学习，至少和用点积一样快。",
            ),
            (at_most("additive", "dot"),),
        ),
    ),
    measure=_small,
    numbers={
        "flops": Label(
            Both("FLOPs, additive / dot, 64 tokens of width 16", "FLOPs，加性 / 点积，64 个宽度 16 的 token")
        ),
        "dot": Label(Both("loss with the scaled dot product", "缩放点积的损失"), Both("nats", "nat")),
        "additive": Label(Both("loss with the additive score", "加性打分的损失"), Both("nats", "nat")),
        "parameters": Label(Both("parameters of the additive score", "加性打分的参数量")),
    },
    setting=Both(
        "FLOPs: 64 tokens, d_k = 16, one head. Training: the Lab's Transformer (2 layers, d = 48, 4 heads) turns 4 "
        "digits around, 120 steps, seed 0; the whole run has 8 digits and two seeds.",
        "计算量：64 个 token，d_k = 16，一个头。训练：Lab 的 Transformer（2 层，d = 48，4 个头）把 4 个数字倒过来，"
        "120 步，种子 0；完整实验用 8 个数字和两个种子。",
    ),
    because=Both(
        "It worked well in small recurrent translators, where it was first used. Its cost hardly shows there. Whether "
        "it learns better than a scaled dot product is another matter, and depends on the task.",
        "它最早用于小型循环翻译模型，效果不错，规模小时代价不明显。是否比缩放点积学得更好是另一回事，取决于任务。",
    ),
    refuted=Both(
        "Small sizes at which it costs many times a dot product.",
        "如果规模小时它的代价也是点积的许多倍，判断就会改变。",
    ),
    formula=r"\frac{C_{\tanh}}{C_{\cdot}} = <flops>, \qquad 2 d^2 + 2 d = <parameters>",
    papers=(BAHDANAU_2015,),
    see=PageLink("lab", {"lab_b_score": "additive"}),
    whole=LongExperiment(
        run=_small_whole,
        about=Both(
            "The Lab's Transformer learns to turn digits around, with dot products (A) and additive scores (B), two "
            "seeds.",
            "Lab 的 Transformer 学习把数字倒过来，点积（A）与加性（B），各两个种子。",
        ),
        parts=(
            ClaimPart(
                Both("Additive scores learn at least as well.", "加性打分至少学得一样好。"), (at_least("b", "a"),)
            ),
            ClaimPart(Both("Additive scores learn something.", "加性打分能学到一些东西。"), (above("b", 0.3),)),
        ),
        numbers={
            "a": Label(Both("texts without a mistake at the end, dot product", "训练结束时的全对率，点积"), "%"),
            "b": Label(Both("texts without a mistake at the end, additive", "训练结束时的全对率，加性"), "%"),
        },
        stored=StoredRun(
            {"a": 1.0, "b": 0.558},
            command="python -m inspector.questions --only 40 --whole",
            seeds="0, 1",
            date="2026-11-23",
        ),
    ),
)

THEME = Theme(
    "score_functions",
    Both("Dot product or additive", "点积还是加性"),
    (FORMULA, COST, CODE, LINEAR, PARAMETERS, FOUND, SMALL),
)
