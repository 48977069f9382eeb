"""Sentences of the page Costs."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from inspector.costs.card import OnCard
from inspector.costs.clock import Kernel, Measured
from inspector.costs.derivation import Amount
from inspector.plots.theme import number, quantity
from inspector.readings.costs import AttentionLayer, Counted, Derived, Linear, Needed, Shares, Timed, Whole
from inspector.wording.english.phrases import percent


def shares(found: Shares) -> str:
    """Say which of attention and FFN costs more at this length, and at which length that turns."""
    at = f"At {_tokens(found.tokens)}"
    whose = f"{found.stream}'s " if found.stream else ""
    of = f"of the FLOPs of the {whose}layers"
    attention, ffn = percent(found.attention), percent(found.ffn)
    if found.attention == found.ffn:
        return f"{at} attention and the FFN take {ffn} {of} each; in longer texts attention takes more. {_pairs(found)}"
    if attention == ffn:  # both round to 50 %
        over, under = f"just over {ffn}", f"just under {ffn}"
        attention, ffn = (over, under) if found.attention > found.ffn else (under, over)
    if found.attention > found.ffn:
        return f"{at} attention takes {attention} {of} and the FFN {ffn}; {_turns(found)}. {_pairs(found)}"
    return f"{at} the FFN takes {ffn} {of} and attention {attention}; {_turns(found)}. {_pairs(found)}"


def counted(found: Counted) -> str:
    """Say how many parameters a model has, and how many of them are embeddings."""
    embeddings = percent(found.embeddings / found.parameters) if found.parameters else "0 %"
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    return f"This model has {quantity(found.parameters)} parameters in {layers}; {embeddings} of them are embeddings."


def needed(found: Needed) -> str:
    """Say how much of scores and mix their masks need, and of how much of them that is known."""
    if not found.known:
        return "The masks of this model follow no rule that is known here, so what they need is not known."
    rest = found.computed - found.known
    beside = f" Of {quantity(rest, 'FLOP')} more the mask follows no rule that is known here." if rest else ""
    if found.needed == found.known:
        return f"No mask hides a pair: all {quantity(found.known, 'FLOP')} of scores and mix are needed.{beside}"
    return (
        f"The code computes {quantity(found.known, 'FLOP')} of scores and mix; the pairs that no mask hides need "
        f"{quantity(found.needed, 'FLOP')}, {percent(found.needed / found.known)}.{beside}"
    )


def linear(found: Linear) -> str:
    """Say what linear attention takes pair by pair, and what it would take without pairs."""
    return (
        f"This model's linear attention is computed pair by pair here, so that its maps can be shown: scores and mix "
        f"take {quantity(found.pairs, 'FLOP')}. Without pairs, φ(Q)(φ(K)ᵀV), it would take "
        f"{quantity(found.without, 'FLOP')}: in each head 2 d_k² for each key and 2 d_k² + 2 d_k for each query."
    )


def whole(found: Whole) -> str:
    """Say what a model has and what one forward takes."""
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    return (
        f"At {_tokens(found.tokens)} one forward takes {quantity(found.flops, 'FLOP')} in matrix products; the model "
        f"has {quantity(found.parameters)} parameters in {layers}."
    )


def measured(found: Measured) -> str:
    """Say where the clock puts the crossover, beside where FLOPs put it."""
    predicted = "at no length" if found.counted is None else f"at {found.counted:,.0f} tokens"
    longest = int(found.table["tokens"].max())

    def where(length: float | None) -> str:
        return f"at no length up to {longest:,} tokens" if length is None else f"from about {length:,.0f} tokens"

    return (
        f"By FLOPs attention catches up with the FFN {predicted}. On this machine it takes longer "
        f"{where(found.crossover('eager'))} in eager attention and {where(found.crossover('sdpa'))} in the fused "
        "kernel."
    )


def stopped(done: int, total: int, *, kept: bool) -> str:
    """Say after how many runs a measurement was stopped, and what of it is shown."""
    after = f"Stopped after {done:,} of {total:,} runs"
    if kept:
        return f"{after}. What was measured until then is shown: medians of fewer runs."
    return f"{after}, before every part was timed once: nothing is shown of it. Press Measure to begin anew."


if TYPE_CHECKING:
    import pandas as pd

AMOUNTS: dict[Amount, str] = {
    "flops": "FLOPs",
    "parameters": "parameters",
    "activation_bytes": "bytes of activations",
    "cache_bytes": "bytes in the KV cache",
}
LETTERS = {
    "d": "width",
    "H": "heads",
    "K": "heads of keys and values",
    "E": "width of a head",
    "F": "width of a value",
    "f": "width of the FFN",
    "V": "vocabulary",
    "A": "experts a token",
    "N": "experts",
    "L": "layers",
}


def derivation(found: Derived) -> str:
    """Write a number as a formula and as the same formula with the model's own sizes."""
    name = f"{found.component} ({found.stream})" if found.stream else found.component
    product, unit = found.product, AMOUNTS[found.amount]
    if product is None:
        return f"{name}: {found.value:,} {unit}"
    biases = f"; with {found.biases:,} biases {found.value:,}" if found.biases else ""
    return f"{name}: {product.symbols} = {product.numbers} = {product.value:,} {unit}{biases}"


