"""Findings about heads that people quote. Questions 114 to 125 and 142."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from inspector import compare, flow, head_distances, heads, interventions, scores
from inspector.interventions import leave_one_out
from inspector.interventions.leave_one_out import LeftOutTokens
from inspector.interventions.masking import maskable
from inspector.probe import record, record_blocks, record_head
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, at_most, below
from inspector.questions.record.kinds import ANY, DECODER, ENCODER, ENCODERS, Kind
from inspector.questions.record.papers import (
    ABNAR_2020,
    CLARK_2019,
    ELHAGE_2021,
    JAIN_2019,
    KOBAYASHI_2020,
    KOBAYASHI_2021,
    MICHEL_2019,
    OLSSON_2022,
    VIG_2019,
    VOITA_2019,
    WIEGREFFE_2019,
    XIAO_2023,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    Measurement,
    PageLink,
    PublishedNumber,
    Question,
    Theme,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes import several_texts
from inspector.questions.themes.inside import blocks_of, left_out, several_tokens, stream_of
from inspector.questions.themes.several_heads import importances
from inspector.questions.themes.several_texts import SEVERAL, interval, interval_labels
from inspector.scores import ranks
from inspector.trace import AttentionSite, Trace
from inspector.trace.blocks import Matrix
from models import LoadedModel, output_projection
from models.attention.dropping import ModelHead

# --- 122, 123: heads left out --------------------------------------------------------------------------------------

_SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)  # shares of all heads that are left out
_NOTICED = 0.05  # 1 - cosine of the last state, from which on a change counts as noticeable
_DRAWS = 3
_OTHERS = 19  # draws of other heads, each as many as the positional heads: all are exceeded by chance once in 20
_TRIED = 3  # texts without these heads
_POSITIONAL = 0.9  # of the tokens whose largest weight is on the same neighbour: Voita et al. 2019, section 5
_PRUNED = 38 / 48  # share of the encoder's heads that Voita et al. prune


def _moved_without(subject: Subject, dropped: list[ModelHead]) -> float:
    """1 - cosine of the last state with all heads and without the dropped heads, mean over the tokens."""
    return _moved_in(subject.loaded, subject.trace, dropped)


def _moved_in(loaded: LoadedModel, trace: Trace, dropped: list[ModelHead]) -> float:
    """Do the same in a text."""
    if not dropped:
        return 0.0
    change = interventions.drop(loaded, trace, heads=dropped)
    return float(compare.moved(change.before, change.after).mean())


def _by_importance(subject: Subject) -> list[ModelHead]:
    """The heads that were tried one by one, the least important first."""
    ordered = sorted(importances(subject), key=lambda head: head.moved)
    return [ModelHead(head.stream, head.layer, head.head, head.call) for head in ordered]


def _many(subject: Subject) -> Measurement:
    ordered = _by_importance(subject)
    counts = [round(share * len(ordered)) for share in _SHARES]
    orders = [np.random.default_rng(seed).permutation(len(ordered)) for seed in range(_DRAWS)]
    least = [_moved_without(subject, ordered[:count]) for count in counts]
    most = [_moved_without(subject, ordered[len(ordered) - count :]) for count in counts]
    drawn = [
        float(np.mean([_moved_without(subject, [ordered[at] for at in order[:count]]) for order in orders]))
        for count in counts[:3]
    ]
    unnoticed = [share for share, moved in zip(_SHARES, least, strict=True) if moved < _NOTICED]
    percent = [100 * share for share in _SHARES]
    picture = Lines(
        (
            Series(Both("least important first", "从最不重要的开始"), percent, least),
            Series(Both("drawn at random", "随机抽取"), percent[:3], drawn, dashed=True),
            Series(Both("most important first", "从最重要的开始"), percent, most),
        ),
        x_title=Both("heads left out, %", "去掉的头，%"),
        y_title=Both("output moved, 1 − cosine", "输出的变化，1 − 余弦"),
        mark_y=_NOTICED,
    )
    return Measurement(
        {"share": max(unnoticed, default=0.0), "least_20": least[1], "least_40": least[2], "random_20": drawn[1]},
        picture,
    )


MANY_CAN_GO = Question(
    122,
    asked=Both("Can 20 to 40 % of the heads be left out?", "可以去掉 20% 到 40% 的头吗？"),
    claim=Both(
        "“Are sixteen heads really better than one?” 20 to 40 % of the heads can be pruned without noticeable harm.",
        "“十六个头真的比一个头好吗？”20% 到 40% 的头可以剪掉，效果没有明显下降。",
    ),
    parts=(
        ClaimPart(
            Both(
                "The 20 % of the heads that matter least can be left out at once.", "最不重要的 20% 的头可以同时去掉。"
            ),
            (below("least_20", _NOTICED),),
        ),
        ClaimPart(
            Both(
                "The 40 % of the heads that matter least can be left out at once.", "最不重要的 40% 的头可以同时去掉。"
            ),
            (below("least_40", _NOTICED),),
        ),
        ClaimPart(
            Both("It does not matter which 20 % they are.", "去掉哪 20% 的头都一样。"),
            (below("random_20", _NOTICED),),
        ),
    ),
    measure=_many,
    numbers={
        "share": Label(
            Both("heads without which the output moves less than 0.05", "去掉后输出变化仍小于 0.05 的头"), "%"
        ),
        "least_20": Label(
            Both("output moved without the least important 20 % of the heads", "去掉最不重要的 20% 的头后输出的变化")
        ),
        "least_40": Label(
            Both("output moved without the least important 40 % of the heads", "去掉最不重要的 40% 的头后输出的变化")
        ),
        "random_20": Label(
            Both("output moved without 20 % of the heads, drawn at random", "随机去掉 20% 的头后输出的变化")
        ),
    },
    setting=Both(
        "Heads are ordered by what each alone does to this text, then 10, 20, 40, 60 and 80 % are left out at once; "
        "of a large model or a long text some heads are tried. Random: 3 draws, seeds 0 to 2. Noticeable is meant as "
        "0.05 of 1 − cosine of the last state; the paper measures BLEU and accuracy.",
        "先按每个头单独去掉时对该文本的影响排序，再同时去掉 10%、20%、40%、60%、80%；模型大或文本长时只试部分头。"
        "随机：3 次抽取，种子 0 到 2。“明显”指最后一层状态的 1 − 余弦达到 0.05；论文用的是 BLEU 和准确率。",
    ),
    because=Both(
        "Pruning goes by importance, and is judged after the fact on one task. It is told as if heads were spare in "
        "general; a few that are drawn with the others can cost much more than the rest together.",
        "剪枝按重要性进行，并在某个任务上事后评价。转述时却常说成头本来就有富余；随机抽取时，"
        "只要抽到少数几个重要的头，代价就可能远大于其余的头。",
    ),
    refuted=Both(
        "A trained model whose output is another one without its 20 % least important heads.",
        "如果训练好的模型去掉最不重要的 20% 的头后输出就变样，判断就会改变。",
    ),
    formula=r"1 - \cos(h, h_{\xi = 0}): \quad <least_20> \;(20\,\%), \; <least_40> \;(40\,\%), \quad"
    r" <random_20> \;(20\,\%, \sim U)",
    papers=(MICHEL_2019,),
    see=PageLink("what_if", {"part": "Drop heads"}),
    of=ANY,
    published={
        "share": PublishedNumber(
            "20 %, 40 %",
            Both(
                "of the heads of a WMT translation model, and of BERT, pruned by importance without noticeable harm",
                "分别为 WMT 翻译模型和 BERT 的头，按重要性剪枝，没有明显的负面影响",
            ),
            same=False,
        )
    },
)


def _looks_at_a_neighbour(weights: NDArray[np.float32], *, causal: bool) -> NDArray[np.float64]:
    """The share of queries whose largest weight is on the token before, [H].

    Without a causal mask the share for the token after counts where it is larger. Queries that see only one key, and
    queries without that neighbour, are left out.
    """
    tokens = weights.shape[-1]
    top, places = weights.argmax(axis=-1), np.arange(tokens)
    first = 2 if causal else 1
    before = (top[:, first:] == places[first:] - 1).mean(axis=-1)
    after = (top[:, :-1] == places[:-1] + 1).mean(axis=-1)
    shares: NDArray[np.float64] = before if causal else np.maximum(before, after)
    return shares


def _positional(traces: Sequence[Trace]) -> list[ModelHead]:
    """The heads whose largest weight is on one neighbour in 90 % of the rows, mean over the texts."""
    shares: dict[ModelHead, list[float]] = {}
    for trace in traces:
        for site in trace.sites:
            if site.stream == "cross" or len(site.keys) < 4:
                continue
            weights = trace.attention(layer=site.layer, stream=site.stream, call=site.call)
            looking = _looks_at_a_neighbour(weights, causal=site.predicts is not None)
            for at, share in enumerate(looking):
                shares.setdefault(ModelHead(site.stream, site.layer, at, site.call), []).append(float(share))
    return [head for head, of_texts in shares.items() if np.mean(of_texts) >= _POSITIONAL]


def _specialised(subject: Subject) -> Measurement:
    traces = several_texts.traces(subject)
    every, positional = interventions.every_head(subject.trace), _positional(traces)
    others = [head for head in every if head not in positional]
    without, drawn = float("nan"), [float("nan")]
    if positional and len(others) >= len(positional):

        def moved(dropped: list[ModelHead]) -> float:
            return float(np.mean([_moved_in(subject.loaded, trace, dropped) for trace in traces[:_TRIED]]))

        without = moved(positional)
        orders = (np.random.default_rng(seed).permutation(len(others)) for seed in range(_OTHERS))
        drawn = [moved([others[at] for at in order[: len(positional)]]) for order in orders]
    ordered = _by_importance(subject)
    rest = _moved_without(subject, ordered[: round(_PRUNED * len(ordered))])
    numbers = {
        "count": float(len(positional)),
        "share": len(positional) / len(every),
        "positional": without,
        "others": float(np.median(drawn)),
        "others_most": max(drawn),
        "rest": rest,
    }
    picture = Bars(
        (
            Both("without the positional heads", "去掉位置头"),
            Both("without as many others, median", "去掉同样多的其他头，中位数"),
            Both("without as many others, most", "去掉同样多的其他头，最大"),
            Both("without 79 %, the least important", "去掉最不重要的 79%"),
        ),
        [numbers["positional"], numbers["others"], numbers["others_most"], rest],
        Both("output moved, 1 − cosine", "输出的变化，1 − 余弦"),
    )
    return Measurement(numbers, picture)


SPECIALISED = Question(
    123,
    asked=Both("Do a few specialised heads do the work?", "真正起作用的是少数专门化的头吗？"),
    claim=Both(
        "Specialised heads do the heavy lifting, the rest can be pruned: the important ones look at a neighbour, a "
        "syntactic relation or a rare token.",
        "少数专门化的头承担主要工作，其余可以剪掉：重要的头看相邻位置、句法关系或罕见 token。",
    ),
    parts=(
        ClaimPart(
            Both("Heads that look at a neighbour are there, and few.", "有看相邻位置的头，而且不多。"),
            (above("share", 0), at_most("share", 0.25)),
        ),
        ClaimPart(
            Both(
                "The model misses these heads more than as many other heads: more than in each of 19 draws.",
                "去掉这些头，比去掉同样多的其他头影响更大：超过 19 次抽取中的每一次。",
            ),
            (above("positional", "others_most"),),
        ),
        ClaimPart(
            Both(
                "Without training anew, four fifths of the heads can be left out.",
                "不重新训练，也可以去掉五分之四的头。",
            ),
            (below("rest", _NOTICED),),
        ),
    ),
    measure=_specialised,
    numbers={
        "count": Label(Both("heads that look at a neighbour", "位置头个数")),
        "share": Label(Both("share of heads that look at a neighbour", "位置头占比"), "%"),
        "positional": Label(Both("output moved without the heads that look at a neighbour", "去掉位置头后输出的变化")),
        "others": Label(
            Both("output moved without as many other heads, median", "去掉同样多的其他头后输出的变化，中位数")
        ),
        "others_most": Label(
            Both(
                "output moved without as many other heads, most of 19 draws",
                "去掉同样多的其他头，输出变化最大的一次",
            )
        ),
        "rest": Label(
            Both("output moved without the least important 79 % of the heads", "去掉最不重要的 79% 的头后输出的变化")
        ),
    },
    setting=Both(
        "Positional, as in the paper: the largest weight is on the token before, or after, in at least 90 % of the "
        "rows, mean over the texts. Both kinds of heads are left out of the first texts. Others: 19 draws, seeds 0 "
        "to 18. 79 % is 38 of 48, of this text. Syntactic and rare-token heads are not looked for. "
        f"{SEVERAL.en}",
        "位置头按论文的定义：至少 90% 的行（各文本取均值），最大权重落在前一个（或后一个）token 上。"
        f"两类头都在前 {_TRIED} 段文本中去掉。"
        "其他头：19 次抽取，种子 0 到 18。79% 即 48 个中的 38 个，只在你的文本上。这里不找看句法关系和罕见 token 的头。"
        f"{SEVERAL.zh}",
    ),
    because=Both(
        "The paper prunes while it trains: the heads that stay learn to do without the others. A model that was not "
        "trained so needs more of its heads. How much positional heads matter also depends on the task: a sentence's "
        "meaning survives what a next word does not.",
        "论文是边训练边剪枝：留下的头会学着在没有其他头的情况下工作。没有这样训练过的模型需要更多的头。"
        "位置头有多重要也取决于任务：句子的大意不太受影响，预测下一个词就不同了。",
    ),
    refuted=Both(
        "A model that misses its positional heads no more than any others.",
        "如果模型去掉位置头的损失并不比去掉其他头更大，判断就会改变。",
    ),
    formula=r"1 - \cos(h, h_{\xi = 0}): \quad <positional> \;(i \pm 1), \qquad <others> \;(j \neq i \pm 1)",
    papers=(VOITA_2019,),
    see=PageLink("what_if", {"part": "Drop heads"}),
    of=ANY,
    published={
        "rest": PublishedNumber(
            "−0.15 BLEU",
            Both(
                "without 38 of the 48 encoder heads of an English-Russian translator, pruned while it was trained",
                "英俄翻译模型编码器 48 个头去掉 38 个，边训练边剪枝",
            ),
            same=False,
        )
    },
)


# --- 124: copying --------------------------------------------------------------------------------------------------

_MOST_VOCABULARY = 8192
SPEAKS = Kind(
    lambda loaded: loaded.shape == "decoder" and loaded.runner.predicts and loaded.backend != "eager output",
    Both("is no decoder whose values and output matrix are seen", "不是能看到值和输出矩阵的解码器"),
    ("mini-gpt",),
)


def _copying(value: Tensor, out: Tensor, from_end: Tensor) -> float:
    """The sum of the eigenvalues of W_E W_V W_O W_U over the sum of their sizes, from -1 to 1.

    Only the eigenvalues of W_O (W_U W_E) W_V, [E, E], can differ from 0. value: [D, E], out: [E, D],
    from_end: W_U W_E, [D, D].
    """
    eigenvalues = torch.linalg.eigvals((out @ from_end @ value).double())
    return float(eigenvalues.real.sum() / eigenvalues.abs().sum().clamp(min=1e-30))


def _copying_heads(subject: Subject) -> NDArray[np.float64]:
    """`_copying` of every head, a row per layer [L, H]. Raises ValueError where a matrix was not seen."""
    trace, loaded = subject.trace, subject.loaded
    network = loaded.network
    blocks = subject.once("blocks", partial(record_blocks, loaded, trace))
    if not blocks.embedding:
        raise ValueError(f"the embedding of {loaded.card.id} was not seen")
    embedding = network.get_parameter(blocks.embedding).detach()
    unembedding = record_head(loaded, trace, most=1).matrix.weight(network)
    if embedding.shape[::-1] != unembedding.shape:
        raise ValueError(
            f"the embedding of {loaded.card.id} is {tuple(embedding.shape)} and its output matrix "
            f"{tuple(unembedding.shape)}, so no product of both is made"
        )
    chosen = torch.linspace(0, len(embedding) - 1, min(len(embedding), _MOST_VOCABULARY)).round().long()
    from_end = (unembedding[:, chosen].float() @ embedding[chosen].float()).cpu()  # [D, D]
    rows = []
    for layer in blocks.of("decoder"):
        projections = scores.projections(trace, blocks, network, layer=layer.layer, stream="decoder")
        matrix = layer.matrix("out")
        if projections.value is None or matrix is None:
            raise ValueError(f"W_V or W_O of layer {layer.layer} of {loaded.card.id} was not seen as a matrix")
        value = projections.value.float()
        out = matrix.weight(network).float().cpu().reshape(len(value), value.shape[-1], -1)
        rows.append([_copying(value[head], out[head], from_end) for head in range(len(value))])
    return np.array(rows)


def _copy(subject: Subject) -> Measurement:
    copying = subject.once("copying of heads", partial(_copying_heads, subject))
    picture = Heatmap(
        copying.astype(np.float32),
        rows=[str(layer) for layer in range(len(copying))],
        columns=[str(head) for head in range(copying.shape[1])],
        row_title=Both("layer", "层"),
        column_title=Both("head", "头"),
        quantity=Both("sum of eigenvalues / sum of their sizes", "特征值之和 / 特征值的模之和"),
        diverging=True,
    )
    return Measurement(
        {
            "copying": float((copying > 0.5).mean()),
            "median": float(np.median(copying)),
            "least": float(copying.min()),
        },
        picture,
    )


COPYING = Question(
    124,
    reads_text=False,
    asked=Both("Do most heads copy?", "大多数头是在做“复制”吗？"),
    claim=Both(
        "Most heads copy: what they read raises the probability of the same token, for the eigenvalues of their OV "
        "circuit are positive.",
        "大多数头在复制：读到哪个 token，就提高那个 token 的输出概率，因为它们 OV 回路的特征值为正。",
    ),
    parts=(
        ClaimPart(
            Both("Most heads have mostly positive eigenvalues.", "大多数头的特征值以正为主。"),
            (at_least("copying", 0.5),),
        ),
        ClaimPart(
            Both("All heads have mostly positive eigenvalues.", "所有头的特征值都以正为主。"),
            (above("least", 0),),
        ),
    ),
    measure=_copy,
    numbers={
        "copying": Label(Both("heads whose ratio of eigenvalues is above 0.5", "特征值的比值大于 0.5 的头"), "%"),
        "median": Label(Both("ratio of eigenvalues, median of heads", "特征值的比值，各头中位数")),
        "least": Label(Both("ratio of eigenvalues, smallest of heads", "特征值的比值，各头最小值")),
    },
    setting=Both(
        "Ratio: sum of the eigenvalues of W_E W_V W_O W_U over the sum of their sizes, −1 to 1, about 0 for unrelated "
        "matrices. W_E and W_U are the embedding and the output matrix, of at most 8,192 tokens; norms are left out. "
        "The weights alone decide, not the text. It takes a decoder that predicts the next token: mini-gpt for others.",
        "比值：W_E W_V W_O W_U 的特征值之和除以特征值的模之和，取值 −1 到 1，矩阵互不相关时约为 0。W_E、"
        "W_U 是嵌入矩阵和输出矩阵，最多取 8192 个 token；不计归一化。只由权重决定，与文本无关。"
        "需要预测下一个 token 的解码器，其他模型用 mini-gpt 代替。",
    ),
    because=Both(
        "An eigenvector with a positive eigenvalue is a mix of tokens that raises itself. In an attention-only model "
        "of one layer this is what a head does; in deeper ones other layers stand between the embedding, the head and "
        "the output, and a head may well read what an earlier one wrote.",
        "特征值为正的特征向量，是一组提高自身概率的 token。在只有一层注意力的模型里，这就是头的全部作用；"
        "在更深的模型里，嵌入、头和输出之间隔着其他层，头读到的可能是前面的头写入的内容。",
    ),
    refuted=Both(
        "A trained decoder whose heads have as much negative as positive in their eigenvalues.",
        "如果训练好的解码器各头的特征值正负参半，判断就会改变。",
    ),
    formula=r"\frac{\sum_i \lambda_i}{\sum_i |\lambda_i|}, \; \lambda_i \in \sigma(W_E W_V W_O W_U): \quad"
    r" <median> \;(50\,\%), \; <least> \;(\min)",
    papers=(ELHAGE_2021,),
    of=SPEAKS,
    published={
        "copying": PublishedNumber(
            "10 / 12",
            Both(
                "of the heads of a one-layer attention-only model copy significantly",
                "一层、只有注意力的模型中明显在复制的头",
            ),
        )
    },
)


# --- 125: broad heads ----------------------------------------------------------------------------------------------


def _broad(subject: Subject) -> Measurement:
    stream = subject.trace.streams[0]
    if len(subject.trace.sites_of(stream)[0].keys) < 3:
        raise ValueError("the text has too few tokens for a head to look at many; write a longer one")
    traces = several_texts.traces(subject)
    tables = []
    for trace, measured in zip(traces, several_texts.heads_of(subject), strict=True):
        table = heads.with_choice(measured, trace)
        tables.append(table[(table["stream"] == stream) & table["relative_entropy"].notna()])
    layers = np.array(sorted(tables[0]["layer"].unique()))
    if len(layers) < 3:
        raise ValueError(f"{subject.loaded.card.id} has {len(layers)} layers; low and middle ones take three")
    low, middle, _ = np.array_split(layers, 3)
    thirds = [
        [float(table.loc[table["layer"].isin(third), "relative_entropy"].mean()) for table in tables]
        for third in (low, middle)
    ]
    leads = [
        float(of_low.max() - of_others.max())
        for of_low, of_others in (
            (table.loc[chosen, "relative_entropy"], table.loc[~chosen, "relative_entropy"])
            for table, chosen in ((table, table["layer"].isin(low)) for table in tables)
        )
    ]
    means = pd.concat(tables).groupby(["layer", "head"], as_index=False)[["relative_entropy", "confidence"]].mean()
    broadest = means.loc[means["relative_entropy"].idxmax()]
    layer, head = int(broadest["layer"]), int(broadest["head"])
    largest = [trace.attention(layer=layer, head=head, stream=stream).max(axis=1).mean() for trace in traces]
    by_layer = means.groupby("layer")["relative_entropy"].mean()
    picture = Lines(
        (
            Series(Both("heads", "各头"), means["layer"].tolist(), means["relative_entropy"].tolist(), points=True),
            Series(Both("mean of the layer", "该层均值"), layers.tolist(), by_layer.tolist()),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("entropy / ln n, mean of texts", "熵 / ln n，各文本均值"),
    )
    return Measurement(
        {
            "low": float(np.mean(thirds[0])),
            "middle": float(np.mean(thirds[1])),
            **interval(np.array(thirds[0]) - np.array(thirds[1])).named("gain"),
            **interval(leads).named("lead"),
            "depth": float(np.searchsorted(layers, layer)) / (len(layers) - 1),
            "broadest": float(broadest["relative_entropy"]),
            "confidence": float(broadest["confidence"]),
            "largest": float(np.mean(largest)),
        },
        picture,
    )


BROAD = Question(
    125,
    asked=Both("Do heads in low layers look around broadly?", "底层的头注意力更分散吗？"),
    claim=Both(
        "Some heads, above all in low layers, attend very broadly: they make a bag of words.",
        "有些头，特别是底层的头，注意力非常分散，相当于词袋。",
    ),
    parts=(
        ClaimPart(
            Both("The broadest head stands in the lowest third.", "最分散的头在最底层的三分之一。"),
            (above("lead_least", 0),),
        ),
        ClaimPart(
            Both(
                "The lowest third looks around more broadly than the middle one.",
                "底层三分之一比中间三分之一更分散。",
            ),
            (above("gain_least", 0),),
        ),
    ),
    measure=_broad,
    numbers={
        "low": Label(Both("entropy / ln n, lowest third of the layers", "熵 / ln n，底层三分之一")),
        "middle": Label(Both("entropy / ln n, middle third", "熵 / ln n，中间三分之一")),
        **interval_labels("gain", Both("entropy / ln n, lowest third less middle third", "熵 / ln n，底层减中间")),
        **interval_labels(
            "lead",
            Both(
                "entropy / ln n, broadest head of the lowest third less the broadest of all others",
                "熵 / ln n，底层三分之一中最分散的头减去其余各层中最分散的头",
            ),
        ),
        "depth": Label(
            Both(
                "depth of the broadest head, 0 lowest, 1 highest",
                "最分散的头所在深度，0 为最底层，1 为最高层",
            )
        ),
        "broadest": Label(Both("entropy / ln n of the broadest head", "最分散的头的熵 / ln n")),
        "confidence": Label(
            Both(
                "largest weight in a row of the broadest head, the end token's column left out",
                "最分散的头每行的最大权重，不计结束符（[SEP]）一列",
            ),
            "%",
        ),
        "largest": Label(
            Both("largest weight in a row of the broadest head, all columns", "最分散的头每行的最大权重，所有列"), "%"
        ),
    },
    setting=Both(
        "Entropy of the rows over ln n, the most that n tokens allow, mean over queries that see more than one key; "
        "all heads of self-attention, of the encoder where there is one. 0: one token, 1: all alike. The broadest head "
        f"has the largest mean over the texts. {SEVERAL.en}",
        "各行的熵除以 ln n（n 个 token 时的最大熵），对能看到多个键的查询取平均；取自注意力的所有头，"
        "有编码器时取编码器的。0 表示只看一个 token，1 表示平均分配。最分散的头指各文本均值最大的头。"
        f"{SEVERAL.zh}",
    ),
    because=Both(
        "Before tokens know of each other, a summary of all is of use, and position and content are not yet mixed "
        "enough for a sharp choice. It is a tendency of BERT, no law: a model's first layer may look at itself or its "
        "neighbour.",
        "在各 token 互相了解之前，对全文的概括是有用的；位置和内容也还没有混合到可以精确选择的程度。"
        "但这是 BERT 的倾向，不是规律：有的模型第一层只看自身或相邻位置。",
    ),
    refuted=Both(
        "Low layers whose heads are as sharp as those above.",
        "如果底层的头与上面的头一样集中，判断就会改变。",
    ),
    formula=r"\frac{H(A_i)}{\ln n}: \quad <low> \;(l < L/3), \qquad <middle> \;(L/3 \le l < 2L/3)",
    papers=(CLARK_2019,),
    see=PageLink("", {"sort": "entropy"}),
    of=ANY,
    published={
        "confidence": PublishedNumber(
            "≤ 10 %",
            Both(
                "of a broad head's attention goes to any one word, in BERT-base on texts of up to 128 tokens",
                "BERT-base 中分散的头给任一个词的注意力，文本最长 128 个 token",
            ),
        )
    },
)


# --- 114 to 116, 121, 142: where heads look -----------------------------------------------------------------------


_WORDS = 4  # tokens without special ones: fewer say nothing about where a head looks


def _check_length(trace: Trace) -> None:
    """Raise UnanswerableError for a text of fewer than _WORDS tokens, without special ones."""
    count = len(maskable(trace.encoding))
    if count < _WORDS:
        raise UnanswerableError(
            f"The question needs {_WORDS} tokens or more, and the text has {count}; write more words.",
            f"这个问题至少需要 {_WORDS} 个 token，而该文本有 {count} 个；请多写几个词。",
        )


def _neighbours(subject: Subject) -> Measurement:
    """The largest share of weight of a head that goes to each neighbour, and a bar for it."""
    _check_length(subject.trace)
    self_attention = subject.heads[subject.heads["stream"] != "cross"]
    shares = {
        name: float(np.nan_to_num(self_attention[name].max()))  # a mask hides the token after
        for name in ("previous", "next")
    }
    named = [Both("the token before", "前一个 token"), Both("the token after", "后一个 token")]
    title = Both("largest share of a head's weight", "单个头权重占比的最大值")
    return Measurement(shares, Bars(named, list(shares.values()), title))


NEIGHBOURS = Question(
    114,
    asked=Both("Are there heads that look at the token before, or after?", "有专门看前一个或后一个 token 的头吗？"),
    claim=Both(
        "Some heads give most of their weight to the previous token, others to the next.",
        "有些头把大部分权重给前一个 token，有些给后一个。",
    ),
    parts=(
        ClaimPart(Both("A head looks at the token before.", "有的头看前一个 token。"), (above("previous", 0.5),)),
        ClaimPart(Both("A head looks at the token after.", "有的头看后一个 token。"), (above("next", 0.5),)),
    ),
    measure=_neighbours,
    numbers={
        "previous": Label(Both("weight on the token before, largest of heads", "给前一个 token 的权重，最大的头"), "%"),
        "next": Label(Both("weight on the token after, largest of heads", "给后一个 token 的权重，最大的头"), "%"),
    },
    setting=Both(
        "All heads of self-attention, mean over the tokens that have such a neighbour. Most is meant as one half, as "
        "in the paper.",
        "自注意力的所有头，对有这种邻居的各 token 取均值。“大部分”按论文指一半以上。",
    ),
    because=Both(
        "Neighbours tell most about a word, and positions make them easy to find. A causal mask hides the token after.",
        "相邻的词最有用，靠位置信息也容易找到。因果掩码会遮住后一个 token。",
    ),
    refuted=Both("A trained model without such a head.", "如果训练好的模型没有这样的头，判断就会改变。"),
    formula=r"\max_h \overline{A_{i,i-1}} = <previous>, \qquad \max_h \overline{A_{i,i+1}} = <next>",
    papers=(CLARK_2019, VIG_2019),
    see=PageLink("", {"sort": "weight on the token before"}),
    of=ANY,
    published={
        "previous": PublishedNumber("> 50 %", Both("of four heads of BERT base", "BERT base 中的四个头")),
        "next": PublishedNumber("> 50 %", Both("of five heads of BERT base", "BERT base 中的五个头")),
    },
)


def _induction(subject: Subject) -> Measurement:
    words = subject.text[:200]
    trace = subject.once("twice", lambda: record(subject.loaded, f"{words} {words}"))
    different = len({trace.encoding.ids[place] for place in maskable(trace.encoding)})
    if different < _WORDS:
        raise UnanswerableError(
            f"The question needs {_WORDS} different tokens or more, and the text has {different}; write more words.",
            f"这个问题至少需要 {_WORDS} 个不同的 token，而该文本有 {different} 个；请多写几个词。",
        )
    table = heads.measure(trace)
    by_layer = table.groupby("layer")[["previous", "induction"]].max()
    largest = float(table["induction"].max())
    picture = Lines(
        (
            Series(
                Both("token before", "前一个 token"), list(by_layer.index), by_layer["previous"].tolist(), dashed=True
            ),
            Series(Both("induction", "归纳"), list(by_layer.index), by_layer["induction"].tolist()),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("largest share of a head's weight", "单个头权重占比的最大值"),
    )
    first = float(by_layer["induction"].iloc[0])
    return Measurement({"induction": largest, "first": first}, picture)


INDUCTION = Question(
    115,
    asked=Both("Are there induction heads?", "有归纳头吗？"),
    claim=Both(
        "In a repeated text, some heads look at the token that followed the same token before; never in the first "
        "layer.",
        "文本重复时，有些头会看同一 token 上次出现之后的那个 token；第一层没有这样的头。",
    ),
    parts=(
        ClaimPart(Both("An induction head is there.", "有归纳头。"), (above("induction", 0.3),)),
        ClaimPart(Both("No induction head is in the first layer.", "第一层没有归纳头。"), (below("first", 0.3),)),
    ),
    measure=_induction,
    numbers={
        "induction": Label(
            Both(
                "weight on the token that followed the same token, largest of heads",
                "给同一 token 上次出现之后的 token 的权重，最大的头",
            ),
            "%",
        ),
        "first": Label(
            Both(
                "weight on the token that followed the same token, largest of heads of the first layer",
                "给同一 token 上次出现之后的 token 的权重，第一层最大的头",
            ),
            "%",
        ),
    },
    setting=Both(
        "The first 200 characters of the text, written twice, in a decoder; rows whose token came before.",
        "文本的前 200 个字符重复两遍，由解码器读入；只计此前出现过的 token 所在的行。",
    ),
    because=Both(
        "It takes two layers: a head that marks each token with the one before, and a later one that looks for the "
        "mark.",
        "这需要两层配合：前面的头给每个 token 记下它的前一个，后面的头再去找这个记号。",
    ),
    refuted=Both(
        "A trained decoder of two layers or more without one.",
        "如果两层以上的训练好的解码器没有这样的头，判断就会改变。",
    ),
    formula=r"x_{j-1} = x_i: \quad \max_h \overline{A_{ij}} = <induction>",
    papers=(OLSSON_2022, ELHAGE_2021),
    see=PageLink(""),
    of=DECODER,
    published={
        "first": PublishedNumber(
            "0",
            Both(
                "induction heads of models with one layer; they form in models of two layers or more, all at once in "
                "training (Olsson et al. 2022)",
                "一层模型中归纳头的个数；两层以上的模型在训练中会突然出现归纳头（Olsson 等人，2022）",
            ),
            same=False,
            from_memory=True,
        )
    },
)


def _sinks(subject: Subject) -> Measurement:
    self_attention = subject.heads[subject.heads["stream"] != "cross"].dropna(subset=["first"])
    site = next((site for site in subject.trace.sites if site.stream != "cross"), None)
    _check_length(subject.trace)
    if site is None or self_attention.empty:
        raise UnanswerableError("No head of self-attention was seen.", "没有看到自注意力的头。")
    n = len(site.keys)
    places = np.arange(1, n + 1)
    even = float((1 / places).mean()) if site.predicts is not None else 1 / n
    by_layer = self_attention.groupby("layer")["first"].mean()
    picture = Lines(
        (Series(Both("first token", "第一个 token"), list(by_layer.index), by_layer.tolist()),),
        x_title=Both("layer", "层"),
        y_title=Both("share of the weight", "权重占比"),
        mark_y=even,
    )
    return Measurement(
        {
            "first": float(self_attention["first"].mean()),
            "even": even,
            "largest": float(self_attention["first"].max()),
            "end": float(self_attention["sep"].mean()),
        },
        picture,
    )


SINKS = Question(
    116,
    asked=Both("Does the first token take much of the weight?", "第一个 token 会占去大量权重吗？"),
    claim=Both(
        "The first token, such as BERT's [CLS], is an attention sink: heads give it much weight.",
        "第一个 token（如 BERT 的 [CLS]）是注意力汇聚点（attention sink）：各头都给它很多权重。",
    ),
    parts=(
        ClaimPart(
            Both("The first token takes twice its even share.", "第一个 token 得到的权重达到平均份额的两倍。"),
            (above("first", "even", times=2),),
        ),
        ClaimPart(
            Both("Some head gives the first token most of its weight.", "有的头把大部分权重给第一个 token。"),
            (above("largest", 0.5),),
        ),
    ),
    measure=_sinks,
    numbers={
        "first": Label(Both("weight on the first token, mean of heads", "给第一个 token 的权重，各头均值"), "%"),
        "even": Label(Both("share of the first token if all keys got alike", "平均分配时第一个 token 的份额"), "%"),
        "largest": Label(Both("weight on the first token, largest of heads", "给第一个 token 的权重，最大的头"), "%"),
        "end": Label(
            Both("weight on end tokens such as [SEP], mean of heads", "给结束符（如 [SEP]）的权重，各头均值"), "%"
        ),
    },
    setting=Both(
        "All heads of self-attention on this text. In a decoder query i sees i keys, so an even share is the mean of "
        "1 / i; in an encoder 1 / n. The weight on the end token stands beside it where the tokenizer sets one.",
        "该文本上自注意力的所有头。解码器中第 i 个查询能看到 i 个键，平均占比是 1 / i 的均值；编码器中是 1 / n。"
        "分词器加入结束符时，也列出给它的权重。",
    ),
    because=Both(
        "A row has to sum to 1, so what a head cannot use must go somewhere. Xiao et al. 2023 found and named sinks in "
        "causal models: there every later token sees the first, whatever it is. In an encoder all tokens see all, so "
        "the place need not be the first: in BERT it is [CLS] in some heads and [SEP] in others, tokens that are never "
        "hidden in training (Clark et al. 2019).",
        "每行权重之和必须为 1，用不上的权重总要有去处。Xiao 等人（2023）是在因果模型中发现并命名注意力汇聚点的："
        "那里后面的 token 都能看到第一个，不管它是什么。编码器中所有 token 互相可见，汇聚点不一定是第一个："
        "在 BERT 中，有的头看 [CLS]，有的头看 [SEP]，它们在训练中从不被遮住（Clark 等人，2019）。",
    ),
    refuted=Both(
        "A trained model whose first token gets no more than others.",
        "如果第一个 token 得到的权重不比其他的多，判断就会改变。",
    ),
    formula=r"\overline{A_{i1}} = <first>, \qquad \overline{1/n_i} = <even>",
    papers=(XIAO_2023, CLARK_2019),
    see=PageLink("", {"sort": "weight on the first token"}),
    of=ANY,
    published={
        "first": PublishedNumber(
            "5,158 → 5.40",
            Both(
                "perplexity of Llama-2-13B that reads 1,024 tokens at a time: without and with its first four tokens",
                "Llama-2-13B 每次只读 1024 个 token 时的困惑度：不保留 → 保留最前面的四个 token",
            ),
            same=False,
        )
    },
)


_GROUPINGS = 1000  # of the heads into layers of the same size, drawn at random


def _alike(subject: Subject) -> Measurement:
    _check_length(subject.trace)
    stream = subject.trace.sites[0].stream
    each = [head_distances.measure(trace, stream=stream) for trace in several_texts.traces(subject)]
    values = np.mean([distances.values for distances in each], axis=0)
    layers = np.array([layer for layer, _ in each[0].heads])
    others = ~np.eye(len(layers), dtype=bool)
    same = layers[:, None] == layers
    if same.all() or not (same & others).any():
        raise UnanswerableError(
            "The question needs two layers or more, of two heads or more.", "这个问题需要至少两层，每层至少两个头。"
        )

    def distance(groups: NDArray[np.int_]) -> tuple[float, float]:
        together = groups[:, None] == groups
        return float(values[together & others].mean()), float(values[~together].mean())

    def ratio(groups: NDArray[np.int_]) -> float:
        inside, outside = distance(groups)
        return inside / outside if outside else float("nan")  # heads that are all alike have no nearest

    within, across = distance(layers)
    generator = np.random.default_rng(0)
    drawn = [ratio(generator.permutation(layers)) for _ in range(_GROUPINGS)]
    picture = Bars(
        (Both("within a layer", "同层"), Both("across layers", "不同层")),
        [within, across],
        Both("Jensen-Shannon divergence, nats", "Jensen-Shannon 散度，nat"),
    )
    numbers = {"within": within, "across": across, "ratio": ratio(layers), "chance": float(np.quantile(drawn, 0.05))}
    return Measurement(numbers, picture)


ALIKE = Question(
    121,
    asked=Both("Are heads of one layer alike?", "同一层的头相似吗？"),
    claim=Both("Heads of the same layer often behave alike.", "同一层的头往往行为相似。"),
    parts=(
        ClaimPart(
            Both(
                "Heads of one layer are nearer to each other than to those of other layers, and more than by chance.",
                "同层的头比不同层的头更接近，而且不是偶然。",
            ),
            (below("ratio", 1), below("ratio", "chance")),
        ),
    ),
    measure=_alike,
    numbers={
        "within": Label(Both("distance of two heads of a layer, mean", "同层两个头的距离，均值"), Both("nats", "nat")),
        "across": Label(
            Both("distance of two heads of different layers, mean", "不同层两个头的距离，均值"), Both("nats", "nat")
        ),
        "ratio": Label(Both("distance within a layer over distance across layers", "同层距离与不同层距离之比")),
        "chance": Label(
            Both(
                "the same where heads are put into layers at random, smallest 5 %",
                "把头随机分到各层时的同一比值，最小的 5%",
            )
        ),
    },
    setting=Both(
        "Jensen-Shannon divergence of two heads' rows, mean over rows and texts, of all pairs of the first stream. By "
        f"chance: 1,000 random groupings of the heads, seed 0. {SEVERAL.en}",
        "第一个注意力流中所有头两两之间各行的 Jensen-Shannon 散度，对各行和各文本取均值。"
        f"偶然：把头随机分组 1000 次，种子 0。{SEVERAL.zh}",
    ),
    because=Both(
        "Heads of a layer read the same states, and were drawn and trained alike; dropout of weights may add to it.",
        "同层的头读入相同的状态，初始化和训练方式也相同；对注意力权重做 dropout 可能加强这一点。",
    ),
    refuted=Both("Heads of a layer that differ more than those of others.", "如果同层的头差别反而更大，判断就会改变。"),
    formula=r"\overline{\mathrm{JS}}: \quad <within> \;(l = l'), \qquad <across> \;(l \neq l')",
    papers=(CLARK_2019,),
    see=PageLink("compare"),
    of=ANY,
    published={
        "ratio": PublishedNumber(
            "–",
            Both(
                "a figure shows BERT-base's heads as points, those of a layer often side by side; no number is printed",
                "论文用图把 BERT-base 的头画成点，同层的点常在一起；没有给出数值",
            ),
            from_memory=True,
        )
    },
)


def _rests_on_marks(subject: Subject) -> Measurement:
    _check_length(subject.trace)
    stream = subject.trace.streams[0]
    tables, even = [], []
    for trace, table in zip(several_texts.traces(subject), several_texts.heads_of(subject), strict=True):
        tables.append(table[(table["stream"] == stream) & table["punctuation"].notna()])
        keys = trace.sites_of(stream)[0].keys
        even.append(float(np.mean([heads.is_punctuation(key) for key in keys])))
    by_head = pd.concat(tables).groupby(["layer", "head"])["punctuation"].mean()
    if by_head.empty:
        raise UnanswerableError(
            "No text has a token of punctuation alone for this tokenizer.",
            "对这个分词器，文本中没有单独成为 token 的标点。",
        )
    by_layer = by_head.groupby("layer").max()
    picture = Lines(
        (Series(Both("largest of the layer's heads", "该层最大的头"), list(by_layer.index), by_layer.tolist()),),
        x_title=Both("layer", "层"),
        y_title=Both("weight on punctuation, mean of texts", "给标点的权重，各文本均值"),
        mark_y=float(np.mean(even)),
    )
    return Measurement({"punctuation": float(by_head.max()), "even": float(np.mean(even))}, picture)


PUNCTUATION = Question(
    142,
    asked=Both("Do heads rest on punctuation?", "有的头会停留在标点上吗？"),
    claim=Both("Some heads give much of their weight to commas and full stops.", "有些头把大量权重给逗号和句号。"),
    parts=(
        ClaimPart(
            Both("A head gives punctuation most of its weight.", "有的头把大部分权重给标点。"),
            (above("punctuation", 0.5),),
        ),
    ),
    measure=_rests_on_marks,
    numbers={
        "punctuation": Label(Both("weight on punctuation, largest of heads", "给标点的权重，最大的头"), "%"),
        "even": Label(Both("tokens that are punctuation: its even share", "标点占 token 的比例（平均占比）"), "%"),
    },
    setting=Both(
        "All heads of the first stream, mean over texts that have commas, full stops and quotation marks. Most is "
        f"meant as one half. {SEVERAL.en}",
        f"第一个注意力流的所有头，对含有逗号、句号、引号的文本取均值。“大部分”指一半以上。{SEVERAL.zh}",
    ),
    because=Both(
        "Marks are frequent and say little, so that they can serve as a resting place; a model whose first token "
        "serves for that has less need of them.",
        "标点常见而含义少，可以充当“歇脚处”；如果第一个 token 已起这个作用，就不太需要标点。",
    ),
    refuted=Both("A model no head of which rests on marks.", "如果没有一个头停留在标点上，判断就会改变。"),
    formula=r"\max_h \overline{\sum_{j \in P} A_{ij}} = <punctuation>, \qquad \overline{|P| / n} = <even>",
    papers=(CLARK_2019,),
    see=PageLink(""),
    of=ANY,
    published={
        "punctuation": PublishedNumber(
            "> 50 %",
            Both(
                "often, of a head's attention goes to [CLS], [SEP], full stops and commas together; to the marks in "
                "deep layers (BERT-base, figure 2)",
                "BERT-base 的头常把一半以上注意力给 [CLS]、[SEP]、句号和逗号之和；给标点的是深层的头（图 2）",
            ),
            same=False,
        )
    },
)


# --- 117 to 120: what weights leave out ---------------------------------------------------------------------------


_RESTS = 0.5  # of a head's weight, from which on it rests on delimiters
_SHUFFLED = 10  # texts whose weights are shuffled
_FOLLOWED = 32  # queries that are followed back, evenly spaced
_SELF_ALONE = Kind(
    lambda loaded: loaded.shape != "encoder-decoder",
    Both(
        "reads two texts, and rollout follows tokens through one alone",
        "读入两个文本，而 rollout 只能在一个文本内追溯",
    ),
    ENCODERS,
)


def _handed_over(
    trace: Trace, projections: flow.Projections
) -> Iterator[tuple[AttentionSite, NDArray[np.float64], NDArray[np.float64]]]:
    """Each self-attention call with every key's mean weight and the length of the vector it hands over, both [H, T]."""
    for site in trace.sites:
        if site.stream == "cross":
            continue
        weights = trace.attention(layer=site.layer, stream=site.stream, call=site.call).astype(np.float64)
        seeing = (weights > 0).sum(axis=1).clip(1)
        norms = flow.value_norms(trace, projections, layer=site.layer, stream=site.stream, call=site.call)
        yield site, weights.sum(axis=1) / seeing, norms.projected


