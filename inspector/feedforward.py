"""The units of an FFN on one text: what goes into the activation function, which units answer, and what it is for.

FFN(x) = act(x W_up + b) W_down + b (Vaswani et al. 2017, eq. 2), with a gate (act(x W_gate + b) * (x W_up + b)) W_down
+ b (Shazeer 2020). Everything FFN-wide is computed in blocks of tokens from what `record_blocks` kept, so that memory
is linear in the text.

Shapes: Q query positions, D width, F FFN width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from inspector.trace import Trace
from inspector.trace.blocks import ACTIVATIONS, Blocks, FFNRecord

_ROWS = 128  # tokens at once
BINS = 60
REACH = 6.0  # the histogram's ends at most: beyond it every activation function is as good as straight
MOST = 8  # units that are listed
TOLD = 3  # tokens that are named for a unit


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one FFN on one text. units: F. pairs: tokens x units.

    positive: how many pre-activations are above 0. silent: how many units have none above 0 on this text, so that
    ReLU would give 0 for every token. counts, edges: the histogram of the pre-activations, from -REACH to REACH at
    most; low, high: the smallest and the largest of all. straight: with the best straight line in the activation
    function's place, the squared error of the FFN's output over all tokens, of the output's squared distance from its
    mean; NaN for one token. doubled: the length of FFN(2x) - FFN(0) over that of FFN(x) - FFN(0), mean over tokens; 2
    for whatever is linear. mirrored: the length of FFN(x) + FFN(-x) - 2 FFN(0) over that of FFN(x) - FFN(0); 0 for
    whatever is linear.
    """

    activation: str
    gated: bool
    units: int
    pairs: int
    positive: int
    silent: int
    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    low: float
    high: float
    straight: float
    doubled: float
    mirrored: float


def units(ffn: FFNRecord, network: nn.Module) -> Units:
    """Measure the units of an FFN on the recorded text."""
    low, high, positive = np.inf, -np.inf, 0
    ever: Tensor | None = None
    sums = np.zeros(5)  # of u, a, uu, ua over all pre-activations u and activations a, and how many
    act = ACTIVATIONS[ffn.activation]
    for rows in _blocks(ffn):
        before = ffn.pre_activations(network, rows=rows)
        low, high = min(low, float(before.min())), max(high, float(before.max()))
        above = before > 0
        positive += int(above.sum())
        ever = above.any(dim=0) if ever is None else ever | above.any(dim=0)
        wide = before.double()
        made = act(wide)
        sums += [float(part) for part in (wide.sum(), made.sum(), wide.square().sum(), (wide * made).sum())] + [
            wide.numel()
        ]
    assert ever is not None
    left, right = max(low, -REACH), min(high, REACH)
    edges = np.linspace(left, right, BINS + 1) if right > left else np.linspace(-REACH, REACH, BINS + 1)
    counts = np.zeros(BINS, np.int64)
    for rows in _blocks(ffn):
        counts += np.histogram(ffn.pre_activations(network, rows=rows).numpy(), edges)[0]
    doubled, mirrored = _linearity(ffn, network)
    return Units(
        ffn.activation,
        ffn.gate is not None,
        len(ever),
        int(sums[4]),
        positive,
        int((~ever).sum()),
        counts,
        edges,
        low,
        high,
        _straight(ffn, network, sums),
        doubled,
        mirrored,
    )


def busiest(ffn: FFNRecord, network: nn.Module, *, tokens: Sequence[str], most: int = MOST) -> pd.DataFrame:
    """List the units whose output is largest on any token, the largest first.

    Columns: unit, largest (its largest output in size, with its sign), above (on how many tokens its pre-activation is
    above 0), first (the token's position that moves it most), tokens (the tokens that move it most, in falling order).
    """
    sizes: list[Tensor] = []
    above = None
    for rows in _blocks(ffn):
        sizes.append(ffn.hidden(network, rows=rows).abs().topk(1, dim=0).values[0])
        count = (ffn.pre_activations(network, rows=rows) > 0).sum(dim=0)
        above = count if above is None else above + count
    assert above is not None
    largest = torch.stack(sizes).amax(dim=0)
    chosen = largest.topk(min(most, len(largest))).indices
    outputs = torch.cat([ffn.hidden(network, rows=rows)[:, chosen] for rows in _blocks(ffn)])  # [Q, most]
    best = outputs.abs().topk(min(TOLD, len(outputs)), dim=0).indices  # [TOLD, most]
    return pd.DataFrame(
        {
            "unit": chosen.numpy(),
            "largest": outputs.gather(0, best[:1])[0].numpy(),
            "above": above[chosen].numpy(),
            "first": best[0].numpy(),
            "tokens": [" ".join(tokens[place] for place in column) for column in best.T.tolist()],
        }
    )


