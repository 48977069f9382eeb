"""Architecture: blocks, residuals, FFN and shared weights. Questions 83 to 91."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from inspector import activations, block, feedforward, mixing, normalization, sharing
from inspector.probe import record_head
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.kinds import ENCODER_DECODER
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.inside import blocks_of, several_tokens, stages_of, stream_of
from inspector.questions.themes.trained import courses_drawn, ends, last_loss, train_both
from models.training.tiny.experiments import Experiment, Switches


def _encoder(subject: Subject) -> Measurement:
    trace, blocks, stream = subject.trace, blocks_of(subject), stream_of(subject)
    layers = blocks.of(stream)
    stages = stages_of(subject)
    norms = [norm for norm in trace.norms if norm.layer is not None and norm.stream == stream]
    normed = {(norm.layer, norm.part): norm.input for norm in norms if norm.placement == "post"}
    leaves = {layer.layer: layer.leaves for layer in layers}
    off = [0.0]
    for stage in stages:
        # behind a sum stands its norm or, in a layer without one, the next layer
        end = normed.get((stage.layer, stage.part), leaves[stage.layer] if stage.part == "ffn" else None)
        if end is not None:
            off.append(float(np.abs(stage.before + stage.added - end).max() / np.abs(end).max()))
    table = block.additions(stages)
    return Measurement(
        {
            "layers": float(len(layers)),
            "ordered": float(
                sum([addition.part for addition in layer.additions] == ["attention", "ffn"] for layer in layers)
                / len(layers)
            ),
            "off": max(off),
            "after": sum(norm.placement == "post" for norm in norms) / max(len(norms), 1),
        },
        Bars(
            [f"{row.layer} {'MHA' if row.part == 'attention' else 'FFN'}" for row in table.itertuples()],
            table["share"].tolist(),
            Both("length of what is added / length of the stream", "所加向量的长度 / 残差流的长度"),
            parts=["attention" if part == "attention" else "ffn" for part in table["part"]],
        ),
    )


def _decoder(subject: Subject) -> Measurement:
    trace, blocks = subject.trace, blocks_of(subject)
    layers = blocks.of("decoder")
    if not layers:
        raise UnanswerableError(
            f"The decoder's layers of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 解码器的各层。",
        )
    future = max(
        float(np.triu(trace.attention(layer=site.layer, stream="decoder", call=site.call), 1).max())
        for site in trace.sites_of("decoder")
    )
    crossing = trace.record_of(layers[0].layer, "cross")
    keys = [matrix for role, matrix in layers[0].matrices if role == "k"]
    if len(keys) < 2:
        raise UnanswerableError(
            f"W_K of the cross-attention of {subject.loaded.card.id} is not a matrix of its own.",
            f"{subject.loaded.card.id} 交叉注意力的 W_K 不是单独的矩阵。",
        )
    ends = [norm for norm in trace.norms if norm.stream == "encoder"]
    read = blocks.of("encoder")[-1].leaves
    if ends and ends[-1].layer is None and ends[-1].part == "final":
        read = ends[-1].output
    made = keys[-1].times(torch.tensor(np.asarray(read)), subject.loaded.network).detach().float().cpu().numpy()
    seen = crossing.key.float().cpu().numpy().transpose(1, 0, 2).reshape(len(made), -1)
    if made.shape != seen.shape:
        raise UnanswerableError(
            f"The keys of the cross-attention of {subject.loaded.card.id} are not laid side by side.",
            f"{subject.loaded.card.id} 交叉注意力各头的 K 没有依次排列。",
        )
    return Measurement(
        {
            "ordered": float(
                sum(
                    [addition.part for addition in layer.additions] == ["attention", "cross", "ffn"] for layer in layers
                )
                / len(layers)
            ),
            "future": future,
            "keys": float(np.abs(made - seen).max() / np.abs(seen).max()),
            "queries": float(len(crossing.site.queries)),
            "written": float(len(trace.read_by("decoder").tokens)),
        },
        Heatmap(
            trace.attention(layer=layers[0].layer, stream="cross").mean(axis=0),
            crossing.site.queries,
            crossing.site.keys,
            row_title=Both("query, of the decoder", "查询（解码器）"),
            column_title=Both("key, of the encoder", "键（编码器）"),
            quantity=Both("weight in the first layer, mean of heads", "第一层权重，各头平均"),
        ),
    )


RESIDUAL = Experiment(seeds=2, a=Switches(), b=Switches(residual=False))


def _residual(subject: Subject) -> Measurement:
    table = subject.once("untrained depth torch", lambda: normalization.through_depth(initialisation="torch"))
    first, last = (table[table["layer"] == at].set_index("stack") for at in (-1, normalization.depth.LAYERS - 1))
    ratio = first["gradient"] / last["gradient"]
    names = {
        "pre-norm": Both("residual and norm", "残差 + 归一化"),
        "post-norm, no residual": Both("norm alone", "只有归一化"),
        "no norm, no residual": Both("neither", "都没有"),
    }
    return Measurement(
        {
            "neither": float(ratio["no norm, no residual"]),
            "both": float(ratio["pre-norm"]),
            "norm": float(ratio["post-norm, no residual"]),
            "alike": float(last["cosine"]["post-norm, no residual"]),
            "apart": float(last["cosine"]["pre-norm"]),
        },
        Lines(
            [
                Series(
                    name,
                    part["layer"].tolist(),
                    part["gradient"].tolist(),
                    part="residual" if stack == "pre-norm" else "norm",
                    dashed=stack != "pre-norm",
                )
                for stack, name in names.items()
                for part in [table[table["stack"] == stack]]
            ],
            x_title=Both("layer", "层"),
            y_title=Both("length of the gradient", "梯度的长度"),
            log_y=True,
        ),
    )


def _residual_whole(subject: Subject, watch: Watch) -> Measurement:
    courses = train_both(RESIDUAL, watch)
    with_residual, without_residual = (float(np.mean(side)) for side in ends(courses, last_loss))
    names = Both("with residual", "有残差"), Both("without residual", "无残差")
    return Measurement({"with": with_residual, "without": without_residual}, courses_drawn(courses, names))


def _mixing(subject: Subject) -> Measurement:
    several_tokens(subject)
    trace, blocks, stream, network = subject.trace, blocks_of(subject), stream_of(subject), subject.loaded.network
    record = next((ffn for ffn in blocks.ffns if ffn.stream == stream), None)
    if record is None:
        raise UnanswerableError(
            f"The FFN of {subject.loaded.card.id} is not shown: it is made of experts, or not known.",
            f"看不到 {subject.loaded.card.id} 的 FFN：它由多个专家组成，或者结构未知。",
        )
    site = trace.sites_of(stream)[0]
    roles = {role for role, _ in next(layer for layer in blocks.of(stream) if layer.layer == site.layer).matrices}
    if not {"v", "out"} <= roles:
        raise UnanswerableError(
            f"W_V and W_O of {subject.loaded.card.id} are not matrices of their own, so none is followed.",
            f"{subject.loaded.card.id} 的 W_V 和 W_O 不是单独的矩阵，无法跟踪。",
        )
    ffn = mixing.ffn(blocks, network, stream=stream, layer=record.layer, position=0)
    attention = mixing.attention(trace, blocks, network, stream=stream, layer=site.layer, position=0)
    return Measurement(
        {
            "ffn_tokens": float(ffn.tokens),
            "ffn_features": float(ffn.dimensions),
            "attention_tokens": float(attention.tokens),
            "attention_features": float(attention.dimensions),
        },
        Bars(
            [
                Both("FFN: tokens", "FFN：token"),
                Both("attention: tokens", "注意力：token"),
                Both("FFN: features", "FFN：特征"),
                Both("attention: features", "注意力：特征"),
            ],
            [ffn.tokens, attention.tokens, ffn.dimensions, attention.dimensions],
            Both("numbers that change with one number of one token", "改动一个 token 的一个分量后，受影响的个数"),
            parts=["ffn", "attention", "ffn", "attention"],
            log=True,
        ),
    )


def _matrices(subject: Subject, stream: str) -> list[set[int]]:
    network = subject.loaded.network
    return [
        {network.get_parameter(matrix.name).data_ptr() for _, matrix in layer.matrices}
        for layer in blocks_of(subject).of(stream)
    ]


def _layers(subject: Subject) -> Measurement:
    matrices = _matrices(subject, stream_of(subject))
    if len(matrices) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has one layer, which has nothing to share with.",
            f"{subject.loaded.card.id} 只有一层，没有可以共享的对象。",
        )
    pair = subject.within(ENCODER_DECODER)
    encoder, decoder = (set().union(*_matrices(pair, stream)) for stream in ("encoder", "decoder"))
    model = nn.Transformer(batch_first=True, device="meta")
    return Measurement(
        {
            "layers": float(len(matrices)),
            "distinct": float(len({frozenset(layer) for layer in matrices})),
            "common": float(len(encoder & decoder)),
            "torch": float(sum(weight.numel() for weight in model.parameters())),
            "albert": float(
                sum(weight.numel() for weight in model.parameters())
                - 5 * sum(weight.numel() for weight in [*model.encoder.layers[0].parameters()])
                - 5 * sum(weight.numel() for weight in [*model.decoder.layers[0].parameters()])
            ),
        },
        Bars(
            [Both("layers", "层"), Both("sets of matrices", "不同的矩阵组")],
            [len(matrices), len({frozenset(layer) for layer in matrices})],
            Both("count", "个数"),
            parts=["ffn", "ffn"],
        ),
    )


def _vocabulary_matrices(subject: Subject) -> list[torch.Tensor]:
    """List every matrix with a row for each token of the vocabulary, once for each use."""
    pieces = len(subject.loaded.tokenizer)
    return [
        parameter
        for _, parameter in subject.loaded.network.named_parameters(remove_duplicate=False)
        if parameter.ndim == 2 and parameter.shape[0] >= pieces and parameter.shape[0] > parameter.shape[1]
    ]


def _scripts(subject: Subject) -> dict[str, float]:
    """The shares of the vocabulary's pieces that are written in the source's script alone, the target's, or neither.

    A piece counts for the scripts of its letters; the scripts are those of the model's own example.
    """
    trace = subject.trace
    assert trace.target is not None
    source, target = (_written_in(tokens) for tokens in (trace.tokens, trace.target.tokens))
    pieces = [_written_in([piece]) for piece in subject.loaded.tokenizer.get_vocab()]
    foreign = sum(bool(scripts & source) and not scripts & target for scripts in pieces)
    return {"foreign": foreign / len(pieces), "common": sum(not scripts for scripts in pieces) / len(pieces)}


def _written_in(tokens: Iterable[str]) -> set[str]:
    """The scripts of the letters of tokens, by the first word of a letter's name: LATIN, CJK."""
    return {
        unicodedata.name(letter, "").partition(" ")[0]
        for token in tokens
        if not token.startswith("[")
        for letter in token
        if letter.isalpha()
    }


