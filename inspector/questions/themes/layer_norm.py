"""LayerNorm: the axes of its statistics, its output, and why it helps. Questions 51, 54 and 60 to 65."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch

from inspector import normalization
from inspector.normalization.other_norms import Floats
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, around, at_least, at_most, below, equal, near
from inspector.questions.record.kinds import ANY
from inspector.questions.record.measured import SMALL
from inspector.questions.record.papers import (
    BA_2016,
    IOFFE_2015,
    SANTURKAR_2018,
    SHEN_2020,
    SRIVASTAVA_2014,
    VASWANI_2017,
    XIONG_2020,
    ZHANG_2019,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    LongExperiment,
    Measurement,
    PageLink,
    PublishedNumber,
    Question,
    StoredRun,
    Theme,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import (
    BATCHED,
    LAYER_NORMED,
    MOVED,
    TextBatch,
    changed,
    compared,
    plain,
    together,
)
from inspector.questions.themes.trained import NATS, Pair, from_seeds, joined
from inspector.trace import NormRecord
from models.training.lab import fresh, train, trial
from models.training.tiny import depth
from models.training.tiny.experiments import BATCH, LabRun, Switches
from models.training.tiny.puzzles import draw
from models.training.tiny.solvers import solver
from models.transformer import norms as own_norms
from models.transformer.config import Norm

EQUALS = 0.98  # tau where all is kept but for tokens that are equal, such as the first of each text in a decoder


def layer_norms(subject: Subject) -> list[NormRecord]:
    """The LayerNorms of the recording; ValueError where it has none."""
    norms = [norm for norm in subject.trace.norms if norm.kind == "layer" and norm.truth is not None and plain(norm)]
    if not norms:
        raise UnanswerableError(
            f"No LayerNorm of {subject.loaded.card.id} was recorded.",
            f"没有记录到 {subject.loaded.card.id} 的 LayerNorm。",
        )
    return norms


def _per_token(subject: Subject) -> Measurement:
    norms = layer_norms(subject)
    norm = norms[len(norms) // 2]
    with torch.no_grad():
        drawn = torch.randn(16, 100, 512, generator=torch.Generator().manual_seed(0))
        pairs = torch.native_layer_norm(drawn, [512], None, None, 1e-5)[1].numel()
    return Measurement(
        {
            "pairs": float(pairs),
            "cells": 16.0 * 100.0,
            "gamma": float(norm.gamma.size),
            "width": float(norm.input.shape[1]),
            "difference": max(_off(norm, _standardised(norm, 1)) for norm in norms),
            "sentence": min(_off(norm, _standardised(norm, None)) for norm in norms),
        },
        Lines(
            tuple(
                Series(name, list(range(len(norm.input))), values.tolist(), part="norm", dashed=dashed)
                for name, values, dashed in (
                    (Both("mean", "均值"), norm.input.astype(np.float64).mean(axis=1), True),
                    (Both("deviation", "标准差"), norm.input.astype(np.float64).std(axis=1), False),
                )
            ),
            x_title=Both("token, by its place in the text", "token 在文本中的位置"),
            y_title=Both("mean and deviation before a norm", "归一化层之前的均值和标准差"),
        ),
    )


def _standardised(norm: NormRecord, axis: int | None) -> Floats:
    x = norm.input.astype(np.float64)
    standardised: Floats = (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(
        x.var(axis=axis, keepdims=True) + norm.epsilon
    )
    return standardised


def _off(norm: NormRecord, plain: Floats) -> float:
    """The largest difference of a token's mean and deviation after the norm from those in the model's run."""
    assert norm.truth is not None
    made = norm.gamma.astype(np.float64) * plain + norm.beta
    statistics = np.stack([made.mean(axis=1), made.std(axis=1)], axis=1)
    return float(np.abs(statistics - norm.truth).max())


PER_TOKEN = Question(
    51,
    asked=Both(
        "What does LayerNorm normalise: a token, or each sample?", "LayerNorm 到底对什么做归一化：token，还是样本？"
    ),
    claim=Both(
        "Each token by itself, over its D features, with a learned gamma and beta for each feature.",
        "对每个 token 单独做：在它的 D 个特征维度上求均值和方差，再用可学习的 γ、β 逐维缩放和平移。",
    ),
    parts=(
        ClaimPart(
            Both(
                "A batch of 16 texts of 100 tokens gives 1,600 pairs of mean and deviation.",
                "批次中有 16 个文本、每个 100 个 token，就有 1600 对均值和标准差。",
            ),
            (equal("pairs", "cells"),),
        ),
        ClaimPart(
            Both("Gamma and beta have D numbers each.", "γ 和 β 各有 D 个数。"),
            (equal("gamma", "width"),),
        ),
        ClaimPart(
            Both(
                "The norms of this model do so: statistics of each token alone give what they give.",
                "该模型的归一化层正是这样做的：只用每个 token 自己的统计量，就能得到它的输出。",
            ),
            (below("difference", 0.001),),
        ),
        ClaimPart(
            Both(
                "“It normalises each sample” is right of a token as the sample alone: one mean and deviation for a "
                "whole "
                "sentence do not give what the norms give.",
                "“按样本归一化”只有把 token 当作样本才对：整句共用一对均值和标准差，得不到归一化层的输出。",
            ),
            (above("sentence", 0.001),),
            role="limit",
        ),
    ),
    measure=_per_token,
    numbers={
        "pairs": Label(Both("pairs of mean and deviation", "均值和标准差的对数")),
        "cells": Label(Both("tokens of the batch", "批次中的 token 数")),
        "gamma": Label(Both("numbers in gamma", "γ 的参数个数")),
        "width": Label(Both("features of a token, D", "token 的特征维数 D")),
        "difference": Label(
            Both("largest difference from the model's own output", "与模型自身输出的最大差"),
        ),
        "sentence": Label(
            Both(
                "largest difference with statistics of the sentence, smallest of norms",
                "用整句的统计量时的最大差，各层中的最小值",
            ),
        ),
    },
    setting=Both(
        "The 1,600 pairs are those that torch keeps for a random batch [16, 100, 512], seed 0. The rest: all "
        "LayerNorms of the model on the text; mean and deviation of each token after the norm, beside what the "
        "module gave, computed from each token alone and from all tokens of the text.",
        "1600 对统计量取自 torch 对随机批次 [16, 100, 512]（种子 0）保存的结果。其余：模型在该文本上的全部 "
        "LayerNorm，分别用每个 token 自己的和整句的统计量重算，比较每个 token "
        "归一化之后的均值和标准差与模块实际给出的值。",
    ),
    because=Both(
        "“Layer” sounds as if a whole layer of tokens shared its statistics, and older texts speak of a “sample”. In "
        "a Transformer the sample is one token's vector. In a batch of images a sample is an image, and BatchNorm "
        "takes "
        "the batch.",
        "“层”这个字容易让人以为一层中的所有 token 共用统计量，早期资料又常说“样本”。在 Transformer 中，"
        "样本就是一个 token 的向量。在图像批次里，样本是一张图；BatchNorm 则按批次统计。",
    ),
    refuted=Both(
        "A norm whose output for a token needs other tokens, on a text of several.",
        "如果在含多个 token 的文本上，某个归一化层对一个 token 的输出需要用到其他 token，判断就会改变。",
    ),
    formula=r"y = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \quad "
    r"16 \times 100 = <pairs>, \quad \gamma, \beta \in \mathbb{R}^{<gamma>}",
    papers=(BA_2016,),
    see=PageLink("layernorm", {"section": "All numbers"}),
    of=LAYER_NORMED,
)


def _normal(subject: Subject) -> Measurement:
    batch = together(subject)
    layer = compared(subject).loc["layer"]
    drawn = np.random.default_rng(0).exponential(size=(1, 64, 4096))
    everywhere = np.ones((1, 64), dtype=bool)
    exponential = normalization.compared(drawn[..., :512], everywhere).set_index("norm").loc["layer"]
    norms = subject.trace.norms
    after = np.concatenate([norm.output.astype(np.float64).std(axis=1) for norm in norms])
    real = normalization.through(batch.x, batch.keep, norm="layer", epsilon=batch.epsilon)[batch.keep]
    counts, edges = np.histogram(real, bins=61, range=(-6, 6), density=True)
    middle = (edges[1:] + edges[:-1]) / 2
    normal = np.exp(-np.square(middle) / 2) / np.sqrt(2 * np.pi)
    return Measurement(
        {
            "kurtosis": float(layer["kurtosis"]) - 3,
            "skew": float(exponential["skew"]),
            "deviation": float(np.median(after)),
        },
        Lines(
            (
                Series(Both("after LayerNorm", "LayerNorm 之后"), middle.tolist(), counts.tolist(), part="norm"),
                Series(Both("standard normal", "标准正态分布"), middle.tolist(), normal.tolist(), dashed=True),
            ),
            x_title=Both("number, before gamma and beta", "数值，γ、β 之前"),
            y_title=Both("density", "密度"),
        ),
    )


NORMAL = Question(
    54,
    asked=Both("Is LayerNorm's output normally distributed?", "LayerNorm 的输出服从标准正态分布吗？"),
    claim=Both(
        "LayerNorm brings the data close to a standard normal distribution.",
        "LayerNorm 把数据调整为接近标准正态分布（均值为 0，方差为 1）。",
    ),
    parts=(
        ClaimPart(
            Both("In this model its output is normal: excess kurtosis 0.", "在该模型中输出是正态的：超额峰度为 0。"),
            (around("kurtosis", 0, within=0.5),),
        ),
        ClaimPart(
            Both(
                "Whatever goes in, a normal distribution comes out: skew 0.",
                "不管输入是什么分布，输出都是正态分布：偏度为 0。",
            ),
            (around("skew", 0, within=0.5),),
        ),
        ClaimPart(
            Both("What the next sublayer gets has deviation 1.", "下一个子层拿到的数据标准差为 1。"),
            (near("deviation", 1, within=0.05),),
        ),
    ),
    measure=_normal,
    numbers={
        "kurtosis": Label(
            Both(
                "excess kurtosis before gamma, mean over tokens",
                "γ 之前的超额峰度，对 token 取平均",
            )
        ),
        "skew": Label(Both("skew after LayerNorm of exponential numbers", "指数分布的数经 LayerNorm 之后的偏度")),
        "deviation": Label(Both("deviation after gamma and beta, median", "γ、β 之后的标准差，中位数")),
    },
    setting=Both(
        "States of the text and of seven other sentences before the middle norm, put through LayerNorm without gamma "
        "and beta, mean over tokens. Exponential: 64 vectors of 512 numbers, seed 0. Deviation: all norms and tokens "
        "of the text.",
        "该文本和另外七个句子在中间一个归一化层之前的激活值，经过不带 γ、β 的 LayerNorm，对 token 取平均。指数分布："
        "64 个 512 维向量，种子 0。标准差：文本的所有归一化层、所有 token。",
    ),
    because=Both(
        "Standardising is often called making normal. It moves the mean to 0 and the variance to 1, and leaves the "
        "shape as it was: it is a shift and a factor. Then gamma and beta move mean and variance again.",
        "人们常把“标准化”说成“变成正态分布”。其实它只是平移和缩放：均值变成 0，方差变成 1，分布的形状不变。随后 γ 和 "
        "β 又会改变均值和方差。",
    ),
    refuted=Both(
        "An output with skew 0 and excess kurtosis 0 from an input that has neither.",
        "如果输入的偏度和超额峰度都不为 0，输出却都为 0，判断就会改变。",
    ),
    formula=r"\mathbb{E}\!\left[\hat{x}^4\right] - 3 = <kurtosis>, \qquad \mathcal{N}(0, 1): 0",
    papers=(BA_2016,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _relations(subject: Subject) -> Measurement:
    table = compared(subject)
    layer, batch = table.loc["layer"], table.loc["masked batch"]
    numbers = {
        "layer_within": float(layer["within"]),
        "batch_within": float(batch["within"]),
        "layer_across": float(layer["across"]),
        "batch_across": float(batch["across"]),
    }
    names = [
        Both("LayerNorm, within a token", "LayerNorm，一个 token 之内"),
        Both("BatchNorm, within a token", "BatchNorm，一个 token 之内"),
        Both("LayerNorm, across tokens", "LayerNorm，token 之间"),
        Both("BatchNorm, across tokens", "BatchNorm，token 之间"),
    ]
    title = Both("order kept (Kendall's tau)", "次序的保持程度（Kendall τ）")
    return Measurement(numbers, Bars(names, list(numbers.values()), title, parts=["norm"] * 4))


RELATIONS = Question(
    60,
    asked=Both(
        "Which norm keeps the relations between a token's features?", "哪种归一化保留 token 内部特征之间的关系？"
    ),
    claim=Both(
        "LayerNorm keeps the relations of features in a token; BatchNorm destroys them.",
        "LayerNorm 保留 token 内部各特征之间的相对关系，BatchNorm 则破坏这种关系。",
    ),
    parts=(
        ClaimPart(
            Both("LayerNorm keeps the order of a token's features.", "LayerNorm 保持一个 token 内各特征的大小次序。"),
            (at_least("layer_within", 0.999),),
        ),
        ClaimPart(
            Both("BatchNorm does not.", "BatchNorm 则不保持这一次序。"),
            (at_most("batch_within", 0.95),),
        ),
        ClaimPart(
            Both(
                "Across tokens it is the other way round: BatchNorm keeps a feature's order, LayerNorm does not.",
                "在 token 之间正好相反：BatchNorm 保持同一特征在各 token 间的次序，LayerNorm 不保持。",
            ),
            (at_least("batch_across", EQUALS), below("layer_across", "batch_across", times=0.99)),
            role="limit",
        ),
    ),
    measure=_relations,
    numbers={
        "layer_within": Label(Both("order kept in a token, LayerNorm", "token 内次序，LayerNorm")),
        "batch_within": Label(Both("order kept in a token, BatchNorm", "token 内次序，BatchNorm")),
        "layer_across": Label(Both("order kept across tokens, LayerNorm", "token 间次序，LayerNorm")),
        "batch_across": Label(Both("order kept across tokens, BatchNorm", "token 间次序，BatchNorm")),
    },
    setting=Both(
        "Kendall's tau between before and after the norm, without gamma and beta: 1 where nothing changes places. "
        "States of the text and of seven other sentences before the middle norm; BatchNorm over the real tokens.",
        "归一化前后的 Kendall τ，不带 γ、β：次序完全不变时为 1。该文本和另外七个句子在中间一个归一化层之前的激活值；"
        "BatchNorm 只用真实 token。",
    ),
    because=Both(
        "A shift and a factor for the whole token cannot change which feature is larger. BatchNorm shifts and scales "
        "each feature by its own numbers. Gamma and beta of either norm can change the order again.",
        "对整个 token 用同一个平移和缩放，不会改变特征之间谁大谁小；BatchNorm 对每个特征各用一套平移和缩放。两者的 "
        "γ、β 之后又都可能改变次序。",
    ),
    refuted=Both(
        "A token in which LayerNorm without gamma and beta changes the order of two features.",
        "如果不带 γ、β 的 LayerNorm 改变了某个 token 内两个特征的次序，判断就会改变。",
    ),
    formula=r"\tau_{\mathrm{LN}} = <layer_within>, \quad \tau_{\mathrm{BN}} = <batch_within>",
    papers=(BA_2016,),
    see=PageLink("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _alone(subject: Subject) -> Measurement:
    before, after, _ = changed(subject)
    slopes = subject.once("jacobians", normalization.jacobians).set_index("kind")["others"]
    kinds = {"attention": "attention", "ffn": "FFN", "layer": "LayerNorm", "batch": "BatchNorm"}
    numbers = {name: float(slopes[kind]) for name, kind in kinds.items()}
    return Measurement(
        {"moved": max(before, after), **numbers},
        Bars(
            [
                Both(
                    "attention",
                    "注意力",
                ),
                Both(
                    "FFN",
                    "FFN",
                ),
                Both(
                    "LayerNorm",
                    "LayerNorm",
                ),
                Both(
                    "BatchNorm",
                    "BatchNorm",
                ),
            ],
            list(numbers.values()),
            Both("influence of other tokens (length of the Jacobian)", "其他 token 的影响（雅可比矩阵的范数）"),
            parts=["attention", "ffn", "norm", "norm"],
        ),
    )


ALONE = Question(
    61,
    asked=Both("Are the tokens of a Transformer computed independently?", "Transformer 中各个 token 是独立计算的吗？"),
    claim=Both(
        "Tokens are processed independently, which is why LayerNorm fits: self-attention's input is position-wise.",
        "Transformer 中每个 token 独立计算，自注意力的输入是位置独立的（position-wise），所以适合用 LayerNorm。",
    ),
    parts=(
        ClaimPart(
            Both("In this model a token does not depend on the others.", "在该模型中，一个 token 不依赖其他 token。"),
            (at_most("moved", MOVED),),
        ),
        ClaimPart(
            Both("Attention computes each token by itself.", "注意力对每个 token 单独计算。"),
            (equal("attention", 0),),
        ),
        ClaimPart(
            Both("The FFN and LayerNorm compute each token by itself.", "FFN 和 LayerNorm 对每个 token 单独计算。"),
            (equal("ffn", 0), equal("layer", 0)),
        ),
    ),
    measure=_alone,
    numbers={
        "moved": Label(Both("largest change of other tokens in this model", "该模型中其他 token 的最大变化")),
        "attention": Label(Both("influence of other tokens in attention", "其他 token 的影响，注意力")),
        "ffn": Label(Both("influence of other tokens in the FFN", "其他 token 的影响，FFN")),
        "layer": Label(Both("influence of other tokens in LayerNorm", "其他 token 的影响，LayerNorm")),
        "batch": Label(Both("influence of other tokens in BatchNorm", "其他 token 的影响，BatchNorm")),
    },
    setting=Both(
        "Change: the middle token is replaced by another of the text, last hidden states. Influence: the length of "
        "the Jacobian's blocks from other tokens of the text, in an untrained block of Headlight's own Transformer, "
        "width 32, 2 texts of 3 tokens, seed 0; untrained, for what a sublayer can see does not depend on training.",
        "变化：把中间的 token 换成文本中的另一个 token，看最后一层的隐藏状态。影响：雅可比矩阵中来自同一文本其他 "
        "token 的各块的范数，取自 Headlight 自己的 Transformer 中一个未训练的块（宽度 32，2 个文本各 3 个 token，"
        "种子 0）；子层能看到什么与训练无关，所以用未训练的块。",
    ),
    because=Both(
        "All tokens are computed at the same time with the same weights, and that sounds like independence. But the "
        "purpose of attention is to mix them; position-wise are the projections, the FFN and the norms.",
        "所有 token 用同一组权重并行计算，听起来像是互相独立。但注意力的作用正是混合各个 token；"
        "逐位置计算的是线性投影、FFN 和归一化。",
    ),
    refuted=Both(
        "An attention layer whose output for a token stays as it is when the others change.",
        "如果其他 token 改变后，注意力层对某个 token 的输出不变，判断就会改变。",
    ),
    formula=r"\left\|\frac{\partial y_i}{\partial x_j}\right\|_{i \neq j}: \quad <attention>, \; <ffn>, \; <layer>",
    papers=(VASWANI_2017,),
    see=PageLink("layernorm", {"section": "Pre-norm or post-norm"}),
    of=ANY,
)


def _stability(subject: Subject) -> Measurement:
    glorot = subject.once("untrained depth xavier", normalization.through_depth)
    small = subject.once("untrained depth normal", lambda: normalization.through_depth(initialisation="normal"))
    last = int(glorot["layer"].max())

    def at(table: pd.DataFrame, stack: str, layer: int, column: str) -> float:
        rows = table[(table["stack"] == stack) & (table["layer"] == layer)]
        return float(rows[column].iloc[0])

    def through(stack: str) -> float:
        return at(glorot, stack, -1, "gradient") / at(glorot, stack, last, "gradient")

    def start(stack: str) -> float:
        return at(glorot, stack, last, "activation") / at(small, stack, last, "activation")

    names = {
        "pre-norm": Both("norm", "有归一化"),
        "no norm": Both("no norm", "无归一化"),
        "post-norm, no residual": Both("norm, no residual", "有归一化，无残差"),
        "no norm, no residual": Both("no norm, no residual", "无归一化，无残差"),
    }
    return Measurement(
        {
            "scaled": float(compared(subject)["scaled"]["layer"]),
            "growing": through("pre-norm"),
            "growing_without": through("no norm"),
            "fading": through("post-norm, no residual"),
            "fading_without": through("no norm, no residual"),
            "start": start("pre-norm"),
            "start_without": start("no norm"),
        },
        Lines(
            tuple(
                Series(
                    name,
                    glorot["layer"][glorot["stack"] == stack].tolist(),
                    glorot["gradient"][glorot["stack"] == stack].tolist(),
                    part="norm" if "no norm" not in stack else "residual",
                    dashed="no residual" in stack,
                )
                for stack, name in names.items()
            ),
            x_title=Both("layer", "层"),
            y_title=Both("length of the gradient", "梯度的范数"),
            log_y=True,
        ),
    )


STABILITY = Question(
    62,
    asked=Both("What is normalisation good for?", "归一化有什么用？"),
    claim=Both(
        "It keeps gradients from vanishing and exploding, makes the initial weights matter less and the scale of the "
        "input not at all.",
        "缓解梯度消失和爆炸，降低对参数初始化的敏感度，并带来尺度不变性。",
    ),
    parts=(
        ClaimPart(
            Both("LayerNorm gives the same for 1,000 times the input.", "输入放大 1000 倍，LayerNorm 的输出不变。"),
            (below("scaled", 0.1),),
        ),
        ClaimPart(
            Both("Gradients do not explode with it.", "有归一化，梯度不会爆炸。"),
            (below("growing", "growing_without", times=0.001),),
        ),
        ClaimPart(
            Both("Without residuals they do not vanish with it.", "没有残差连接时，有归一化梯度也不会消失。"),
            (above("fading", "fading_without", times=1000),),
        ),
        ClaimPart(
            Both(
                "The size of the initial weights matters far less with it.",
                "有归一化，初始权重的大小影响小得多。",
            ),
            (below("start", "start_without", times=0.01),),
        ),
    ),
    measure=_stability,
    numbers={
        "scaled": Label(
            Both(
                "change of LayerNorm's output at 1,000 times the input",
                "输入放大 1000 倍时 LayerNorm 输出的变化",
            )
        ),
        "growing": Label(
            Both("gradient, first over last layer, with a norm", "首层与末层梯度之比，有归一化"), of=SMALL
        ),
        "growing_without": Label(
            Both("gradient, first over last layer, no norm", "首层与末层梯度之比，无归一化"), of=SMALL
        ),
        "fading": Label(
            Both(
                "gradient, first over last layer, with a norm and no residual", "首层与末层梯度之比，有归一化、无残差"
            ),
            of=SMALL,
        ),
        "fading_without": Label(
            Both(
                "gradient, first over last layer, no norm and no residual",
                "首层与末层梯度之比，无归一化、无残差",
            ),
            of=SMALL,
        ),
        "start": Label(
            Both(
                "activation, Glorot over small weights, norm",
                "激活值之比（Glorot / 小初始权重），有归一化",
            ),
            of=SMALL,
        ),
        "start_without": Label(
            Both(
                "activation, Glorot over small weights, no norm",
                "激活值之比（Glorot / 小初始权重），无归一化",
            ),
            of=SMALL,
        ),
    },
    setting=Both(
        "Scale: states of the text and of seven other sentences before the middle norm of the model. The rest: "
        "untrained encoders of 24 layers, width 32, 8 texts of 16 random tokens, seed 0, Pre-LN with the residual or "
        "Post-LN without; Glorot's initialisation, and beside it deviation 0.02.",
        "尺度：该文本和另外七个句子在模型中间一个归一化层之前的激活值。其余：未训练的 24 层编码器，宽度 32，8 "
        "个文本各 16 个随机 token，种子 0；有残差连接时用 Pre-LayerNorm，无残差连接时用 Post-LayerNorm；初始化用 "
        "Glorot，另用标准差 0.02 的初始化作比较。",
    ),
    because=Both(
        "Many notes add that a norm brings numbers into the sensitive zone of sigmoid and tanh. A Transformer has "
        "ReLU, GELU or SwiGLU there. What counts is that each layer gets numbers of one size whatever the layers "
        "before it do; how much the residual does of it depends on where the norm stands.",
        "资料中还常说，归一化让数值落入 sigmoid、tanh 的敏感区间；但 Transformer 用的是 ReLU、GELU 或 SwiGLU。"
        "真正重要的是：无论前面的层如何，每一层拿到的数值大小都一致。残差连接分担了多少，取决于归一化放在哪里。",
    ),
    refuted=Both(
        "Deep untrained stacks whose gradients stay alike with a norm and without.",
        "如果未训练的深层网络有无归一化梯度都差不多，判断就会改变。",
    ),
    formula=r"\frac{\|\partial L / \partial h_0\|}{\|\partial L / \partial h_{24}\|}: \quad "
    r"\mathrm{LN}: <growing>, \qquad \varnothing: <growing_without>",
    papers=(BA_2016, XIONG_2020),
    see=PageLink("layernorm", {"section": "Pre-norm or post-norm"}),
    of=BATCHED,
)


SHIFT_SEEDS = 3


def _shifts() -> pd.DataFrame:
    """The drift of every norm from SHIFT_SEEDS seeds, by norm and seed."""
    tables = {seed: normalization.drift(seed=seed).set_index("norm") for seed in range(SHIFT_SEEDS)}
    return pd.concat(tables, names=["seed"]).swaplevel()


def _shift(subject: Subject) -> Measurement:
    table = subject.cached(("drift", SHIFT_SEEDS), _shifts)
    names: dict[str, Both | str] = {
        "LayerNorm": "LayerNorm",
        "BatchNorm": "BatchNorm",
        "no norm": Both("no norm", "无归一化"),
    }
    layer, none = table.loc["LayerNorm"], table.loc["no norm"]
    return Measurement(
        {
            "layer": float(layer["mean"].mean()),
            "none": float(none["mean"].mean()),
            "moves": float((layer["mean"] / none["mean"]).max()),
            "layer_loss": float(layer["last"].mean()),
            "none_loss": float(none["last"].mean()),
            "ahead": float((none["last"] - layer["last"]).min()),
            "rough": float((layer["rough"] / none["rough"]).max()),
        },
        Bars(
            list(names.values()),
            [float(table.loc[name]["mean"].mean()) for name in names],
            Both("move of a layer's inputs in a step, in deviations", "一步之内某层输入均值的移动（以标准差为单位）"),
            parts=["norm", "norm", "residual"],
        ),
    )


SHIFT = Question(
    63,
    reads_text=False,
    asked=Both(
        "Do norms help because they reduce internal covariate shift?",
        "归一化有效，是因为减小了内部协变量偏移吗？",
    ),
    claim=Both(
        "While layers before it learn, a layer's inputs move. The norm holds them still, so that learning is easier.",
        "训练中各层输入的分布不断变化（内部协变量偏移），增大了学习难度；归一化缓解了这个问题，所以学得更好。",
    ),
    parts=(
        ClaimPart(
            Both("With a norm a layer's inputs move less.", "有归一化时，层的输入移动更小。"),
            (below("moves", 1),),
        ),
        ClaimPart(
            Both(
                "What moves less learns better: the loss is lower after as many steps.",
                "移动更小的学得更好：同样步数之后损失更低。",
            ),
            (above("ahead", 0),),
        ),
        ClaimPart(
            Both(
                "Instead, the norm makes the loss smoother: along the gradient it varies less.",
                "归一化使损失曲面更平滑：沿梯度方向，损失的变化更小。",
            ),
            (below("rough", 1),),
            role="mechanism",
        ),
    ),
    measure=_shift,
    numbers={
        "layer": Label(
            Both(
                "move in a step with LayerNorm, in deviations",
                "一步之内的移动，LayerNorm（以标准差为单位）",
            )
        ),
        "none": Label(
            Both("move in a step without a norm, in deviations", "一步之内的移动，无归一化（以标准差为单位）")
        ),
        "moves": Label(
            Both("move with LayerNorm / without, largest of the seeds", "移动之比：LayerNorm / 无归一化，各种子最大")
        ),
        "layer_loss": Label(Both("last loss with LayerNorm", "最后的损失，LayerNorm"), NATS),
        "none_loss": Label(Both("last loss without a norm", "最后的损失，无归一化"), NATS),
        "ahead": Label(
            Both(
                "last loss without a norm less that with LayerNorm, least of the seeds",
                "最后的损失，无归一化减 LayerNorm，各种子最小",
            ),
            NATS,
        ),
        "rough": Label(
            Both(
                "spread of the loss along the gradient, LayerNorm / none, largest of the seeds",
                "沿梯度方向损失的变化幅度，LayerNorm / 无归一化，各种子最大",
            )
        ),
    },
    setting=Both(
        "Encoders of 2 layers and width 32 learn for 60 steps (Adam, 0.003, seeds 0 to 2) to name the token at each "
        "place of random texts; a part holds where every seed bears it out. Move: of the mean of what goes into the "
        "last "
        "FFN, on 32 other texts. Spread: of the loss on a step's texts, over steps of length 0.05 to 0.4 along the "
        "gradient (Santurkar et al., figure 4), mean over the training. No loaded model takes part.",
        "2 层、宽度 32 的编码器训练 60 步（Adam，0.003，种子 0 到 2），任务是说出随机文本每个位置上的 token；"
        "各种子一致才算数。移动：最后一个 FFN 输入均值的移动，在另外 32 个文本上测量。变化幅度：沿梯度方向走 0.05 到 "
        "0.4 "
        "的距离时该步文本上损失的变化范围（Santurkar 等人，图 4），对训练过程取平均。不涉及加载的模型。",
    ),
    because=Both(
        "The paper on BatchNorm gave this reason, and textbooks keep it. Santurkar et al. (2018) put such shift back "
        "in on purpose, and the network learned as well: they hold that the norm makes the loss smoother.",
        "BatchNorm 的论文提出了这个理由，教材沿用至今。Santurkar 等人（2018）特意把这种偏移加回去，网络仍学得同样好；"
        "他们认为归一化使损失曲面更平滑。",
    ),
    refuted=Both(
        "Networks that always learn better the less their inputs move.",
        "如果网络总是输入移动越小学得越好，判断就会改变。",
    ),
    formula=r"\frac{|\Delta \mu|}{\sigma}: \quad \mathrm{LN}: <layer>, \qquad \varnothing: <none>",
    papers=(IOFFE_2015, SANTURKAR_2018),
    see=PageLink("layernorm", {"section": "Pre-norm or post-norm", "drift": "true"}),
)


KINDS: dict[str, tuple[Switches, Both]] = {
    "none": (Switches(norm="none"), Both("no norm", "无归一化")),
    "layer": (Switches(norm="layer"), Both("LayerNorm", "LayerNorm")),
    "batch": (Switches(norm="batch"), Both("BatchNorm", "BatchNorm")),
    "dropout": (Switches(norm="layer", dropout=0.2), Both("LayerNorm and dropout", "LayerNorm 加 dropout")),
}
FEW_STEPS, FEW_SEEDS = 60, 2  # of trainings on few texts


def _gap(switches: Switches, *, seed: int) -> float:
    """Train on the same 32 texts at every step: the loss on fresh texts less that on these, in nats a digit."""
    run = LabRun(task="sort", length=6, steps=FEW_STEPS, learning_rate=0.005, switches=switches, seed=seed)
    texts = draw(run.task, length=run.length, count=BATCH, generator=torch.Generator().manual_seed(seed))
    network = solver(run)
    list(train(network, run, on=texts))
    network.eval()
    with torch.inference_mode():
        unseen, learned = (float(depth.cross_entropy(network(each), each)) for each in (fresh(run, count=256), texts))
    return unseen - learned


def _gaps() -> dict[str, list[float]]:
    """The gap of each kind from each seed."""
    return {name: [_gap(switches, seed=seed) for seed in range(FEW_SEEDS)] for name, (switches, _) in KINDS.items()}


def _smaller(gaps: Mapping[str, Sequence[float]], name: str, than: str) -> float:
    """The largest of the seeds' ratios of one gap to another."""
    return max(one / other for one, other in zip(gaps[name], gaps[than], strict=True))