def by_layer(blocks: Blocks, network: nn.Module, *, stream: str) -> pd.DataFrame:
    """Measure all FFNs of a stream, a row each: layer, call, activation, units, positive (share), silent (share),
    straight, doubled, mirrored; see `Units`."""
    rows = []
    for ffn in blocks.ffns:
        if ffn.stream == stream:
            measured = units(ffn, network)
            row: dict[str, Any] = {"layer": ffn.layer, "call": ffn.call, "activation": measured.activation}
            row |= {
                "units": measured.units,
                "positive": measured.positive / measured.pairs,
                "silent": measured.silent / measured.units,
            }
            rows.append(
                row | {"straight": measured.straight, "doubled": measured.doubled, "mirrored": measured.mirrored}
            )
    return pd.DataFrame(rows)


def curves(edges: NDArray[np.float64], activation: str) -> dict[str, NDArray[np.float64]]:
    """Values of the FFN's activation function at `edges`, and of ReLU, GELU and SiLU beside it."""
    names = dict.fromkeys((activation, "relu", "gelu", "silu"))
    return {name: ACTIVATIONS[name](torch.tensor(edges)).numpy() for name in names}


def attention_doubled(trace: Trace, *, stream: str, layer: int, most: int = 64) -> tuple[float, float]:
    """The growth of what a layer's attention mixes when queries, keys and values are doubled: (with the softmax,
    without). Without it the product (Q K^T) V is cubic, so 2 x 2 x 2 = 8.

    most: rows that are looked at, the first. Masks and biases are left out. The measure is the length of all rows
    together.
    """
    record = trace.record_of(layer, stream)
    query, key, value = (tensor.double().cpu() for tensor in (record.query[:, :most], record.key, record.value))
    if query.shape[-1] != key.shape[-1] or not query.shape[-1]:
        raise ValueError("its scores are no product of a query and a key")
    key, value = (tensor.repeat_interleave(len(query) // len(tensor), dim=0) for tensor in (key, value))
    scores = query @ key.transpose(1, 2) * query.shape[-1] ** -0.5
    twice = (2 * query) @ (2 * key).transpose(1, 2) * query.shape[-1] ** -0.5
    with_softmax = (twice.softmax(-1) @ (2 * value)).norm() / (scores.softmax(-1) @ value).norm()
    without = (twice @ (2 * value)).norm() / (scores @ value).norm()
    return float(with_softmax), float(without)


def _blocks(ffn: FFNRecord) -> Iterator[slice]:
    for start in range(0, len(ffn.input), _ROWS):
        yield slice(start, min(start + _ROWS, len(ffn.input)))


def _linearity(ffn: FFNRecord, network: nn.Module) -> tuple[float, float]:
    """`Units.doubled` and `Units.mirrored`, over the first tokens."""
    x = torch.tensor(ffn.input[:_ROWS])
    zero = ffn.applied(torch.zeros_like(x[:1]), network).double()
    once, twice, minus = (ffn.applied(factor * x, network).double() - zero for factor in (1, 2, -1))
    size = once.norm(dim=1).clamp(min=1e-30)
    return float((twice.norm(dim=1) / size).mean()), float(((once + minus).norm(dim=1) / size).mean())


def _straight(ffn: FFNRecord, network: nn.Module, sums: NDArray[np.float64]) -> float:
    """`Units.straight`: the least-squares line over all pre-activations in the activation function's place."""
    if len(ffn.input) < 2:
        return float("nan")
    u, a, uu, ua, count = sums
    spread = uu - u * u / count
    slope = (ua - u * a / count) / spread if spread > 0 else 0.0
    offset = (a - slope * u) / count
    mean = torch.cat([ffn.output(network, rows=rows) for rows in _blocks(ffn)]).double()
    error = 0.0
    for rows in _blocks(ffn):
        line = slope * ffn.pre_activations(network, rows=rows) + offset
        if ffn.gate is not None:
            line = line * ffn.up.times(torch.tensor(ffn.input[rows]), network).float().cpu()
        out = ffn.down.times(line, network).double().cpu()
        error += float((out - mean[rows]).square().sum())
    whole = float((mean - mean.mean(dim=0)).square().sum())
    return error / whole if whole > 0 else float("nan")
