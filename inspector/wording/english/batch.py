"""Sentences of the page Batch."""

from __future__ import annotations

from inspector.batches import Layout
from inspector.plots.theme import number, signed
from inspector.readings.batch import ROUNDING, Costing, Drifting, Filling, Packing, Seeing, Spreading
from inspector.wording import token
from inspector.wording.english.phrases import listed, named, percent

LAYOUTS: dict[Layout, str] = {
    "right": "Padded right",
    "left": "Padded left",
    "packed": "Packed",
    "alone": "One by one",
}
FILLS = {
    "-inf": "−∞",
    "-1e9": "−1e9",
    "-1e4": "−1e4",
    "-20": "−20",
    "-10": "−10",
    "x 0": "× 0",
    "no mask": "no mask",
}
TERMS = {"seen": ("padding", "mask", "query", "key"), "fills": ("mask", "padding", "scores")}
TERMS |= {"packed": ("packed row", "mask"), "change": ("causal mask",), "cost": ("padding", "packed row", "FLOPs")}
"""The terms that each section's sentence uses, by the section."""
_LITTLE = 1e-6  # of the weight: told without its number
_STATES = 1e-4  # of a number of a hidden state: what rounding explains through a whole model


def seeing(found: Seeing, *, head: str) -> str:
    """Say how much of the batch is padding, and what one text's tokens see; head: "layer 1, head 7"."""
    name = f"Text {found.text}"
    if found.layout == "alone":
        said = (
            f"One by one, {_texts(found.texts)} take {_forwards(found.rows)} and {found.cells} cells, none of padding."
        )
    elif found.layout == "packed":
        said = f"Packed, {_texts(found.texts)} are one row of {found.cells} cells, none of padding."
    elif not found.padding:
        said = f"All {found.texts} texts have one length, so no cell is padding."
    else:
        side = "right" if found.layout == "right" else "left"
        share = percent(found.padding / found.cells)
        cells = f"the sources' {found.cells} cells" if found.sources else f"{found.cells} cells"
        said = f"Padded on the {side}, {found.padding} of {cells} hold no text ({share})."
    counts = f"{found.most}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    sees = f"{name}: each token sees {counts} key{'' if counts == '1' else 's'}"
    return f"{said} {sees}, and {head} {_given(found)}."


def masking(fill: float | None, *, causal: bool, softmax: bool) -> str:
    """Say what becomes of a masked score; fill: of `batches.own_fill`."""
    where = f"before the {'softmax' if softmax else 'sigmoid'}"
    if fill is None:
        how = f"has the smallest number of its dtype added {where}"
    else:
        how = f"is multiplied by 0 {where}" if fill == 0 else f"is set to {signed(fill)} {where}"
    both = " A key is seen where the causal mask and the mask of padding both show it." if causal else ""
    return f"A masked score {how}.{both}"


def _given(found: Seeing) -> str:
    places = {"padding": found.to_padding, "other texts": found.to_others}
    leaking = [f"{percent(share)} of its weight to {place}" for place, share in places.items() if share > ROUNDING]
    if leaking:
        return f"gives {listed(leaking)}: the mask leaks"
    tiny = [f"{number(share)} to {place}" for place, share in places.items() if share > 0]
    if tiny:
        return f"gives {listed(tiny)}, next to nothing"
    other = {"alone": "anything else", "packed": "the other texts"}.get(found.layout, "padding")
    return f"gives nothing to {other}"


