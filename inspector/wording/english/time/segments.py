"""Sentences of the section Memory over segments of the page Time."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.time.segments import Memory
from inspector.wording.english.phrases import percent

_NAMES = {
    "xl": "Transformer-XL's",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "t5": "T5's buckets",
    "shaw": "Shaw's",
    "sinusoidal": "sinusoidal",
    "learned": "a learned table",
}
_TERMS = {"rope": "RoPE", "alibi": "ALiBi", "sinusoidal": "position table", "learned": "position table"}
_ROUNDING = 1e-4  # of the largest number: what float32 explains through layers that no training has calmed


def sentence(found: Memory) -> str:
    """Say how far the segmented reading is from one pass, with this memory and with the longest, and why."""
    if found.count == 1:
        return (
            f"The model reads all {found.tokens} tokens in one segment, so there is nothing to remember; take shorter "
            "segments."
        )
    with_memory = f"a memory of {_tokens(found.memory)}" if found.memory else "no memory"
    long = "up to " if found.tokens % found.segment else ""  # the last segment is shorter
    said = (
        f"Read in {found.count} segments of {long}{_tokens(found.segment)} with {with_memory}, the model's last "
        f"hidden states differ from those of one pass by up to {_share(found.changed)} of their largest number"
    )
    if found.begins_anew:
        return (
            f"{said}, and with a memory as long as the text still by {_share(found.longest)}: its positions "
            f"({_NAMES[found.positions]}) begin anew with each segment, so tokens of memory and segment share a place."
        )
    known = "no positions" if found.positions == "none" else f"positions that are distances ({_NAMES[found.positions]})"
    much = "rounding" if found.longest <= _ROUNDING else "more than rounding alone explains"
    return f"{said}; with a memory as long as the text by {_share(found.longest)}, which is {much}, for it has {known}."


def terms(found: Memory) -> list[str]:
    """List the terms of the sentence that the glossary explains."""
    return ["query", "key", *([_TERMS[found.positions]] if found.positions in _TERMS else [])]


def cards(found: Memory) -> list[tuple[str, str, str]]:
    """List the numbers below the picture: name, number with its unit, meaning."""
    return [
        (
            "Reach of the last token",
            _tokens(found.back),
            "how far before it a token can stand and still change its last hidden state, through all layers",
        ),
        (
            "pairs of query and key",
            f"{found.pairs:,} of {found.all_pairs:,}",
            "compared in segments, of those that one causal pass compares, for each head",
        ),
        (
            "kept for each layer",
            _tokens(min(found.memory, found.tokens)),
            "hidden states that the layer's attention read, from which keys and values are made anew",
        ),
    ]


def map_title(*, at: int, layer: int, head: int, share: float) -> str:
    """Name the map: "Segment 3: layer 2, head 0 gives 41 % to the memory"."""
    given = "has no memory" if not at else f"gives {percent(share)} to the memory"
    return f"Segment {at}: layer {layer}, head {head} {given}"


def reach(found: Memory) -> str:
    """Write the reach as a formula with its numbers."""
    own = (found.tokens - 1) % found.segment
    further = -(-found.memory // found.segment) * found.segment
    start = found.tokens - 1 - own
    before = (found.layers - 1) * further + found.memory
    limit = f"; the text has {start}" if before > start else ""
    return (
        f"{own} of its own segment + (L − 1) · {further} + {found.memory} of memory = {own} + {before} tokens with "
        f"L = {found.layers} layers{limit}"
    )


FORMULAS = (
    r"K = W_K [\mathrm{SG}(m); x],\quad V = W_V [\mathrm{SG}(m); x]",
    r"\mathrm{score}_{ij} = (q_i + u)^\top k_j + (q_i + v)^\top W_R R_{i - j}",
)
"""The layer's keys and values, and the score of Transformer-XL."""


def caption(found: Memory) -> str:
    """Say what is drawn, with the papers, and what is random."""
    said = (
        "m: what the layer's attention read of earlier segments (the memory), x: of this one; SG stops gradients while "
        "training (Dai et al. 2019, sections 3.2 and 3.3). A line parts memory and segment; hatched keys are still to "
        "come. Transformer-XL is no score function of its own: it is a scaled dot product with positions by distance, "
        "and a memory. Tables of positions could run on across segments, but no further than the table goes."
    )
    if found.positions == "xl":
        return f"{said} This model was trained without W_R, u and v: here they are random, and untrained."
    return f"{said} The score's u, v and W_R are Transformer-XL's; this model has {_has(found.positions)} instead."


def _has(positions: str) -> str:
    return "no positions" if positions == "none" else f"{_NAMES[positions]} positions"


def cut(tokens: int, whole: int) -> str:
    """Say that only the beginning of a long text is read here."""
    return f"The first {tokens} of {whole:,} tokens are read here: every map of every layer is kept."


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


def _share(value: float) -> str:
    if value >= 1e-3:
        return f"{number(100 * value)} %"
    return number(value) if value else "0"
