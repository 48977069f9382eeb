"""Several heads: their purpose and their costs. Questions 41 to 45 and 47 to 50."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from inspector import block, compare, costs, head_distances, heads, interventions
from inspector.costs import clock
from inspector.interventions import importance
from inspector.interventions.importance import Importance
from inspector.probe import record_blocks
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below, equal, near
from inspector.questions.record.kinds import ANY
from inspector.questions.record.measured import OTHERS, SMALL
from inspector.questions.record.papers import (
    BHOJANAPALLI_2020,
    CLARK_2019,
    MICHEL_2019,
    VASWANI_2017,
    VOITA_2019,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
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
from inspector.questions.themes.queries import SEES_QUERIES, layers_of, of_each_head
from inspector.questions.themes.together import sentences
from inspector.questions.themes.trained import (
    Pair,
    courses_drawn,
    ends,
    from_seeds,
    joined,
    last_loss,
    loss_of,
    train_both,
)
from inspector.scores import of_product
from inspector.trace import recompute
from models.attention.dropping import ModelHead
from models.training.tiny.experiments import Experiment, Switches
from models.transformer.config import TransformerConfig
from models.transformer.multi_head import MultiHeadAttention

Floats = NDArray[np.float64]

MOST_DROPPED = 96  # heads that are left out one by one, a run of the model for each
MOST_TOKENS_DROPPED = 3000  # read in all these runs together
LABELS = {
    "previous": Both("previous token", "前一个 token"),
    "next": Both("next token", "后一个 token"),
    "self": Both("itself", "自身"),
    "first": Both("first token", "第一个 token"),
    "[CLS]": Both("[CLS]", "[CLS]"),
    "[SEP]": Both("[SEP]", "[SEP]"),
    "induction": Both("induction", "归纳头"),
    "same word": Both("same word", "同一个词"),
    "broad": Both("broad", "分散"),
    "other": Both("none that has a name", "说不出名字"),
}


# --- what the questions share --------------------------------------------------------------------------------------


def importances(subject: Subject) -> list[Importance]:
    """Leave out each head alone and measure the change of the output; of many heads, some that are evenly spaced."""

    def make() -> list[Importance]:
        every = interventions.every_head(subject.trace)
        most = max(24, min(MOST_DROPPED, MOST_TOKENS_DROPPED // len(subject.trace.tokens)))
        chosen = np.unique(np.linspace(0, len(every) - 1, min(len(every), most)).round().astype(int))
        return list(importance.measure(subject.loaded, subject.trace, heads=[every[at] for at in chosen]))

    return subject.once("importance of heads", make)


@dataclass(frozen=True)
class HeadOutputs:
    """The outputs of one layer's heads, as they enter the residual stream.

    mixes: A V of each head, float64 [H, Q, E]. out: the rows of W_O for each head, [H, E, D].
    """

    layer: int
    mixes: Floats
    out: Floats

    @property
    def each(self) -> Floats:
        """head_i W_O^i, [H, Q, D]."""
        return self.mixes @ self.out


def head_outputs(subject: Subject) -> HeadOutputs:
    """The head outputs of one layer, the middle of the layers whose W_O was seen.

    Raises ValueError where no W_O was seen, and for a layer of a single head.
    """

    def make() -> HeadOutputs:
        trace, loaded = subject.trace, subject.loaded
        stream = trace.streams[0]
        blocks = subject.once("blocks", partial(record_blocks, loaded, trace))
        matrices = {layer.layer: layer.matrix("out") for layer in blocks.of(stream)}
        layers = [
            site.layer for site in trace.sites_of(stream) if not site.call and matrices.get(site.layer) is not None
        ]
        if not layers:
            raise UnanswerableError(
                f"No matrix W_O was seen in the layers of {loaded.card.id}.",
                f"没有看到 {loaded.card.id} 各层的 W_O 矩阵。",
            )
        layer = layers[len(layers) // 2]
        matrix, record = matrices[layer], trace.record_of(layer, stream)
        assert matrix is not None
        out = matrix.weight(loaded.network).double().cpu().numpy()
        count, width = len(record.query), record.value.shape[-1]
        if count < 2:
            raise UnanswerableError(
                f"Layer {layer} of {loaded.card.id} has one head; choose a model with several.",
                f"{loaded.card.id} 的第 {layer} 层只有一个头，请选择多头的模型。",
            )
        if len(out) != count * width:
            raise UnanswerableError(
                f"W_O of layer {layer} of {loaded.card.id} does not split into its {count} heads.",
                f"{loaded.card.id} 第 {layer} 层的 W_O 不能分成 {count} 个头。",
            )
        places = range(len(record.site.queries))
        mixes = np.stack([block.mixed(trace, stream=stream, layer=layer, position=at) for at in places], axis=1)
        return HeadOutputs(layer, mixes, out.reshape(count, width, -1))

    return subject.once("heads as written", make)


# --- 41, 42: what heads do -----------------------------------------------------------------------------------------


def _different(subject: Subject) -> Measurement:
    trace = subject.trace
    stream = trace.streams[0]
    if len(trace.sites_of(stream)[0].keys) < 2:
        raise UnanswerableError(
            "The text has one token, so all heads look at it; write a longer one.",
            "该文本只有一个 token，所有头都只能看它，请写长一些。",
        )
    apart = head_distances.measure(trace, stream=stream, work=40_000_000).values
    if len(apart) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one head, and nothing to compare it with.",
            f"{subject.loaded.card.id} 只有一个头，没有可以比较的对象。",
        )
    among = apart[~np.eye(len(apart), dtype=bool)]
    chosen = heads.with_choice(subject.heads, trace)
    labels = chosen.loc[chosen["stream"] == stream, "label"]
    counts = labels.value_counts()
    named = 1 - float(labels.isin(["other", "broad"]).mean())
    names = [name for name in LABELS if name in counts]
    picture = Bars(
        [LABELS[name] for name in names],
        [float(counts[name]) for name in names],
        Both("heads, by what they mostly look at", "各头主要看什么（头数）"),
    )
    return Measurement({"apart": float(among.mean()), "nearest": float(among.min()), "named": named}, picture)


DIFFERENT = Question(
    41,
    asked=Both(
        "Why several heads? Does each learn something of its own?", "为什么要用多头？每个头学到的东西都不同吗？"
    ),
    claim=Both(
        "Like the kernels of a CNN, heads attend in different subspaces: each finds a relation of its own, such as "
        "syntax or reference.",
        "就像 CNN 的多个卷积核，多头在不同的子空间里做注意力：每个头捕捉一种关系，如句法、指代。",
    ),
    parts=(
        ClaimPart(
            Both("On the whole, heads look at different tokens.", "总体上，各个头看的 token 不同。"),
            (at_least("apart", 0.1),),
        ),
        ClaimPart(
            Both("No two heads look at the same.", "没有两个头看的东西一样。"),
            (at_least("nearest", 0.05),),
        ),
        ClaimPart(
            Both("Each head has a task that can be named.", "每个头的分工都说得出名字。"),
            (at_least("named", 0.9),),
        ),
    ),
    measure=_different,
    numbers={
        "apart": Label(Both("distance of two heads, mean", "两个头之间的距离，均值"), Both("nats", "nat")),
        "nearest": Label(Both("distance of the two nearest heads", "最接近的两个头的距离"), Both("nats", "nat")),
        "named": Label(Both("heads with a pattern that has a name", "模式说得出名字的头"), "%"),
    },
    setting=Both(
        "All heads of self-attention on this text, of the encoder where there is one. Distance: Jensen-Shannon "
        "divergence of the rows, from 0 to 0.69. Named: more than half of the weight on the previous or next token, "
        "itself, a special token, a repeated token's successor or the same word (thresholds of Clark et al.).",
        "该文本上自注意力的所有头，有编码器时取编码器的。距离：各行权重的 JS 散度，取值 0 到 0.69。说得出名字："
        "一半以上的权重落在前一个或后一个 token、自身、特殊 token、重复 token 的后继或同一个词上（阈值取自 Clark "
        "等人）。",
    ),
    because=Both(
        "Different subspaces are the paper's motive, not something that training is asked for: nothing in the loss "
        "makes heads differ. Heads that do something clear were found one by one and are shown again and again; the "
        "many that do nothing nameable are not.",
        "“不同子空间”是原论文的动机，训练目标并不要求这一点：损失函数里没有任何一项让各头不同。"
        "分工清楚的头是人们一个个找出来、反复展示的；大多数说不清在做什么的头没有人展示。",
    ),
    refuted=Both(
        "A model in which all heads attend alike, or in which every head has a pattern with a name.",
        "如果某个模型的所有头看的都一样，或者每个头的模式都说得出名字，判断就会改变。",
    ),
    formula=r"\mathrm{JS}(A^{(a)}, A^{(b)}): \quad <apart> \;(\varnothing), \qquad <nearest> \;(\min)",
    papers=(VASWANI_2017, CLARK_2019, VOITA_2019),
    see=PageLink(""),
    of=ANY,
)


def _needed(subject: Subject) -> Measurement:
    moved = np.array([head.moved for head in importances(subject)])
    ordered = np.sort(moved)[::-1]
    picture = Lines(
        (
            Series(
                Both("output moved without the head", "去掉该头后输出的变化"),
                list(range(1, len(ordered) + 1)),
                np.maximum(ordered, 1e-9).tolist(),
            ),
        ),
        x_title=Both("heads, the most important first", "各头，按重要性从高到低"),
        y_title=Both("1 − cosine", "1 − 余弦"),
        log_y=True,
        mark_y=0.01,
    )
    return Measurement(
        {
            "median": float(np.median(moved)),
            "largest": float(moved.max()),
            "small": float((moved < 0.01).mean()),
        },
        picture,
    )


NEEDED = Question(
    42,
    asked=Both("Can heads be left out?", "可以去掉一些头吗？"),
    claim=Both(
        "Many heads can be left out, and only some matter.",
        "很多头可以去掉，只有一部分头重要。",
    ),
    parts=(
        ClaimPart(
            Both("Without a typical head the output stays nearly as it is.", "去掉一个普通的头，输出几乎不变。"),
            (below("median", 0.01),),
        ),
        ClaimPart(
            Both("At least half of the heads are like this.", "至少一半的头都是这样。"),
            (at_least("small", 0.5),),
        ),
    ),
    measure=_needed,
    numbers={
        "median": Label(Both("output moved without one head, median", "去掉一个头后输出的变化，中位数")),
        "largest": Label(Both("output moved without one head, largest", "去掉一个头后输出的变化，最大值")),
        "small": Label(Both("heads without which it moves less than 0.01", "去掉后变化小于 0.01 的头"), "%"),
    },
    setting=Both(
        "Each head is left out alone and the text read again; of a large model or a long text some heads, evenly "
        "spaced. Moved: 1 − cosine of the last state, mean over tokens.",
        "每次去掉一个头，重新读一遍文本；模型大或文本长时，均匀抽取部分头。变化：最后一层状态的 1 − 余弦，对 token "
        "取平均。",
    ),
    because=Both(
        "Other heads and the residual stream carry much of the same, and heads are not trained to be indispensable. "
        "One head alone says little about many at once: see the finding on leaving out 20 to 40 %.",
        "其他头和残差连接传递了很多相同的信息，训练也不要求每个头不可或缺。"
        "单独去掉一个头和同时去掉很多头不是一回事：见“去掉 20% 到 40% 的头”那条发现。",
    ),
    refuted=Both(
        "A trained model in which most single heads move the output when they are left out.",
        "如果在训练好的模型中，去掉大多数单个头都会使输出明显变化，判断就会改变。",
    ),
    formula=r"1 - \cos(h, h_{\xi_i = 0}): \quad <median> \;(50\,\%), \qquad <largest> \;(\max)",
    papers=(MICHEL_2019, VOITA_2019),
    see=PageLink("what_if", {"part": "Drop heads"}),
    of=ANY,
)


# --- 43: robustness ------------------------------------------------------------------------------------------------

_SEEDS = 3
_SEVERAL_AND_ONE = Experiment(seeds=_SEEDS, a=Switches(), b=Switches(heads=1))


def _ensemble(subject: Subject) -> Measurement:
    outputs = head_outputs(subject)
    each = outputs.each
    units = each / np.maximum(np.linalg.norm(each, axis=-1, keepdims=True), 1e-30)
    count = len(units)
    cosines = np.einsum("aqd,bqd->ab", units, units) / units.shape[1]
    alike = float((cosines.sum() - np.trace(cosines)) / (count * (count - 1)))
    stream = subject.trace.streams[0]
    every = [ModelHead(stream, outputs.layer, head) for head in range(count)]

    def moved(dropped: list[ModelHead]) -> float:
        change = interventions.drop(subject.loaded, subject.trace, heads=dropped)
        return float(compare.moved(change.before, change.after).mean())

    chosen = every[:: max(1, count // 8)]
    alone, layer = float(np.mean([moved([head]) for head in chosen])), moved(every)
    several, single = loss_of(subject, Switches()), loss_of(subject, Switches(heads=1))
    names = [str(head) for head in range(count)]
    picture = Heatmap(
        cosines.astype(np.float32),
        rows=names,
        columns=names,
        row_title=Both("head", "头"),
        column_title=Both("head", "头"),
        quantity=Both("cosine of what two heads write", "两个头写入内容的余弦"),
        diverging=True,
    )
    numbers = {
        "alike": alike,
        "one": alone,
        "layer": layer,
        "several": several[-1],
        "single": single[-1],
    }
    return Measurement(numbers, picture)


def _several_and_one(subject: Subject, watch: Watch) -> Measurement:
    """Train with four heads and with one, from three seeds each."""
    courses = train_both(_SEVERAL_AND_ONE, watch)
    several, single = ends(courses, last_loss)
    picture = courses_drawn(courses, (Both("4 heads", "4 个头"), Both("1 head", "1 个头")), log_y=True)
    return Measurement(
        {
            "several": float(np.mean(several)),
            "single": float(np.mean(single)),
            "several_spread": max(several) - min(several),
            "single_spread": max(single) - min(single),
        },
        picture,
    )


ENSEMBLE = Question(
    43,
    asked=Both(
        "Do several heads make a model more robust, like an ensemble?",
        "多头像集成学习一样，让模型更稳健吗？",
    ),
    claim=Both(
        "Several heads are an ensemble: training is more stable and does not end in a bad local optimum, and the "
        "model is more robust.",
        "多头相当于集成：训练更稳定，不容易陷入局部最优，模型更稳健。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Losing one head of a layer costs less than half of losing them all.",
                "一层中少一个头，影响不到失去全部头的一半。",
            ),
            (below("one", "layer", times=0.5),),
        ),
        ClaimPart(
            Both(
                "As in an ensemble, each head gives an estimate of the same.",
                "像集成一样，各个头给出的是同一个量的估计。",
            ),
            (at_least("alike", 0.5),),
        ),
        ClaimPart(
            Both("Several heads learn faster than one.", "多个头比一个头学得快。"),
            (below("several", "single"),),
        ),
    ),
    measure=_ensemble,
    numbers={
        "one": Label(Both("output moved without one head of the layer, mean", "少一个头时输出的变化，均值")),
        "layer": Label(Both("output moved without all heads of the layer", "该层的头全部去掉时输出的变化")),
        "alike": Label(Both("cosine of what two heads write, mean", "两个头写入内容的余弦，均值")),
        "several": Label(
            Both("loss with 4 heads after 120 steps", "4 个头训练 120 步后的损失"), Both("nats", "nat"), of=SMALL
        ),
        "single": Label(
            Both("loss with 1 head after 120 steps", "1 个头训练 120 步后的损失"), Both("nats", "nat"), of=SMALL
        ),
    },
    setting=Both(
        "The middle layer whose W_O was seen: head_i W_O^i of each head on this text, and the text read without one "
        "head (at most 15 are tried), and without all. Training: the Lab's Transformer (2 layers, d = 48) turns 4 "
        "digits around, 120 steps, seed 0.",
        "取能看到 W_O 的中间一层：每个头在该文本上的 head_i W_O^i，以及去掉一个头（最多试 15 个）和去掉全部头时的结果。"
        "训练：用 Lab 的 Transformer（2 层，d = 48）把 4 个数字逆序输出，120 步，种子 0。",
    ),
    because=Both(
        "An ensemble averages estimates that were made apart. Heads are trained together, on one loss, and their "
        "results are added through W_O: each writes a part of the answer. That a model bears the loss of a head is "
        "true of many networks, and says nothing about training.",
        "集成是对各自独立得到的估计取平均。而各个头共用一个损失、一起训练，结果经 W_O 相加：每个头只写答案的一部分。"
        "少一个头模型也能承受，许多网络都是如此，这并不能说明训练更稳定。",
    ),
    refuted=Both(
        "Heads that write nearly the same vector; or trainings from many seeds that end alike with several heads and "
        "apart with one.",
        "如果各个头写入的向量几乎相同，或者多个种子的训练在多头时结果一致、单头时差别很大，判断就会改变。",
    ),
    formula=r"\cos(h_a W_O^{(a)}, h_b W_O^{(b)}) = <alike>, \qquad <one> \;(1), \; <layer> \;(H)",
    papers=(VASWANI_2017, MICHEL_2019),
    see=PageLink("lab", {"lab_seeds": "3", "lab_b_positions": "sinusoidal", "lab_b_heads": "1"}),
    of=SEES_QUERIES,
    whole=joined(
        LongExperiment(
            run=_several_and_one,
            about=Both(
                "The Lab's Transformer (2 layers, d = 48) learns to turn 8 digits around, 300 steps, with 4 heads and "
                "with 1, from 3 seeds each; about 15 seconds on one core.",
                "用 Lab 的 Transformer（2 层，d = 48）学习把 8 个数字倒过来，300 步，4 个头和 1 个头各用 3 个种子；"
                "单核约 "
                "15 秒。",
            ),
            parts=(
                ClaimPart(
                    Both("Several heads end at a lower loss than one.", "多头最终的损失低于单头。"),
                    (below("several", "single"),),
                ),
                ClaimPart(
                    Both("With several heads the seeds end closer together.", "多头时，不同种子的结果更接近。"),
                    (below("several_spread", "single_spread"),),
                ),
            ),
            numbers={
                "several": Label(
                    Both("loss with 4 heads, mean of seeds", "4 个头的损失，各种子均值"), Both("nats", "nat")
                ),
                "single": Label(
                    Both("loss with 1 head, mean of seeds", "1 个头的损失，各种子均值"), Both("nats", "nat")
                ),
                "several_spread": Label(
                    Both("largest less smallest loss, 4 heads", "最大与最小损失之差，4 个头"), Both("nats", "nat")
                ),
                "single_spread": Label(
                    Both("largest less smallest loss, 1 head", "最大与最小损失之差，1 个头"), Both("nats", "nat")
                ),
            },
            stored=StoredRun(
                {"several": 0.00625, "single": 0.00621, "several_spread": 0.00088, "single_spread": 0.00078},
                command="python -m inspector.questions --only 43 --whole",
                seeds="0, 1, 2",
                date="2026-11-23",
            ),
        ),
        from_seeds(
            43,
            [
                Pair(
                    "early",
                    Switches(),
                    Switches(heads=1),
                    Both(
                        "After 120 steps several heads are ahead, from every seed.",
                        "训练 120 步时，每个种子下都是多头领先。",
                    ),
                    Both("loss with 1 head less that with 4, 120 steps", "120 步时 1 个头的损失减 4 个头的损失"),
                )
            ],
            {"early_least": -0.204, "early_most": -0.006},
        ),
    ),
)


# --- 44 to 48: widths and costs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AttentionCost:
    """The costs of one layer's attention. products: FLOPs of all matrix products; core: of scores and mix alone."""

    products: int
    core: int
    softmax: int
    parameters: int
    matrices: int