def _embeddings(subject: Subject) -> Measurement:
    matrices = _vocabulary_matrices(subject)
    if len(matrices) < 2:
        raise UnanswerableError(
            f"{subject.loaded.card.id} has no embeddings of two sides that were found by their size.",
            f"没有按大小找到 {subject.loaded.card.id} 两侧的词嵌入。",
        )
    tensors = {matrix.data_ptr(): matrix.numel() for matrix in matrices}
    whole = sum(weight.numel() for weight in subject.loaded.network.parameters())
    unshared = whole + sum(matrix.numel() for matrix in matrices) - sum(tensors.values())
    return Measurement(
        {
            **_scripts(subject),
            "places": float(len(matrices)),
            "tensors": float(len(tensors)),
            "vocabularies": float(len({len(matrix) for matrix in matrices})),
            "parameters": float(whole),
            "unshared": float(unshared),
        },
        Bars(
            [Both("shared", "共享"), Both("not shared", "不共享")],
            [whole, unshared],
            Both("parameters of the model", "模型的参数量"),
            parts=["embedding", "embedding"],
        ),
    )


def _tied(subject: Subject) -> Measurement:
    head = subject.once("head", lambda: record_head(subject.loaded, subject.trace))
    network, name = subject.loaded.network, blocks_of(subject).embedding
    if not name:
        raise UnanswerableError(
            f"The embedding of {subject.loaded.card.id} was not seen.",
            f"没有看到 {subject.loaded.card.id} 的词嵌入。",
        )
    embedding, output = network.get_parameter(name), head.matrix.weight(network)
    return Measurement(
        {
            "rows": float(embedding.shape[0]),
            "head_rows": float(output.shape[1]),
            "columns": float(embedding.shape[1]),
            "head_columns": float(output.shape[0]),
            "tensors": float(len({embedding.data_ptr(), output.data_ptr()})),
        }
    )