def _on_separators(subject: Subject) -> float:
    """The weight on [SEP] of the heads in layers 6 to 10 of 12, in a model of any depth those of the same depths.

    NaN where there is no such token. Layer l of L lies at (l + 1/2) / L.
    """
    table = subject.heads[subject.heads["stream"] == stream_of(subject)]
    depth = (table["layer"] + 0.5) / (table["layer"].max() + 1)
    return float(table.loc[depth.between(5 / 12, 10 / 12), "sep"].mean())


def _no_op(subject: Subject) -> Measurement:
    resting: set[ModelHead] = set()
    lengths, share = [], []
    for site, _, handed in _handed_over(subject.trace, output_projection.find(subject.loaded)):
        special = np.array(subject.trace.read_by(site.stream).special)
        if not special.any() or special.all():
            continue
        weights = subject.trace.attention(layer=site.layer, stream=site.stream, call=site.call)
        rests = weights[:, :, special].sum(axis=2).mean(axis=1)
        share += rests.tolist()
        for head in np.flatnonzero(rests > _RESTS):
            resting.add(ModelHead(site.stream, site.layer, int(head), site.call))
            lengths.append(float(handed[head][special].mean() / handed[head][~special].mean()))
    if not share:
        raise UnanswerableError(
            "The model sets no delimiters, such as [CLS] and [SEP], around the words of this text.",
            "该模型没有在文本前后加入 [CLS]、[SEP] 这样的分隔符。",
        )
    moved = {ModelHead(head.stream, head.layer, head.head, head.call): head.moved for head in importances(subject)}
    inside = [change for head, change in moved.items() if head in resting]
    outside = [change for head, change in moved.items() if head not in resting]
    numbers = {
        "share": float(np.mean(share)),
        "middle": _on_separators(subject),
        "resting": float(len(resting)),
        "length": float(np.median(lengths)) if lengths else float("nan"),
        "moved": float(np.mean(inside)) if inside else float("nan"),
        "others": float(np.mean(outside)) if outside else float("nan"),
    }
    picture = Bars(
        (Both("a head that rests on delimiters", "停留在分隔符上的头"), Both("another head", "其他的头")),
        [numbers["moved"], numbers["others"]],
        Both("output moved without it, 1 − cosine, mean", "去掉后输出的变化，1 − 余弦，均值"),
    )
    return Measurement(numbers, picture)


