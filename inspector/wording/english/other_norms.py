"""Sentences of the sections of the page LayerNorm."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.normalization import MASSIVE, MASSIVE_TIMES
from inspector.normalization.other_norms import OtherNorm
from inspector.plots.theme import number, signed
from inspector.readings.other_norms import ROUNDING, Depth, Far, Outlier, Padded, Steps
from inspector.wording import token
from inspector.wording.english.phrases import listed

NAMES: dict[OtherNorm, str] = {
    "none": "no norm",
    "layer": "LayerNorm",
    "rms": "RMSNorm",
    "batch": "BatchNorm, padding counted",
    "masked batch": "BatchNorm, padding masked",
    "running batch": "BatchNorm, running statistics",
}
SHORT: dict[OtherNorm, str] = {
    **NAMES,
    "batch": "Batch, counted",
    "masked batch": "Batch, masked",
    "running batch": "Batch, running",
}
"""Names for a narrow place."""


def steps(found: Steps) -> str:
    """Say which step changes most: "Over all norms and tokens scaling makes 71.2 % of the way, ..."."""
    said = [f"{name} {share:.1%}".replace("%", " %") for name, share in found.shares]
    gated = f" {found.gated} with a gate are left out." if found.gated else ""
    return f"Mean over all norms and tokens: of the four steps' lengths, {listed(said)}.{gated}"


def outlier(found: Outlier, *, norm: str) -> str:
    """Say which dimension stands out, and whether it is a massive activation."""
    said = (
        f"Before the norm {norm} dimension {found.dimension} of {token(found.token)} is {signed(found.value)}, "
        f"{number(found.times)} times the median there. It is the largest dimension before {found.norms} of {found.of} "
        "norms."
    )
    convention = f"size over {MASSIVE:g} and more than {MASSIVE_TIMES:,.0f} times the median (Sun et al. 2024)"
    if not found.massive:
        return f"{said} No activation of this text is massive: {convention}."
    dimensions = "dimension" if len(found.massive_dimensions) == 1 else "dimensions"
    which = listed([str(one) for one in found.massive_dimensions])
    return f"{said} Massive activations ({convention}) are in {dimensions} {which}."


def far(found: Sequence[Far], *, norms: int, size: str) -> str:
    """Name the tokens that stand out."""
    if not found:
        return f"No token has twice the median {size} before any norm."
    said = [
        f"{token(one.token)} (before {one.norms} of {norms} norms, up to {number(one.times)} times)" for one in found
    ]
    return f"Tokens with at least twice the median {size}: {listed(said)}."


def padded(found: Padded) -> str:
    """Say what the padding does to BatchNorm and to LayerNorm."""
    batch, layer = found.moved["batch"], found.moved["layer"]
    share = f"{found.padding} of the batch's {found.cells} cells are padding"
    if not found.added:
        return (
            f"{share}. BatchNorm counts them: dimension {found.dimension} has mean {signed(found.batch[0][0])} and "
            f"deviation {number(found.batch[0][1])} over all cells. LayerNorm does not: {token(found.token)} has mean "
            f"{signed(found.layer[0][0])} and deviation {number(found.layer[0][1])} by itself."
        )
    still = layer <= ROUNDING * max(found.largest, 1.0)
    stays = (
        "stays" if layer == 0 else f"stays but for rounding ({number(layer)})" if still else f"moves by {number(layer)}"
    )
    return (
        f"{share}, {found.added} columns of them added. BatchNorm moves a real token's number by up to "
        f"{number(batch)}; with LayerNorm every real token {stays}."
    )


def depth(found: Depth) -> str:
    """Say what norm placement and residual do to the gradient of an untrained stack."""
    said = [f"{number(ratio)} ({name})" for name, ratio in found.gradient.items()]
    return (
        "Untrained: the gradient that reaches layer 0's input, divided by the one at the last layer's output, is "
        f"{listed(said)}. Two tokens of a text leave the last layer with a mean cosine of "
        f"{listed([f'{number(cosine)} ({name})' for name, cosine in found.cosine.items()])}."
    )
