"""Sentences of the sections of the page LayerNorm."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.normalization import MASSIVE, MASSIVE_TIMES
from inspector.normalization.other_norms import OtherNorm
from inspector.plots.theme import number, signed
from inspector.readings.other_norms import (
    ROUNDING,
    Against,
    Depth,
    Drift,
    Far,
    Outlier,
    Padded,
    Steps,
)
from inspector.wording import token
from inspector.wording.english.phrases import listed, percent

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
VANISHED, EXPLODED, ALIKE = 1e-3, 1e3, 1e-3  # ratios of gradients, and 1 - cosine of tokens that have become one
_MOST_FAR = 5  # tokens that a sentence names


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
    """Name the tokens that stand out, the farthest first, and count those for which there is no room."""
    if not found:
        return f"No token has twice the median {size} before any norm."
    said = [
        f"{token(one.token)} (before {one.norms} of {norms} norms, up to {number(one.times)} times)"
        for one in found[:_MOST_FAR]
    ]
    more = f"; {len(found) - _MOST_FAR} more" if len(found) > _MOST_FAR else ""
    return f"Tokens with at least twice the median {size}: {listed(said)}{more}."


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


def against(found: Against) -> list[str]:
    """Say what speaks for BatchNorm and what against it, a line each, with this batch's numbers."""
    texts = f"{found.texts} text{'' if found.texts == 1 else 's'}"
    between = (
        f"of {found.longest} tokens" if found.shortest == found.longest else f"of {found.shortest} to {found.longest}"
    )
    each = "each " if found.texts > 1 and found.shortest == found.longest else ""
    lengths = f"{texts} {each}{between}{'' if found.shortest == found.longest else ' tokens'}"
    alone = (
        f"{found.alone} of {found.columns} columns have one text"
        if found.alone
        else f"each of the {found.columns} columns has more than one text"
    )
    return [
        f"**Lengths differ.** Here are {lengths}: {percent(found.padding)} of the cells are padding, and {alone}. "
        "A batch of images of one size has neither.",
        "**One token is no batch.** Its deviation in each dimension is 0, so BatchNorm would make it beta; LayerNorm "
        "needs no other token.",
        "**Training and use differ.** From the batch's own statistics to running ones a token's number moves by up to "
        f"{number(found.gap)} here; LayerNorm has one way to compute.",
        "**For BatchNorm.** Once trained it is one multiplication and one addition for each dimension, so it "
        "can be merged into the matrix beside it.",
    ]


BEST = (
    "**Measured by others, not here.** Shen et al. (2020) find BatchNorm worse than LayerNorm on text, and PowerNorm, "
    "which keeps a running mean of squares, better than both: than LayerNorm by 0.4 BLEU (IWSLT14) and 0.6 (WMT14). "
    "Zhang & Sennrich (2019) find RMSNorm about as good as LayerNorm, in 7 to 64 % less time. Xiong et al. (2020) "
    "train without warm-up where LayerNorm stands before the sublayers. So LayerNorm works well on text; none shows "
    "that it is the best."
)
"""The verdict on the best norm, from the papers."""
SHIFT = (
    "**Measured by others, not here.** Ioffe & Szegedy (2015) explain BatchNorm by a smaller internal covariate shift: "
    "a layer's inputs move less while the layers before it learn. Santurkar et al. (2018) put such a shift back behind "
    "BatchNorm in networks for images: they learned about as fast. What they find instead is a smoother loss."
)
"""The verdict on internal covariate shift, from the papers."""


def drift(found: Drift) -> str:
    """Say whether the stack whose inputs move least is the one that learned best."""
    moves = [f"{number(move)} ({name})" for name, move in found.moves.items()]
    losses = [f"{number(loss)} ({name})" for name, loss in found.losses.items()]
    still, best = (min(values, key=lambda name: values[name]) for values in (found.moves, found.losses))
    told = (
        f"Measured here: in one step the mean of an input moves by {listed(moves)} of its deviation. The last loss is "
        f"{listed(losses)}."
    )
    if still == best:
        return f"{told} Inputs move least with {still}, and it ends with the lowest loss."
    return (
        f"{told} Inputs move least with {still}; the lowest loss is with {best}: here the smaller shift did "
        "not decide which learned best."
    )


def residual(found: Depth) -> list[str]:
    """Say what a residual does in the untrained stacks, a line each."""
    bare, summed = found.gradient["no norm, no residual"], found.gradient["no norm"]
    alone, post, pre = (found.cosine[name] for name in ("post-norm, no residual", "post-norm", "pre-norm"))
    size = found.activation["no norm"]
    fate = "vanishes" if bare < VANISHED else "explodes" if bare > EXPLODED else "reaches layer 0"
    then = "vanishes too" if summed < VANISHED else "explodes" if summed > EXPLODED else "arrives"
    return [
        f"**Without norms** the gradient {fate} when there is no residual (ratio {number(bare)}); with it, it {then} "
        f"(ratio {number(summed)}), and the last activation is {number(size)}.",
        f"**LayerNorm without residual** has a ratio of {number(found.gradient['post-norm, no residual'])}, but tokens "
        f"{'become one' if 1 - alone < ALIKE else 'stay apart'}: their mean cosine is {signed(alone)}; with the "
        f"residual {signed(post)} (post-norm) and {signed(pre)} (pre-norm).",
        "**Less overfitting?** Stacks that learned nothing cannot tell. He et al. (2016) brought residuals in against "
        "a higher training loss of deeper networks, which is no overfitting.",
    ]