def _cost(*, width: int, count: int, each: int, tokens: int) -> _AttentionCost:
    """Count one layer's attention with `count` heads of width `each`, without biases."""
    config = TransformerConfig(
        vocabulary=1, layers=1, width=width, heads=count, head_size=each, ffn_width=1, max_positions=1, bias=False,
        positions="none",
    )  # fmt: skip
    table = costs.breakdown(config, tokens=tokens)
    table = table[table["part"] == "attention"]
    products = table[table["kind"] == "matmul"]
    core = products[products["component"].isin(["scores", "mix"])]
    return _AttentionCost(
        products=int(products["flops"].sum()),
        core=int(core["flops"].sum()),
        softmax=int(table.loc[table["component"] == "softmax", "flops"].sum()),
        parameters=int(table["parameters"].sum()),
        matrices=int((products["parameters"] > 0).sum()),
    )


@dataclass(frozen=True)
class _ModelSizes:
    """The sizes of the reader's model and text."""

    width: int
    count: int
    key: int
    value: int
    tokens: int


def _sizes(subject: Subject) -> _ModelSizes:
    trace = subject.trace
    site = trace.sites_of(trace.streams[0])[0]
    record = trace.record_of(site.layer, site.stream, call=site.call)
    return _ModelSizes(
        trace.hidden.shape[-1], site.heads, record.query.shape[-1], record.value.shape[-1], len(site.keys)
    )  # fmt: skip


