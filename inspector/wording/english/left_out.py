"""Sentences of the section Importance of the page Scores."""

from __future__ import annotations

from inspector.plots.theme import number, signed
from inspector.readings.left_out import Heads, Tokens
from inspector.wording import token
from inspector.wording.english.phrases import named
from inspector.wording.english.scores import head

PAPERS = (
    "Jain & Wallace (2019) made such comparisons for recurrent classifiers of text, found mostly weak agreement, and "
    "other weights that gave the same output: attention is not explanation, they conclude. Wiegreffe & Pinter (2019) "
    "answer that it depends on what is asked of an explanation: that other weights would do as well does not show that "
    "these tell nothing, and trained models need not find the others. One text and one way to leave a token out settle "
    "neither."
)


def tokens(found: Tokens) -> str:
    """Say which token's absence changes the output most."""
    return f"Leaving out {named(found.most)} changes {_output(found)} most, by {amount(found)}."


def heads(found: Heads | None) -> str:
    """Say how well the best and the median head's attention ranks the tokens."""
    if found is None:
        return "No head's attention tells these tokens apart."
    if found.heads == 1:
        return f"Attention of its one head ranks the tokens with Spearman's ρ = {signed(found.best_rho)}."
    return (
        f"{head(found.best)} attends most accordingly, with Spearman's ρ = {signed(found.best_rho)}; the median of the "
        f"{found.heads} heads has {signed(found.middle_rho)}."
    )


def chance(found: Heads, *, count: int) -> str:
    """Say what unrelated heads would reach with so few tokens."""
    clears = "is above" if found.best_rho > found.by_chance else "is not above"
    alike = "1 head attends" if found.level == 1 else f"{found.level} heads attend"
    level = f" {alike} to all of these tokens alike, which gives no ρ." if found.level else ""
    return (
        f"With {count} tokens, 5 % of heads that have nothing to do with the change would lie beyond "
        f"±{number(found.single)}: here {found.beyond} of {found.heads} do. The best of {found.heads} such heads, were "
        f"they independent, would reach {number(found.by_chance)} in half of all texts; the best here {clears} that."
        f"{level}"
    )


def amount(found: Tokens) -> str:
    """Write a change with its unit."""
    if found.output in ("state", "states"):
        mean = " on average" if found.output == "states" else ""
        return f"{number(found.change)}{mean} (1 − cosine)"
    return f"{number(found.change)} bits"


def _output(found: Tokens) -> str:
    looked = "" if found.looked is None else token(found.looked)
    return {
        "guess": f"the guess for the hidden {looked}",
        "next token": f"what is expected after {looked}",
        "target": f"the prediction of {looked}" if looked else "the prediction",
        "state": f"the last state of {looked}",
        "states": "the last states of the other tokens",
    }[found.output]
