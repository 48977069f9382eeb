"""The inside of a block: one token's way through a layer, and what attention and FFN add to the residual stream.

pre-norm: x = x + attention(norm(x)); post-norm: x = norm(x + attention(x)); the FFN alike (Vaswani et al. 2017, 3.1;
Xiong et al. 2020). All numbers are computed in float64 from what was recorded.

Shapes: H heads, K kv heads, Q query positions, T key positions, D width, E head width, F FFN width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from inspector import lens
from inspector.trace import AttentionRecord, NormRecord, Trace, recompute
from inspector.trace.blocks import Blocks, FFNRecord, LayerRecord, Part
from models.tokenizers import token_names

Floats = NDArray[np.floating[Any]]
UNSEEN = "it does its attention by itself, and only its weights are recorded"
TOLERANCE = 1e-4  # of the largest entry of a layer's output; half precision: 2 of its last digits


@dataclass(frozen=True, eq=False)
class Stage:
    """A sublayer on the residual stream, [Q, D] each: the stream before, what is added, the stream after (and after
    the norm behind the sum, where there is one).

    beside: True where the sublayer read the stream before the sublayer ahead of it had added to it. derived: True where
    what is added was not seen by itself, and is what the rest of the layer leaves over (a mixture of experts). norm:
    the norm behind the sum, None where there is none.
    """

    layer: int
    part: Part
    before: Floats
    added: Floats
    after: Floats
    beside: bool
    derived: bool
    norm: NormRecord | None = None


@dataclass(frozen=True)
class LayerStep:
    """A tensor of one token on its way through a layer.

    kind: "x", "norm", "q", "k", "v", "mix", "out", "sum", "gate", "up", "hidden", "down", "leaves". part: whose, ""
    for the stream. shape: as it is spoken of, "12 x 32". norm: its length. positive: how many of its numbers are above
    0, for the FFN's units. off: how far this page's own computation is from the recorded numbers, None where the
    numbers are the recorded ones. beside: as in Stage. name: the matrix that made it, "" for none.
    """

    kind: str
    part: str
    shape: tuple[int, ...]
    norm: float
    positive: int | None = None
    off: float | None = None
    beside: bool = False
    name: str = ""


@dataclass(frozen=True)
class Walk:
    """One token's way through one layer, and the largest difference of its end from the recorded output of the layer,
    of the output's largest entry.

    cosines: of what each part adds with the stream that it is added to. activation: the FFN's, None where not shown.
    unseen: True where queries, keys and values were not seen, and are no steps.
    """

    layer: int
    position: int
    token: str
    steps: tuple[LayerStep, ...]
    off: float
    cosines: dict[str, float]
    activation: str | None
    unseen: bool = False


def steps(walk: Walk) -> pd.DataFrame:
    """List the steps of a walk, a row each.

    Columns: step, from 1 on; kind; part, "stream" on the residual stream; shape; length, the Euclidean norm; above 0,
    how many units are; off, the largest difference from the recorded vector, of its largest entry; parameter.
    """
    return pd.DataFrame(
        {
            "step": range(1, len(walk.steps) + 1),
            "kind": [step.kind for step in walk.steps],
            "part": [step.part or "stream" for step in walk.steps],
            "shape": [" x ".join(map(str, step.shape)) for step in walk.steps],
            "length": [step.norm for step in walk.steps],
            "above 0": pd.array([step.positive for step in walk.steps], dtype="Int64"),
            "off": [float("nan") if step.off is None else step.off for step in walk.steps],
            "parameter": [step.name for step in walk.steps],
        }
    )


def stages(trace: Trace, blocks: Blocks, *, stream: str) -> list[Stage]:
    """Every sublayer of a stream in the order in which it runs.

    Raises ValueError where what the parts add does not sum up to what the layers leave, or was not seen.
    """
    return [stage for layer in blocks.of(stream) for stage in of_layer(trace, layer)]


def additions(stages: Sequence[Stage]) -> pd.DataFrame:
    """Measure what each sublayer adds, a row per sublayer.

    Columns: layer, part, stream_norm and added_norm (the length of a token's vector, mean over tokens), share
    (added / stream, mean over tokens), cosine (of both, mean over tokens), alike (the mean cosine of the states of two
    tokens after the sublayer; NaN for a single token), derived.
    """
    rows = []
    for stage in stages:
        before, added = stage.before.astype(np.float64), stage.added.astype(np.float64)
        sizes, new = np.linalg.norm(before, axis=1), np.linalg.norm(added, axis=1)
        rows.append(
            {
                "layer": stage.layer,
                "part": stage.part,
                "stream_norm": sizes.mean(),
                "added_norm": new.mean(),
                "share": _ratio(new, sizes).mean(),
                "cosine": _ratio((before * added).sum(axis=1), sizes * new).mean(),
                "alike": alike(stage.after),
                "derived": stage.derived,
            }
        )
    return pd.DataFrame(rows)


def alike(states: Floats) -> float:
    """Mean cosine of two different tokens' states [Q, D]: (|sum of unit vectors|^2 - Q) / (Q (Q - 1)); NaN for one."""
    wide = states.astype(np.float64)
    units = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-30)
    count = len(units)
    return float((np.square(units.sum(axis=0)).sum() - count) / (count * (count - 1))) if count > 1 else float("nan")


