"""Readings of the page Costs: what attention takes of a text's work, what the FFN, and where the two cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from inspector import costs
from inspector.costs.clock import PARTS
from inspector.costs.derivation import derive, sizes_of
from inspector.costs.formulas import SOFTMAX_FLOPS
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from transformers import PreTrainedConfig

    from inspector.costs import Crossovers
    from inspector.costs.clock import Kernel, Measured
    from inspector.costs.counted.counting import Counted as Count
    from inspector.costs.derivation import Amount, Product
    from inspector.costs.kv_cache import KVCache

PAIRS = ("scores", "mix")
TIMED = {
    "projections": "q, k, v and out",
    "fused": "scores, softmax and mix",
    "ffn": "matrices and activation",
    "softmax": "softmax alone",
    **{name: name for name in ("scores", "mix")},
}
"""The parts that the clock times, as bars name them."""


@dataclass(frozen=True)
class Shares:
    """Shares, 0 to 1, of the FLOPs of the matrix products in the layers of one stream.

    attention, ffn: of self-attention and of the FFN, together 1; pairs: of scores and mix, a part of attention, which
    grow with the square of the text. core, sublayer: as in `Crossovers`. stream: "" where the model has one.
    """

    stream: str
    tokens: int
    attention: float
    ffn: float
    pairs: float
    core: float
    sublayer: float | None


@dataclass(frozen=True)
class Counted:
    """Parameters of a model as they were counted in its tensors: all, those of embeddings, and how many layers."""

    parameters: int
    embeddings: int
    layers: int


def shares(breakdown: pd.DataFrame, crossovers: Crossovers, *, tokens: int) -> Shares:
    """Compare attention with the FFN in the first stream; breakdown: of `costs.breakdown` for `tokens` tokens.

    A decoder's attention over a source is not counted: the crossovers are of a text's attention over itself.
    """
    stream = str(breakdown["stream"].iloc[0])
    products = breakdown["layer"].notna() & (breakdown["kind"] == "matmul") & (breakdown["stream"] == stream)
    flops = breakdown[products].groupby("part")["flops"].sum()
    both = int(flops["attention"] + flops["ffn"])
    pairs = breakdown[products & breakdown["component"].isin(PAIRS)]["flops"].sum()
    return Shares(
        stream=stream if breakdown["stream"].nunique() > 1 else "",
        tokens=tokens,
        attention=int(flops["attention"]) / both,
        ffn=int(flops["ffn"]) / both,
        pairs=int(pairs) / both,
        core=crossovers.core,
        sublayer=crossovers.sublayer,
    )


@dataclass(frozen=True)
class Whole:
    """A model's parameters and FLOPs at a length: for models whose layers hold no pair of attention and FFN."""

    tokens: int
    parameters: int
    flops: int
    layers: int


def whole(table: pd.DataFrame, *, tokens: int) -> Whole:
    """Sum a table of `costs.breakdown` or of a count."""
    layers = len(table[table["layer"].notna()].drop_duplicates(["stream", "layer"]))
    return Whole(tokens, int(table["parameters"].sum()), int(table["flops"].sum()), layers)


def merged(table: pd.DataFrame) -> pd.DataFrame:
    """Give experts and the choice among them the part of the FFN that they stand in for, for `shares`."""
    return table.assign(part=table["part"].replace({"experts": "ffn", "router": "ffn"}))


def compares(table: pd.DataFrame) -> bool:
    """Tell whether the first stream's layers hold both attention and an FFN."""
    rows = table[table["layer"].notna() & (table["kind"] == "matmul") & (table["stream"] == table["stream"].iloc[0])]
    return {"attention", "ffn"} <= set(rows["part"]) and "scores" in set(rows["component"])


