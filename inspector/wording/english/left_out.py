"""Sentences of the part Leave each out of the page What if."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from inspector.text import number, signed, token
from inspector.wording.english.phrases import count_of, named

if TYPE_CHECKING:
    from inspector.text import Named

Output = Literal["guess", "next token", "target", "state", "states"]
LEAVE_EACH_OUT = "Leave each out"
OUTPUT_AT, ALL_STATES = "Output at", "All tokens: last states"
BESIDE, BEST, MEDIAN, OPEN = "Head beside it", "best", "median", "open"
HEADS = {BEST: "Best head", MEDIAN: "Median head", OPEN: "Open head"}
AXES = {"divergence": "KL(p ‖ p′), bits", "turned": "1 − cosine"}
START, LEAVING, TOKEN, TOKEN_LEFT_OUT = "Leave out each token", "Leaving tokens out", "token", "token left out"
ANOTHER = "Choose another text or model."
CHANGES, CHANGES_ALT = "What each token's absence changes", "A bar for each token that was left out"
RHO, RHO_OF_HEADS = "Spearman's ρ", "Spearman's ρ of every head"
ALL_TOKENS = "All numbers of every token"
NO_HEAD = "No head's attention tells these tokens apart."
TO_THE_SOURCE = "The decoder's own keys are no tokens of the source: you see its attention to the source."
BY_ATTENTION, BY_CHANGE = "rank by attention (1 = least)", "rank by change (1 = least)"
PAPERS = (
    "Jain & Wallace (2019) made such comparisons for recurrent classifiers of text, found mostly weak agreement, and "
    "other weights that gave the same output: attention is not explanation, they conclude. Wiegreffe & Pinter (2019) "
    "answer that it depends on what is asked of an explanation: that other weights would do as well does not show that "
    "these tell nothing, and trained models need not find the others. One text and one way to leave a token out settle "
    "neither."
)


def too_many(count: int, *, most: int) -> str:
    """Say that a text is too long."""
    return (
        f"the text has {count:,} tokens to leave out, a run of the model each, and this page makes up to {most}; "
        "from Python there is no limit."
    )


def long(count: int, *, seconds: float) -> str:
    """Say what a long text takes."""
    return f"Each of {count:,} tokens is left out once, a run of the model each: about {max(1, round(seconds))} s here."


def ranks(head: str) -> str:
    """Head the ranks of a head."""
    return f"{head}: attention and change"


def ranks_alt(head: str) -> str:
    """Tell what the picture of ranks shows."""
    return f"The tokens ranked by the attention of {head} and by what their absence changes"


def tokens(most: Named, *, output: Output, looked: str | None, change: float) -> str:
    """Say which token's absence changes the output most.

    output: the output that was compared, at the token `looked`, None for all tokens. change: the size of the change.
    """
    what = {
        "guess": f"the guess for the hidden {_token(looked)}",
        "next token": f"what is expected after {_token(looked)}",
        "target": f"the prediction of {_token(looked)}" if looked else "the prediction",
        "state": f"the last state of {_token(looked)}",
        "states": "the last states of the other tokens",
    }[output]
    amount = {"state": f"{number(change)} (1 − cosine)", "states": f"{number(change)} on average (1 − cosine)"}
    return f"Leaving out {named(most)} changes {what} most, by {amount.get(output, f'{number(change)} bits')}."


def _token(looked: str | None) -> str:
    return "" if looked is None else token(looked)


def heads(head: str, *, heads: int, best: float, middle: float) -> str:
    """Say how well the best and the median head's attention ranks the tokens; head: the best."""
    if heads == 1:
        return f"Attention of its one head ranks the tokens with Spearman's ρ = {signed(best)}."
    return (
        f"{head} ranks the tokens most like that, with Spearman's ρ = {signed(best)}; the median head has "
        f"{signed(middle)}."
    )


def chance(*, count: int, heads: int, best: float, beyond: int, single: float, by_chance: float, level: int) -> str:
    """Say what unrelated heads would reach with so few tokens.

    beyond: how many heads lie beyond `single` on either side, as 5 % of unrelated heads do. by_chance: the rho that the
    best of so many unrelated heads has in half of all texts. level: heads without a rho, which attend to all alike.
    """
    clears = "is above" if best > by_chance else "is not above"
    alike = "1 head attends" if level == 1 else f"{level} heads attend"
    levels = f" {alike} to all of these tokens alike, which gives no ρ." if level else ""
    return (
        f"With {count_of(count, 'token')}, 5 % of heads that have nothing to do with the change would lie beyond "
        f"±{number(single)}: here {beyond} of {heads} do. The best of {heads} such heads, were they independent, would "
        f"reach {number(by_chance)} in half of all texts; the best here {clears} that.{levels}"
    )


def how(*, looked: bool, target: bool, measure: str, guesses: bool) -> str:
    """Say how a token is left out, and what is compared.

    looked: the output at one token is compared. target: the text has a target. measure: the measure of `LeftOutTokens`.
    guesses: the model is a masked language model.
    """
    where = "from the chosen token" if looked else "the mean over the other tokens that see it"
    encoder = " (in the encoder the mean over its queries)" if target and looked else ""
    compared = (
        "KL divergence of the predictions with all tokens and with one left out, in bits (total variation: the table)"
        if measure == "divergence"
        else "1 − cosine of the last hidden state, before and after"
    )
    hidden = " The token to guess is hidden in all runs." if guesses and looked else ""
    return (
        "A token is left out as padding is: hidden as a key from every query of every layer, so that the rest of each "
        "row is shared out again. Positions stay, no [MASK] takes its place, and special tokens are never left out. "
        f"Compared: {compared}. Attention: {where}{encoder}.{hidden}"
    )