_WIDTHS = {
    "joined": Label(Both("width of all heads together", "各头合起来的宽度")),
    "width": Label(Both("width of the model, d", "模型宽度 d")),
}


def _widths(subject: Subject) -> Measurement:
    paper = TransformerConfig(vocabulary=1, layers=1, width=512, heads=8, ffn_width=2048, max_positions=1)
    here = _sizes(subject)
    return Measurement(
        {
            "paper": float(paper.head_width),
            "key": float(here.key),
            "value": float(here.value),
            "joined": float(here.count * here.key),
            "width": float(here.width),
        }
    )


WIDTHS = Question(
    44,
    reads_text=False,
    asked=Both("How wide is a head with h = 8 and d = 512?", "h = 8、d = 512 时，每个头有多宽？"),
    claim=Both("d_k = d_v = d / h = 64.", "d_k = d_v = d/h = 64。"),
    parts=(
        ClaimPart(Both("512 / 8 is 64.", "512/8 = 64。"), (equal("paper", 64),)),
        ClaimPart(Both("In this model too, d_k = d_v.", "在该模型中同样有 d_k = d_v。"), (equal("key", "value"),)),
        ClaimPart(Both("In this model too, h · d_k = d.", "在该模型中同样有 h·d_k = d。"), (equal("joined", "width"),)),
    ),
    measure=_widths,
    numbers={
        "paper": Label(Both("d_k for h = 8, d = 512", "h = 8、d = 512 时的 d_k"), of=OTHERS),
        "key": Label(Both("d_k of this model", "该模型的 d_k")),
        "value": Label(Both("d_v of this model", "该模型的 d_v")),
        **_WIDTHS,
    },
    setting=Both(
        "The paper's sizes in Headlight's own Transformer; and the queries, keys and values of this model as recorded.",
        "用 Headlight 自己的 Transformer 取原论文的尺寸；以及该模型记录下来的查询、键和值。",
    ),
    because=Both(
        "It is a choice, made so that several heads cost what one of full width would. T5-11B chose h · d_k = 16 d; "
        "nothing breaks, for W_O maps back to d.",
        "这是一种选择，为的是让多头的开销与一个全宽的头相同。T5-11B 的 h·d_k 是 d 的 16 倍，也没有问题，因为 W_O "
        "会映射回 d。",
    ),
    refuted=Both("A count of a head's numbers other than d / h.", "如果数出来的头宽度不是 d/h，判断就会改变。"),
    formula=r"d_k = \frac{512}{8} = <paper>, \qquad h\, d_k = <joined>, \; d = <width>",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "Heads"}),
    of=SEES_QUERIES,
)

