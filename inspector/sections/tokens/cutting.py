"""One word cut: WordPiece's longest match, and unigram's likeliest row of pieces with what pruning would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector import vocabularies
from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Line
from inspector.sections.section import Block, Figure, Note, Paragraph, Row, Table
from inspector.sections.tokens import corpus as corpora
from inspector.text import number, plain
from inspector.vocabularies import Corpus
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from inspector.sections.subject import Subject

words = wording.merges

LONGEST = 40  # characters of the word
NEXT = 10  # pieces that are drawn of those to be pruned
RUNNERS_UP = 5
TRIED = 4  # pieces that are named of those that were tried in vain
WORDPIECE = "minilm"  # the model with BERT's own vocabulary


@dataclass(frozen=True)
class Trained:
    """Three tokenizers of one corpus, unigram's scores, and what the corpus loses without each of its pieces."""

    wordpiece: Tokenizer
    bpe: Tokenizer
    scores: dict[str, float]
    losses: pd.DataFrame


def answer(subject: Subject, *, word: str, corpus: Corpus, pieces: int) -> Iterator[Block]:
    """Yield both ways through a word of the reader's."""
    with names.told(words.LEARNING, instead=words.LEARNING_INSTEAD):
        trained = subject.of_all(("cutting", corpus.text, pieces), partial(_train, corpus, pieces))
    word = "".join(word.split()) or longest(corpus)
    vocabularies.checked(word, what="word")
    wordpiece = subject.load(WORDPIECE) if subject.at_hand(WORDPIECE) else None
    matched = vocabularies.longest_match(word, trained.wordpiece.get_vocab())
    yield Paragraph(
        words.matched(
            word,
            pieces=matched,
            bpe=[token.value for token in trained.bpe.model.tokenize(f"▁{word}")],
            model="" if wordpiece is None else plain(names.base_name(wordpiece)),
            by_model=[] if wordpiece is None else wordpiece.tokenizer.tokenize(word) or ["[UNK]"],
        )
    )
    if "[UNK]" not in matched:
        yield Table("longest-match", matching(word, matched, prefix="##"), words=words.MATCH_HEADS, folded=False)
    found = vocabularies.segmentations(f"▁{word}", trained.scores, most=RUNNERS_UP)
    yield Paragraph(words.likeliest(f"▁{word}", found, trained.scores))
    ways = pd.DataFrame([(" ".join(way.pieces), way.log_probability) for way in found], columns=["pieces", "log_p"])
    left = (
        Table("segmentations", ways, words=words.CUT_HEADS, folded=False),
        Paragraph(pruned(trained.losses)),
        Note(words.UNIGRAM),
    )
    yield Row((left, () if trained.losses.empty else _losses(trained, corpus, pieces)), widths=(3, 2))


def longest(corpus: Corpus) -> str:
    """Return a long and rare word of a corpus."""
    return max(reversed(corpus.split), key=len)[:LONGEST]


def word(corpus: Corpus) -> Line:
    """Return the field for a word, in which a word of the corpus stands first."""
    return replace(WORD, default=lambda subject: longest(corpus))


def _train(corpus: Corpus, pieces: int) -> Trained:
    train = partial(vocabularies.train, corpus=corpus, pieces=pieces, least=corpora.LEAST)
    scores = vocabularies.scores(train("unigram"))
    return Trained(train("wordpiece"), train("bpe"), scores, vocabularies.losses(corpus.marked, scores))


def _losses(trained: Trained, corpus: Corpus, pieces: int) -> Figure:
    """Draw what the corpus loses without each of the pieces that it misses least."""
    shown = trained.losses.head(NEXT)
    code = (
        "from inspector import vocabularies\n\n"
        f"corpus = vocabularies.Corpus.of({corpus.text!r})\n"
        f"# vocabularies.scores(vocabularies.train('unigram', corpus, pieces={pieces})), a little other in each run\n"
        f"scores = {trained.scores!r}\n"
        "table = vocabularies.losses(corpus.marked, scores)"
    )
    chart = bars(shown, "loss", places=list(shown["piece"]), quantity=words.LOST, title=words.NEXT_TO_PRUNE)
    return Figure("losses", words.TO_PRUNE, chart, words.LOSSES_ALT, code, trained.losses, name="unigram-losses")


def bars(
    table: pd.DataFrame, y: str, *, places: Sequence[str], quantity: str, title: str, chosen: int | None = None
) -> Chart:
    """Lay out bars, the first on top, each with its number behind it; chosen: the row in another colour."""
    told = [f"{value:,}" if isinstance(value, int) else number(value) for value in table[y].tolist()]
    return Chart(
        table.assign(place=range(len(table)), told=told),
        "place",
        y,
        "bars",
        each="place",
        parts={place: "prediction" if place == chosen else "embedding" for place in range(len(table))},
        places=places,
        over="told",
        y_title=quantity,
        title=title,
        sideways=True,
        height=120 + 24 * len(table),
    )


def pruned(losses: pd.DataFrame) -> str:
    """Say which pieces a smaller unigram vocabulary would lose first; losses: of `vocabularies.losses`."""
    used = losses[losses["loss"] > 0]
    return words.pruned(
        next_to_go=losses["piece"].head(3).tolist(),
        last_to_go=used["piece"].tail(3).tolist()[::-1],
        pieces=len(losses),
    )


def matching(word: str, pieces: tuple[str, ...], *, prefix: str) -> pd.DataFrame:
    """Tell a longest match step by step; pieces: of the word, none of them unknown.

    Columns: rest (of the word), tried (pieces that are longer and not in the vocabulary), taken.
    """
    rows, start = [], 0
    for piece in pieces:
        length = len(piece) - len(prefix) * (start > 0)
        begun = prefix * (start > 0)
        longer = [begun + word[start:end] for end in range(len(word), start + length, -1)]
        rows.append((word[start:], words.tried(longer[:TRIED], more=max(0, len(longer) - TRIED)), piece))
        start += length
    return pd.DataFrame(rows, columns=["rest", "tried", "taken"])


WORD = Line("word", words.WORD, lambda subject: "", LONGEST, help=words.WORD_HELP)