def beside(entries: Iterable[tuple[str, Count, KVCache | None]], *, tokens: int) -> pd.DataFrame:
    """Put models side by side at one length, a row each.

    entries: a title, a count, and the KV cache of a model that writes. Columns: model, parameters, flops (matrix
    products of one forward), attention (its share of the layers' products of all streams, 0 to 1), core, sublayer
    (crossovers of the first stream, in whole tokens), cache_bytes (a token, of 2-byte numbers); <NA> where a model has
    none.
    """
    rows = []
    for title, model, cache in entries:
        table = merged(model.table(tokens=tokens))
        products = table[table["layer"].notna() & (table["kind"] == "matmul")].groupby("part")["flops"].sum()
        meets = None if model.formula is None else costs.crossings(model)
        both = int(products.get("attention", 0)) + int(products.get("ffn", 0))
        rows.append(
            {
                "model": title,
                "parameters": model.parameters,
                "flops": int(table["flops"].sum()),
                "attention": int(products.get("attention", 0)) / both if both else None,
                "core": None if meets is None else meets.core,
                "sublayer": None if meets is None else meets.sublayer,
                "cache_bytes": None if cache is None else cache.token_bytes(),
            }
        )
    found = pd.DataFrame(rows)
    lengths = found[["core", "sublayer"]].astype("Float64").round()
    return found.assign(**lengths, cache_bytes=found["cache_bytes"]).astype(
        dict.fromkeys(("core", "sublayer", "cache_bytes"), "Int64")
    )


def sharing(cache: KVCache, *, tokens: int, source: int, element_bytes: int = 2) -> pd.DataFrame:
    """Give the bytes of a cache with every way to share keys and values; columns name, bytes, own.

    Where the model itself does not share in groups, the number of groups is the divisor nearest to a quarter of the
    heads. source: its tokens, which an encoder-decoder keeps too.
    """
    ways = [(cache.heads, "every head its own (MHA)")]
    if 1 < cache.kv_heads < cache.heads:
        ways.append((cache.kv_heads, f"{cache.kv_heads} shared (GQA)"))
    elif between := [number for number in range(2, cache.heads) if cache.heads % number == 0]:
        quarter = min(between, key=lambda number: (abs(4 * number - cache.heads), number))
        ways.append((quarter, f"{quarter} shared (GQA)"))
    ways.append((1, "one for all (MQA)"))
    rows = [
        (name, cache.shared_by(kept).bytes(tokens, source=source, element_bytes=element_bytes), kept == cache.kv_heads)
        for kept, name in ways
    ]
    return pd.DataFrame(rows, columns=["name", "bytes", "own"])


@dataclass(frozen=True)
class HeadsCost:
    """One layer's attention with some number of heads: the width of each, and what does and does not depend on it.

    parameters: 4 d². projections: FLOPs of the four matrices, 8 n d². products: of scores and mix, 4 n² d. softmax: 5
    FLOPs for each of h n² weights.
    """

    head_width: int
    parameters: int
    projections: int
    products: int
    softmax: int


