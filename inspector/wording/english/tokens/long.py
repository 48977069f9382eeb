"""Sentences of the section Long texts."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.long_texts import BookPage, Compared, Name, Padded
from inspector.plots.theme import number, quantity
from inspector.readings.tokens.long import Kept, Losing
from inspector.wording.english.phrases import percent

WAYS: dict[Name, str] = {
    "full": "Full attention",
    "first": "First tokens",
    "last": "Last tokens",
    "ends": "Head and tail",
    "windows": "Sliding windows",
    "chunks": "Hierarchy",
    "longformer": "Longformer's mask",
    "bigbird": "BigBird's mask",
}
COLUMNS = {
    "reach": "of the whole text (%)",
    "dropped": "dropped (%)",
    "runs": "tokens run",
    "times": "FLOPs (full = 1)",
    "cosine": "cosine, mean",
    "worst": "cosine, least",
    "vector": "cosine, mean vector",
    "cut": "weight cut off (%)",
    "loss": "loss (nats)",
    "loss_full": "full's loss there",
    "accuracy": "guessed right (%)",
    "accuracy_full": "full's, there (%)",
}
TERMS = ("cosine", "token", "padding", "mask")


def losing(found: Losing, *, model: str, text: str) -> str:
    """Say how far the model reads at once, and what windows, hierarchy and truncation keep; text: "your text"."""
    first = f"{text[0].upper()}{text[1:]} has {found.whole:,} tokens"
    if found.one:
        return (
            f"{first}, which fit into one piece of {found.piece:,}: every way reads all of it at once. Take smaller "
            "pieces, or a longer text."
        )
    at_once = (
        f"{first}, and {model} reads {found.read:,} at once, no more"
        if found.whole > found.read
        else f"{first}, which {model} still reads at once ({found.most:,} at most)"
    )
    windows, chunks, cut = (found.ways[name] for name in ("windows", "chunks", "first"))
    return (
        f"{at_once}. Against that, windows of {found.piece:,} keep a cosine of {number(windows.cosine)} a token, a "
        f"hierarchy {number(chunks.cosine)}, and the text's vector {number(windows.vector)} and "
        f"{number(chunks.vector)}; the first {found.piece:,} tokens drop {percent(cut.dropped)} of what it reads."
    )


def windows(found: Losing, *, room: int, overlap: int, tokens: int) -> str:
    """Write the number of windows with its numbers filled in, as LaTeX."""
    if tokens <= room:
        return rf"$n = {tokens} \le r = {room}$: one window"
    return (
        rf"Windows $1 + \lceil (n - r) / (r - o) \rceil = 1 + \lceil ({tokens} - {room}) / ({room} - {overlap}) \rceil "
        rf"= {found.passes}$; chunks $\lceil n / r \rceil = \lceil {tokens} / {room} \rceil = {found.chunks}$ "
        f"(n tokens of the text, r in a piece beside its special tokens, o shared by two windows)"
    )


def ways(found: Losing, *, hidden: int | None) -> str:
    """Say how each way is read, and that nothing was trained for it; hidden: tokens guessed, None for none."""
    said = (
        "Measured are the tokens that full attention reads; windows and hierarchy would go on to the end of any text. "
        "Cosine: of a token's last hidden state with full attention's. Windows and chunks run alone, each with its own "
        "special tokens and positions from 0 (the masks keep the text's positions); a token is taken from the window "
        "where it stands most central (in a model that writes, from the one that shows it most tokens before it). Head "
        "and tail: Sun et al. 2019.\n\nHierarchy (Yang et al. 2016, Pappagari et al. 2019, who train it): the vector "
        "of a chunk is the mean of its tokens, and the second level is untrained, softmax(cos(cᵢ, cⱼ)) over "
        f"{found.chunks} chunk vectors; without it the text's vector has a cosine of {number(found.plain)}. "
        "Longformer's and BigBird's masks are imposed on weights that were trained with full attention, with about as "
        "many keys for a query as a piece has tokens: how a model trained with them would do, this does not say."
    )
    return said if hidden is None else f"{said} {_guessed(hidden)}"


def _guessed(hidden: int) -> str:
    return (
        f"Loss and guesses are of {hidden:,} tokens, on those that a way has; beside them full attention's on the same."
    )


def numbers(kept: Kept) -> list[tuple[str, str, str]]:
    """List what one way keeps: name, number, meaning."""
    listed = [
        ("Dropped", percent(kept.dropped), "Share of the tokens read in full that the way has no state of."),
        ("Cosine", number(kept.cosine), "Of a token's last state with full attention's, mean over the way's tokens."),
        ("Vector", number(kept.vector), "Cosine of the mean of the tokens' states, special tokens left out."),
        ("Weight cut off", percent(kept.cut), "Share of full attention's weight on keys that the way does not show."),
        (
            "FLOPs",
            f"{number(kept.times)} × full",
            "Matrix products of all layers; a mask's seen cells alone are counted, a causal mask's nowhere.",
        ),
    ]
    if kept.loss == kept.loss:
        meaning = "-ln p of the true token, mean over those that the way has and guesses, in nats."
        listed += [
            ("Loss", number(kept.loss), meaning),
            ("Full's loss there", number(kept.loss_full), "Full attention's, on the same tokens."),
        ]
    return listed


def cut(found: Compared, name: Name, *, layers: Sequence[str]) -> str:
    """Say how much of full attention's weight a way cuts off, and in which head most; layers: their names."""
    shares = found.cut[name]
    filled = [
        (float(share), layer, head)
        for layer, row in enumerate(shares)
        for head, share in enumerate(row)
        if share == share
    ]
    share, layer, head = max(filled)
    mean = sum(one for one, *_ in filled) / len(filled)
    return (
        f"{WAYS[name]}: of the weights that full attention gives, {percent(mean)} go to keys that this way does not "
        f"show, most in {layers[layer]}, head {head} ({percent(share)}). Exact, from the recording; mean over the "
        "tokens that the way has."
    )


def padding(found: Padded) -> str:
    """Say what padding costs and changes."""
    moved = f"no number of a state moves by more than {number(found.moved)}" if found.moved else "no state moves at all"
    return (
        f"The first {found.tokens:,} tokens padded to {found.columns:,} take "
        f"{number(found.flops / found.alone)} times the FLOPs ({quantity(found.flops, 'FLOP')} for "
        f"{quantity(found.alone, 'FLOP')}), {moved}, and not one more token of the text is read. Padding fills a "
        "short text up to a length; it does nothing for a long one."
    )


def page(found: BookPage) -> str:
    """Name a page within a sentence."""
    return f"the opening of {found.title} ({found.author}, {found.year})"