NO_OP = Question(
    117,
    asked=Both("Is attention to a delimiter a no-op?", "注意力落在分隔符上等于什么都不做吗？"),
    claim=Both(
        "Heads that have nothing to do look at [SEP] or [CLS]: attention to a delimiter is a no-op.",
        "无事可做的头会看 [SEP] 或 [CLS]：注意力落在分隔符上相当于空操作（no-op）。",
    ),
    parts=(
        ClaimPart(Both("Some heads rest on delimiters.", "有些头停留在分隔符上。"), (above("resting", 0),)),
        ClaimPart(
            Both(
                "A delimiter hands over less than half of what a word does there.",
                "在这些头里，分隔符传递的内容不到普通词的一半。",
            ),
            (below("length", 0.5),),
        ),
        ClaimPart(
            Both("Such a head can be left out more easily than others.", "去掉这样的头比去掉其他头影响更小。"),
            (below("moved", "others"),),
        ),
    ),
    measure=_no_op,
    numbers={
        "share": Label(
            Both("weight on delimiters, all layers, mean of heads", "给分隔符的权重，所有层，各头均值"), "%"
        ),
        "middle": Label(
            Both("weight on [SEP], depths of layers 6 to 10 of 12", "给 [SEP] 的权重，深度同 12 层中的第 6 到 10 层"),
            "%",
        ),
        "resting": Label(Both("heads that give them more than half", "给分隔符的权重超过一半的头数")),
        "length": Label(
            Both("length of what a delimiter hands over there, over a word's", "分隔符传递的向量长度与普通词之比")
        ),
        "moved": Label(Both("output moved without such a head, mean", "去掉这样一个头后输出的变化，均值")),
        "others": Label(Both("output moved without another head, mean", "去掉其他一个头后输出的变化，均值")),
    },
    setting=Both(
        "Delimiters are the special tokens that the tokenizer sets. What a token hands over: its value times the "
        "head's part of W_O, median of those heads. Heads are left out one by one; of a large model some are tried.",
        "分隔符指分词器加入的特殊 token。传递的内容为该 token 的值乘以 W_O 中属于该头的部分，取这些头的中位数。"
        "逐个去掉头；模型大时只试一部分。",
    ),
    because=Both(
        "A row sums to 1, so a head that does not find what it looks for needs a place to look at. But a delimiter is "
        "no empty place: its value can add a constant, and [CLS] may carry what the text is about.",
        "每行权重之和为 1，头找不到要找的东西时总得看某处。但分隔符不是空的：它的值可以加上一个常量，"
        "[CLS] 还可能带着全文的信息。",
    ),
    refuted=Both(
        "Delimiters that hand over as much as words, or resting heads that are missed more than others.",
        "如果分隔符传递的内容与词一样多，或去掉这些头的影响更大，判断就会改变。",
    ),
    formula=r"\frac{\|v_s W_O^h\|}{\|v_j W_O^h\|} = <length>, \qquad 1 - \cos: \; <moved> \;(A_{is} > 0.5), \;"
    r" <others> \;(A_{is} \le 0.5)",
    papers=(CLARK_2019, KOBAYASHI_2020),
    see=PageLink("", {"kind": "norm-weighted"}),
    of=ANY,
    published={
        "middle": PublishedNumber(
            "> 50 %",
            Both("of the attention in layers 6 to 10 of BERT-base", "BERT-base 第 6 到 10 层的注意力"),
        )
    },
)


