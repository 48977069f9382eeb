"""Sentences of the section Understand and continue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.text import Named, number, plain, token
from inspector.wording.english.phrases import named

BOTH = "Understand and continue"
READING, READING_INSTEAD = (
    "Reading and continuing the text",
    "Your text is kept: change it, or choose another model.",
)
SENTENCES, SEED = "Sentences to compare, one a line", "Seed"
ENGLISH, CHINESE = "English", "Chinese"
ALIKE_ALT = "cosine of each sentence with the text"
POOLED = "Cosine of the means of all last hidden states, as sentence-transformers pools."
NO_SENTENCE = "There is no sentence to compare with; write one a line."
ENGLISH_ALONE = (
    "mini-gpt has learned English alone, and the translator goes from English to Chinese: no model of "
    "Headlight continues this text. mini-gpt continues its own example."
)
LIKELIEST = "Likeliest"
MOVED = (
    "|after − before| of a number of each token's last hidden state when one late token is changed, mean "
    "over its numbers. BERT is an encoder: every token sees all others (Devlin et al. 2019); GPT's causal "
    "mask hides what comes later (Radford et al. 2018). T5 and the translator have one of each."
)
TERMS = ("causal mask", "cosine")


@dataclass(frozen=True)
class TokenChange:
    """A change of a late token, and the moves of the earlier tokens' states.

    changed: the token with its place. put: the token in its place. before: the mean move of a number of an earlier
    state, None where no token stands before; largest: the largest move.
    """

    changed: Named
    put: str
    before: float | None
    largest: float


def understood(model: str) -> str:
    """Head what an encoder makes of the text."""
    return f"Understood by {model}"


def continued(model: str) -> str:
    """Head what a decoder makes of the text."""
    return f"Continued by {model}"


def moved_alt(model: str) -> str:
    """Tell what the picture of a changed token shows."""
    return f"how far each token's last hidden state moves in {model}"


def sentences_help(lines: int, characters: int) -> str:
    """Say what the field takes at most."""
    return f"{lines} lines and {characters} characters at most."


def beginning(characters: int) -> str:
    """Say how much of a long text is read."""
    return f"The first {characters} characters of your text are read here."


def too_long(tokens: int, most: int, *, model: str) -> str:
    """Refuse a long text."""
    return f"A text has {tokens:,} tokens in {model}, and {most} are read here at most: shorten it."


def neither(model: str, *, small: bool) -> str:
    """Say why the chosen model is not shown."""
    why = "is neither an encoder with [CLS] nor a decoder" if small else "is too large to be run here unasked"
    return f"{model} {why}, so two other models are shown."


def not_known(model: str, unknown: int) -> str:
    """Say why another encoder reads the text."""
    return f"{model} does not know {unknown} tokens of this text, so mini-BERT for Chinese reads it."


def drawn(seed: int) -> str:
    """Name a way to continue."""
    return f"Drawn, seed {seed}"


def written(name: str, *, begun: str, made: str) -> str:
    """Show what was written behind a text."""
    return f"{name}  \n:gray[{plain(begun)}] **{plain(made)}**"


def about_writing(new: int, *, mark_left: bool, trained: bool) -> str:
    """Say how the text was continued; mark_left: its last mark is left off."""
    left = " The text's last mark is left off, for after it the model may end." if mark_left else ""
    untrained = "" if trained else " Untrained: its weights are random."
    return (
        f"At most {new} new tokens. Drawn: temperature 0.8, of the fewest tokens that hold 95 % (Holtzman et al. "
        f"2020).{left}{untrained}"
    )


def both(*, cosine: float, same: bool, moves: tuple[TokenChange, TokenChange], encoder: str, decoder: str) -> str:
    """Say what the encoder understands and the decoder writes; models by their names.

    cosine: the cosine of the sentence most like the text. same: the decoder reads the same text. moves: a late token's
    change in the encoder, and in the decoder.
    """
    sentence = (
        f"One architecture, two tasks: {encoder} understands the text (the sentence most like it has cosine "
        f"{number(cosine)}), {decoder} writes {'it' if same else 'another'} on."
    )
    if moves[0].before is None or moves[1].largest:
        return sentence
    return (
        f"{sentence} Change a late token, and {encoder}'s earlier states move by {number(moves[0].before)}, "
        f"{decoder}'s by 0: only {decoder} can write token by token."
    )


def why(*, moves: tuple[TokenChange, TokenChange], encoder: str, decoder: str) -> str:
    """Say why an encoder does not write as a decoder does, with what a changed late token moves."""
    return (
        f"**Why can BERT not write token by token?** {_moves(moves[0], encoder)} {_moves(moves[1], decoder)} "
        "A model without a causal mask has seen what comes next, so it was never trained to predict it; and each token "
        "that it wrote would change all states before, which would have to be computed again. That is also why it "
        "has no KV cache."
    )


def masks(written: Sequence[str], *, model: str) -> str:
    """Say what an encoder writes when mask tokens are put behind the text."""
    return (
        f"Made to write all the same, with a [MASK] behind the text that is guessed {len(written)} times, {model} "
        f"writes {' '.join(map(token, written))}, and reads the whole text {len(written)} times for it. Such a model "
        "can be drawn from in other ways (Wang & Cho 2019), but it gives no probability of the next token."
    )


def _moves(moved: TokenChange, model: str) -> str:
    place = f"{named(moved.changed)} becomes {token(moved.put)}"
    if moved.before is None:
        return f"In {model} {place}, and no token stands before it."
    if moved.largest == 0:
        return f"In {model} {place} and the states before it stay **exactly as they were: 0**."
    return f"In {model} {place} and the numbers of the states before it move by **{number(moved.before)}** in the mean."