_D, _N = 512, 128  # of the paper's base model, and of the texts for which its costs are counted


def _run_products(heads: int) -> int:
    """Count the FLOPs of the matrix products that a layer's attention really runs on N tokens of width D."""
    with torch.random.fork_rng(devices=[]):
        attention = MultiHeadAttention(_D, heads, bias=False)
    with torch.inference_mode(), FlopCounterMode(display=False) as counted:
        attention(torch.zeros(1, _N, _D))
    return counted.get_total_flops()


def _same_cost(subject: Subject) -> Measurement:
    single, eight = (_cost(width=_D, count=h, each=_D // h, tokens=_N) for h in (1, 8))
    full = _cost(width=_D, count=8, each=_D, tokens=_N)
    longer = _cost(width=_D, count=1, each=_D, tokens=2 * _N)
    wider = _cost(width=2 * _D, count=1, each=2 * _D, tokens=_N)
    run = subject.cached("attention counted", lambda: [_run_products(heads) for heads in (1, 8, 64)])
    picture = Bars(
        (
            Both("1 head of 512", "1 个头，宽 512"),
            Both("8 heads of 64", "8 个头，宽 64"),
            Both("64 heads of 8", "64 个头，宽 8"),
            Both("8 heads of 512", "8 个头，宽 512"),
        ),
        [*(float(flops) for flops in run), float(full.products)],
        Both("FLOPs of attention's matrix products", "注意力矩阵乘法的 FLOPs"),
        parts=("attention",) * 4,
    )
    return Measurement(
        {
            "one": float(run[0]),
            "eight": float(run[1]),
            "many": float(run[2]),
            "full": float(full.products),
            "parameters": float(eight.parameters),
            "formula": float(eight.products),
            "by_width": math.log2(wider.core / single.core),
            "by_length": math.log2(longer.core / single.core),
            "matrices": float(eight.matrices),
        },
        picture,
    )


SAME_COST = Question(
    45,
    reads_text=False,
    asked=Both("Why are heads made narrower, and what do they cost then?", "多头为什么要降维？降维之后复杂度是多少？"),
    claim=Both(
        "To keep the cost: h heads of width d / h cost what one head of width d costs. Attention is O(d²), h heads are "
        "O(h d²), and two matrices that reduce d to d' = d / h leave O(h d'²).",
        "为了不增加计算量：h 个宽度为 d/h 的头，开销与一个宽度为 d 的头相同。注意力的复杂度是 O(d²)，h 个头是 O(h d²)；"
        "用两个矩阵把 d 降到 d' = d/h 之后是 O(h d'²)。",
    ),
    parts=(
        ClaimPart(
            Both("8 heads cost what 1 head costs, in matrix products.", "8 个头的矩阵乘法量与 1 个头相同。"),
            (equal("eight", "one"),),
        ),
        ClaimPart(Both("64 heads do too.", "64 个头也一样。"), (equal("many", "one"),)),
        ClaimPart(
            Both("8 heads of full width would cost 8 times as much.", "8 个不降维的头，开销是 8 倍。"),
            (near("full", "one", times=8, within=1e-9),),
        ),
        ClaimPart(
            Both(
                "It is O(d²) whatever the length: scores and mix grow with the square of d, and not with n.",
                "与长度无关，是 O(d²)：分数与加权求和随 d 的平方增长，不随 n 增长。",
            ),
            (near("by_width", 2, within=0.1), below("by_length", 0.1)),
        ),
        ClaimPart(
            Both(
                "O(h d'²): after the reduction 8 heads cost less than half of one.",
                "O(h d'²)：降维后，8 个头的开销不到一个头的一半。",
            ),
            (below("eight", "one", times=0.5),),
        ),
        ClaimPart(Both("The reduction takes two matrices.", "降维用两个矩阵。"), (equal("matrices", 2),)),
    ),
    measure=_same_cost,
    numbers={
        "one": Label(Both("attention with 1 head, run and counted", "1 个头的注意力，运行计数"), "FLOPs"),
        "eight": Label(Both("attention with 8 heads, run and counted", "8 个头的注意力，运行计数"), "FLOPs"),
        "many": Label(Both("attention with 64 heads, run and counted", "64 个头的注意力，运行计数"), "FLOPs"),
        "full": Label(Both("attention with 8 heads of full width", "8 个全宽的头的注意力"), "FLOPs"),
        "parameters": Label(Both("parameters of 8 heads", "8 个头的参数量")),
        "formula": Label(Both("8 n d² + 4 n² d", "8nd² + 4n²d"), "FLOPs"),
        "by_width": Label(Both("power of d in scores and mix", "分数与加权求和中 d 的次数")),
        "by_length": Label(Both("power of n in scores and mix", "分数与加权求和中 n 的次数")),
        "matrices": Label(Both("matrices of a layer's attention", "一层注意力的矩阵个数")),
    },
    setting=Both(
        "One layer with the paper's d = 512, n = 128 tokens, no biases, run with 1, 8 and 64 heads while PyTorch's "
        "FLOP "
        "counter counts; then d or n doubled, by formulas. No trained model takes part, for weights do not change a "
        "count. The orders of h are from an interview note.",
        "原论文 d = 512 的一层，n = 128 个 token，不含偏置，分别用 1、8、64 个头运行，由 PyTorch 的 FLOP 计数器计数；"
        "再用公式把 d 或 n 加倍。权重不影响计数，所以不涉及训练好的模型。含 h 的几个复杂度出自面试笔记。",
    ),
    because=Both(
        "All h heads together have h · d/h = d columns, so the projections stay d × d, and h maps of n² scores of d/h "
        "products each make n² d. The note's orders count one token's projection and forget that every token meets "
        "every other: all in all it is 8 n d² + 4 n² d, with W_Q, W_K, W_V and W_O, and that for any h with h d' = d.",
        "h 个头合起来有 h·d/h = d 列，所以投影仍是 d×d；h 张 n² 的分数图，每个分数 d/h 次乘法，总共还是 n²d。"
        "笔记里的式子只算了单个 token 的投影，漏掉了 token 两两计算的 n² 项：总量是 8nd² + 4n²d，含 W_Q、W_K、W_V、W_O "
        "四个矩阵，只要 h d' = d 就与 h 无关。",
    ),
    refuted=Both(
        "A run whose multiplications grow with h while h · d_k stays d, or scores and mix that do not change with n.",
        "如果在 h·d_k = d 不变时乘法次数随 h 增长，或者分数与加权求和不随 n 变化，判断就会改变。",
    ),
    formula=r"8 n d^2 + 4 n^2 d = <formula>, \qquad h = 8, d_k = d: \; <full>, \qquad "
    r"4 n^{a} d^{b}: \; a = <by_length>, \; b = <by_width>",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "Heads"}),
)