def moved(
    trace: Trace, stages: Sequence[Stage], predict: Callable[[Tensor], Tensor] | None, tokenizer: Any, *, position: int
) -> pd.DataFrame:
    """Ask the head after each sublayer: how likely it finds the token that the model predicts in the end.

    Columns: layer and part (-1 and "" before the first), probability (of the final prediction, 0..1), bits (by how much
    the sublayer raised its log2), guess (the likeliest token there). The final prediction is guess of the last row.
    Raises ValueError for a model without a head, and where the head cannot be asked before the end.
    """
    if predict is None:
        raise ValueError(f"{trace.model} has no head that predicts tokens")
    ended = lens.head_inputs(trace)
    states = np.stack([stages[0].before[position], *(stage.after[position] for stage in stages)])
    with torch.inference_mode():
        logits = predict(torch.tensor(ended(states.astype(np.float32)))[None].to(trace.hidden.dtype))[0].float()
    log = logits.log_softmax(dim=-1)
    last = int(log[-1].argmax())
    chosen = log[:, last].double().numpy()
    return pd.DataFrame(
        {
            "layer": [-1, *(stage.layer for stage in stages)],
            "part": ["", *(stage.part for stage in stages)],
            "probability": np.exp(chosen),
            "bits": np.diff(chosen, prepend=chosen[0]) / np.log(2),
            "guess": token_names(tokenizer, log.argmax(dim=-1).tolist()),
        }
    )


def walk(trace: Trace, blocks: Blocks, network: nn.Module, *, stream: str, layer: int, position: int) -> Walk:
    """Follow one token through one layer of a stream. Raises ValueError as `stages` does."""
    record = next((layer_record for layer_record in blocks.of(stream) if layer_record.layer == layer), None)
    if record is None:
        raise ValueError(f"layer {layer} of the {stream} was not seen")
    sublayers = of_layer(trace, record)
    steps = [LayerStep("x", "", record.enters.shape[1:], _length(record.enters[position]))]
    state = record.enters[position].astype(np.float64)
    for parallel in _together(sublayers):
        for stage in parallel:
            steps += _branch(trace, blocks, record, stage, network, position)
        state = state + sum(stage.added[position].astype(np.float64) for stage in parallel)
        steps.append(LayerStep("sum", "", state.shape, _length(state)))
        norm = _norm(trace, record, parallel[-1].part, "post")
        if norm is not None:
            state = norm.output[position].astype(np.float64)
            steps.append(LayerStep("norm", "", state.shape, _length(state), name=norm.name))
    leaves = record.leaves[position].astype(np.float64)
    off = float(np.abs(state - leaves).max() / max(float(np.abs(leaves).max()), 1e-30))
    ffn = blocks.ffn(stream, layer)
    cosines: dict[str, float] = {
        stage.part: float(_ratio(*_cosine(stage.before[position], stage.added[position]))) for stage in sublayers
    }
    token = trace.read_by(stream).tokens[position]
    unseen = not any(step.kind == "mix" for step in steps)
    return Walk(layer, position, token, tuple(steps), off, cosines, None if ffn is None else ffn.activation, unseen)