def _by_norm(subject: Subject) -> Measurement:
    several_tokens(subject)
    projections, stream = output_projection.find(subject.loaded), stream_of(subject)
    weight, norm, rho = [], [], []
    for trace in several_texts.traces(subject):
        by_weight, by_norm, rhos = [], [], []
        for site, mean, lengths in _handed_over(trace, projections):
            if site.stream != stream:
                continue
            top, heads_here = mean.argmax(axis=1), np.arange(len(mean))
            handed = mean * lengths
            by_weight += (mean[heads_here, top] / mean.sum(axis=1)).tolist()
            by_norm += (handed[heads_here, top] / handed.sum(axis=1)).tolist()
            rhos += ranks.spearman(mean, lengths).tolist()
        weight.append(float(np.mean(by_weight)))
        norm.append(float(np.mean(by_norm)))
        rho.append(float(np.nanmedian(rhos)) if np.isfinite(rhos).any() else float("nan"))
    ratio = interval(np.array(norm) / np.array(weight))
    numbers = {
        "weight": float(np.mean(weight)),
        "norm": float(np.mean(norm)),
        **ratio.named("ratio"),
        **interval(rho).named("rho"),
    }
    picture = Bars(
        (Both("by its weight", "按权重"), Both("by weight and length", "按权重与向量长度")),
        [100 * numbers["weight"], 100 * numbers["norm"]],
        Both(
            "share of a head's favourite token, mean of heads and texts, %",
            "各头最关注的 token 的占比，各头各文本均值，%",
        ),
    )
    return Measurement(numbers, picture)