def derived_from(found: Derived) -> str:
    """Say what a formula's letters stand for in this model, and what was counted in the model's own code."""
    said = []
    if found.product is None:
        layers = f" in {found.layers} layers" if found.layers > 1 else ""
        said.append(f"This model does it in its own way{layers}: the textbook's formula gives another number.")
    else:
        letters = {name for name, _ in found.product.factors}
        lengths = [f"{name} = {n:,} tokens" for name, n in zip("nm", found.tokens, strict=False) if name in letters]
        sizes = [f"{name} = {size:,} ({LETTERS[name]})" for name, size in found.product.sizes.items()]
        said.append(f"From {', '.join([*lengths, *sizes])}.")
    if found.polynomial:
        terms = " + ".join(f"{number:,}" + ("" if term == "1" else f" {term}") for number, term in found.polynomial)
        said.append(f"Counted in the model's own code: {terms} at any length, found at a few and proven at others.")
    return " ".join(said)


def timed(found: Timed, measured: Measured, *, kernel: Kernel, tokens: int) -> str:
    """Say what takes longer in a layer, and whose times these are."""
    attention, ffn = found.attention, found.ffn
    longer, shorter = ("attention", "the FFN") if attention > ffn else ("the FFN", "attention")
    ratio = max(attention, ffn) / min(attention, ffn)
    alike = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    rest = f"; {found.others} of other sizes are left out" if found.others else ""
    computed = "as three steps" if kernel == "eager" else "in torch's fused kernel"
    return (
        f"Measured at {_tokens(tokens)}: in one layer attention takes {number(attention)} ms and the FFN {number(ffn)} "
        f"ms, so {longer} takes {number(ratio)} times as long as {shorter}. One layer was timed, and stands for "
        f"the {alike} like it{rest}. Scores, softmax and mix are computed {computed}. Medians of {measured.repeats} "
        f"runs, {measured.clock}, {measured.dtype} on {measured.device}; norms and residual sums are not timed."
    )


def on_card(found: OnCard, *, tokens: int, target_tokens: int | None, card: str, memory: int) -> str:
    """Say whether a model with its cache fits a card; card: its title, memory: its bytes."""
    each = _tokens(tokens) if target_tokens is None else f"{_tokens(tokens)}, with a target of {target_tokens:,},"
    texts = f"A text of {each} takes" if found.batch == 1 else f"{found.batch:,} texts of {each} take"
    cache = f" and {quantity(found.cache, 'B')} of KV cache" if found.cache else ""
    takes = f"{texts} {quantity(found.weights, 'B')} of weights{cache}, {quantity(found.bytes, 'B')} in all"
    if found.cards == 1:
        return f"{takes}: {percent(found.bytes / memory)} of the {quantity(memory, 'B')} of {card}."
    return (
        f"{takes}: {number(found.bytes / memory)} times the {quantity(memory, 'B')} of {card}. "
        f"At least {found.cards:,} such cards hold it."
    )


def seconds(time: float) -> str:
    """Write a time with the unit that fits it: µs, ms, s, minutes, hours, days or years."""
    for most, size, unit in ((1e-3, 1e-6, "µs"), (1, 1e-3, "ms"), (100, 1, "s"), (6000, 60, "minutes")):
        if time < most:
            return f"{number(time / size)} {unit}"
    for most, size, unit in ((48 * 3600, 3600, "hours"), (730 * 86400, 86400, "days")):
        if time < most:
            return f"{number(time / size)} {unit}"
    return f"{number(time / (365.25 * 86400))} years"