def _closest(subject: Subject) -> Measurement:
    head = subject.once("head", lambda: record_head(subject.loaded, subject.trace))
    nearest = subject.once("nearest row", lambda: sharing.nearest(head, subject.loaded.network))
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(1000, 64))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def share(rows: NDArray[np.float64]) -> float:
        products = rows @ rows.T
        return float((products.argmax(1) == ((rows**2).sum(1) - 2 * products).argmin(1)).mean())

    lengths = np.exp(draw.uniform(0, 3, size=(1000, 1)))
    return Measurement(
        {
            "equal": share(rows),
            "unequal": share(rows * lengths),
            "own": nearest.unscaled / nearest.positions,
            "shortest": nearest.shortest,
            "longest": nearest.longest,
        },
        Bars(
            [
                Both("rows of one length", "各行等长"),
                Both("rows of any length", "各行不等长"),
                Both("this model", "这个模型"),
            ],
            [100 * share(rows), 100 * share(rows * lengths), 100 * nearest.unscaled / nearest.positions],
            Both("choices that are the nearest row, %", "选中的行恰好最近的比例，%"),
            parts=["embedding"] * 3,
        ),
    )


USUAL = (0.01, 0.1)  # learning rates of plain SGD that people use
WHOLE_RATES, WHOLE_STEPS = (0.001, 0.1, 1.0, 2.0, 3.0, 5.0), 2000