BY_NORM = Question(
    118,
    asked=Both("Can a large weight bring little?", "权重大，传递的内容却可能少吗？"),
    claim=Both(
        "Attention is not only a weight: tokens of much weight have short vectors, and the norm tells another story.",
        "注意力不只是权重：权重大的 token 往往向量短，算上范数，结论就不同了。",
    ),
    parts=(
        ClaimPart(
            Both(
                "A head's favourite token brings a smaller share than its weight says.",
                "头最关注的 token 实际传递的占比小于它的权重占比。",
            ),
            (below("ratio_most", 1),),
        ),
        ClaimPart(Both("Tokens of more weight have shorter vectors.", "权重越大，向量越短。"), (below("rho_most", 0),)),
    ),
    measure=_by_norm,
    numbers={
        "weight": Label(Both("share of the favourite token by weight", "最关注的 token 的占比，按权重"), "%"),
        "norm": Label(
            Both("share of the favourite token by weight times length", "最关注的 token 的占比，按权重乘向量长度"), "%"
        ),
        **interval_labels("ratio", Both("share by weight and length over share by weight", "两种占比之比")),
        **interval_labels(
            "rho", Both("rank correlation of weight and length, median of heads", "权重与长度的秩相关，各头中位数")
        ),
    },
    setting=Both(
        f"Length of the value vector after the head's part of W_O; weights as the mean over the queries that see the "
        f"key; all heads of the first stream. Favourite: the key with the most weight in that head. {SEVERAL.en}",
        f"值向量乘以 W_O 中属于该头的部分之后的长度；权重对能看到该键的查询取均值；第一个注意力流的所有头。"
        f"“最关注”指该头中权重最大的键。{SEVERAL.zh}",
    ),
    because=Both(
        "The output is a sum of weight times vector, so that a long vector counts at a small weight, and a short one "
        "fades at a large one. A map shows the weights alone.",
        "输出是权重乘向量之和：向量长，权重小也有影响；向量短，权重大也微不足道。而权重图只显示权重。",
    ),
    refuted=Both("A model whose vectors are all of one length.", "如果各 token 的向量一样长，判断就会改变。"),
    formula=r"\frac{\alpha_j}{\sum \alpha} = <weight>, \quad"
    r" \frac{\alpha_j \|f(x_j)\|}{\sum \alpha \|f(x)\|} = <norm>, \quad \rho(\alpha, \|f(x)\|) = <rho>",
    papers=(KOBAYASHI_2020, KOBAYASHI_2021),
    see=PageLink("", {"kind": "norm-weighted"}),
    of=ANY,
    published={
        "rho": PublishedNumber(
            "< 0",
            Both(
                "on frequent tokens of BERT-base, as Kobayashi et al. 2021, section 4.4, sum their paper up",
                "BERT-base 的高频 token，见 Kobayashi 等人 2021 年论文 4.4 节的概述",
            ),
        )
    },
)


