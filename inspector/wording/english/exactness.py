"""Words of the badge in the sidebar: which parts of a recording were compared with a second run of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # which comes with torch
    from inspector.self_checks import Exactness, HeldMixers
    from models.tokenizers import Cut

LONG = "on a long text a second run takes as long as reading it, so it waits until it is asked for"
NO_MODEL = "the model of this saved trace is not at hand; record the text in a model of the list to have it held"
GIVEN = (
    "These weights were computed elsewhere and given: no model is at hand that could be run a second time, and nothing "
    "beside the weights is known."
)
RUN_AGAIN = "Run the independent check"


def title(checked: Exactness) -> str:
    """Say in the badge whether all that is shown was held to a second run of the model."""
    if not checked.holds:
        return "Not exact on this text"
    if checked.given:
        return "Given, not held"
    kernel = ", recorded in the fused kernel" if checked.fused else ""
    return (
        f"Recorded, not held{kernel}"
        if checked.second is None
        else f"Exact on this text, within {max(checked.second.largest, _of_mixers(checked)):.1e}{kernel}"
    )


def details(checked: Exactness) -> str:
    """List every check and its number, for the badge's mark."""
    return str(checked)


def _of_mixers(checked: Exactness) -> float:
    return 0.0 if checked.mixers is None else checked.mixers.difference


def caption(checked: Exactness) -> str:
    """Say below the badge what was compared, where it differs, or why nothing was compared."""
    mixers = "" if checked.mixers is None else f" {_mixers(checked.mixers)}"
    return _compared(checked) + mixers


def _mixers(mixers: HeldMixers) -> str:
    return (
        f"{mixers.shown} of {mixers.ran} layers that mix tokens without softmax attention have maps: each was "
        "held to what its layer's own core left."
    )


def _compared(checked: Exactness) -> str:
    second = checked.second
    if checked.given and checked.holds:
        return GIVEN
    if second is None:
        held = f"No second run was made to hold this to: {checked.not_held}."
        return held if checked.holds else f"A check of the numbers themselves fails; the badge says which. {held}"
    other = checked.fused or second.fused == second.calls
    code = "with other code for attention" if other else "in the model's own code"
    if not second.holds:
        where = second.mislabelled[0] if second.mislabelled else second.worst.name
        return f"A second run, {code}, contradicts what is shown here: {where}."
    if not checked.holds:
        return "A check of the numbers themselves fails; the badge says which."
    return (
        f"A second run, {code}, gave all that is shown here to within that share of the largest number; tokens, layers "
        "and norms are in their places."
    )


def cut(cut: Cut) -> str:
    """Say how much of a text is read."""
    return str(cut)


def leaks(to_padding: float) -> str:
    """Say that a mask leaks; to_padding: the largest share of a row's weight that went to padding."""
    from inspector.self_checks import leak_in_words

    said = leak_in_words(to_padding)
    return f"{said[0].upper()}{said[1:]}."


def unknown_tokens(count: int, *, of: int) -> str:
    """Say how many of a text's tokens a model does not know."""
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return f"{count} of {of} tokens {verb} unknown to this model, which reads one and the same mark for {them}."


def recorded(*, tokens: int, limit: str, reader: str) -> str:
    """Say how long a recorded text is; limit: of the model; reader: its name in the limit's place, if not "".

    The place is narrow.
    """
    return f"{tokens} tokens, read by {reader}" if reader else f"{tokens} tokens{limit}"


def at_most(tokens: int) -> str:
    """Follow a count of tokens with the most that the page reads."""
    return f" of at most {tokens}"


def weights(words: str) -> str:
    """Follow the place of the weights with what they are."""
    return f", {words}"


def recording(*, size: str) -> str:
    """Say what counts as a token, and how large the recording is."""
    return f"Special ones are counted. The recording takes {size}."


def placed(*, seen: object, where: str, share: str) -> str:
    """Say what a model is and where its weights are."""
    return f"{seen} Its weights: {where}{share}."
