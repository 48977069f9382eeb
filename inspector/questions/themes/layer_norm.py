"""LayerNorm: what it takes its statistics over, what comes out, and why it helps. Questions 51, 52, 54 and 60 to "
"65."""

from __future__ import annotations

import numpy as np
import torch

from inspector import normalization
from inspector.normalization.other_norms import Floats
from inspector.questions.record.both import Both
from inspector.questions.record.checks import around, at_least, at_most, below, equal, near
from inspector.questions.record.papers import BA_2016
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import Measured, Part, Quantity, Question, See, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes.together import BATCHED, LAYER_NORMED, compared, plain, together
from inspector.trace import NormRecord


def layer_norms(subject: Subject) -> list[NormRecord]:
    """The LayerNorms of the recording; ValueError where it has none."""
    found = [norm for norm in subject.trace.norms if norm.kind == "layer" and norm.truth is not None and plain(norm)]
    if not found:
        raise ValueError(f"no LayerNorm of {subject.loaded.card.id} was recorded")
    return found


def _per_token(subject: Subject) -> Measured:
    norms = layer_norms(subject)
    norm = norms[len(norms) // 2]
    with torch.no_grad():
        drawn = torch.randn(16, 100, 512, generator=torch.Generator().manual_seed(0))
        pairs = torch.native_layer_norm(drawn, [512], None, None, 1e-5)[1].numel()
    own, _ = np.unique(np.round(norm.input.astype(np.float64).mean(axis=1), 12), return_counts=True)
    return Measured(
        {
            "pairs": float(pairs),
            "cells": 16.0 * 100.0,
            "gamma": float(norm.gamma.size),
            "width": float(norm.input.shape[1]),
            "difference": max(_off(norm, _standardised(norm.input, 1)) for norm in norms),
        },
        Bars(
            [*subject.trace.read_by(norm.stream).tokens],
            norm.input.astype(np.float64).std(axis=1).tolist(),
            Both(
                f"deviation of each token before a norm ({len(own)} different means)",
                f"各 token 在某个归一化层之前的标准差（共 {len(own)} 个不同的均值）",
            ),
            parts=["norm"] * len(norm.input),
        ),
    )


def _standardised(x: Floats, axis: int | None) -> Floats:
    exact = x.astype(np.float64)
    found: Floats = (exact - exact.mean(axis=axis, keepdims=True)) / exact.std(axis=axis, keepdims=True).clip(1e-12)
    return found


def _off(norm: NormRecord, plain: Floats) -> float:
    """The largest difference of a token's mean and deviation after the norm from what the model itself gave."""
    assert norm.truth is not None
    made = norm.gamma.astype(np.float64) * plain + norm.beta
    found = np.stack([made.mean(axis=1), made.std(axis=1)], axis=1)
    return float(np.abs(found - norm.truth).max())


PER_TOKEN = Question(
    51,
    asked=Both("What does LayerNorm normalise?", "LayerNorm 到底对什么做归一化？"),
    said=Both(
        "Each token by itself, over its D features, with a learned gamma and beta for each feature.",
        "对每个 token 单独做：在它的 D 个特征维度上求均值和方差，再用可学习的 γ、β 逐维缩放和平移。",
    ),
    parts=(
        Part(
            Both(
                "A batch of 16 texts of 100 tokens gives 1,600 pairs of mean and deviation.",
                "批次中有 16 个文本、每个 100 个 token，就有 1600 对均值和标准差。",
            ),
            (equal("pairs", "cells"),),
        ),
        Part(
            Both("Gamma and beta have D numbers each.", "γ 和 β 各有 D 个数。"),
            (equal("gamma", "width"),),
        ),
        Part(
            Both(
                "The norms of this model do so: statistics of each token alone give what they give.",
                "该模型的归一化层正是这样做的：只用每个 token 自己的统计量，就能得到它的输出。",
            ),
            (below("difference", 0.001),),
        ),
    ),
    measure=_per_token,
    numbers={
        "pairs": Quantity(Both("pairs of mean and deviation", "均值和标准差的对数")),
        "cells": Quantity(Both("tokens of the batch", "批次中的 token 数")),
        "gamma": Quantity(Both("numbers in gamma", "γ 中的个数")),
        "width": Quantity(Both("features of a token, D", "token 的特征维数 D")),
        "difference": Quantity(
            Both("largest difference from the model's own output", "与模型自身输出的最大差"),
        ),
    },
    setting=Both(
        "The 1,600 pairs are those that torch keeps for a random batch [16, 100, 512], seed 0. The rest: all "
        "LayerNorms "
        "of the model on the text; mean and deviation of each token after the norm, beside what the module gave.",
        "1600 对统计量取自 torch 对随机批次 [16, 100, 512]（种子 0）保存的结果。其余：模型在该文本上的全部 "
        "LayerNorm，比较每个 token 归一化之后的均值和标准差与模块实际给出的值。",
    ),
    because=Both(
        "“Layer” sounds as if a whole layer of tokens shared its statistics, and older texts speak of a “sample”. In "
        "a Transformer the sample is one token's vector.",
        "“层”这个字容易让人以为一层中的所有 token 共用统计量，早期资料又常说“样本”。在 Transformer 中，"
        "样本就是一个 token 的向量。",
    ),
    refuted=Both(
        "A norm whose output for a token needs other tokens.",
        "如果某个归一化层对一个 token 的输出需要用到其他 token，结论就被推翻。",
    ),
    formula=r"y = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \quad "
    r"16 \times 100 = <pairs>, \quad \gamma, \beta \in \mathbb{R}^{<gamma>}",
    papers=(BA_2016,),
    see=See("layernorm", {"section": "All numbers"}),
    of=LAYER_NORMED,
)


def _per_sample(subject: Subject) -> Measured:
    norms = layer_norms(subject)
    token = [_off(norm, _standardised(norm.input, 1)) for norm in norms]
    sentence = [_off(norm, _standardised(norm.input, None)) for norm in norms]
    names = [str(at) for at in range(len(norms))]
    return Measured(
        {"token": max(token), "sentence": min(sentence), "tokens": float(len(norms[0].input))},
        Bars(
            names,
            sentence,
            Both("error of statistics over the whole sentence, by norm", "用整句统计量时的误差，按归一化层"),
            parts=["norm"] * len(names),
        ),
    )


PER_SAMPLE = Question(
    52,
    asked=Both("Does LayerNorm normalise each sample?", "LayerNorm 是按样本做归一化吗？"),
    said=Both("LayerNorm normalises each sample, BatchNorm the batch.", "LN 按样本归一化，BN 按 Batch 归一化。"),
    parts=(
        Part(
            Both("The sample is a token: one mean and deviation each.", "样本指 token：每个 token 一对均值和标准差。"),
            (below("token", 0.001),),
        ),
        Part(
            Both(
                "The sample is a sentence: one mean and deviation for all its tokens.",
                "样本指句子：整句的所有 token 共用一对均值和标准差。",
            ),
            (below("sentence", 0.001),),
        ),
    ),
    measure=_per_sample,
    numbers={
        "token": Quantity(
            Both("largest error with statistics of each token", "用每个 token 的统计量，最大误差"),
        ),
        "sentence": Quantity(
            Both("error with statistics of the sentence, smallest of norms", "用整句的统计量，各层误差的最小值"),
        ),
        "tokens": Quantity(Both("tokens of the text", "文本的 token 数")),
    },
    setting=Both(
        "All LayerNorms of the model on the text. Each is computed twice from its own input, with gamma and beta; the "
        "error is that of a token's mean or deviation from what the module gave.",
        "模型在该文本上的全部 LayerNorm。用各层自己的输入按两种方式重算（含 γ、β），"
        "误差是 token 的均值或标准差与模块实际输出之差。",
    ),
    because=Both(
        "In a batch of images a sample is an image. In a batch of texts the word sample means the text to most "
        "readers, "
        "and the token to LayerNorm.",
        "在图像批次里，样本就是一张图。到了文本批次，多数人把样本理解为一句话，而对 LayerNorm 来说样本是 token。",
    ),
    refuted=Both(
        "A text of several tokens on which statistics of the sentence give the module's output.",
        "如果在含多个 token 的文本上，用整句的统计量也能得到模块的输出，结论就被推翻。",
    ),
    papers=(BA_2016,),
    see=See("layernorm", {"section": "Another norm"}),
    of=LAYER_NORMED,
)


def _normal(subject: Subject) -> Measured:
    batch = together(subject)
    own = compared(subject).loc["layer"]
    drawn = np.random.default_rng(0).exponential(size=(1, 64, 4096))
    everywhere = np.ones((1, 64), dtype=bool)
    exponential = normalization.compared(drawn[..., :512], everywhere).set_index("norm").loc["layer"]
    norms = subject.trace.norms
    after = np.concatenate([norm.output.astype(np.float64).std(axis=1) for norm in norms])
    real = normalization.through(batch.x, batch.keep, norm="layer", epsilon=batch.epsilon)[batch.keep]
    counts, edges = np.histogram(real, bins=61, range=(-6, 6), density=True)
    middle = (edges[1:] + edges[:-1]) / 2
    normal = np.exp(-np.square(middle) / 2) / np.sqrt(2 * np.pi)
    return Measured(
        {
            "kurtosis": float(own["kurtosis"]) - 3,
            "skew": float(exponential["skew"]),
            "deviation": float(np.median(after)),
        },
        Lines(
            (
                Series(Both("after LayerNorm", "LayerNorm 之后"), middle.tolist(), counts.tolist(), part="norm"),
                Series(Both("standard normal", "标准正态分布"), middle.tolist(), normal.tolist(), dashed=True),
            ),
            x_title=Both("number, before gamma and beta", "数值，γ、β 之前"),
            y_title=Both("density", "概率密度"),
        ),
    )


NORMAL = Question(
    54,
    asked=Both("Is LayerNorm's output normally distributed?", "LayerNorm 的输出服从标准正态分布吗？"),
    said=Both(
        "LayerNorm brings the data close to a standard normal distribution.",
        "LN 把数据调整为接近标准正态分布（均值为 0，方差为 1）。",
    ),
    parts=(
        Part(
            Both("In this model its output is normal: excess kurtosis 0.", "在该模型中输出是正态的：超额峰度为 0。"),
            (around("kurtosis", 0, within=0.5),),
        ),
        Part(
            Both(
                "Whatever goes in, a normal distribution comes out: skew 0.",
                "不管输入是什么分布，输出都是正态分布：偏度为 0。",
            ),
            (around("skew", 0, within=0.5),),
        ),
        Part(
            Both("What the next sublayer gets has deviation 1.", "下一个子层拿到的数据标准差为 1。"),
            (near("deviation", 1, within=0.05),),
        ),
    ),
    measure=_normal,
    numbers={
        "kurtosis": Quantity(Both("excess kurtosis of a token, before gamma", "一个 token 的超额峰度，γ 之前")),
        "skew": Quantity(Both("skew after LayerNorm of exponential numbers", "指数分布的数经 LayerNorm 之后的偏度")),
        "deviation": Quantity(Both("deviation after gamma and beta, median", "γ、β 之后的标准差，中位数")),
    },
    setting=Both(
        "The text and seven sentences before the middle norm, put through LayerNorm without gamma and beta, mean over "
        "tokens. Exponential: 64 vectors of 512 numbers, seed 0. Deviation: all norms and tokens of the text.",
        "该文本和另外七个句子在中间一个归一化层之前的激活值，经过不带 γ、β 的 LayerNorm，对 token 取平均。指数分布："
        "64 个 512 维向量，种子 0。标准差：文本的所有归一化层、所有 token。",
    ),
    because=Both(
        "Standardising is often called making normal. It moves the mean to 0 and the variance to 1, and leaves the "
        "shape "
        "as it was: it is a shift and a factor. Then gamma and beta move mean and variance again.",
        "人们常把“标准化”说成“变成正态分布”。其实它只是平移和缩放：均值变成 0，方差变成 1，分布的形状不变。"
        "随后 γ 和 β 又会改变均值和方差。",
    ),
    refuted=Both(
        "An output with skew 0 and excess kurtosis 0 from an input that has neither.",
        "如果输入的偏度和超额峰度都不为 0，输出却都为 0，结论就被推翻。",
    ),
    formula=r"\mathbb{E}\!\left[\hat{x}^4\right] - 3 = <kurtosis> \neq 0",
    papers=(BA_2016,),
    see=See("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)


def _relations(subject: Subject) -> Measured:
    table = compared(subject)
    layer, batch = table.loc["layer"], table.loc["masked batch"]
    found = {
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
    return Measured(found, Bars(names, list(found.values()), title, parts=["norm"] * 4))


RELATIONS = Question(
    60,
    asked=Both(
        "Which norm keeps the relations between a token's features?", "哪种归一化保留 token 内部特征之间的关系？"
    ),
    said=Both(
        "LayerNorm keeps the relations of features in a token; BatchNorm destroys them.",
        "LN 保留 token 内部各特征之间的相对关系，BN 则破坏这种关系。",
    ),
    parts=(
        Part(
            Both("LayerNorm keeps the order of a token's features.", "LN 保持一个 token 内各特征的大小次序。"),
            (at_least("layer_within", 0.999),),
        ),
        Part(
            Both("BatchNorm does not.", "BN 不保持。"),
            (at_most("batch_within", 0.95),),
        ),
        Part(
            Both(
                "Across tokens it is the other way round: BatchNorm keeps a feature's order, LayerNorm does not.",
                "在 token 之间正好相反：BN 保持同一特征在各 token 间的次序，LN 不保持。",
            ),
            (at_least("batch_across", 0.999), at_most("layer_across", 0.99)),
        ),
    ),
    measure=_relations,
    numbers={
        "layer_within": Quantity(Both("order kept in a token, LayerNorm", "token 内次序，LayerNorm")),
        "batch_within": Quantity(Both("order kept in a token, BatchNorm", "token 内次序，BatchNorm")),
        "layer_across": Quantity(Both("order kept across tokens, LayerNorm", "token 间次序，LayerNorm")),
        "batch_across": Quantity(Both("order kept across tokens, BatchNorm", "token 间次序，BatchNorm")),
    },
    setting=Both(
        "Kendall's tau between before and after the norm, without gamma and beta: 1 where nothing changes places. The "
        "text and seven sentences before the middle norm; BatchNorm over the real tokens.",
        "归一化前后的 Kendall τ，不带 γ、β：没有任何次序变化时为 1。"
        "该文本和另外七个句子在中间一个归一化层之前的激活值；BN 只用真实 token。",
    ),
    because=Both(
        "A shift and a factor for the whole token cannot change which feature is larger. BatchNorm shifts and scales "
        "each feature by its own numbers. Gamma and beta of either norm can change the order again.",
        "对整个 token 用同一个平移和缩放，不会改变特征之间谁大谁小；BN 对每个特征各用一套平移和缩放。"
        "两者的 γ、β 之后又都可能改变次序。",
    ),
    refuted=Both(
        "A token in which LayerNorm without gamma and beta changes the order of two features.",
        "如果不带 γ、β 的 LN 改变了某个 token 内两个特征的次序，结论就被推翻。",
    ),
    formula=r"\tau_{\mathrm{LN}} = <layer_within>, \quad \tau_{\mathrm{BN}} = <batch_within>",
    papers=(BA_2016,),
    see=See("layernorm", {"section": "Another norm"}),
    of=BATCHED,
)

THEME = Theme("layer_norm", Both("LayerNorm", "LayerNorm"), (PER_TOKEN, PER_SAMPLE, NORMAL, RELATIONS))