def _all_left_out(subject: Subject) -> list[LeftOutTokens]:
    """Leave out each token of several texts in turn, once for all questions."""
    first, others = left_out(subject), several_texts.traces(subject)[1:]
    return subject.once(
        "left out of several texts",
        lambda: [first, *(leave_one_out.leave_out(subject.loaded, trace) for trace in others)],
    )


def _agreements(left: LeftOutTokens) -> tuple[float, float]:
    """Rank correlations of what leaving a token out does with the last layer's weights, and with rollout."""
    trace, site = left.trace, left.trace.sites[-1]
    count = len(site.keys)
    queries = np.unique(np.linspace(0, count - 1, min(count, _FOLLOWED)).round().astype(int))
    sees = queries[:, None] != np.arange(count)
    if site.predicts is not None:
        sees &= queries[:, None] > np.arange(count)
    places, changes = list(left.positions), np.array(left.changes)

    def agreement(shares: NDArray[np.float64]) -> float:
        received = np.where(sees, shares, 0).sum(axis=0) / sees.sum(axis=0).clip(1)
        return float(ranks.spearman(received[None, places], changes[None])[0])

    last = trace.attention(layer=site.layer, stream=site.stream, call=site.call).mean(axis=0, dtype=np.float64)
    rolled = flow.rollout(trace, stream=site.stream)[0]
    return agreement(last[queries]), agreement(rolled[queries])


