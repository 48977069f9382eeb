"""Gradients into W_Q, W_K and W_V of every layer and head, at the model's own scale of the scores and at any other.

```python
prepared = prepare(loaded, trace)
table = measure(prepared, factor=prepared.about.scale)  # a row for each matrix of each head, and for each whole matrix
table = sweep(prepared, factors=(prepared.about.scale, 1.0))  # the same at several factors
```

Autograd runs a copy of the network in float64: the loaded model, which others share, is never touched. Only the factor
on the scores changes; every weight stays as it was learned.

Shapes: H heads, K kv heads, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor, nn

from inspector.interventions.change import hide, inputs_of, read, recorded, truths_of
from inspector.interventions.masking import maskable
from inspector.probe import ModelInputs
from inspector.trace import Trace
from models import LoadedModel
from models.attention import AttentionCall, attend_rows, row_blocks, watch
from models.registry import own_implementation
from models.transformer.multi_head import MultiHeadAttention
from models.transformer.runner import OwnRunner
from models.transformer.variants import under

Scalar = Literal["next token", "hidden tokens", "direction"]

MOST_TOKENS = 512
MOST_PARAMETERS = 150_000_000  # the copy takes 8 bytes of each
HIDDEN_EVERY = 7  # tokens: one in seven is hidden from a masked language model, near the 15 % of its training
TIMES = (1 / 16, 1 / 4, 4, 16, 64, 256)  # the model's own factor, for a look at a softmax that saturates
_MATRICES = {"q": "query", "k": "key", "v": "value"}


@dataclass(frozen=True)
class GradientScalar:
    """The scalar that is differentiated, and the model's scale.

    scalar: "next token", the mean -ln p of the tokens that the text has next; "hidden tokens", that of one token in
    HIDDEN_EVERY, which are hidden; "direction", for a model without a head, the mean over the tokens of u . h, h the
    last state and u drawn from N(0, 1 / D). count: how many tokens are predicted. scale: the model's factor on its
    scores. width: E.
    """

    scalar: Scalar
    count: int
    scale: float
    width: int

    @property
    def factors(self) -> tuple[float, ...]:
        """The factors to compare: the model's own, then 1, 1 / sqrt(d_k) and 1 / d_k, and TIMES its own; each once."""
        named = (self.scale, 1.0, self.width**-0.5, 1 / self.width)
        return tuple(dict.fromkeys((*named, *(self.scale * times for times in TIMES))))


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A model's copy and a text, ready for gradients; truths: position -> id of the true token."""

    runner: OwnRunner
    inputs: ModelInputs
    truths: Mapping[int, int]
    about: GradientScalar


