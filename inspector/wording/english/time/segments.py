"""Sentences of the section Memory over segments of the page Time."""

from __future__ import annotations

from inspector.segments import SegmentedText
from inspector.text import number
from inspector.wording.english.phrases import count_of, percent

SEGMENTS = "Memory over segments"
CANNOT = "does not read from left to right"
READING = "Reading in segments"
SEGMENT, MEMORY, SHOWN, LAYER, HEAD = "Tokens of a segment", "Tokens of memory", "Segment shown", "Layer", "Head"
MAP_ALT = "Weights of one head in one segment, to the keys of the segment and of its memory"
APART, APART_TITLE = "How far each token is from one pass", "Difference from one pass"
APART_ALT = "Difference of each token's last hidden state from the one pass, in percent"
DIFFERENCE, WHOLE = "difference (%)", "memory as long as the text"

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


def sentence(reading: SegmentedText) -> str:
    """Say how far the segmented reading is from one pass, with this memory and with the longest, and why."""
    if reading.count == 1:
        return (
            f"The model reads all {reading.tokens} tokens in one segment, so there is nothing to remember; take "
            "shorter segments."
        )
    longest, apart = float(reading.at_most.max()), _share(float(reading.changed.max()))
    if reading.begins_anew:
        why = (
            f"A memory as long as the text does not help ({_share(longest)}): positions ({_NAMES[reading.positions]}) "
            "begin anew with each segment."
        )
    else:
        known = "no positions" if reading.positions == "none" else f"distances ({_NAMES[reading.positions]})"
        left = "rounding" if longest <= _ROUNDING else "more than rounding"
        why = f"A memory as long as the text leaves {left} ({_share(longest)}): the model knows {known} alone."
    remembering = f"a memory of {count_of(reading.memory, 'token')}" if reading.memory else "no memory"
    does = "changes" if reading.changed.max() > _ROUNDING else "stays what it is"
    return (
        f"Read in pieces with {remembering}, a text {does}: its last states differ from one pass by up to {apart} of "
        f"their largest number. {why}"
    )


def terms(reading: SegmentedText) -> list[str]:
    """List the terms of the sentence that the glossary explains."""
    return ["query", "key", *([_TERMS[reading.positions]] if reading.positions in _TERMS else [])]


def memory(tokens: int) -> str:
    """Name the reading with the memory that is chosen."""
    return f"memory of {tokens}" if tokens else "no memory"


def cards(reading: SegmentedText) -> list[tuple[str, str, str]]:
    """List the numbers below the picture: name, number with its unit, meaning."""
    long = "up to " if reading.tokens % reading.segment else ""  # the last segment is shorter
    return [
        (
            "Segments",
            f"{reading.count} of {long}{count_of(reading.segment, 'token')}",
            "are read one after the other",
        ),
        (
            "Reach of the last token",
            count_of(reading.back, "token"),
            "how far before it a token can stand and still change its last hidden state, through all layers",
        ),
        (
            "pairs of query and key",
            f"{reading.pairs:,} of {reading.all_pairs:,}",
            "compared in segments, of those that one causal pass compares, for each head",
        ),
        (
            "kept for each layer",
            count_of(min(reading.memory, reading.tokens), "token"),
            "hidden states that the layer's attention read, from which keys and values are made anew",
        ),
    ]


def largest(share: float) -> str:
    """Write the largest difference beside its line."""
    return _share(share)


def map_title(*, at: int, layer: int, head: int, share: float) -> str:
    """Name the map: "Segment 3: layer 2, head 0 gives 41 % to the memory"."""
    given = "has no memory" if not at else f"gives {percent(share)} to the memory"
    return f"Segment {at}: layer {layer}, head {head} {given}"


def reach(reading: SegmentedText) -> str:
    """Say how far back the last token reaches, as a formula with its numbers."""
    in_segment = (reading.tokens - 1) % reading.segment
    further = -(-reading.memory // reading.segment) * reading.segment
    start = reading.tokens - 1 - in_segment
    before = (reading.layers - 1) * further + reading.memory
    limit = f"; the text has {start} before its segment" if before > start else ""
    return (
        f"Reach of the last token: {in_segment} of its own segment + (L − 1) · {further} + {reading.memory} of memory "
        f"= {in_segment} + {before} tokens with L = {reading.layers} layers{limit}."
    )


FORMULAS = (
    r"K = W_K [\mathrm{SG}(m); x],\quad V = W_V [\mathrm{SG}(m); x]",
    r"\mathrm{score}_{ij} = (q_i + u)^\top k_j + (q_i + v)^\top W_R R_{i - j}",
)
"""The layer's keys and values, and the score of Transformer-XL."""


def caption(reading: SegmentedText) -> str:
    """Say what is drawn, with the papers, and what is random."""
    sentence = (
        "m: what the layer's attention read of earlier segments (the memory), x: of this one; SG stops gradients while "
        "training (Dai et al. 2019, sections 3.2 and 3.3). A line parts memory and segment; hatched keys are still to "
        "come. Transformer-XL is no score function of its own: it is a scaled dot product with positions by distance, "
        "and a memory. Tables of positions could run on across segments, but no further than the table goes."
    )
    if reading.positions == "xl":
        return f"{sentence} This model was trained without W_R, u and v: here they are random, and untrained."
    return (
        f"{sentence} The score's u, v and W_R are Transformer-XL's; this model has {_has(reading.positions)} instead."
    )


def _has(positions: str) -> str:
    return "no positions" if positions == "none" else f"{_NAMES[positions]} positions"


def cut(tokens: int, whole: int) -> str:
    """Say that only the beginning of a long text is read here."""
    return f"The first {tokens} of {count_of(whole, 'token')} are read here: every map of every layer is kept."


def _share(value: float) -> str:
    if value >= 1e-3:
        return f"{number(100 * value)} %"
    return number(value) if value else "0"