@dataclass(frozen=True)
class AttentionLayer:
    """A layer's width d and its heads h, which share d among them."""

    width: int
    heads: int

    def compared(self, heads: int) -> list[int]:
        """Choose the numbers of heads to time beside `heads`: 1, the model's own, and the most up to 64."""
        most = max(number for number in self.divisors if number <= max(64, self.heads))
        return sorted({1, heads, self.heads, most})

    @property
    def divisors(self) -> list[int]:
        """The numbers of heads that divide the width, its own among them, up to 256."""
        return sorted({*(h for h in range(1, 257) if self.width % h == 0), self.heads})

    def with_heads(self, heads: int, *, tokens: int) -> HeadsCost:
        """Count the layer with another number of heads, each d / h wide with keys and values of its own."""
        d, n = self.width, tokens
        return HeadsCost(d // heads, 4 * d * d, 8 * n * d * d, 4 * n * n * d, SOFTMAX_FLOPS * heads * n * n)


def attention_layer(config: PreTrainedConfig | TransformerConfig) -> AttentionLayer:
    """Read width and heads from a configuration; raises ValueError where it does not name them."""
    if isinstance(config, TransformerConfig):
        return AttentionLayer(config.width, config.heads)
    from models.config_facts import attention_sizes, first_number, stack_configs

    heads, *_ = attention_sizes(config)
    return AttentionLayer(first_number(stack_configs(config)[-1], "hidden_size", "d_model"), heads)


def times_by_heads(measured: Mapping[int, Measured]) -> pd.DataFrame:
    """Sum up scores, softmax and mix by the number of heads; columns heads, eager, sdpa in seconds."""
    rows = []
    for heads, one in sorted(measured.items()):
        seconds = one.table.set_index("part")["seconds"]
        rows.append((heads, float(seconds[["scores", "softmax", "mix"]].sum()), float(seconds["fused"])))
    return pd.DataFrame(rows, columns=["heads", "eager", "sdpa"])


def times(measured: Measured) -> pd.DataFrame:
    """Add a layer's parts up to attention, eager and SDPA, and the FFN; columns tokens, eager, sdpa, ffn in seconds."""
    seconds = measured.table.pivot_table(index="tokens", columns="part", values="seconds")
    found = pd.DataFrame({kernel: seconds[list(parts)].sum(axis=1) for kernel, parts in PARTS.items()})
    return found.assign(ffn=seconds["ffn"]).reset_index()


@dataclass(frozen=True)
class Timed:
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


def timed(breakdown: pd.DataFrame, measured: Measured, *, kernel: Kernel, tokens: int) -> Timed:
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
    kept, out = int(alike.sum()), int((~alike).sum())
    return Timed(table.astype({"layer": "Int64"}), stream, kept, out, attention, 1000 * float(seconds["ffn"]))


@dataclass(frozen=True)
class Derived:
    """One number and where it comes from.

    component: as in a table of costs; stream: "" where the model has one. tokens: n, or n and m. amount: what is
    counted, value: how much of it, in the `layers` layers that have it. product: the textbook's formula with the
    model's sizes, which equals value (for parameters: without the biases, how many follow); None where there is none
    that does. formula, count: what closed formulas give, and what the model's code multiplies; None without.
    polynomial: coefficient and term, as counted, for FLOPs.
    """

    component: str
    stream: str
    tokens: tuple[int, ...]
    amount: Amount
    value: int
    layers: int
    product: Product | None
    biases: int
    formula: int | None
    count: int | None
    polynomial: tuple[tuple[int, str], ...] = ()


def derivation(
    rows: pd.DataFrame,
    config: PreTrainedConfig | TransformerConfig,
    *,
    amount: Amount,
    model: Count | None,
    closed: bool,
    lengths: tuple[int, ...],
    streams: int = 1,
) -> Derived:
    """Derive one component's number; rows: of one component of a stream in a table of costs.

    model: the count, None where it was not made. closed: whether the rows come from closed formulas. lengths: n, or n
    and m. streams: how many the model has.
    """
    component, part, stream = (str(rows[column].iloc[0]) for column in ("component", "part", "stream"))
    value = int(rows[amount].sum())
    layers = max(1, int((rows["layer"].notna() & (rows[amount] > 0)).sum()))
    product, biases = None, 0
    try:
        sizes = sizes_of(config, stream=stream)
        found = derive(component, amount, part=part, stream=stream, sizes=sizes, layers=layers, lengths=lengths)
    except ValueError:  # sizes of each layer's own, or under names that nobody knows
        found = None
    if found is not None and value - found.value in (0, found.biases):
        product, biases = found, value - found.value
    count: int | None = None
    polynomial: tuple[tuple[int, str], ...] = ()
    if model is not None and amount == "flops":
        table = model.table(tokens=lengths[0], target_tokens=lengths[-1])
        same = (table["component"] == component) & (table["part"] == part) & (table["stream"] == stream)
        count = int(table[same]["flops"].sum())
        if model.formula is not None:
            coefficients = model.polynomial(component, part=part, stream=stream)
            polynomial = tuple(pair for pair in zip(coefficients, model.terms, strict=True) if pair[0])
    return Derived(
        component=component,
        stream=stream if streams > 1 else "",
        tokens=lengths,
        amount=amount,
        value=value,
        layers=layers,
        product=product,
        biases=biases,
        formula=value if closed and amount == "flops" else None,
        count=count,
        polynomial=polynomial,
    )


def clocked(component: str, part: str, measured: Measured, *, tokens: int) -> tuple[str, float, float] | None:
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


def terms(model: Count, *, stream: str) -> pd.DataFrame:
    """List each component of a stream's layers with its coefficients, columns component and the polynomial's terms."""
    if model.formula is None:
        return pd.DataFrame()
    inside = [row for row in model.formula.rows if row.layer is not None and row.stream == stream]
    names = list(dict.fromkeys((row.part, row.component) for row in inside))
    rows = [
        (f"{'FFN' if part == 'ffn' else part}: {component}", *model.polynomial(component, part=part, stream=stream))
        for part, component in names
    ]
    table = pd.DataFrame(rows, columns=["component", *model.terms])
    kept = [name for name in table.columns if name == "component" or table[name].any()]
    return table[kept]


@dataclass(frozen=True)
class Linear:
    """FLOPs of a model's linear attention: scores and mix pair by pair, as they are computed, and without pairs."""

    pairs: int
    without: int


def linear(config: Any, table: pd.DataFrame, *, tokens: int, target_tokens: int | None) -> Linear | None:
    """Count linear attention without pairs, phi(Q) (phi(K)^T V); None for a model with another weighting.

    In each head 2 d_k^2 for each key, and 2 d_k^2 + 2 d_k for each query. table: of `costs.breakdown`.
    """
    if not isinstance(config, TransformerConfig) or config.weighting != "linear":
        return None
    target = tokens if target_tokens is None else target_tokens
    sites = [(config.layers, tokens, tokens)]
    if config.shape == "encoder-decoder":
        sites += [(config.decoder_depth, target, target), (config.decoder_depth, target, tokens)]
    width = config.head_width
    without = sum(
        layers * config.heads * (2 * keys * width**2 + queries * (2 * width**2 + 2 * width))
        for layers, queries, keys in sites
    )
    return Linear(int(table[table["component"].isin(PAIRS)]["flops"].sum()), without)


@dataclass(frozen=True)
class Needed:
    """FLOPs of scores and mix: all that the code computes, and of the rows whose mask is known what that needs."""

    computed: int
    known: int  # of computed, those of rows whose mask is a known rule
    needed: int


def needed(pairs: pd.DataFrame) -> Needed:
    """Sum what scores and mix compute and what their masks leave; pairs: of `Counted.needed`."""
    known = pairs[pairs["needed"].notna()]
    return Needed(int(pairs["flops"].sum()), int(known["flops"].sum()), int(known["needed"].sum()))


def masks(pairs: pd.DataFrame) -> pd.DataFrame:
    """Sum the rows of `Counted.needed` over layers with equal masks: a row per stream, component and mask.

    width is missing where a mask has none.
    """
    alike = pairs.assign(layers=1).groupby(["stream", "component", "mask", "width"], dropna=False, sort=False)
    summed = alike[["layers", "flops", "needed"]].sum(min_count=1).reset_index().astype({"width": "Int64"})
    summed.loc[summed["width"] == 0, "width"] = pd.NA
    return summed[["stream", "component", "mask", "width", "layers", "flops", "needed"]]


def counted(parameters: pd.DataFrame) -> Counted:
    """Sum the parameters of a model; parameters: of `costs.parameters`."""
    inside = parameters["layer"].notna()
    return Counted(
        parameters=int(parameters["parameters"].sum()),
        embeddings=int(parameters[parameters["part"] == "embedding"]["parameters"].sum()),
        layers=len(parameters[inside].drop_duplicates(["stack", "layer"])),
    )