def _regularises(subject: Subject) -> Measurement:
    gaps = subject.cached(("gaps of norms", FEW_SEEDS), _gaps)
    return Measurement(
        {
            **{name: float(np.mean(each)) for name, each in gaps.items()},
            "layer_share": _smaller(gaps, "layer", "none"),
            "batch_share": _smaller(gaps, "batch", "none"),
            "dropout_share": _smaller(gaps, "dropout", "layer"),
            **_noise_of_batch(together(subject)),
        },
        Bars(
            [name for _, name in KINDS.values()],
            [float(np.mean(each)) for each in gaps.values()],
            Both("loss on fresh texts less that on the learned texts, nats", "新文本损失减训练文本损失，nat"),
            parts=["residual", "norm", "norm", "norm"],
        ),
    )


def _noise_of_batch(batch: TextBatch) -> dict[str, float]:
    """The mean change of the reader's text before a norm where the other texts of its batch are others, in training."""
    x, keep = torch.tensor(batch.x), torch.tensor(batch.keep)
    width = x.shape[-1]
    kinds = {
        "batch_noise": own_norms.BatchNorm(width, batch.epsilon, masked=True),
        "layer_noise": own_norms.LayerNorm(width, batch.epsilon),
    }
    moves = {}
    for name, norm in kinds.items():
        with torch.no_grad():
            first, second = (
                norm.double().train()(x[rows], keep=keep[rows])[0][keep[0]] for rows in ([0, 1, 2, 3], [0, 4, 5, 6])
            )
        moves[name] = float((first - second).abs().mean())
    return moves


