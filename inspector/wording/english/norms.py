"""Sentences of the page LayerNorm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inspector.normalization import OUTLIER_SIGMAS
from inspector.plots.theme import number, signed
from inspector.readings.norms import Kinds, Learned, PlaceInStream, Size, Way, Widest
from inspector.wording import token
from inspector.wording.english.phrases import listed

_FORMULAS = {"layer": "LayerNorm", "rms": "RMSNorm", "batch": "BatchNorm"}
_ONE = {"layer": "a LayerNorm", "rms": "an RMSNorm", "batch": "a BatchNorm"}
_PARTS = {
    "attention": "attention",
    "ffn": "FFN",
    "cross": "cross-attention",
    "mixer": "token mixer",
    "other": "further sublayer",
    "embedding": "embedding",
    "final": "end",
}
_STAND = {
    "pre": "before a sublayer (pre-norm)",
    "post": "after a residual sum (post-norm)",
    "output": "on a sublayer's output, before the residual sum",
    "inside": "inside a sublayer",
}
_BEFORE = {"pre": "before", "post": "after", "output": "on the output of", "inside": "inside"}
_SIZES: dict[Size, str] = {"std": "standard deviation", "rms": "root mean square"}
_OUTSIDE = {
    "embedding": ("follows the embedding", "follow the embedding"),
    "final": ("ends the stack", "end the stack"),
}
_STANDS_OUT = 2.0  # times the other tokens' median


def kinds(found: Kinds) -> str:
    """Say which norms there are and where they stand: "All 13 norms are LayerNorms; each of the 12 ..."."""
    total = sum(found.formulas.values())
    if len(found.formulas) == 1:
        ((formula, _),) = found.formulas.items()
        said = f"All {total} norms are {_FORMULAS[formula]}s" if total > 1 else f"The one norm is {_ONE[formula]}"
    else:
        each = [_FORMULAS[one] + "s" if count > 1 else _FORMULAS[one] for one, count in found.formulas.items()]
        counted = [f"{count} {one}" for count, one in zip(found.formulas.values(), each, strict=True)]
        said = f"The {total} norms are {listed(counted)}"
    inside = sum(found.placements.values())
    if len(found.placements) == 1:
        ((placement, _),) = found.placements.items()
        which = "the one in the layers" if inside == 1 else f"each of the {inside} in the layers"
        said += f"; {'it' if total == 1 else which} stands {_STAND[placement]}"
    elif found.placements:
        each = [
            f"{count} {'stands' if count == 1 else 'stand'} {_STAND[placement]}"
            for placement, count in found.placements.items()
        ]
        said += f"; of the {inside} in the layers {listed(each)}"
    if found.outside:
        counts = Counter(found.outside)
        said += f"; {listed([_outside(part, count, alone=total == 1) for part, count in counts.items()])}"
    return f"{said}."


def widest(found: Widest) -> str:
    """Say which token stands out before which norm, or that none does."""
    size, at = _SIZES[found.size], name(found.place)
    if found.middle is None:
        return (
            f"The largest vector reaches the norm {at}: its {size} is {number(found.before)} there and "
            f"{number(found.after)} after it."
        )
    said = f"reaches the norm {at} with a {size} of {number(found.before)}"
    after = f"and leaves it with {number(found.after)}"
    if found.before > 0 and found.before >= _STANDS_OUT * found.middle:
        times = f"{number(found.before / found.middle)} times the" if found.middle else "beside a"
        of = "median of the other tokens" if found.middle else "median of 0 of the other tokens"
        return f"{token(found.token)} {said}, {times} {of}, {after}."
    middle = number(found.middle)
    return f"No token stands far out: the largest is {token(found.token)}, which {said} (median {middle}) {after}."


def way(found: Way) -> str:
    """Say how a token's size changes on its way through the norms."""
    (small, first), (large, last) = found.smallest, found.largest
    low, high = map(number, found.after)
    subject = f"the {_SIZES[found.size]} of {token(found.token)}"
    after = f"{low}" if low == high else f"between {low} and {high}"
    if number(small) == number(large):
        return f"Before every norm {subject} is {number(small)}, after it {after}."
    return (
        f"Before the norms {subject} is between {number(small)} (at the norm {name(first)}) and {number(large)} (at "
        f"the norm {name(last)}), after them {after}."
    )


def learned(found: Sequence[Learned]) -> str:
    """Say what a norm has learned, and which dimension is farthest from the rest."""
    if not found:
        return "It has learned nothing: it has neither gamma nor beta."
    sentences = []
    for one in found:
        if not one.deviations:
            begins = one.mean == {"gamma": 1.0, "beta": 0.0}[one.name]
            sentences.append(
                f"All {one.width} numbers of {one.name} are {signed(one.mean)}"
                + (", as before training." if begins else ".")
            )
            continue
        beyond = "none is" if not one.outliers else f"{one.outliers} {'is' if one.outliers == 1 else 'are'}"
        sentences.append(
            f"{one.name.capitalize()} is {signed(one.mean)} on average over {one.width} dimensions; farthest from it "
            f"is dimension {one.farthest} with {signed(one.value)}, {number(one.deviations)} standard deviations away. "
            f"{beyond.capitalize()} more than {OUTLIER_SIGMAS:g} standard deviations away."
        )
    return " ".join(sentences)


def name(place: PlaceInStream) -> str:
    """Name a norm by its place, to follow "the norm": "before layer 0's attention", "at the end"."""
    if place.layer is None:
        return {"embedding": "of the embedding", "final": "at the end"}.get(place.part, f"of the {place.part}")
    part = _PARTS.get(place.part, place.part)
    return f"{_BEFORE.get(place.placement, 'of')} layer {place.layer}'s {part}"


def title(place: PlaceInStream) -> str:
    """Name a norm by its place, alone: "layer 0, before attention"; "embedding"."""
    if place.layer is None:
        return {"final": "final norm"}.get(place.part, place.part)
    return f"layer {place.layer}, {_BEFORE.get(place.placement, 'of')} {_PARTS.get(place.part, place.part)}"


def brief(place: PlaceInStream) -> str:
    """Name a norm in a narrow place, by its layer and sublayer: "0 attention"; "embedding"."""
    if place.layer is None:
        return place.part
    return f"{place.layer} {'FFN' if place.part == 'ffn' else place.part}"


def terms(found: Kinds, *, size: Size) -> list[str]:
    """List the terms of the page's sentence that the glossary explains."""
    formulas = [_FORMULAS[formula] for formula in found.formulas]
    placed = [{"pre": "pre-norm", "post": "post-norm"}.get(placement) for placement in found.placements]
    return [*formulas, *filter(None, placed), _SIZES[size]]


def _outside(part: str, count: int, *, alone: bool) -> str:
    """Say where norms beyond the layers stand: "one follows the embedding"; alone: the stack has no other norm."""
    who = str(count) if count > 1 else "it" if alone else "one"
    singular, plural = _OUTSIDE.get(part, (f"belongs to the {part}", f"belong to the {part}"))
    return f"{who} {singular if count == 1 else plural}"