def prepare(
    loaded: LoadedModel, text: str | Trace, *, text_pair: str | None = None, target: str | None = None
) -> PreparedModel:
    """Copy a model's network in float64, and read what its gradients are taken of; a model of transformers is put into
    the own Transformer first.

    Raises ValueError for an architecture that the own Transformer cannot hold, for attention without W_Q, W_K and W_V,
    for a network of more than MOST_PARAMETERS and a text of more than MOST_TOKENS.
    """
    trace = recorded(loaded, text, text_pair=text_pair, target=target)
    longest = max(len(trace.encoding), len(trace.target or ()))
    if longest > MOST_TOKENS:
        raise ValueError(f"the text has {longest:,} tokens; gradients are taken of up to {MOST_TOKENS}: shorten it")
    parameters = sum(tensor.numel() for tensor in loaded.network.parameters())
    if parameters > MOST_PARAMETERS:
        raise ValueError(
            f"{loaded.card.id} has {parameters:,} parameters, and gradients are taken in a copy of up to "
            f"{MOST_PARAMETERS:,}; choose a smaller model"
        )
    runner = _copied(loaded)
    config = runner.network.config
    if not config.projections:
        raise ValueError(f"{loaded.card.id} compares the text with itself: there is no W_Q, W_K or W_V")
    if config.weighting != "softmax":
        raise ValueError(
            f"{loaded.card.id} weighs by a {config.weighting} function and not by a softmax, whose saturation is "
            "looked at here; choose softmax weights"
        )
    inputs = inputs_of(trace)
    places: tuple[int, ...] = ()
    scalar: Scalar = "next token" if loaded.predict is not None else "direction"
    if loaded.fills_masks:
        free = maskable(trace.encoding)
        places, scalar = free[HIDDEN_EVERY // 2 :: HIDDEN_EVERY] or free[:1], "hidden tokens"
        inputs = replace(inputs, encoding=hide(loaded, trace.encoding, places))
    truths = {place: id for place, id in truths_of(loaded, trace, hidden=places).items() if id is not None}
    if scalar != "direction" and not truths:
        raise ValueError("the text has no token that could be predicted; write a few words more")
    return PreparedModel(
        runner, inputs, truths, GradientScalar(scalar, len(truths), config.scale_factor, config.head_width)
    )


def measure(prepared: PreparedModel, *, factor: float) -> pd.DataFrame:
    """Differentiate the scalar by every W_Q, W_K and W_V, with `factor` on the scores in place of the model's scale.

    A row per stream, layer, head and matrix ("q", "k", "v"), and a row with head <NA> for each whole matrix: norm, the
    root of the summed squares of the gradient's entries; mean and median of their sizes. Where several heads share a
    key and a value, the rows of "k" and "v" are the kv heads'; where layers share their matrices, or W_Q is W_K, each
    has one row. largest: in the rows of "q", the mean largest weight of a row of the softmax. value: of the scalar.

    Raises ValueError for attention whose scores have no factor.
    """
    places = list(_attentions(prepared.runner.whole))
    for _, _, attention in places:
        function: Any = attention.function
        if not hasattr(function, "scale"):
            raise ValueError("the scores of this attention have no factor that could be changed")
        function.scale = factor
    largest = _largest(prepared)
    weights = {
        (stream, layer, name, attention.head_width): linear.weight.requires_grad_(True)
        for stream, layer, attention in places
        for name, linear in _matrices(attention).items()
    }
    with torch.inference_mode(False), torch.enable_grad():
        value = _scalar(prepared)
        gradients = torch.autograd.grad(value, list(weights.values()))
    rows: list[tuple[object, ...]] = []
    for (stream, layer, name, width), gradient in zip(weights, gradients, strict=True):
        peaks = largest[stream, layer] if name == "q" else []
        for head, part in enumerate(torch.split(gradient, width)):  # W is [H E, D]: a head's rows
            peak = peaks[head] if peaks else float("nan")
            rows.append((stream, layer, head, name, *_sizes(part), peak))
        peak = sum(peaks) / len(peaks) if peaks else float("nan")
        rows.append((stream, layer, None, name, *_sizes(gradient), peak))
    columns = ["stream", "layer", "head", "matrix", "norm", "mean", "median", "largest"]
    table = pd.DataFrame(rows, columns=columns).astype({"head": "Int64"})
    table.insert(0, "factor", factor)
    return table.assign(value=float(value.detach()))


def sweep(
    prepared: PreparedModel, factors: Sequence[float], *, on_progress: Callable[[float, int], None] | None = None
) -> pd.DataFrame:
    """Put the tables of `measure` at several factors one below the other; on_progress: told how many are done."""
    tables = []
    for done, factor in enumerate(factors):
        if on_progress is not None:
            on_progress(done, len(factors))
        tables.append(measure(prepared, factor=factor))
    return pd.concat(tables, ignore_index=True)


def _copied(loaded: LoadedModel) -> OwnRunner:
    """Run a copy of the network, in float64 on the CPU."""
    if isinstance(loaded.runner, OwnRunner):
        network, _ = under(loaded.runner.whole, loaded.runner.network.config, seed=0)
    else:
        runner = own_implementation(loaded).runner
        assert isinstance(runner, OwnRunner)
        network = runner.whole
    return OwnRunner.of(network.to("cpu", torch.float64), loaded.tokenizer)


def _attentions(network: nn.Module) -> Iterator[tuple[str, int, MultiHeadAttention]]:
    """Yield every attention with its stream and layer; one that several layers share comes once."""
    counted: dict[str, int] = {}
    for module in network.modules():
        if isinstance(module, MultiHeadAttention):
            layer = counted.get(module.stream, 0)
            counted[module.stream] = layer + 1
            yield module.stream, layer, module


def _matrices(attention: MultiHeadAttention) -> dict[str, nn.Linear]:
    """W_Q, W_K and W_V by name, each once: a shared matrix has the name of the first."""
    matrices: dict[str, nn.Linear] = {}
    for name, attribute in _MATRICES.items():
        linear = getattr(attention, attribute)
        if isinstance(linear, nn.Linear) and all(linear is not other for other in matrices.values()):
            matrices[name] = linear
    return matrices


def _scalar(prepared: PreparedModel) -> Tensor:
    hidden = read(prepared.runner, prepared.inputs)[0]  # [Q, D]
    if prepared.about.scalar == "direction":
        generator = torch.Generator().manual_seed(0)
        width = hidden.shape[-1]
        direction = torch.randn(width, generator=generator, dtype=hidden.dtype) / width**0.5
        along: Tensor = (hidden @ direction).mean()
        return along
    logits = prepared.runner.predict(hidden[list(prepared.truths)])  # [truths, V]
    return nn.functional.cross_entropy(logits, torch.tensor(list(prepared.truths.values())))


@torch.no_grad()
def _largest(prepared: PreparedModel) -> dict[tuple[str, int], list[float]]:
    """The mean over the queries of the largest weight of a row, for each head of each attention.

    Layers that share their attention are told as the first of them.
    """
    calls: list[AttentionCall] = []
    with watch(calls.append):
        read(prepared.runner, prepared.inputs)
    largest: dict[tuple[str, int], list[float]] = {}
    counted: dict[str, int] = {}
    for call in calls:
        layer = counted.get(call.stream, 0)
        counted[call.stream] = layer + 1
        peaks = [
            attend_rows(call.function, call.query[:, :, rows], call.key, call.value, mask=call.mask, rows=rows)
            .weights.amax(dim=-1)
            .sum(dim=-1)
            for rows in row_blocks(call.query.shape[2], call.key.shape[2])
        ]
        largest[call.stream, layer] = (torch.stack(peaks).sum(dim=0)[0] / call.query.shape[2]).tolist()
    return largest


def _sizes(gradient: Tensor) -> tuple[float, float, float]:
    sizes = gradient.abs()
    return float(gradient.norm()), float(sizes.mean()), float(sizes.median())