def mixed(trace: Trace, *, stream: str, layer: int, position: int) -> NDArray[np.float64]:
    """The sum of values by one token's weights, head by head, before W_O: float64 [H, E].

    Raises ValueError for a model whose values were not seen.
    """
    values = _mixed(trace.record_of(layer, stream), position)
    if not values.size:
        raise ValueError(f"the values of {trace.model}'s attention were not seen: {UNSEEN}")
    return values


# --- stages ------------------------------------------------------------------------------------------------------


def of_layer(trace: Trace, layer: LayerRecord) -> list[Stage]:
    """Every sublayer of one layer in the order in which it runs. Raises ValueError as `stages` does."""
    state, leaves = layer.enters.astype(np.float64), layer.leaves.astype(np.float64)
    stages: list[Stage] = []
    parts = list(layer.additions)
    if not any((site.stream, site.layer) == (layer.stream, layer.layer) for site in trace.sites):
        raise ValueError(
            f"layer {layer.layer} of {trace.model} has no attention but another way to mix tokens (a convolution, a "
            "state space or linear attention), whose part is not followed"
        )
    unseen = next((addition.part for addition in parts if addition.added is None), None)
    if unseen is not None or not any(addition.part == "attention" for addition in parts):
        raise ValueError(
            f"what {'the FFN' if unseen == 'ffn' else 'attention'} adds to the residual stream in layer {layer.layer} "
            f"of {trace.model} was not seen"
        )
    for number, addition in enumerate(parts):
        assert addition.added is not None
        before = stages[-1].before if addition.beside and stages else state
        state = (state if addition.beside and stages else before) + addition.added
        waits = number + 1 < len(parts) and parts[number + 1].beside  # the norm stands behind the last
        norm = None if waits else _norm(trace, layer, addition.part, "post")
        state = state if norm is None else norm.output.astype(np.float64)
        stages.append(Stage(layer.layer, addition.part, before, addition.added, state, addition.beside, False, norm))
    largest = max(float(np.abs(leaves).max()), 1e-30)
    if not any(addition.part == "ffn" for addition in parts) and _norm(trace, layer, "ffn", "post") is None:
        stages.append(Stage(layer.layer, "ffn", state, leaves - state, leaves, False, True))
    elif float(np.abs(state - leaves).max()) > _allowed(trace) * largest:
        raise ValueError(
            f"what attention and FFN add in layer {layer.layer} of {trace.model} does not sum up to what the layer "
            "leaves: more happens in the layer than this page knows"
        )
    return stages


def _allowed(trace: Trace) -> float:
    digits = torch.finfo(trace.hidden.dtype).eps if trace.hidden.dtype in (torch.bfloat16, torch.float16) else 0.0
    return TOLERANCE + 4 * digits