def _as_costly(subject: Subject) -> Measurement:
    here = _sizes(subject)
    several = _cost(width=here.width, count=here.count, each=here.key, tokens=here.tokens)
    single = _cost(width=here.width, count=1, each=here.count * here.key, tokens=here.tokens)
    picture = Bars(
        (
            Both("products, 1 head", "乘法，1 个头"),
            Both("products, all heads", "乘法，多头"),
            Both("softmax, 1 head", "softmax，1 个头"),
            Both("softmax, all heads", "softmax，多头"),
        ),
        [float(flops) for flops in (single.products, several.products, single.softmax, several.softmax)],
        Both("FLOPs of one layer's attention on this text", "一层注意力在该文本上的 FLOPs"),
        log=True,
    )
    return Measurement(
        {
            "several": float(several.products),
            "single": float(single.products),
            "softmax_several": float(several.softmax),
            "softmax_single": float(single.softmax),
        },
        picture,
    )


def _by_clock(subject: Subject, watch: Watch) -> Measurement:
    """Time scores, softmax and mix of one layer with 1, 8 and 64 heads."""
    counts = (1, 8, 64)
    measured = clock.measure_heads(_D, counts, tokens=512, repeats=5, on_progress=watch)
    seconds = {
        count: timed.table.set_index("part")["seconds"][["scores", "softmax", "mix"]]
        for count, timed in measured.items()
    }
    milliseconds = {count: 1000 * float(each.sum()) for count, each in seconds.items()}
    picture = Bars(
        [Both(f"{count} heads", f"{count} 个头") if count > 1 else Both("1 head", "1 个头") for count in counts],
        [milliseconds[count] for count in counts],
        Both("milliseconds of scores, softmax and mix", "分数、softmax 与加权求和的毫秒数"),
    )
    return Measurement({"one": milliseconds[1], "eight": milliseconds[8], "many": milliseconds[64]}, picture)


