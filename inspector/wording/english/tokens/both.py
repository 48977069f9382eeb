"""Sentences of the section Understand and continue."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.text import number, plain, token

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
    "mini-GPT has learned English alone, and the translator goes from English to Chinese: no model of "
    "Headlight continues this text. mini-GPT continues its own example."
)
LIKELIEST = "Likeliest"
TERMS = ("cosine",)


def understood(model: str) -> str:
    """Head what an encoder makes of the text."""
    return f"Understood by {model}"


def continued(model: str) -> str:
    """Head what a decoder makes of the text."""
    return f"Continued by {model}"


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
    """Show what was written after a text."""
    return f"{name}  \n:gray[{plain(begun)}] **{plain(made)}**"


def about_writing(new: int, *, mark_left: bool, trained: bool) -> str:
    """Say how the text was continued; mark_left: its last mark is left off."""
    left = " The text's last mark is left off, for after it the model may end." if mark_left else ""
    untrained = "" if trained else " Untrained: its weights are random."
    return (
        f"At most {new} new tokens. Drawn: temperature 0.8, of the fewest tokens that hold 95 % (Holtzman et al. "
        f"2020).{left}{untrained}"
    )


def both(*, cosine: float, same: bool, encoder: str, decoder: str) -> str:
    """Say what the encoder understands and the decoder writes; models by their names.

    cosine: the cosine of the sentence most like the text. same: the decoder reads the same text.
    """
    return (
        f"One architecture, two tasks: {encoder} finds the sentence most like the text (cosine {number(cosine)}), "
        f"{decoder} continues {'it' if same else 'another'}."
    )


def masks(written: Sequence[str], *, model: str) -> str:
    """Say what an encoder writes when mask tokens are put after the text."""
    return (
        f"BERT made to write: {len(written)} times a [MASK] is put after the text and guessed. {model} writes "
        f"{' '.join(map(token, written))}, and reads the whole text {len(written)} times for it. Such a model can be "
        "drawn from in other ways (Wang & Cho 2019), but it gives no probability of the next token. *One token "
        "changed* shows why."
    )