def _together(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Group the sublayers that are added at once."""
    groups: list[list[Stage]] = []
    for stage in stages:
        if stage.beside and groups:
            groups[-1].append(stage)
        else:
            groups.append([stage])
    return groups


def _norm(trace: Trace, layer: LayerRecord, part: str, placement: str) -> NormRecord | None:
    want = (layer.stream, layer.layer, part, placement)
    return next((norm for norm in trace.norms if (norm.stream, norm.layer, norm.part, norm.placement) == want), None)


# --- steps -------------------------------------------------------------------------------------------------------


def _branch(
    trace: Trace, blocks: Blocks, layer: LayerRecord, stage: Stage, network: nn.Module, position: int
) -> Iterator[LayerStep]:
    """Yield the steps of one sublayer, from its norm to what it adds."""
    norm = _norm(trace, layer, stage.part, "pre")
    if norm is not None:
        row = norm.output[position]
        yield LayerStep("norm", stage.part, row.shape, _length(row), beside=stage.beside, name=norm.name)
    if stage.part == "ffn":
        plain = _norm(trace, layer, "ffn", "output") is None
        added = stage.added[position] if plain and not stage.derived else None
        yield from _ffn(blocks.ffn(layer.stream, layer.layer), network, position, stage.beside, added)
    else:
        yield from _attention(trace, layer, stage.part, network, position)
    after = _norm(trace, layer, stage.part, "output")
    if after is not None:
        row = after.output[position]
        yield LayerStep("norm", stage.part, row.shape, _length(row), beside=stage.beside, name=after.name)
    if stage.derived:
        row = stage.added[position]
        yield LayerStep("down", "ffn", row.shape, _length(row), beside=stage.beside)


def _attention(trace: Trace, layer: LayerRecord, part: Part, network: nn.Module, position: int) -> Iterator[LayerStep]:
    record = trace.record_of(layer.layer, "cross" if part == "cross" else layer.stream)
    query, key, value = (
        tensor.double().cpu().numpy() for tensor in (record.query[:, position], record.key, record.value)
    )
    roles = [role for role, _ in layer.matrices]
    second = "out" in roles and part == "cross"
    matrices = layer.matrices[roles.index("out") + 1 :] if second else layer.matrices
    names = {role: matrix.name for roles_, matrix in reversed(matrices) for role in roles_.split("+")}
    mixed = _mixed(record, position)
    if mixed.size:
        yield LayerStep("q", part, query.shape, _length(query), name=names.get("q", ""))
        for kind, tensor in (("k", key), ("v", value)):
            own_token = tensor[:, position] if part == "attention" and tensor.shape[1] > position else tensor
            yield LayerStep(kind, part, own_token.shape, _length(own_token), name=names.get(kind, ""))
        yield LayerStep("mix", part, mixed.shape, _length(mixed))
    added = next(addition.added for addition in layer.additions if addition.part == part)
    assert added is not None
    row = added[position].astype(np.float64)
    matrix = next((matrix for role, matrix in matrices if role == "out"), None)
    off = None
    norm = _norm(trace, layer, part, "output")
    if matrix is not None:
        weight = matrix.weight(network).double().cpu().numpy()
        bias = matrix.offset(network)
        if weight.shape[0] == mixed.size:
            made = mixed.reshape(-1) @ weight + (0.0 if bias is None else bias.double().cpu().numpy())
            given = row if norm is None else norm.input[position].astype(np.float64)
            off = float(np.abs(made - given).max() / max(float(np.abs(given).max()), 1e-30))
            row = given
    yield LayerStep("out", part, row.shape, _length(row), off=off, name="" if matrix is None else matrix.name)


def _mixed(record: AttentionRecord, position: int) -> NDArray[np.float64]:
    """Sum the values of all keys by one query's weights, in each head: [H, E]; E is 0 where they were not seen."""
    value = record.value.double().cpu().numpy()
    row = slice(position, position + 1)
    if not value.shape[-1]:
        return np.zeros((len(record.query), 0))
    weights = recompute.window(record, "weights", queries=row, keys=slice(0, value.shape[1]))[:, 0]
    each = value.repeat(len(weights) // len(value), axis=0)  # [H, T, E]
    made: NDArray[np.float64] = np.einsum("ht,hte->he", weights.astype(np.float64), each)
    return made


def _ffn(
    ffn: FFNRecord | None, network: nn.Module, position: int, beside: bool, added: Floats | None
) -> Iterator[LayerStep]:
    """Yield the FFN's steps; added: what the stream was given, None where a norm stands between."""
    if ffn is None:
        return
    rows = slice(position, position + 1)
    before = ffn.pre_activations(network, rows=rows)[0].numpy()
    if ffn.gate is not None:
        other = ffn.up.times(torch.tensor(ffn.input[rows]), network).float().cpu()[0].numpy()
        yield LayerStep(
            "gate", "ffn", before.shape, _length(before), _positive(before), beside=beside, name=ffn.gate.name
        )
        yield LayerStep("up", "ffn", other.shape, _length(other), beside=beside, name=ffn.up.name)
    else:
        yield LayerStep("up", "ffn", before.shape, _length(before), _positive(before), beside=beside, name=ffn.up.name)
    hidden = ffn.hidden(network, rows=rows)[0].numpy()
    yield LayerStep("hidden", "ffn", hidden.shape, _length(hidden), _positive(before), beside=beside)
    out = ffn.output(network, rows=rows)[0].numpy()
    off = None if added is None else float(np.abs(out - added).max() / max(float(np.abs(added).max()), 1e-30))
    yield LayerStep("down", "ffn", out.shape, _length(out), off=off, beside=beside, name=ffn.down.name)


def _positive(values: Floats) -> int:
    return int((values > 0).sum())


def _length(values: Floats) -> float:
    return float(np.linalg.norm(values.astype(np.float64)))


def _cosine(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.asarray(a @ b), np.asarray(np.linalg.norm(a) * np.linalg.norm(b))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide, with 0 where the divisor is 0: what has no length has no direction."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