AS_COSTLY = Question(
    47,
    asked=Both("Does multi-head attention cost more than a single head?", "多头注意力比单头更费计算吗？"),
    claim=Both(
        "It costs the same as a single head of the same total width.",
        "多头与总宽度相同的单头，计算量相同。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Matrix products take as many FLOPs with several heads as with one.",
                "多头与单头的矩阵乘法 FLOPs 相同。",
            ),
            (equal("several", "single"),),
        ),
        ClaimPart(
            Both("The softmax does too.", "softmax 也相同。"),
            (equal("softmax_several", "softmax_single"),),
        ),
    ),
    measure=_as_costly,
    numbers={
        "several": Label(Both("matrix products, the model's heads", "矩阵乘法，模型的各头"), "FLOPs"),
        "single": Label(Both("matrix products, one head as wide as all", "矩阵乘法，一个同样总宽的头"), "FLOPs"),
        "softmax_several": Label(Both("softmax, the model's heads", "softmax，模型的各头"), "FLOPs"),
        "softmax_single": Label(Both("softmax, one head", "softmax，一个头"), "FLOPs"),
    },
    setting=Both(
        "One layer of this model's width and heads, with a key and a value for each head, on as many tokens as this "
        "text has; beside it one head as wide as all together. Counted, without biases; 5 FLOPs for each cell of a "
        "softmax.",
        "取该模型的宽度和头数（每个头有自己的键和值）的一层，token 数与该文本相同；旁边是一个同样总宽的单头。"
        "公式计数，不含偏置；softmax 每个位置对计 5 FLOPs。",
    ),
    because=Both(
        "Others say that more heads add cost, and each is right about something else. The products are the same, but "
        "each head has a map of n² cells of its own, so the softmax has h n² to do. These cells have to be written and "
        "read, which shows on the clock and not in FLOPs.",
        "也有人说头越多计算量越大，两种说法说的不是一回事。矩阵乘法量相同；但每个头有自己的 n² 个位置对，"
        "softmax 要算 h n² 个。这些权重要写入、读出内存，计时看得出来，FLOPs 看不出来。",
    ),
    refuted=Both(
        "Matrix products that grow with h, or a softmax that does not.",
        "如果矩阵乘法量随 h 增长，或者 softmax 的量不随 h 增长，判断就会改变。",
    ),
    formula=r"8 n d^2 + 4 n^2 d = <several>, \qquad 5 h n^2 = <softmax_several>, \; 5 n^2 = <softmax_single>",
    papers=(VASWANI_2017,),
    see=PageLink("costs", {"section": "Heads"}),
    of=SEES_QUERIES,
    whole=LongExperiment(
        run=_by_clock,
        about=Both(
            "Scores, softmax and mix of one layer (d = 512, 512 tokens, random numbers) on this machine's clock, with "
            "1, 8 and 64 heads, medians of 5 runs; a few seconds.",
            "在本机上给一层的分数、softmax 与加权求和计时（d = 512，512 个 token，随机数），1、8、64 个头，取 5 "
            "次的中位数；几秒钟。",
        ),
        parts=(
            ClaimPart(
                Both("8 heads take as long as 1, within a quarter.", "8 个头与 1 个头用时相差不到四分之一。"),
                (below("eight", "one", times=1.25),),
            ),
            ClaimPart(
                Both("64 heads do too.", "64 个头也一样。"),
                (below("many", "one", times=1.25),),
            ),
        ),
        numbers={
            "one": Label(
                Both("scores, softmax and mix, 1 head", "分数、softmax 与加权求和，1 个头"), Both("ms", "毫秒")
            ),
            "eight": Label(
                Both("scores, softmax and mix, 8 heads", "分数、softmax 与加权求和，8 个头"), Both("ms", "毫秒")
            ),
            "many": Label(
                Both("scores, softmax and mix, 64 heads", "分数、softmax 与加权求和，64 个头"), Both("ms", "毫秒")
            ),
        },
        stored=StoredRun(
            {"one": 5.2, "eight": 7.6, "many": 79.3},
            command="python -m inspector.questions --only 47 --whole",
            seeds="0",
            date="2026-11-23",
        ),
    ),
)