REGULARISES = Question(
    64,
    asked=Both("Does a norm regularise?", "归一化有正则化效果吗？"),
    claim=Both(
        "Normalisation has some regularising effect: what was learned from few texts holds on others too.",
        "归一化能起到一定的正则化效果：从少量文本学到的，在新文本上差得更少。",
    ),
    parts=(
        ClaimPart(
            Both(
                "On 32 texts, read again and again, the gap to fresh texts is a tenth smaller with BatchNorm than "
                "without a norm, or more.",
                "反复读同样的 32 段文本，有 BatchNorm 时与新文本的差距比没有归一化时至少小十分之一。",
            ),
            (below("batch_share", 0.9),),
        ),
        ClaimPart(
            Both("With LayerNorm it is too.", "有 LayerNorm 时也是这样。"),
            (below("layer_share", 0.9),),
        ),
        ClaimPart(
            Both(
                "Dropout makes LayerNorm's gap a tenth smaller or more.",
                "dropout 使 LayerNorm 的差距至少再小十分之一。",
            ),
            (below("dropout_share", 0.9),),
            role="limit",
        ),
        ClaimPart(
            Both(
                "BatchNorm adds noise in training, and LayerNorm none: in another batch the same text comes out "
                "different "
                "of BatchNorm alone.",
                "BatchNorm 在训练中带来噪声，LayerNorm 没有：换一个批次，同一文本只有经过 BatchNorm 的结果不同。",
            ),
            (above("batch_noise", 0.01), equal("layer_noise", 0)),
            role="mechanism",
        ),
    ),
    measure=_regularises,
    numbers={
        **{
            name: Label(
                Both(
                    f"loss on fresh texts less that on the 32 texts, {kind.en}",
                    f"新文本损失减 32 段文本的损失，{kind.zh}",
                ),
                NATS,
                of=SMALL,
            )
            for name, (_, kind) in KINDS.items()
        },
        "batch_share": Label(
            Both("gap, BatchNorm / no norm, largest of the seeds", "差距之比，BatchNorm / 无归一化，各种子最大"),
            "%",
            of=SMALL,
        ),
        "layer_share": Label(
            Both("gap, LayerNorm / no norm, largest of the seeds", "差距之比，LayerNorm / 无归一化，各种子最大"),
            "%",
            of=SMALL,
        ),
        "dropout_share": Label(
            Both("gap, with dropout / without, largest of the seeds", "差距之比，有 / 无 dropout，各种子最大"),
            "%",
            of=SMALL,
        ),
        "batch_noise": Label(Both("mean change in another batch, BatchNorm", "换批次后的平均变化，BatchNorm")),
        "layer_noise": Label(Both("mean change in another batch, LayerNorm", "换批次后的平均变化，LayerNorm")),
    },
    setting=Both(
        "Gap: the Lab's encoder (2 layers, d = 48) learns to sort 6 digits, 80 steps on the same 32 texts, seeds 0 and "
        "1; "
        "256 fresh texts. Noise: the text before the middle norm of the model, beside three sentences and beside three "
        "others, through Headlight's own norms in training mode.",
        "差距：Lab 的编码器（2 层，d = 48）学习给 6 个数字排序，在同样的 32 段文本上训练 60 步，种子 0 和 1；256 "
        "段新文本。"
        "噪声：该文本在模型中间一个归一化层之前的隐藏状态，先后与三个句子、另外三个句子组成批次，以训练模式通过 "
        "Headlight "
        "自己的归一化层。",
    ),
    because=Both(
        "The effect was found for BatchNorm, whose noise comes from the other samples of the batch, and was then "
        "told of norms in general. LayerNorm computes the same each time; what is meant to regularise a Transformer is "
        "dropout and weight decay. A norm also learns faster, and who learns few texts faster may know them by heart "
        "sooner.",
        "这种效果是在 BatchNorm 上发现的，噪声来自批次中的其他样本，后来被说成是归一化的共性。LayerNorm "
        "每次计算结果都一样；Transformer 中用来正则化的是 dropout 和权重衰减。归一化还会让网络学得更快，"
        "文本少时也就可能更早背下来。",
    ),
    refuted=Both(
        "Trainings on few texts whose gap to fresh texts says otherwise, for every seed.",
        "如果在少量文本上训练时，与新文本的差距给出相反的结果，而且每个种子都如此，判断就会改变。",
    ),
    papers=(IOFFE_2015, BA_2016, SRIVASTAVA_2014),
    see=PageLink("lab", {"lab_task": "sort", "lab_a_norm": "none", "lab_b_norm": "batch"}),
    of=BATCHED,
)