def _relu(subject: Subject) -> Measurement:
    blocks, stream, network = blocks_of(subject), stream_of(subject), subject.loaded.network
    records = [record for record in blocks.ffns if record.stream == stream]
    if not records:
        raise UnanswerableError(
            f"The FFN of {subject.loaded.card.id} is not shown: it is made of experts, or not known.",
            f"看不到 {subject.loaded.card.id} 的 FFN：它由多个专家组成，或者结构未知。",
        )
    ffns = [feedforward.units(record, network) for record in records]
    relu = activations.outputs(records[len(records) // 2], network).set_index("function").loc["relu"]
    dying = subject.once("units dying", lambda: activations.dying(rates=USUAL))["dead"]
    above_zero = torch.linspace(0.01, 100, 200, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.relu(above_zero).sum(), above_zero)
    return Measurement(
        {
            "slope": float(slope.min()),
            "flat": float(relu["flat"]),
            "mean": float(relu["mean"] / relu["deviation"]),
            "usual": float(dying.max()),
            "silent": sum(ffn.silent for ffn in ffns) / sum(ffn.units for ffn in ffns),
        },
        Bars(
            [Both(f"layer {record.layer}", f"第 {record.layer} 层") for record in records],
            [100 * ffn.silent / ffn.units for ffn in ffns],
            Both("units that are above 0 for no token of the text, %", "在这段文本上从未大于 0 的单元，%"),
            parts=["ffn"] * len(records),
        ),
    )


def _relu_whole(subject: Subject, watch: Watch) -> Measurement:
    dead = []
    for done, rate in enumerate(WHOLE_RATES):
        watch(done, len(WHOLE_RATES))
        dead.append(float(activations.dying(rates=(rate,), steps=WHOLE_STEPS)["dead"].iloc[0]))
    watch(len(WHOLE_RATES), len(WHOLE_RATES))
    return Measurement(
        {"small": dead[0], "usual": dead[1], "one": dead[2], "largest": dead[-1]},
        Lines(
            (Series("ReLU", list(WHOLE_RATES), [100 * share for share in dead], part="ffn"),),
            x_title=Both("learning rate", "学习率"),
            y_title=Both("dead units, %", "死亡单元，%"),
            log_x=True,
        ),
    )


MEASURES: dict[int, Measure] = {
    83: _encoder,
    84: _decoder,
    85: _residual,
    86: _mixing,
    87: _layers,
    88: _embeddings,
    89: _tied,
    90: _closest,
    91: _relu,
}
RUNS: dict[int, Run] = {
    85: _residual_whole,
    91: _relu_whole,
}