def _followed(subject: Subject) -> Measurement:
    raw, rollout = np.array([_agreements(left) for left in _all_left_out(subject)]).T
    numbers = {
        "raw": interval(raw).mean,
        **interval(rollout).named("rollout"),
        **interval(rollout - raw).named("gain"),
    }
    picture = Lines(
        (
            Series(
                Both("rollout, a text each", "rollout，每点一段文本"),
                list(range(len(raw))),
                rollout.tolist(),
                points=True,
            ),
            Series(
                Both("last layer's weights", "最后一层的权重"),
                list(range(len(raw))),
                raw.tolist(),
                "residual",
                points=True,
            ),
        ),
        x_title=Both("text, the reader's first", "文本（第一个是你的）"),
        y_title=Both("rank correlation with leaving the token out", "与逐个去掉 token 的影响的秩相关"),
        mark_y=0.0,
    )
    return Measurement(numbers, picture)


ROLLOUT = Question(
    119,
    asked=Both("Does rollout tell more than raw attention?", "注意力 rollout 比原始权重更可信吗？"),
    claim=Both(
        "Raw attention of upper layers says little of the input; rollout, which follows it back through all layers, "
        "agrees more with what leaving a token out does.",
        "高层的原始注意力不能说明输入的作用；rollout 把注意力逐层追溯到输入，与去掉 token 的影响更一致。",
    ),
    parts=(
        ClaimPart(
            Both("Rollout agrees more than the last layer's weights.", "rollout 比最后一层的权重更一致。"),
            (above("gain_least", 0),),
        ),
        ClaimPart(
            Both(
                "Rollout agrees with leaving out at all: more than 0.",
                "rollout 与去掉 token 的影响确有一致：秩相关大于 0。",
            ),
            (above("rollout_least", 0),),
        ),
    ),
    measure=_followed,
    numbers={
        "raw": Label(
            Both("rank correlation with leaving out, last layer's weights", "与去掉 token 的秩相关，最后一层的权重")
        ),
        **interval_labels(
            "rollout", Both("rank correlation with leaving out, rollout", "与去掉 token 的秩相关，rollout")
        ),
        **interval_labels(
            "gain", Both("rollout's correlation less that of the last layer", "rollout 的秩相关减去最后一层的")
        ),
    },
    setting=Both(
        "Each token is left out in turn and the output's change ranked beside the share that the token gets, mean of "
        "heads and of up to 32 other tokens. Rollout takes half of each state from the residual, as in the paper. "
        f"Of a long text the first 64 tokens. {SEVERAL.en}",
        "逐个去掉 token，把输出的变化与该 token 得到的占比按秩比较；占比对各头和至多 32 个其他 token 取均值。"
        f"按论文，rollout 中每个状态有一半来自残差。长文本只读前 64 个 token。{SEVERAL.zh}",
    ),
    because=Both(
        "States of upper layers are mixtures already, so that a weight on a place is none on its word. But rollout "
        "counts all heads alike, knows no vectors, and follows a sink through every layer.",
        "高层的状态已经混合过，对某位置的权重不等于对该词的权重。但 rollout 把各头同等看待，不考虑向量，"
        "还会在每一层都追到注意力汇聚点。",
    ),
    refuted=Both(
        "A model whose last layer's weights agree as much as rollout does.",
        "如果最后一层的权重与 rollout 同样一致，或更一致，判断就会改变。",
    ),
    formula=r"\tilde A = \textstyle\prod_l \frac{1}{2}(I + \overline{A_l}): \quad \rho = <rollout>,"
    r" \qquad \rho(A_L) = <raw>",
    papers=(ABNAR_2020,),
    see=PageLink("", {"kind": "rollout"}),
    of=_SELF_ALONE,
    published={
        "raw": PublishedNumber(
            "0.29",
            Both(
                "last of six layers trained on the number of verbs, table 1",
                "六层模型的最后一层，任务为动词单复数，表 1",
            ),
            from_memory=True,
        ),
        "rollout": PublishedNumber(
            "≈ 0.7",
            Both(
                "of the same model; of DistilBERT on SST-2, with input gradients, 0.13 against 0.09 (table 3)",
                "同一模型；DistilBERT 在 SST-2 上与输入梯度的秩相关为 0.13，原始权重为 0.09（表 3）",
            ),
        ),
    },
)


