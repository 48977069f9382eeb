"""The derivation of one number: the textbook's formula of a component with a model's own sizes filled in.

A matrix of a by b on n tokens takes 2 n a b FLOPs and has a b parameters; scores and mix multiply every query with
every key. A formula is given only where it equals the number that it explains, to the last FLOP.

```python
derive("scores", part="attention", stream="encoder", config=config, layers=12, tokens=128).flops.symbols  # "2 n² d L"
```

Letters: n tokens (m of a target), d width, H heads, K heads of keys and values, E and F the widths of a key and of a
value, f FFN width, V vocabulary, A the experts that a token chooses, N all experts, L layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs.counted.counting import CountedCosts

Factor = tuple[str, int]  # its letter, or its digits, and its value
Amount = Literal["flops", "parameters", "activation_bytes", "cache_bytes"]
_BYTES = 4  # of a number, as `costs.breakdown` counts where nothing else is asked


@dataclass(frozen=True)
class SizeProduct:
    """A product of sizes, such as 2 n² d L; biases: how many numbers biases would add to these parameters."""

    factors: tuple[Factor, ...]
    biases: int = 0

    @property
    def value(self) -> int:
        """The product."""
        return prod(value for _, value in self.factors)

    @property
    def symbols(self) -> str:
        """The letters: "2 n² d L"."""
        return " ".join(_power(name, len(list(same))) for name, same in groupby(name for name, _ in self.factors))

    @property
    def numbers(self) -> str:
        """The numbers in the letters' places: "2 · 128² · 768 · 12"."""
        runs = ((value, len(list(same))) for (_, value), same in groupby(self.factors))
        return " · ".join(_power(f"{value:,}", times) for value, times in runs)

    @property
    def sizes(self) -> dict[str, int]:
        """The model's own numbers among the factors, by letter: {"d": 768, "L": 12}."""
        return {name: value for name, value in self.factors if not name.isdigit() and name not in ("n", "m")}


@dataclass(frozen=True)
class StackSizes:
    """The sizes of one stack of a model that formulas need; experts, chosen: 0 without a choice of experts."""

    width: int
    heads: int
    kv_heads: int
    key_width: int
    value_width: int
    ffn_width: int
    vocabulary: int
    experts: int = 0
    chosen: int = 0
    expert_width: int = 0


def derive(
    component: str,
    amount: Amount,
    *,
    part: str,
    stream: str,
    sizes: StackSizes,
    layers: int,
    lengths: tuple[int, ...],
) -> SizeProduct | None:
    """Write a component's amount, in all layers of its stream, as a product of sizes; None where no formula is known.

    layers: how many have it, 1 for what stands outside of them. lengths: n, or n and m of an encoder-decoder, whose
    decoder reads m tokens. A bias is not in it, nor is what a model does in its own way: compare with the count.
    """
    matrix = _matrix(component, part, sizes)
    biases = 0
    n: Factor = ("n", lengths[0])
    query: Factor = ("m", lengths[-1]) if len(lengths) > 1 and stream != "encoder" else n
    key = n if stream == "cross" else query
    every: list[Factor] = [("L", layers)] if layers > 1 else []
    size: Factor = (str(_BYTES), _BYTES)
    if component in ("scores", "mix"):
        wide = _wide("H", sizes.heads, *_each(component, sizes), sizes.width)
        pairs = [query, key]
        outputs = [*pairs, ("H", sizes.heads)] if component == "scores" else [query, *wide]
        by_amount = {"flops": [("2", 2), *pairs, *wide, *every], "activation_bytes": [size, *outputs, *every]}
    elif matrix is not None:
        rows = [key] if component in ("k", "v") else [query]
        inputs, outputs = matrix
        used = [("A", sizes.chosen)] if part == "experts" else []
        held = [("N", sizes.experts)] if part == "experts" else []
        if amount == "parameters":
            biases = prod(value for _, value in [*outputs, *held, *every])
        by_amount = {
            "flops": [("2", 2), *rows, *inputs, *outputs, *used, *every],
            "parameters": [*inputs, *outputs, *held, *every],
            "activation_bytes": [size, *rows, *outputs, *used, *every],
            "cache_bytes": [size, *rows, *outputs, *every] if component in ("k", "v") else [],
        }
    else:
        return None
    factors = by_amount.get(amount)
    return SizeProduct(tuple(factors), biases) if factors else None


