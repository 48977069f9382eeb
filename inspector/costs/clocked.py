"""Times of the clock as tables: by the length of a text, by the number of heads, and by layer.

```python
measured = inspector.costs.measure(models.load("minilm"), [64, 128])
by_length(measured)  # DataFrame: tokens, eager, sdpa and ffn in seconds
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs.clock import PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspector.costs.clock import Kernel, LayerTimes

TIMED = {
    "projections": "q, k, v and out",
    "fused": "scores, softmax and mix",
    "ffn": "matrices and activation",
    "softmax": "softmax alone",
    **{name: name for name in ("scores", "mix")},
}
"""The parts that the clock times, as bars name them."""


def by_length(measured: LayerTimes) -> pd.DataFrame:
    """Add a layer's parts up to attention, eager and SDPA, and the FFN; columns tokens, eager, sdpa, ffn in seconds."""
    seconds = measured.table.pivot_table(index="tokens", columns="part", values="seconds")
    by_kernel = pd.DataFrame({kernel: seconds[list(parts)].sum(axis=1) for kernel, parts in PARTS.items()})
    return by_kernel.assign(ffn=seconds["ffn"]).reset_index()


def by_heads(measured: Mapping[int, LayerTimes]) -> pd.DataFrame:
    """Sum up scores, softmax and mix by the number of heads; columns heads, eager, sdpa in seconds."""
    rows = []
    for heads, times in sorted(measured.items()):
        seconds = times.table.set_index("part")["seconds"]
        rows.append((heads, float(seconds[["scores", "softmax", "mix"]].sum()), float(seconds["fused"])))
    return pd.DataFrame(rows, columns=["heads", "eager", "sdpa"])


@dataclass(frozen=True)
class StreamTimes:
    """The measured times of the layers of one stream that are alike.

    table: a row per layer and part, columns stream, layer, part, component, kind and milliseconds, as figures of costs
    take them. layers: how many are like the one that was timed; others: how many of the stream are not, and stay out.
    attention, ffn: milliseconds of one layer's.
    """

    table: pd.DataFrame
    stream: str
    layers: int
    others: int
    attention: float
    ffn: float


def by_layer(breakdown: pd.DataFrame, measured: LayerTimes, *, kernel: Kernel, tokens: int) -> StreamTimes:
    """Give every layer like the timed one the times of its parts; breakdown: of `costs.breakdown` or of a count.

    The clock times the first layer of the first stream. Layers of the same products, FLOP for FLOP, are like it.
    """
    stream = str(breakdown["stream"].iloc[0])
    products = breakdown[breakdown["layer"].notna() & (breakdown["kind"] == "matmul") & (breakdown["stream"] == stream)]
    flops = products.pivot_table(index="layer", columns="component", values="flops", aggfunc="sum", fill_value=0)
    alike = (flops == flops.iloc[0]).all(axis=1)
    seconds = measured.table[measured.table["tokens"] == tokens].set_index("part")["seconds"]
    parts = [("attention", part) for part in PARTS[kernel]] + [("ffn", "ffn")]
    rows = [
        (stream, int(layer), part, TIMED[name], "timed", 1000 * float(seconds[name]))
        for layer in flops.index[alike]
        for part, name in parts
    ]
    table = pd.DataFrame(rows, columns=["stream", "layer", "part", "component", "kind", "milliseconds"])
    attention = 1000 * float(seconds[list(PARTS[kernel])].sum())
    alike_layers, out = int(alike.sum()), int((~alike).sum())
    return StreamTimes(
        table.astype({"layer": "Int64"}), stream, alike_layers, out, attention, 1000 * float(seconds["ffn"])
    )


def of_component(component: str, part: str, measured: LayerTimes, *, tokens: int) -> tuple[str, float, float] | None:
    """Find the timed part that holds a component: its name, milliseconds in one layer, GFLOP/s; None without one."""
    name = (
        "projections"
        if component in ("q", "k", "v", "out")
        else component
        if component in ("scores", "mix")
        else "ffn"
        if part == "ffn"
        else None
    )
    if name is None:
        return None
    row = measured.table[(measured.table["tokens"] == tokens) & (measured.table["part"] == name)].iloc[0]
    return TIMED[name], 1000 * float(row["seconds"]), float(row["flops"] / row["seconds"] / 1e9)