def heads(layer: AttentionLayer, *, heads: int, tokens: int) -> str:
    """Say what one layer's attention costs with some number of heads, and what it would without the reduction."""
    cost, d, n = layer.with_heads(heads, tokens=tokens), layer.width, tokens
    many = "1 head" if heads == 1 else f"{heads} heads"
    one = layer.with_heads(1, tokens=tokens)
    full = (
        f" Without the reduction, {many} as wide as the model would cost {heads} times as much: 4 h d² = "
        f"{quantity(heads * cost.parameters)} weights and "
        f"{quantity(heads * (cost.projections + cost.products), 'FLOP')}."
        if heads > 1
        else ""
    )
    return (
        f"{many}: the three matrices of queries, keys and values reduce width {d:,} to {cost.head_width} in each head, "
        f"and a fourth joins the heads: 4 d² = {cost.parameters:,} weights and 8 n d² = {cost.projections:,} FLOPs at "
        f"n = {n:,}, with any number of heads. Each head's scores take 2 n² d/h, so all scores and mixes take "
        f"4 n² d = {cost.products:,} FLOPs, as many as with 1 head. What grows is the number of weights, h n² = "
        f"{heads * n * n:,}, and with it the softmax: {cost.softmax:,} FLOPs, {number(cost.softmax / one.softmax)} "
        f"times those of 1 head.{full} Here every head has its own keys and values."
    )


def heads_timed(times: pd.DataFrame, *, tokens: int) -> str:
    """Say what scores, softmax and mix took with fewer heads and with more; times: columns heads, eager, sdpa."""
    eager = ", ".join(
        f"{number(1000 * row.eager)} ms with {row.heads} {'head' if row.heads == 1 else 'heads'}"
        for row in times.itertuples()
    )
    first, last = times.iloc[0], times.iloc[-1]
    ratio = float(last["eager"] / first["eager"])
    fused = float(last["sdpa"] / first["sdpa"])
    return (
        f"Measured at {_tokens(tokens)}: scores, softmax and mix took {eager}. The products are equal; the time with "
        f"{int(last['heads'])} is {number(ratio)} times that with {int(first['heads'])}, and {number(fused)} times in "
        "torch's fused kernel."
    )


def rates(measured: Measured) -> str:
    """Say what the longest text achieved in scores, softmax and FFN, beside how much they compute for each byte."""
    table = measured.table[measured.table["tokens"] == measured.table["tokens"].max()].set_index("part")
    parts = [("the scores", "scores"), ("the softmax", "softmax"), ("the FFN", "ffn")]
    found = [
        (name, float(row["flops"] / row["seconds"] / 1e9), float(row["flops"] / row["bytes"]))
        for name, row in ((name, table.loc[part]) for name, part in parts)
    ]
    said = ", ".join(f"{name} {number(rate)} GFLOP/s at {number(dense)} FLOPs a byte" for name, rate, dense in found)
    by_rate = sorted(found, key=lambda one: one[1])
    ordered = by_rate == sorted(found, key=lambda one: one[2])
    why = (
        " The fewer FLOPs a part does for each byte that it moves, the slower it computes: memory holds it up, not "
        "arithmetic."
        if ordered
        else ""
    )
    return f"At {_tokens(int(measured.table['tokens'].max()))} this machine achieved: {said}.{why}"


def _turns(found: Shares) -> str:
    if found.sublayer is None or found.sublayer < 1:
        return "attention costs more at any length"
    verb = "overtook the FFN" if found.tokens > found.sublayer else "overtakes it"
    return f"{'it' if found.tokens > found.sublayer else 'attention'} {verb} {_where(found.sublayer)}"


def _pairs(found: Shares) -> str:
    where = "at any length" if found.core < 1 else f"in texts of over {_tokens(floor(found.core))}"
    return (
        f"Scores and mix, the part that grows with the square of the text, take {percent(found.pairs)}; alone they "
        f"cost more than the FFN {where}."
    )


def _where(length: float) -> str:
    """Say at which length: "at 768 tokens", or "between 767 and 768 tokens" where the two meet at no whole number."""
    whole = floor(length)
    return f"at {_tokens(whole)}" if whole == length else f"between {whole:,} and {whole + 1:,} tokens"


def _tokens(number: int) -> str:
    return f"{number:,} {'token' if number == 1 else 'tokens'}"