def sizes_of(config: Any, *, stream: str) -> StackSizes:
    """Read the sizes of the stack that a stream belongs to; raises ValueError where the configuration has none."""
    if isinstance(config, TransformerConfig):
        written = config.vocabulary if config.target_vocabulary is None else config.target_vocabulary
        return StackSizes(
            config.width,
            config.heads,
            config.key_heads,
            config.head_width,
            config.head_width,
            config.ffn_width,
            written,
        )
    from models.config_facts import attention_sizes, first_number, stack_configs

    text = stack_configs(config)[0 if stream == "encoder" else -1]
    heads, kv_heads, key_width, value_width = attention_sizes(config)
    width = first_number(text, "hidden_size", "d_model")
    side = "encoder_ffn_dim" if stream == "encoder" else "decoder_ffn_dim"
    ffn_width = first_number(text, "intermediate_size", "d_ff", "ffn_dim", side, "n_inner", default=4 * width)
    experts = first_number(text, "num_local_experts", "n_routed_experts", "num_experts", default=0)
    return StackSizes(
        width,
        heads,
        kv_heads,
        key_width,
        value_width,
        ffn_width,
        first_number(text, "vocab_size", default=0),
        experts,
        first_number(text, "num_experts_per_tok", default=1) if experts else 0,
        first_number(text, "moe_intermediate_size", default=ffn_width) if experts else 0,
    )


def _matrix(component: str, part: str, sizes: StackSizes) -> tuple[list[Factor], list[Factor]] | None:
    """The sizes of what goes into a learned product, and of what comes out."""
    d: Factor = ("d", sizes.width)
    f: Factor = ("f", sizes.expert_width if part == "experts" else sizes.ffn_width)
    heads = [("K", sizes.kv_heads), ("H", sizes.heads)][sizes.kv_heads == sizes.heads]
    match component:
        case "q":
            return [d], _wide("H", sizes.heads, "E", sizes.key_width, sizes.width)
        case "k":
            return [d], _wide(*heads, "E", sizes.key_width, sizes.width)
        case "v":
            return [d], _wide(*heads, *_each("mix", sizes), sizes.width)
        case "out":
            return _wide("H", sizes.heads, *_each("mix", sizes), sizes.width), [d]
        case "up" | "gate":
            return [d], [f]
        case "down":
            return [f], [d]
        case "router":
            return [d], [("N", sizes.experts)]
        case "lm_head":
            return [d], [("V", sizes.vocabulary)]
    return None


def _each(component: str, sizes: StackSizes) -> Factor:
    """The width of a head's key, or of its value, which has a letter of its own where the two differ."""
    if component == "scores" or sizes.value_width == sizes.key_width:
        return "E", sizes.key_width
    return "F", sizes.value_width


def _wide(letter: str, heads: int, each: str, width: int, model: int) -> list[Factor]:
    """Heads side by side: d where they are as wide together as the model."""
    return [("d", model)] if heads * width == model else [(letter, heads), (each, width)]


def _power(name: str, times: int) -> str:
    return name if times == 1 else name + {2: "²", 3: "³"}.get(times, f"^{times}")


@dataclass(frozen=True)
class DerivedNumber:
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
    product: SizeProduct | None
    biases: int
    formula: int | None
    count: int | None
    polynomial: tuple[tuple[int, str], ...] = ()


def explain(
    rows: pd.DataFrame,
    config: Any,
    *,
    amount: Amount,
    model: CountedCosts | None,
    closed: bool,
    lengths: tuple[int, ...],
    streams: int = 1,
) -> DerivedNumber:
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
        derived = derive(component, amount, part=part, stream=stream, sizes=sizes, layers=layers, lengths=lengths)
    except ValueError:  # sizes of each layer's own, or under names that nobody knows
        derived = None
    if derived is not None and value - derived.value in (0, derived.biases):
        product, biases = derived, value - derived.value
    count: int | None = None
    polynomial: tuple[tuple[int, str], ...] = ()
    if model is not None and amount == "flops":
        table = model.table(tokens=lengths[0], target_tokens=lengths[-1])
        same = (table["component"] == component) & (table["part"] == part) & (table["stream"] == stream)
        count = int(table[same]["flops"].sum())
        if model.formula is not None:
            coefficients = model.polynomial(component, part=part, stream=stream)
            polynomial = tuple(pair for pair in zip(coefficients, model.terms, strict=True) if pair[0])
    return DerivedNumber(
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