STEPS, SEEDS = 200, 3  # of each training of the long experiment
LEARNED: tuple[tuple[str, Norm], ...] = (("layer", "layer"), ("batch", "batch"), ("rms", "rms"))
LEARNED_NAMES = ("LayerNorm", "BatchNorm", "RMSNorm")


def _run(norm: Norm, *, steps: int, seed: int) -> LabRun:
    return LabRun(task="sort", length=8, steps=steps, learning_rate=0.005, switches=Switches(norm=norm), seed=seed)


def _best(subject: Subject) -> Measurement:
    curves = {}
    for name, norm in LEARNED:
        run = _run(norm, steps=50, seed=0)
        curves[name] = list(train(solver(run), run))
    return Measurement(
        {name: curve[-1].loss for name, curve in curves.items()},
        Lines(
            tuple(
                Series(
                    name,
                    [report.step for report in curve],
                    [report.loss for report in curve],
                    part="norm",
                    dashed=dashed,
                )
                for name, curve, dashed in zip(LEARNED_NAMES, curves.values(), (False, True, True), strict=True)
            ),
            x_title=Both("step", "训练步数"),
            y_title=Both("loss, nats a digit", "损失，nat/数字"),
        ),
    )


def _learn_whole(subject: Subject, watch: Watch) -> Measurement:
    """Train three seeds of each norm to the end, and test what they have learned."""
    total, done = len(LEARNED) * SEEDS * STEPS, 0
    exact: dict[str, list[float]] = {name: [] for name, _ in LEARNED}
    for name, norm in LEARNED:
        for seed in range(SEEDS):
            run = _run(norm, steps=STEPS, seed=seed)
            network = solver(run)
            for report in train(network, run):
                watch(done + report.step, total)
            done += STEPS
            exact[name].append(trial(network, run, times=1).exact_accuracy)
    means = {name: float(np.mean(shares)) for name, shares in exact.items()}
    return Measurement(
        means,
        Bars(
            LEARNED_NAMES,
            [100 * share for share in means.values()],
            Both("texts sorted without a mistake, %", "完全排对的文本占比，%"),
            parts=["norm"] * 3,
        ),
    )