def _reduction(subject: Subject) -> Measurement:
    here = _sizes(subject)
    picture = Bars(
        (Both("a head", "一个头"), Both("all heads side by side", "各头拼接"), Both("behind W_O", "W_O 之后")),
        [float(here.value), float(here.count * here.value), float(here.width)],
        Both("width", "宽度"),
    )
    return Measurement(
        {"head": float(here.value), "joined": float(here.count * here.value), "width": float(here.width)}, picture
    )


REDUCTION = Question(
    48,
    reads_text=False,
    asked=Both("Are heads concatenated and then reduced to d?", "多头是先拼接、再降维到 d 吗？"),
    claim=Both(
        "The heads are concatenated to h · d, and W_O reduces that to d.",
        "把 h 个头拼接成 h·d 维，再用 W_O 降到 d 维。",
    ),
    parts=(
        ClaimPart(
            Both("The concatenation is wider than the model.", "拼接之后比模型宽度 d 更宽。"),
            (above("joined", "width"),),
        ),
        ClaimPart(
            Both("Until then each head is as wide as the model.", "在此之前，每个头与模型一样宽。"),
            (at_least("head", "width"),),
        ),
    ),
    measure=_reduction,
    numbers={"head": Label(Both("width of one head", "一个头的宽度")), **_WIDTHS},
    setting=Both(
        "The values of this model's heads as recorded, and the width of its states.",
        "该模型记录下来的各头的值，以及状态的宽度。",
    ),
    because=Both(
        "The reduction comes before: W_Q, W_K and W_V lead from d to d / h for each head. Side by side the heads have "
        "d again, and W_O is d × d: it mixes heads and reduces nothing.",
        "降维在前面：W_Q、W_K、W_V 把每个头从 d 降到 d/h。拼接后又是 d 维，W_O 是 d×d：它混合各头，不降维。",
    ),
    refuted=Both(
        "A standard Transformer whose heads side by side are wider than d.",
        "如果标准 Transformer 各头拼接后比 d 更宽，判断就会改变。",
    ),
    formula=r"h \, d_v = <joined>, \qquad d = <width>",
    papers=(VASWANI_2017,),
    see=PageLink("block", {"section": "One token's way"}),
    of=SEES_QUERIES,
)


# --- 49, 50: how heads are put together ----------------------------------------------------------------------------


def _merge(subject: Subject) -> Measurement:
    outputs = head_outputs(subject)
    mixes, out = outputs.mixes, outputs.out
    count, queries, width = mixes.shape
    joined = mixes.transpose(1, 0, 2).reshape(queries, count * width)
    concat = joined @ out.reshape(count * width, -1)
    added = outputs.each.sum(axis=0)
    size = max(float(np.linalg.norm(concat)), 1e-30)
    plain = mixes.sum(axis=0) @ out[0]
    order = [1, 0, *range(2, count)]
    swapped = mixes[order]
    concat_swapped = np.einsum("hqe,hed->qd", swapped, out)
    plain_swapped = swapped.sum(axis=0) @ out[0]
    numbers = {
        "difference": float(np.linalg.norm(concat - added)) / size,
        "swap_concat": float(np.linalg.norm(concat_swapped - concat)) / size,
        "swap_sum": float(np.linalg.norm(plain_swapped - plain)) / max(float(np.linalg.norm(plain)), 1e-30),
        "rank_concat": float(np.linalg.matrix_rank(out.reshape(count * width, -1))),
        "rank_sum": float(np.linalg.matrix_rank(out[0])),
    }
    picture = Bars(
        [str(head) for head in range(count)],
        np.linalg.norm(outputs.each, axis=-1).mean(axis=-1).tolist(),
        Both("length of head_i W_O^i, mean over tokens", "head_i W_O^i 的长度，对 token 取平均"),
        parts=("attention",) * count,
    )
    return Measurement(numbers, picture)


MERGE = Question(
    49,
    asked=Both("Why are heads concatenated and not summed?", "多头为什么拼接而不是相加？"),
    claim=Both(
        "A sum would mix the heads up, so they are kept apart by concatenation.",
        "相加会把各头的信息混在一起，所以用拼接把它们分开。",
    ),
    parts=(
        ClaimPart(
            Both("A plain sum forgets which head spoke.", "直接相加后，分不清哪部分来自哪个头。"),
            (at_most("swap_sum", 1e-6), above("swap_concat", 1e-3)),
        ),
        ClaimPart(
            Both("A plain sum can write in fewer directions.", "直接相加能写入的方向更少。"),
            (below("rank_sum", "rank_concat"),),
        ),
        ClaimPart(
            Both("With concatenation and W_O nothing is summed over heads.", "拼接再乘 W_O，就没有对各头求和。"),
            (above("difference", 1e-6),),
        ),
    ),
    measure=_merge,
    numbers={
        "difference": Label(Both("concat · W_O less the sum of head_i W_O^i", "concat·W_O 与 Σ head_i W_O^i 之差")),
        "swap_concat": Label(Both("change when two heads change places, concatenated", "交换两个头后的变化，拼接")),
        "swap_sum": Label(Both("change when two heads change places, plainly summed", "交换两个头后的变化，直接相加")),
        "rank_concat": Label(Both("directions written to, concatenated", "能写入的方向数，拼接")),
        "rank_sum": Label(Both("directions written to, plainly summed", "能写入的方向数，直接相加")),
    },
    setting=Both(
        "The middle layer whose W_O was seen: A V of its heads on this text, in float64, with W_O as it is, and summed "
        "plainly with the first head's part of W_O. Heads 0 and 1 change places. Changes and differences are relative.",
        "取能看到 W_O 的中间一层：各头在该文本上的 A V，float64，一种用原来的 W_O，一种直接相加后乘第一个头的那部分 "
        "W_O。交换第 0 个头和第 1 个头。变化和差都是相对值。",
    ),
    because=Both(
        "[head_1 … head_h] W_O is Σ head_i W_O^i: a sum as well, in which each head has a matrix of its own. What is "
        "kept apart is not the heads but what each may write.",
        "[head_1 … head_h] W_O 等于 Σ head_i W_O^i：同样是求和，只是每个头有自己的矩阵。分开的不是各头的结果，"
        "而是每个头写入的方式。",
    ),
    refuted=Both(
        "A product with W_O that differs from the sum of its parts.",
        "如果拼接乘 W_O 的结果不等于各部分之和，判断就会改变。",
    ),
    formula=r"\lVert [h_1 \cdots h_H]\, W_O - \textstyle\sum_i h_i W_O^{(i)} \rVert = <difference>",
    papers=(VASWANI_2017,),
    see=PageLink("block", {"section": "One token's way"}),
    of=SEES_QUERIES,
)


