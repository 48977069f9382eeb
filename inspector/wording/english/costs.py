"""Sentences of the page Costs."""

from __future__ import annotations

from math import floor

from inspector.costs.clock import Kernel, Measured
from inspector.costs.derivation import Amount
from inspector.plots.theme import number, quantity
from inspector.readings.costs import Counted, Derived, Shares, Timed, Whole
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