BEST = Question(
    65,
    reads_text=False,
    asked=Both("Is LayerNorm the best norm for a Transformer?", "LayerNorm 是 Transformer 的最优选择吗？"),
    claim=Both(
        "LayerNorm is clearly better than BatchNorm, and the best choice for a Transformer.",
        "LayerNorm 显著优于 BatchNorm，是 Transformer 在序列建模任务中的最优选择。",
    ),
    parts=(
        ClaimPart(
            Both(
                "LayerNorm learns better than BatchNorm, even where no padding is about.",
                "即使没有填充，LayerNorm 也比 BatchNorm 学得好。",
            ),
            (below("layer", "batch"),),
        ),
        ClaimPart(
            Both("LayerNorm learns better than RMSNorm.", "LayerNorm 比 RMSNorm 学得好。"),
            (below("layer", "rms"),),
        ),
    ),
    measure=_best,
    numbers={
        "layer": Label(Both("loss with LayerNorm", "损失，LayerNorm"), Both("nats", "nat")),
        "batch": Label(Both("loss with BatchNorm", "损失，BatchNorm"), Both("nats", "nat")),
        "rms": Label(Both("loss with RMSNorm", "损失，RMSNorm"), Both("nats", "nat")),
    },
    setting=Both(
        "The Lab's encoder, 2 layers of width 48, learns to sort 8 digits: 50 steps, learning rate 0.005, seed 0; "
        "loss of the last 10 steps. All texts have one length. No loaded model takes part, for only a training can "
        "tell.",
        "Lab 的编码器（2 层，宽度 48）学习给 8 个数字排序：50 步，学习率 0.005，种子 0；取最后 10 步的损失。"
        "所有文本长度相同。只有训练才能回答，所以不涉及加载的模型。",
    ),
    because=Both(
        "On language LayerNorm does beat BatchNorm (Shen et al. 2020), whose statistics go up and down there. Digits "
        "of one length have no such trouble. It is not the best: PowerNorm of the same paper reports better "
        "translations, and large models took RMSNorm (Zhang & Sennrich 2019), which is cheaper and as good.",
        "在语言任务上 LayerNorm 确实优于 BatchNorm（Shen 等人，2020），因为那里 BatchNorm 的统计量波动大；"
        "长度相同的数字没有这个问题。但 LayerNorm 并非最优：同一论文的 PowerNorm 翻译结果更好；大模型多改用更省计算、"
        "效果相当的 RMSNorm（Zhang & Sennrich，2019）。",
    ),
    refuted=Both(
        "LayerNorm ahead of every other norm on every task and seed.",
        "如果在各种任务、各个种子上 LayerNorm 都优于其他归一化，判断就会改变。",
    ),
    papers=(SHEN_2020, ZHANG_2019, XIONG_2020),
    see=PageLink("lab", {"lab_task": "sort", "lab_b_norm": "batch", "lab_b_positions": "sinusoidal"}),
    published={
        "batch": PublishedNumber(
            "+0.4 / +0.6 BLEU",
            Both(
                "for PowerNorm over LayerNorm on IWSLT14 / WMT14, where BatchNorm is worse than both (Shen et al. "
                "2020); "
                "not the same measure",
                "PowerNorm 比 LayerNorm 在 IWSLT14 / WMT14 上高出的 BLEU，BatchNorm 比两者都差（Shen 等人，2020）；"
                "不是同一种量",
            ),
        )
    },
    whole=joined(
        LongExperiment(
            run=_learn_whole,
            about=Both(
                "The same three networks learn for 200 steps from each of three seeds, and sort 256 fresh texts: about "
                "10 "
                "seconds on one core.",
                "同样三个网络，三个种子各训练 200 步，再给 256 个新的文本排序：单核约 10 秒。",
            ),
            parts=(
                ClaimPart(
                    Both(
                        "LayerNorm sorts clearly more texts than BatchNorm: 2 % more.",
                        "LayerNorm 排对的文本明显多于 BatchNorm：多 2%。",
                    ),
                    (above("layer", "batch", times=1.02),),
                ),
                ClaimPart(
                    Both(
                        "LayerNorm sorts clearly more texts than RMSNorm: 2 % more.",
                        "LayerNorm 排对的文本明显多于 RMSNorm：多 2%。",
                    ),
                    (above("layer", "rms", times=1.02),),
                ),
            ),
            numbers={
                "layer": Label(Both("texts sorted without a mistake, LayerNorm", "完全排对的文本占比，LayerNorm"), "%"),
                "batch": Label(Both("texts sorted without a mistake, BatchNorm", "完全排对的文本占比，BatchNorm"), "%"),
                "rms": Label(Both("texts sorted without a mistake, RMSNorm", "完全排对的文本占比，RMSNorm"), "%"),
            },
            stored=StoredRun(
                {"layer": 0.9973958333333334, "batch": 0.99609375, "rms": 0.9986979166666666},
                command="python -m inspector.questions --only 65 --whole",
                seeds="0, 1, 2",
                date="2026-11-23",
            ),
        ),
        from_seeds(
            65,
            [
                Pair(
                    "batch_ahead",
                    Switches(norm="batch"),
                    Switches(norm="layer"),
                    Both(
                        "On digits BatchNorm is ahead after 50 steps, from every seed.",
                        "在数字上，50 步时每个种子下都是 BatchNorm 领先。",
                    ),
                    Both(
                        "loss with LayerNorm less that with BatchNorm, 50 steps",
                        "50 步时 LayerNorm 的损失减 BatchNorm 的",
                    ),
                ),
                Pair(
                    "rms_behind",
                    Switches(norm="layer"),
                    Switches(norm="rms"),
                    Both(
                        "LayerNorm is ahead of RMSNorm then, from every seed.",
                        "此时每个种子下，LayerNorm 都领先 RMSNorm。",
                    ),
                    Both(
                        "loss with RMSNorm less that with LayerNorm, 50 steps", "50 步时 RMSNorm 的损失减 LayerNorm 的"
                    ),
                ),
            ],
            {
                "batch_ahead_least": 0.0437,
                "batch_ahead_most": 0.122,
                "rms_behind_least": 0.0041,
                "rms_behind_most": 0.0488,
            },
            run=_run("layer", steps=50, seed=0),
        ),
    ),
)

THEME = Theme(
    "layer_norm",
    Both("LayerNorm", "LayerNorm"),
    (PER_TOKEN, NORMAL, RELATIONS, ALONE, STABILITY, SHIFT, REGULARISES, BEST),
)
