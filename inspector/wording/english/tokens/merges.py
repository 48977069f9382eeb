"""Sentences of the section How pieces are learned."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from inspector.text import number, signed, token
from inspector.vocabularies import Rule, Segmentation
from inspector.wording.english.phrases import count_of

MERGES = "How pieces are learned"
LEARNING, LEARNING_INSTEAD = "Learning pieces from this corpus", "Choose another corpus."
MERGE, WORD, ONE_WORD = "Merge", "Word", "One word, cut"
WORD_HELP = "Blanks are left out: each way cuts one word at a time."
SPELLED, SPELLED_ALT = "The corpus's words after this merge", "the words of the corpus as their pieces"
PAIRS, PAIRS_ALT = "The pairs it chose among", "the ten most frequent pairs before this merge"
FREQUENT, TIMES = "The most frequent pairs", "times in the corpus"
LENGTHS, LENGTHS_ALT = "Length of the corpus under three rules", "symbols of the corpus by merges, a line for each rule"
BY_MERGES, MERGES_MADE, SYMBOLS, HERE = "Length of the corpus by merges", "merges", "symbols of the corpus", "here"
FIRST = "What each rule joins first"
TO_PRUNE, LOSSES_ALT = "The next pieces to be pruned", "log-likelihood that the corpus loses without each piece"
NEXT_TO_PRUNE, LOST = "The next to be pruned", "log-likelihood lost without it (nats)"
MATCH_HEADS = {"rest": "rest of the word", "tried": "longer, not in the vocabulary", "taken": "taken"}
CUT_HEADS = {"pieces": "ways to cut it, the best first", "log_p": "log P (nats)"}
RULES: dict[Rule, str] = {
    "count": "BPE: count(ab)",
    "ratio": "ratio: count(ab) / (count(a) count(b))",
    "gain": "WordPiece: likelihood gain",
}
HEADS = {"count": "by count (BPE)", "gain": "by gain (WordPiece)", "ratio": "by ratio"}
TERMS = ("token",)
LIBRARY = (
    "BPE joins the most frequent pair (Sennrich et al. 2016); of pairs with one count it takes the pair whose symbols "
    "are older, as the tokenizers library does, and these are its merges in its order. WordPiece joins the pair that "
    "raises the likelihood most (Schuster & Nakajima 2012): the gain, by how many nats Σ c ln(c / N) rises. Its "
    "trainer was never published. Usually count(ab) / (count(a) count(b)) is taught for it: how much likelier than "
    "chance the pair is each time that it stands, so that rare symbols that stand together win. The tokenizers "
    "library's WordPieceTrainer uses neither: it is its BpeTrainer with ## before symbols that continue a word, and "
    "only encoding differs, by the longest match."
)


def step(number: int, last: int) -> str:
    """Name a step of the player."""
    return f"{MERGE} {number} of {last}"


def merging(
    *,
    step: int,
    pair: tuple[str, str],
    piece: str,
    count: int,
    first: int,
    symbols: int,
    by_gain: str,
) -> str:
    """Say what a merge joins, how short the corpus is, and what WordPiece's rule would join.

    count: how often the pair stands. first, symbols: symbols of the corpus before all merges and after this merge.
    by_gain: the piece that WordPiece would make here.
    """
    first_piece, second_piece = map(_piece, pair)
    sentence = (
        f"BPE joins the most frequent pair: merge {step} makes {_piece(piece)}, for no pair stands more often than "
        f"{first_piece} and {second_piece}, {count} times. That leaves {symbols:,} symbols of {first:,}."
    )
    same = "make the same piece" if by_gain == piece else f"make {_piece(by_gain)}"
    return f"{sentence} WordPiece would {same}."


def about_words(shown: int, different: int) -> str:
    """Say which words of the corpus are drawn, and what their marks mean."""
    return (
        f"The {shown} most frequent of {different} different words; × says how often each stands in the "
        "corpus, ▁ is the space before a word, and a thick frame marks the piece that this merge makes."
    )


def pair(first: str, second: str) -> str:
    """Name a pair at its bar."""
    return f"{first} + {second}"


def tried(longer: Sequence[str], *, more: int) -> str:
    """List pieces that were tried in vain; more: how many are not listed."""
    return ", ".join(longer) + (f" … {more} more" if more else "") or "–"


def weighed(table: pd.DataFrame) -> str:
    """Fill the counts into the ratio, and give the gain, for the pair that each rule prefers; table: of `pairs`.

    The pair that is joined is the first; pairs with the same count are told.
    """
    others = int((table["count"] == table["count"][0]).sum()) - 1
    tied = f" {count_of(others, 'other pair')} {'stands' if others == 1 else 'stand'} as often." if others else ""
    rows = dict.fromkeys([0, int(table["gain"].idxmax()), int(table["ratio"].idxmax())])
    clauses = []
    for row in table.rename(columns={"count": "count_ab"}).loc[list(rows)].itertuples():
        clauses.append(
            f"{_piece(row.piece)}: count(ab) / (count(a) count(b)) = {row.count_ab} / ({row.first_count} · "
            f"{row.second_count}) = {number(row.ratio)}, gain {number(row.gain)} nats"
        )
    return f"{'. '.join(clauses)}.{tied}"


def no_merges(*, least: int, pieces: int) -> str:
    """Say why there is nothing to step through."""
    if not pieces:
        return "With 0 pieces beyond the characters there is no merge to see: choose more."
    return f"No pair of characters stands {least} times in this corpus, so nothing is joined: write a longer one."


def matched(word: str, *, pieces: Sequence[str], bpe: Sequence[str], model: str, by_model: Sequence[str]) -> str:
    """Say how a word is cut by WordPiece, by BPE's merges and by a model's vocabulary; "" for no model."""
    sentence = f"WordPiece takes, from the left, the longest piece that fits: {token(word)} becomes {_listed(pieces)}."
    if tuple(pieces) == ("[UNK]",):
        sentence = f"A part of {token(word)} fits no piece of this corpus, so WordPiece calls the whole word unknown."
    sentence += f" BPE joins its merges in the order in which they were learned: {_listed(bpe)}."
    return f"{sentence} In {model}'s vocabulary: {_listed(by_model)}." if model else sentence


def likeliest(word: str, cuts: Sequence[Segmentation], scores: dict[str, float]) -> str:
    """Say which cut of a word is the likeliest, with its sum, and how far behind the next is."""
    best = cuts[0]
    parts = [scores[piece] for piece in best.pieces if piece in scores]
    clause = f"Unigram cuts {token(word)} into {_listed(best.pieces)}"
    terms = "".join(f" − {number(-part)}" for part in parts).replace(" − ", "−", 1)
    filled = f"{terms} = " if 1 < len(parts) == len(best.pieces) else ""
    clause += f": log P = {filled}{signed(best.log_probability)} nats"
    if len(cuts) > 1:
        behind = number(best.log_probability - cuts[1].log_probability)
        clause += f". The next best, {_listed(cuts[1].pieces)}, is {behind} behind"
    return f"{clause}."


def pruned(*, next_to_go: Sequence[str], last_to_go: Sequence[str], pieces: int) -> str:
    """Say which pieces a smaller unigram vocabulary would lose first."""
    if not pieces:
        return "This vocabulary has single characters only, which always stay: nothing can be pruned."
    return (
        f"Unigram begins with very many pieces and drops those that the corpus misses least. Of the {pieces} that are "
        f"left it would drop {_listed(next_to_go)} next; the corpus would lose most without {_listed(last_to_go)}."
    )


UNIGRAM = (
    "A word's likelihood is the product of its pieces' probabilities, each independent of its neighbours; Viterbi "
    "finds the best cut (Kudo 2018). The loss is how far the corpus's log-likelihood falls when a piece is taken away "
    "and each word takes its next best cut; the trainer estimates it from each piece's own second best cut. Pieces and "
    "probabilities are those of the tokenizers library's UnigramTrainer (EM, then pruning, again and again). It begins "
    "with strings that different letters follow, so it has no piece that stands at ends of words alone. It reads words "
    "in the order of a hash table, so that another run may find slightly other pieces."
)


def _piece(piece: str) -> str:
    """Write a piece with its mark of a space, which tells the beginning of a word."""
    return f"`{piece}`" if piece.startswith("▁") and "`" not in piece else token(piece)


def _listed(pieces: Sequence[str]) -> str:
    return " ".join(map(_piece, pieces))