def _longer(subject: Subject) -> Subject:
    """The reader's text and other sentences after it, so that it has more tokens than a head has dimensions."""
    return replace(subject, text=" ".join([subject.text, *sentences(subject) * 2]))


def _at_once(subject: Subject) -> Measurement:
    records = layers_of(subject)
    record = records[len(records) // 2]
    count, tokens = len(record.query), len(record.site.keys)
    window = partial(recompute.window, kind="weights", queries=slice(0, tokens), keys=slice(0, tokens))
    together = window(record)
    alone = np.stack([window(record.of_head(head))[0] for head in range(count)])
    flat = record.query.transpose(0, 1).reshape(tokens, -1)  # [T, H E], as the projection gives it
    right, wrong = flat.reshape(tokens, count, -1).transpose(0, 1), flat.reshape(count, tokens, -1)
    wide, width = _longer(subject), record.query.shape[-1]
    longer = layers_of(wide)
    of_longer = longer[len(longer) // 2]
    if len(of_longer.site.keys) <= width:
        raise UnanswerableError(
            f"The longest text that is read has {len(of_longer.site.keys)} tokens, and a rank below the tokens shows "
            f"only "
            f"with more than d_k = {width}.",
            f"可读的最长文本有 {len(of_longer.site.keys)} 个 token，超过 d_k = {width} 个才能看出低秩。",
        )
    long_keys = of_each_head(of_longer.key, count)
    ranks, values = [], None
    for head in np.unique(np.linspace(0, count - 1, min(count, 12)).round().astype(int)):
        spectrum = of_product(of_longer.query[head], long_keys[head])
        ranks.append(spectrum.rank)
        values = spectrum.values if values is None else values
    assert values is not None
    picture = Lines(
        (
            Series(
                Both("singular values of QKᵀ, head 0", "QKᵀ 的奇异值，第 0 个头"),
                list(range(1, len(values) + 1)),
                values.tolist(),
            ),
        ),
        x_title=Both("number", "序号"),
        y_title=Both("singular value", "奇异值"),
        mark_x=float(width),
    )
    return Measurement(
        {
            "difference": float(np.abs(together - alone).max()),
            "untransposed": float((right - wrong).norm() / right.norm()) if count > 1 else math.nan,
            "rank": float(max(ranks)),
            "width": float(width),
            "longer": float(len(of_longer.site.keys)),
        },
        picture,
    )


AT_ONCE = Question(
    50,
    asked=Both("How are all heads computed at once?", "多头是怎样并行计算的？"),
    claim=Both(
        "By reshape and transpose: one batched product computes what a loop over the heads would.",
        "用 reshape 和 transpose：一次批量矩阵乘法就得到逐头循环的结果。",
    ),
    parts=(
        ClaimPart(
            Both("All heads at once give what each alone gives.", "所有头一起算，与逐个头单独算结果相同。"),
            (at_most("difference", 1e-5),),
        ),
        ClaimPart(
            Both(
                "A reshape without the transpose would mix up tokens and heads.",
                "只 reshape 不 transpose，会把 token 和头弄混。",
            ),
            (above("untransposed", 0.1),),
        ),
        ClaimPart(
            Both(
                "It has a price: on a text of more than d_k tokens each head's scores have a rank of d_k at most.",
                "这有代价：文本超过 d_k 个 token 时，每个头的分数矩阵秩不超过 d_k。",
            ),
            (at_most("rank", "width"), above("longer", "width")),
            role="limit",
        ),
    ),
    measure=_at_once,
    numbers={
        "difference": Label(Both("largest difference of a weight, together and alone", "一起算与单独算，权重的最大差")),
        "untransposed": Label(Both("queries changed without the transpose", "不 transpose 时查询的变化")),
        "rank": Label(Both("rank of QKᵀ on the longer text, largest of heads", "较长文本上 QKᵀ 的秩，各头最大值")),
        "width": Label(Both("d_k", "d_k")),
        "longer": Label(Both("tokens of the longer text", "较长文本的 token 数")),
    },
    setting=Both(
        "The middle layer on this text: the model's own attention function on all heads, and on each head by itself. "
        "Without the transpose, [n, h · d_k] is read as [h, n, d_k]. Ranks of at most 12 heads, on the text with other "
        "sentences after it, twice over: a rank below the tokens shows only where they are more than d_k.",
        "该文本的中间一层：用模型自己的注意力函数算所有头，再逐个头单独算。不 transpose 指把 [n, h·d_k] 直接当作 [h, "
        "n, d_k]。秩最多取 12 个头，在该文本后面接上别的句子（两遍）来测：token 多于 d_k 个时才能看出低秩。",
    ),
    because=Both(
        "Heads do not read each other, so they are one more batch axis. The price is a bottleneck: in a text of more "
        "than d_k tokens a head cannot make every pattern of scores (Bhojanapalli et al. 2020).",
        "各头之间互不读取，所以可以当作多一个批次维度。代价是低秩瓶颈：文本超过 d_k 个 token 时，"
        "一个头做不出任意的分数矩阵（Bhojanapalli 等人，2020）。",
    ),
    refuted=Both(
        "A head whose weights differ when the other heads are computed beside it.",
        "如果某个头与其他头一起算时权重不同，判断就会改变。",
    ),
    formula=r"\mathrm{rank}(Q K^\top) = <rank> \le d_k = <width>",
    papers=(VASWANI_2017, BHOJANAPALLI_2020),
    see=PageLink("block", {"section": "One token's way"}),
    of=SEES_QUERIES,
)


THEME = Theme(
    "several_heads",
    Both("Several heads", "多头"),
    (DIFFERENT, NEEDED, ENSEMBLE, WIDTHS, SAME_COST, AS_COSTLY, REDUCTION, MERGE, AT_ONCE),
)
