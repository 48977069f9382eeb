"""Sentences of the section Long texts."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.long_texts import BookPage, Name, PaddingCost
from inspector.text import number, quantity
from inspector.wording.english.phrases import percent

LONG = "Ways to read a long text"
TEXT, PIECE, OVERLAP, WAY = "Text", "Tokens of a piece", "Shared by two windows", "Way"
TEXTS = {"pride": "Pride and Prejudice", "home": "故乡, in Chinese", "own": "My text"}
YOURS = "your text"
PIECE_HELP = "Special tokens included: the budget of every way."
READING, READING_INSTEAD, PASS = "Reading the text in every way", "Choose a shorter text.", "pass"
COSINES, TOKEN = "Cosine with full attention", "token of the text"
COSINES_ALT = "Cosine of each token's state with full attention's by position, the chosen way before the others"
CUT_OFF, CUT_ALT = (
    "The attention that a way cuts off",
    "share of full attention's weight that the way cuts off, by layer and head",
)
LAYER, HEAD, SHARE = "layer", "head", "share of weight"
PADDING = "Padding is no cure"
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
READ_BY: dict[Name, str] = {
    "first": "The first {} tokens",
    "last": "The last {} tokens",
    "ends": "Head and tail of {} tokens in all",
    "windows": "Windows of {} tokens",
    "chunks": "Chunks of {} tokens",
    "longformer": "Longformer's windows, about {} keys a query,",
    "bigbird": "BigBird's blocks, about {} keys a query,",
}
OTHER_WAYS, EVERY_NUMBER, HOW = "the other ways", "All numbers of every way", "How each way reads"
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


@dataclass(frozen=True)
class Lengths:
    """Numbers of tokens of a text and of its pieces, special tokens included.

    read: tokens of the text that the model reads at once; whole: all tokens of the text; most: the most tokens that the
    model reads. piece: tokens of a piece.
    """

    read: int
    whole: int
    most: int
    piece: int

    @property
    def fits_one_piece(self) -> bool:
        """True where every way reads all of the text at once."""
        return self.read <= self.piece


def smoothed(tokens: int) -> str:
    """Name the axis of the cosines."""
    return f"cosine, mean of {tokens} tokens"


def of_way(name: Name) -> str:
    """Say which way numbers are of."""
    return f" ({WAYS[name]})"


def head(number: int) -> str:
    """Name a head at its column."""
    return f"head {number}"


def not_counted(reason: str) -> str:
    """Say why padding was not counted."""
    return f"Not counted here: {reason}."


def losing(way: Name, lengths: Lengths, *, cosine: float, dropped: float, model: str, text: str) -> str:
    """Say what a way keeps of a text, and how much of it the model reads at once; text: "your text".

    cosine: the mean cosine of a token's state with full attention's. dropped: the share of the tokens read at once of
    which the way has no state.
    """
    name = f"{text[0].upper()}{text[1:]}"
    if lengths.fits_one_piece:
        return (
            f"{name} has {lengths.whole:,} tokens, which fit into one piece of {lengths.piece:,}: every way reads all "
            "of it at once. Take smaller pieces, or a longer text."
        )
    read = f"{name} has {lengths.whole:,} tokens; {model} reads {lengths.read:,} at once."
    whose = READ_BY[way].format(f"{lengths.piece:,}")
    if dropped:
        return f"{whose} alone drop {percent(dropped)} of what the model could read. {read}"
    return f"{whose} keep a token's state at a cosine of {number(cosine)} with full attention's, and drop none. {read}"


def windows(*, tokens: int, room: int, overlap: int, passes: int, chunks: int) -> str:
    """Write the number of windows and chunks with its numbers filled in, as LaTeX."""
    if tokens <= room:
        return rf"$n = {tokens} \le r = {room}$: one window"
    return (
        rf"Windows $1 + \lceil (n - r) / (r - o) \rceil = 1 + \lceil ({tokens} - {room}) / ({room} - {overlap}) \rceil "
        rf"= {passes}$; chunks $\lceil n / r \rceil = \lceil {tokens} / {room} \rceil = {chunks}$ "
        f"(n tokens of the text, r in a piece beside its special tokens, o shared by two windows)"
    )


def ways(*, chunks: int, plain: float, hidden: int | None) -> str:
    """Say how each way is read, and that nothing was trained for it.

    plain: the cosine of the hierarchy's text vector without its second level. hidden: the number of guessed tokens,
    None where the model guesses none.
    """
    sentence = (
        "Measured are the tokens that full attention reads; windows and hierarchy would go on to the end of any text. "
        "Cosine: of a token's last hidden state with full attention's. Windows and chunks run alone, each with its own "
        "special tokens and positions from 0 (the masks keep the text's positions); a token is taken from the window "
        "whose middle is nearest to it (in a model that writes, from the one that shows it most tokens before it). "
        "Head and tail: Sun et al. 2019.\n\nHierarchy (Yang et al. 2016, Pappagari et al. 2019, who train it): the "
        "vector of a chunk is the mean of its tokens, and the second level is untrained, softmax(cos(cᵢ, cⱼ)) over "
        f"{chunks} chunk vectors; without it the text's vector has a cosine of {number(plain)}. "
        "Longformer's and BigBird's masks are imposed on weights that were trained with full attention, with about as "
        "many keys for a query as a piece has tokens: how a model trained with them would do, this does not say."
    )
    return sentence if hidden is None else f"{sentence} {_guessed(hidden)}"


def _guessed(hidden: int) -> str:
    return (
        f"Loss and guesses are of {hidden:,} tokens, on those that a way has; beside them full attention's on the same."
    )


def numbers(
    *, dropped: float, cosine: float, vector: float, cut: float, times: float, loss: float, loss_full: float
) -> list[tuple[str, str, str]]:
    """List what one way keeps: name, number, meaning.

    dropped: share of the tokens that are lost; cosine, vector: cosines of the tokens' states and of the text's vector.
    cut: share of full attention's weight. times: the way's FLOPs over full attention's. loss, loss_full: the loss on
    guessed tokens, and full attention's on the same tokens; NaN where the model guesses nothing.
    """
    listed = [
        ("Dropped", percent(dropped), "Share of the tokens read in full that the way has no state of."),
        ("Cosine", number(cosine), "Of a token's last state with full attention's, mean over the way's tokens."),
        ("Vector", number(vector), "Cosine of the mean of the tokens' states, special tokens left out."),
        ("Weight cut off", percent(cut), "Share of full attention's weight on keys that the way does not show."),
        (
            "FLOPs",
            f"{number(times)} × full",
            "Matrix products of all layers; a mask's seen cells alone are counted, a causal mask's nowhere.",
        ),
    ]
    if loss == loss:
        meaning = "-ln p of the true token, mean over those that the way has and guesses, in nats."
        listed += [
            ("Loss", number(loss), meaning),
            ("Full's loss there", number(loss_full), "Full attention's, on the same tokens."),
        ]
    return listed


def cut(name: Name, *, mean: float, most: tuple[float, str, int]) -> str:
    """Say how much of full attention's weight a way cuts off; most: of which layer, by its name, and head."""
    share, layer, head = most
    return (
        f"{WAYS[name]}: of the weights that full attention gives, {percent(mean)} go to keys that this way does not "
        f"show, most in {layer}, head {head} ({percent(share)}). Exact, from the recording; mean over the "
        "tokens that the way has."
    )


def padding(padded: PaddingCost) -> str:
    """Say what padding costs and changes."""
    moved = (
        f"no number of a state moves by more than {number(padded.moved)}" if padded.moved else "no state moves at all"
    )
    return (
        f"The first {padded.tokens:,} tokens padded to {padded.columns:,} take "
        f"{number(padded.flops / padded.alone)} times the FLOPs ({quantity(padded.flops, 'FLOP')} for "
        f"{quantity(padded.alone, 'FLOP')}), {moved}, and not one more token of the text is read. Padding fills a "
        "short text up to a length; it does nothing for a long one."
    )


def page(book: BookPage) -> str:
    """Name a page within a sentence."""
    return f"the opening of {book.title}"


def source(book: BookPage) -> str:
    """Say who wrote a page, and when."""
    return f"{book.title}: {book.author}, {book.year}."