class _ShuffledValues(TorchFunctionMode):
    """A mode in which chosen matrices give their values in another order of tokens, as if the weights were shuffled."""

    def __init__(self, matrices: Mapping[int, Matrix], order: Tensor) -> None:
        super().__init__()
        self.matrices, self.order, self.met = matrices, order, 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        product = func(*args, **(kwargs or {}))
        if func is not functional.linear or len(args) < 2:
            return product
        matrix = self.matrices.get(args[1].data_ptr())
        if matrix is None or product.shape[-2] != len(self.order):
            return product
        self.met += 1
        columns = slice(None) if matrix.columns is None else slice(*matrix.columns)
        mixed = product.clone()
        mixed[..., columns] = product[..., self.order, columns]
        return mixed


def _shuffled(loaded: LoadedModel, trace: Trace, matrices: Sequence[Matrix], *, seed: int) -> float:
    """1 - cosine of the last state with weights shuffled in the layers of these matrices, mean over the tokens."""
    encoding = trace.encoding
    ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
    order = torch.tensor(np.random.default_rng(seed).permutation(len(encoding.ids)))
    places = {loaded.network.get_parameter(matrix.name).data_ptr(): matrix for matrix in matrices}
    with torch.inference_mode(), _ShuffledValues(places, order) as mode:
        after = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), segments)[0]
    if not mode.met:
        raise UnanswerableError(
            f"The values of {loaded.card.id} are made where their order cannot be changed.",
            f"无法改变 {loaded.card.id} 中各个值的顺序。",
        )
    turned = torch.cosine_similarity(trace.hidden.double(), after.double().to(trace.hidden.device), dim=-1)
    return float((1 - turned).mean())


def _explained(subject: Subject) -> Measurement:
    rho = [float(leave_one_out.correlations(left)["rho"].median()) for left in _all_left_out(subject)]
    matrices = [layer.matrix("v") for layer in blocks_of(subject).of(stream_of(subject))]
    known = [matrix for matrix in matrices if matrix is not None]
    if len(known) < len(matrices):
        raise UnanswerableError(
            f"W_V of {subject.loaded.card.id} is not a matrix of its own.",
            f"{subject.loaded.card.id} 的 W_V 不是单独的矩阵。",
        )
    chosen = [[matrix] for matrix in known] + [known]
    moved = np.array(
        [
            [_shuffled(subject.loaded, trace, some, seed=seed) for some in chosen]
            for seed, trace in enumerate(several_texts.traces(subject)[:_SHUFFLED])
        ]
    )
    numbers = {
        **interval(rho).named("agreement"),
        **interval(np.median(moved[:, :-1], axis=1)).named("one"),
        **interval(moved[:, -1]).named("every"),
    }
    picture = Bars(
        [*(Both(f"layer {at}", f"第 {at} 层") for at in range(len(known))), Both("all layers", "所有层")],
        moved.mean(axis=0).tolist(),
        Both(
            "output moved with shuffled weights, 1 − cosine, mean of texts",
            "打乱权重后输出的变化，1 − 余弦，各文本均值",
        ),
        mark=_NOTICED,
    )
    return Measurement(numbers, picture)


EXPLAINED = Question(
    120,
    asked=Both("Is attention no explanation?", "注意力不能作为解释吗？"),
    claim=Both(
        "Attention is not explanation: weights agree little with what leaving a token out does, and shuffled weights "
        "give nearly the same output.",
        "注意力不是解释：权重与去掉 token 的影响不太一致，而且打乱权重后输出几乎不变。",
    ),
    parts=(
        ClaimPart(
            Both("Weights agree little with leaving tokens out.", "权重与逐个去掉 token 的影响不太一致。"),
            (below("agreement_most", 0.5),),
        ),
        ClaimPart(
            Both("Shuffling one layer's weights changes the output little.", "打乱一层的权重，输出变化很小。"),
            (below("one_most", _NOTICED),),
        ),
        ClaimPart(
            Both("Shuffling the weights of all layers does too.", "打乱所有层的权重，输出变化也很小。"),
            (below("every_most", _NOTICED),),
        ),
    ),
    measure=_explained,
    numbers={
        **interval_labels(
            "agreement", Both("rank correlation with leaving out, median of heads", "与去掉 token 的秩相关，各头中位数")
        ),
        **interval_labels(
            "one", Both("output moved, one layer shuffled, median of layers", "输出的变化，打乱一层，各层中位数")
        ),
        **interval_labels("every", Both("output moved, all layers shuffled", "输出的变化，打乱所有层")),
    },
    setting=Both(
        f"One order of the keys for all heads and queries of a run, another one for each of {_SHUFFLED} texts, in an "
        "encoder, which has "
        "no mask in the way. Little: 0.05 of 1 − cosine of the last state, and half of a perfect agreement; the paper "
        f"looks at the predictions of an RNN with one attention. {SEVERAL.en}",
        "每次运行对所有头和查询用同一个键的排列，共 10 段文本，每段换一种；用编码器，因为它没有掩码的限制。"
        "“很小”指最后一层状态的 1 − 余弦小于 0.05，“不太一致”指秩相关小于 0.5；"
        f"论文看的是只有一层注意力的 RNN 的预测。{SEVERAL.zh}",
    ),
    because=Both(
        "In a network of one attention on an RNN's states, neighbouring states hold nearly the same, so their order "
        "matters little. In a Transformer attention is the only way between tokens, and the residual keeps the rest.",
        "RNN 的相邻状态内容相近，只有一层注意力时，排列怎样变化影响不大。而在 Transformer 中，"
        "token 之间只能靠注意力交流，其余内容由残差保留。",
    ),
    refuted=Both(
        "A model whose output turns once weights are shuffled, and whose weights rank tokens as leaving out does.",
        "如果一打乱权重输出就大变，而且权重的排序与去掉 token 的结果一致，判断就会改变。",
    ),
    formula=r"1 - \cos(h, h_{A \to A\pi}): \quad <one> \;(l), \; <every> \;(\forall l), \qquad"
    r" \rho(A, \Delta_{-j}) = <agreement>",
    papers=(JAIN_2019, WIEGREFFE_2019),
    see=PageLink("what_if", {"part": "Leave each out"}),
    of=ENCODER,
    published={
        "agreement": PublishedNumber(
            "–",
            Both(
                "the paper prints Kendall's τ for each of its data sets, of an RNN with one attention; not looked up",
                "论文对每个数据集给出 Kendall τ，模型是只有一层注意力的 RNN；此处没有查到数值",
            ),
            same=False,
        )
    },
)


THEME = Theme(
    "found_in_heads",
    Both("Found in heads", "注意力头中的发现"),
    (
        NEIGHBOURS,
        INDUCTION,
        SINKS,
        NO_OP,
        BY_NORM,
        ROLLOUT,
        EXPLAINED,
        ALIKE,
        MANY_CAN_GO,
        SPECIALISED,
        COPYING,
        BROAD,
        PUNCTUATION,
    ),
)
