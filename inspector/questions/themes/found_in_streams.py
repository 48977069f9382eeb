"""Findings about what flows between layers. Questions 126 to 132 and 138 to 141."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import nn

from inspector import block, feedforward, lens, normalization, positional
from inspector.probe import record
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, several_tokens, stages_of, stream_of
from inspector.questions.themes.together import read_of, sentences
from models.registry import own_model
from models.transformer.runner import OwnRunner

OTHERS = 8  # dimensions that are switched off for comparison


def _outlier_dimension(subject: Subject) -> Measurement:
    trace, loaded, text = subject.trace, subject.loaded, read_of(subject)
    table, learned = normalization.outliers(trace), normalization.parameters(trace)
    largest = table.loc[table["times"].idxmax()]
    dimension, width = int(largest["dimension"]), trace.output.shape[1]
    assert isinstance(loaded.runner, OwnRunner)
    network = copy.deepcopy(loaded.runner.whole)
    changed = own_model(loaded.card, network, loaded.tokenizer, max_tokens=loaded.max_tokens)
    learning = [
        getattr(norm, name)
        for norm in network.modules()
        for name in ("gamma", "beta")
        if isinstance(getattr(norm, name, None), nn.Parameter)
    ]

    def moved(off: int) -> float:
        """The relative change of the last hidden states in all other dimensions, mean over tokens."""
        values = [parameter.data[off].clone() for parameter in learning]
        for parameter in learning:
            parameter.data[off] = 0
        output = record(changed, text).output
        for parameter, value in zip(learning, values, strict=True):
            parameter.data[off] = value
        rest = np.arange(width) != off
        before, after = (states[:, rest].astype(np.float64) for states in (trace.output, output))
        return float((np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1)).mean())

    beside = [int(other) for other in np.random.default_rng(0).permutation(width) if other != dimension][:OTHERS]
    of_dimension, others = moved(dimension), [moved(other) for other in beside]
    at = learned[learned["dimension"] == dimension]
    same = table[table["dimension"] == dimension]
    return Measurement(
        {
            "dimension": float(dimension),
            "times": float(largest["times"]),
            "place": float(same["largest"].mean()),
            "learned": float(at["outlier"].mean()),
            "moved": of_dimension,
            "others": float(np.median(others)),
            "share": len(learning) / sum(parameter.numel() for parameter in network.parameters()),
        },
        Bars(
            [str(column) for column in (dimension, *beside)],
            [100 * change for change in (of_dimension, *others)],
            Both(
                "change of the last states without this dimension's γ and β, %",
                "去掉该维的 γ、β 后最后一层状态的变化，%",
            ),
            parts=["norm"] * (1 + len(others)),
        ),
    )


def _mixed_alone(subject: Subject, *, residual: float) -> list[float]:
    """The distance from rank 1 after each layer of attention alone, with the recorded maps and the real W_V and W_O.

    x -> residual x + sum_h A_h x W_V^h W_O^h, from the state that enters layer 0; no bias, norm or FFN.
    """
    trace, stream, network = subject.trace, stream_of(subject), subject.loaded.network
    layers = blocks_of(subject).of(stream)
    x = layers[0].enters.astype(np.float64)
    distances = []
    for layer in layers:
        value, out = layer.matrix("v"), layer.matrix("out")
        if value is None or out is None:
            raise UnanswerableError(
                f"W_V or W_O of layer {layer.layer} of {subject.loaded.card.id} was not seen as a matrix of its own.",
                f"没有看到 {subject.loaded.card.id} 第 {layer.layer} 层单独的 W_V 或 W_O 矩阵。",
            )
        weights = trace.attention(layer=layer.layer, stream=stream).astype(np.float64)  # [H, T, T]
        width = trace.record_of(layer.layer, stream).value.shape[-1]
        values = (x @ value.weight(network).double().cpu().numpy()).reshape(len(x), -1, width).swapaxes(0, 1)
        values = values.repeat(len(weights) // len(values), axis=0)  # [H, T, E]
        mixed = (weights @ values).swapaxes(0, 1).reshape(len(x), -1)
        x = residual * x + mixed @ out.weight(network).double().cpu().numpy()
        distances.append(_from_rank_one(x))
    return distances


def _from_rank_one(x: NDArray[np.float64]) -> float:
    size = float(np.linalg.norm(x))
    return float(np.linalg.norm(x - x.mean(axis=0))) / size if size else 0.0


def _collapse(subject: Subject) -> Measurement:
    several_tokens(subject)
    alone, beside = _mixed_alone(subject, residual=0), _mixed_alone(subject, residual=1)
    layers = list(range(1, len(alone) + 1))
    tokens = len(subject.trace.read_by(stream_of(subject)).tokens)
    drawn = np.random.default_rng(0).dirichlet(np.ones(tokens), size=(len(alone), tokens))
    return Measurement(
        {
            "alone": alone[-1],
            "beside": beside[-1],
            "alike": block.alike(stages_of(subject)[-1].after),
            "any": _from_rank_one(np.linalg.multi_dot([*drawn, np.eye(tokens)])),
        },
        Lines(
            (
                Series(Both("attention alone", "只有注意力"), layers, [max(one, 1e-16) for one in alone]),
                Series(
                    Both("with the residual", "加残差"),
                    layers,
                    [max(one, 1e-16) for one in beside],
                    part="residual",
                    dashed=True,
                ),
            ),
            x_title=Both("layers", "层数"),
            y_title=Both("distance from rank 1", "与秩 1 的距离"),
            log_y=True,
        ),
    )


def _massive(subject: Subject) -> Measurement:
    table = subject.once("outliers", lambda: normalization.outliers(subject.trace, stream=stream_of(subject)))
    if table.empty or table["times"].isna().all():
        raise UnanswerableError(
            f"{subject.loaded.card.id} has no norms in front of which a state could be seen.",
            f"{subject.loaded.card.id} 没有可以看到其输入的归一化层。",
        )
    top = table.loc[table["value"].abs().idxmax()]
    tokens = subject.trace.read_by(stream_of(subject))
    ends = float(bool(tokens.special[int(top["position"])]) or int(top["position"]) == 0)
    largest = table.groupby("norm")["times"].max()
    return Measurement(
        {
            "massive": float(table["massive"].sum()),
            "largest": float(abs(top["value"])),
            "times": float(top["times"]),
            "ends": ends,
        },
        Lines(
            (Series(Both("largest", "最大值"), largest.index.tolist(), largest.tolist(), part="residual"),),
            x_title=Both("norm, in the order of the run", "归一化，按运行次序"),
            y_title=Both("largest entry / median", "最大分量 / 中位数"),
            log_y=True,
            mark_y=normalization.MASSIVE_TIMES,
        ),
    )


LARGE, OF_LAYERS, OF_TOKENS = 6.0, 0.25, 0.06  # Dettmers et al. 2022, section 4: what an outlier feature is


def _places(subject: Subject) -> Measurement:
    stream = stream_of(subject)
    norms = [norm for norm in subject.trace.norms if norm.stream == stream and norm.layer is not None]
    norms = [norm for norm in norms if norm.input.shape == norms[0].input.shape]
    if len(norms) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has fewer than two norms in its layers.",
            f"{subject.loaded.card.id} 的各层中归一化层不足两个。",
        )
    largest = [int(np.abs(norm.input).max(axis=0).argmax()) for norm in norms]
    high = np.stack([(np.abs(norm.output) >= LARGE).mean(axis=0) >= OF_TOKENS for norm in norms])  # [norm, D]
    width = high.shape[1]
    counts = np.bincount(largest, minlength=width)
    dimensions = np.argsort(-counts)[:6]
    dimensions = dimensions[counts[dimensions] > 0]
    outliers = float((high.mean(axis=0) >= OF_LAYERS).sum())
    return Measurement(
        {"same": float(counts.max() / len(norms)), "outliers": outliers, "part": outliers / width},
        Bars(
            [f"{dimension}" for dimension in dimensions],
            [100 * counts[dimension] / len(norms) for dimension in dimensions],
            Both("norms before which this dimension is the largest, %", "以该维度为最大维度的归一化层，%"),
            parts=["norm"] * len(dimensions),
        ),
    )


TEXTS = 3  # beside the reader's


def _cone(subject: Subject) -> Measurement:
    loaded, stream = subject.loaded, stream_of(subject)
    traces = [subject.trace, *(record(loaded, text) for text in sentences(subject)[1 : TEXTS + 1])]
    layers: dict[int, list[NDArray[np.float64]]] = {}
    for trace in traces:
        words = ~np.asarray(trace.read_by(stream).special)
        for state in trace.states:
            if state.stream == stream:
                vectors = trace.state(state)[words].astype(np.float64)
                layers.setdefault(state.layer, []).append(vectors)
    if not layers or min(len(vectors) for texts in layers.values() for vectors in texts) < 1:
        raise UnanswerableError(
            f"The states between the layers of {loaded.card.id} were not seen, or the text has no words.",
            f"没有看到 {loaded.card.id} 层与层之间的状态，或者文本中没有词。",
        )

    def across(texts: list[NDArray[np.float64]], centre: float) -> float:
        """The mean cosine of two tokens of different texts."""
        mean = centre * np.concatenate(texts).mean(axis=0)
        units = [
            (vectors - mean) / np.linalg.norm(vectors - mean, axis=1, keepdims=True).clip(1e-30) for vectors in texts
        ]
        sums, counts = (
            np.stack([vectors.sum(axis=0) for vectors in units]),
            np.array([len(vectors) for vectors in units]),
        )
        total, within = np.square(sums.sum(axis=0)).sum(), np.square(sums).sum()
        return float((total - within) / (counts.sum() ** 2 - np.square(counts).sum()))

    order = sorted(layers)
    cosines = [across(layers[layer], 0) for layer in order]
    return Measurement(
        {
            "smallest": min(cosines),
            "first": cosines[0],
            "middle": float(np.mean(_inner(cosines))),
            "last": cosines[-1],
            "centred": across(layers[order[-1]], 1),
        },
        Lines(
            (
                Series(Both("as they are", "原向量"), order, cosines, part="residual"),
                Series(
                    Both("less their mean", "减去均值"),
                    order,
                    [across(layers[layer], 1) for layer in order],
                    part="residual",
                    dashed=True,
                ),
            ),
            x_title=Both("layer", "层"),
            y_title=Both("mean cosine of tokens of different texts", "不同文本的 token 的平均余弦"),
        ),
    )


def _inner(cosines: Sequence[float]) -> Sequence[float]:
    """The layers at the depths of layers 2 to 8 of 12, or the one in the middle of few."""
    depth = np.arange(1, len(cosines) + 1) / len(cosines)
    chosen = [cosine for cosine, at in zip(cosines, depth, strict=True) if 2 / 12 <= at <= 8 / 12]
    return chosen or [cosines[len(cosines) // 2]]


def _mixing_share(subject: Subject) -> Measurement:
    several_tokens(subject)
    trace, stream, network = subject.trace, stream_of(subject), subject.loaded.network
    shares, mean_weights = [], []
    for layer in blocks_of(subject).of(stream):
        matrix, call = layer.matrix("out"), trace.record_of(layer.layer, stream)
        out = next((role_matrix for role, role_matrix in layer.matrices if role == "out"), matrix)
        stage = next(
            (stage for stage in stages_of(subject) if (stage.layer, stage.part) == (layer.layer, "attention")), None
        )
        weights = trace.attention(layer=layer.layer, stream=stream).astype(np.float64)
        heads = len(weights)
        value = call.value.double().cpu().numpy()
        value = value.repeat(heads // len(value), axis=0)  # [H, T, E]
        if out is None or stage is None or out.weight(network).shape[0] != heads * value.shape[2]:
            raise UnanswerableError(
                f"W_O of layer {layer.layer} of {subject.loaded.card.id} is not a matrix of its own.",
                f"{subject.loaded.card.id} 第 {layer.layer} 层的 W_O 不是单独的矩阵。",
            )
        written = out.weight(network).double().cpu().numpy().reshape(heads, value.shape[2], -1)
        bias = out.offset(network)
        from_itself = np.einsum("hi,hie,hed->id", np.diagonal(weights, axis1=1, axis2=2), value, written)
        mixed = stage.added - (0.0 if bias is None else bias.double().cpu().numpy()) - from_itself
        size, unmixed = np.linalg.norm(mixed, axis=1), np.linalg.norm(stage.before + from_itself, axis=1)
        shares.append(float((size / (size + unmixed)).mean()))
        mean_weights.append(float(1 - np.diagonal(weights, axis1=1, axis2=2).mean()))
    return Measurement(
        {
            "weights": float(np.mean(mean_weights)),
            "mixing": float(np.mean(shares)),
            "largest": max(shares),
        },
        Bars(
            [Both(f"layer {layer}", f"第 {layer} 层") for layer in range(len(shares))],
            [100 * share for share in shares],
            Both("part of a token's new state that comes from other tokens, %", "新状态中来自其他 token 的部分，%"),
            parts=["attention"] * len(shares),
            mark=50.0,
        ),
    )


def _told(subject: Subject) -> Measurement:
    several_tokens(subject)
    stages = [stage for stage in stages_of(subject) if stage.part == "ffn"]
    if not stages:
        raise UnanswerableError(
            f"The states between the layers of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 层与层之间的状态。",
        )
    units = [
        state / np.linalg.norm(state, axis=1, keepdims=True).clip(1e-30)
        for state in (
            states - states.mean(axis=0)
            for states in (stages_of(subject)[0].before, *(stage.after for stage in stages))
        )
    ]
    count = len(units[0])
    right = [float(((state @ units[0].T).argmax(axis=1) == np.arange(count)).mean()) for state in units[1:]]
    return Measurement(
        {"first": right[0], "last": right[-1], "worst": min(right), "chance": 1 / count},
        Lines(
            (
                Series(
                    Both("told", "认得出"),
                    [stage.layer for stage in stages],
                    [100 * share for share in right],
                    "residual",
                ),
            ),
            x_title=Both("layer", "层"),
            y_title=Both("tokens that are told from their state, %", "能从状态认出的 token，%"),
            mark_y=100 / count,
        ),
    )


def _sphere(subject: Subject) -> Measurement:
    norms = [norm for norm in subject.trace.norms if norm.kind == "layer" and norm.gate is None and norm.groups == 1]
    if not norms:
        raise UnanswerableError(
            f"The LayerNorms of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 的 LayerNorm。",
        )
    lengths, planes, spreads = [], [], []
    for norm in norms:
        x = norm.input.astype(np.float64)
        x = x - x.mean(axis=1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + norm.epsilon)
        lengths.append(np.linalg.norm(x, axis=1) / x.shape[1] ** 0.5)
        planes.append(np.abs(x.mean(axis=1)).max())
        given = np.linalg.norm(norm.output.astype(np.float64), axis=1)
        spreads.append(float(given.max() / given.min()))
    everything = np.concatenate(lengths)
    return Measurement(
        {
            "shortest": float(everything.min()),
            "longest": float(everything.max()),
            "plane": float(max(planes)),
            "ratio": max(spreads),
        },
        Lines(
            (Series(Both("longest / shortest", "最长 / 最短"), list(range(len(spreads))), spreads, "norm"),),
            x_title=Both("LayerNorm, in the order of the run", "LayerNorm，按运行次序"),
            y_title=Both("lengths behind γ and β", "经过 γ、β 之后的长度比"),
            mark_y=1.0,
        ),
    )


# --- 138: sparse activations ---------------------------------------------------------------------------------------


def _sparse(subject: Subject) -> Measurement:
    blocks = blocks_of(subject)
    stream = subject.trace.streams[0]
    if not any(ffn.stream == stream for ffn in blocks.ffns):
        raise UnanswerableError(
            f"No FFN of {subject.loaded.card.id} was seen to be one.",
            f"没有认出 {subject.loaded.card.id} 的 FFN。",
        )
    table = feedforward.by_layer(blocks, subject.loaded.network, stream=stream)
    positive = table["positive"]
    picture = Lines(
        (Series(Both("units above 0", "大于 0 的单元"), table["layer"].tolist(), positive.tolist(), part="ffn"),),
        x_title=Both("layer", "层"),
        y_title=Both("share of the FFN's units, mean of tokens", "占 FFN 单元的比例，对 token 取平均"),
        mark_y=0.5,
    )
    return Measurement(
        {"positive": float(positive.mean()), "least": float(positive.min()), "silent": float(table["silent"].mean())},
        picture,
    )


# --- 139: the logit lens -------------------------------------------------------------------------------------------


def _lens(subject: Subject) -> Measurement:
    loaded, trace = subject.loaded, subject.trace
    table = lens.logit_lens(trace, loaded, top=1)
    first = table[table["rank"] == 1]
    wide = first.pivot_table(index="layer", columns="position", values="prediction", aggfunc="first")
    last = wide.iloc[-1]
    same = (wide == last).mean(axis=1)
    sure = first.groupby("layer")["probability"].mean()
    if len(same) < 3:
        raise UnanswerableError(
            f"{loaded.card.id} has too few layers to see a prediction form.",
            f"{loaded.card.id} 的层数太少，看不出预测如何形成。",
        )
    layers = [float(layer) for layer in same.index]
    picture = Lines(
        (
            Series(Both("same token as at the end", "与最终预测相同"), layers, same.tolist()),
            Series(Both("its probability there", "该层首选的概率"), layers, sure.tolist(), dashed=True),
        ),
        x_title=Both("layer after which the head is asked", "在该层之后读出"),
        y_title=Both("share of positions, and mean probability", "位置的比例，平均概率"),
    )
    return Measurement(
        {
            "first": float(same.iloc[0]),
            "middle": float(same.iloc[len(same) // 2]),
            "before": float(same.iloc[-2]),
            "falls": float((same.diff().dropna() < -0.1).sum()),
        },
        picture,
    )


# --- 140: RoPE's decay ---------------------------------------------------------------------------------------------

FAR = 64  # tokens


def _decay(subject: Subject) -> Measurement:
    loaded = subject.loaded
    turns = positional.rotations(loaded, positions=min(256, loaded.max_tokens))
    if not turns:
        raise UnanswerableError(
            f"The rotations of {loaded.card.id} cannot be asked alone.",
            f"无法单独取得 {loaded.card.id} 的旋转位置编码。",
        )
    turn = turns[0]
    decay = turn.decay()
    if len(decay) <= FAR:
        raise UnanswerableError(
            f"{loaded.card.id} reads too few positions to see how products fall with distance.",
            f"{loaded.card.id} 能读的位置太少，看不出点积随距离如何变化。",
        )
    apart = np.arange(len(decay))[:, None]
    # the paper's bound: the mean length of the partial sums of exp(i k w_j) over the pairs j
    partial = np.cumsum(np.exp(1j * apart * turn.frequencies), axis=1)
    bound = np.abs(partial).mean(axis=1)
    bound = bound / bound[0]
    picture = Lines(
        (
            Series(Both("the paper's bound", "论文的上界"), apart[:, 0].tolist(), bound.tolist(), dashed=True),
            Series(Both("q and k of ones", "q、k 全为 1 时"), apart[:, 0].tolist(), decay.tolist()),
        ),
        x_title=Both("distance in tokens", "相隔的 token 数"),
        y_title=Both("of the product at distance 0", "相对距离为 0 时的点积"),
    )
    return Measurement(
        {
            "bound": float(bound[FAR]),
            "product": float(decay[FAR]),
            "rises": float((np.diff(decay) > 0).mean()),
        },
        picture,
    )


MEASURES: dict[int, Measure] = {
    126: _collapse,
    127: _massive,
    128: _places,
    129: _cone,
    130: _mixing_share,
    131: _told,
    132: _sphere,
    138: _sparse,
    139: _lens,
    140: _decay,
    141: _outlier_dimension,
}
