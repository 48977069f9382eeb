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
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes import several_texts
from inspector.questions.themes.inside import blocks_of, left_out, several_tokens, stream_of
from inspector.questions.themes.several_heads import importances
from inspector.questions.themes.several_texts import interval
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


# --- 124: copying --------------------------------------------------------------------------------------------------

_MOST_VOCABULARY = 8192


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


# --- 114 to 116, 121, 142: where heads look -----------------------------------------------------------------------


_WORDS = 4  # tokens without special ones: fewer say nothing about where a head looks


def _check_length(trace: Trace) -> None:
    """Raise UnanswerableError for a text of fewer than _WORDS tokens, without special ones."""
    count = len(maskable(trace.encoding))
    if count < _WORDS:
        raise UnanswerableError(
            f"The question needs {_WORDS} tokens or more, and the text has {count}; write more words.",
            f"这个问题至少需要 {_WORDS} 个 token，而这段文本有 {count} 个；请多写几个词。",
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


def _induction(subject: Subject) -> Measurement:
    words = subject.text[:200]
    trace = subject.once("twice", lambda: record(subject.loaded, f"{words} {words}"))
    different = len({trace.encoding.ids[place] for place in maskable(trace.encoding)})
    if different < _WORDS:
        raise UnanswerableError(
            f"The question needs {_WORDS} different tokens or more, and the text has {different}; write more words.",
            f"这个问题至少需要 {_WORDS} 个不同的 token，而这段文本有 {different} 个；请多写几个词。",
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


# --- 117 to 120: what weights leave out ---------------------------------------------------------------------------


_RESTS = 0.5  # of a head's weight, from which on it rests on delimiters
_SHUFFLED = 10  # texts whose weights are shuffled
_FOLLOWED = 32  # queries that are followed back, evenly spaced


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
            "这个模型没有在文本前后加入 [CLS]、[SEP] 这样的分隔符。",
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


MEASURES: dict[int, Measure] = {
    114: _neighbours,
    115: _induction,
    116: _sinks,
    117: _no_op,
    118: _by_norm,
    119: _followed,
    120: _explained,
    121: _alike,
    122: _many,
    123: _specialised,
    124: _copy,
    125: _broad,
    142: _rests_on_marks,
}