def filling(found: Filling) -> str:
    """Say what each fill leaves on padding, or on other texts."""
    if found.nothing:
        return "Here is no padding, so no mask can leak onto it: write texts of different lengths, and pad them."
    where = "other texts" if found.other_texts else "padding"
    order = "Before the scale" if found.before_scale else "After the scale"
    kept = [FILLS[fill] for fill in found.kept]
    little = [FILLS[fill] for fill, leak in found.left if leak < _LITTLE]
    much = [(FILLS[fill], _share(leak)) for fill, leak in found.left if leak >= _LITTLE]
    left = [f"{fill} {'' if at else 'leaves '}{share}" for at, (fill, share) in enumerate(much)]
    verb = "leaves" if len(kept) == 1 else "leave"
    parts = [f"{listed(kept)} {verb} no weight on {where}"] if kept else []
    parts += [f"{listed(little)} next to none"] if little else []
    said = f"{order}, in float32: " + "; ".join([", ".join(parts), *([listed(left)] if left else [])])
    raising = [f"{FILLS[fill]} in {dtype}" for fill, dtype, problem in found.problems if "raises" in problem]
    none = [f"{FILLS[fill]} in {dtype}" for fill, dtype, problem in found.problems if "raises" not in problem]
    more = f" {listed(raising)} raises an error." if len(raising) == 1 else ""
    more = f" {listed(raising)} raise errors." if len(raising) > 1 else more
    return f"{said}.{more}" + (f" {listed(none)} gives NaN." if none else "")


def _share(leak: float) -> str:
    return percent(leak) if leak >= 0.01 else number(leak)


def drifting(found: Drifting) -> str:
    """Say how far real tokens move under the model's mask, without a mask and under the worst fill."""
    own = (
        f"With the model's own mask no number of a real token's last hidden state is farther than {number(found.own)} "
        "from the text alone"
    )
    said = f"{own}; where padding is not masked {number(found.unmasked)} is."
    if found.own > _STATES and found.to_padding > ROUNDING:
        said += f" The model's own mask leaks: padding gets {_share(found.to_padding)} of the weight."
    elif found.own > _STATES and found.left:
        said += (
            " Its mask leaks nothing: padding stands before the text, and this model counts positions by column, so "
            "that a text's tokens stand at other positions than alone."
        )
    if found.worst is not None and found.worst[1] > 0:
        said += f" Of the fills {FILLS[found.worst[0]]} moves them most, by up to {number(found.worst[1])}."
    if found.padding_states == found.padding_states:  # NaN without padding
        said += (
            f" Padding has states too: their numbers have a mean size of {number(found.padding_states)}, so a loss or "
            "a mean over tokens must leave them out."
        )
    return said


def packing(found: Packing) -> str:
    """Say whether packed texts equal separate ones, with the mask and without."""
    equal = (
        f"equal the texts read alone (largest difference {number(found.masked)}, rounding)"
        if found.masked <= _STATES
        else f"differ from the texts read alone by up to {number(found.masked)}"
    )
    said = (
        f"Packed with their mask, last hidden states {equal}; without it they differ by up to "
        f"{number(found.unmasked)}, for {percent(found.others)} of the weight goes to other texts."
    )
    if found.running > 2 * found.masked + _STATES:
        said += f" Positions begin anew in each text: running on, they would make {number(found.running)}."
    return said


def spreading(found: Spreading) -> str:
    """Say how far a changed token moves those before it and those after it."""
    said = f"{named(found.changed)} becomes {token(found.put)}"
    if found.before is None:
        before = "there is no token before it"
    elif found.before_largest == 0:
        before = "no token before it moves at all: the mask is causal"
    else:
        before = f"tokens before it move too, by {number(found.before)} in the mean: no causal mask"
    after = "no token follows" if found.after is None else f"those after it move by {number(found.after)}"
    capital = said if said.startswith("`") else f"{said[0].upper()}{said[1:]}"
    return f"{capital}: {before}; {after}, the token itself by {number(found.itself)}."


def costing(found: Costing) -> str:
    """Say how much of a padded batch is wasted, and what a packed row computes in vain."""
    padded = (
        f"Padded, {_texts(found.texts)} make {found.cells} cells, {percent(found.padding)} of them padding: "
        f"{number(found.padded)} times the FLOPs of the texts one by one."
    )
    if found.packed is None or found.pairs == found.needed:
        return padded
    return (
        f"{padded} Packed: {number(found.packed)} times, for a plain kernel computes {found.pairs:,} scores a head "
        f"where {found.needed:,} are between tokens of one text."
    )


def _texts(count: int) -> str:
    return f"{count} text{'' if count == 1 else 's'}"


def _forwards(count: int) -> str:
    return f"{count} forward{'' if count == 1 else 's'}"
