"""Merges, step by step: how BPE, WordPiece and unigram learn their pieces from a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

import pandas as pd

from inspector import vocabularies
from inspector.plots.chart import Chart
from inspector.plots.tokens import chips
from inspector.sections import names
from inspector.sections.picks import Step
from inspector.sections.section import Block, Figure, Mark, Note, Row, Section, Sentence, Table
from inspector.sections.tokens import corpus as corpora
from inspector.sections.tokens import cutting
from inspector.vocabularies import Corpus, LearnedMerges, Rule
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

words = wording.merges

MOST_WORDS = 60  # of the corpus, the most frequent first
FIRST_MERGES = 12
TOP = 10  # pairs that are drawn
FEW = 5  # merges before the one to see first
LINES = {"count": 0, "ratio": 2, "gain": 1}  # of the rules, by number
PARTS = {"count": "prediction", "ratio": "positions", "gain": "norm"}


def answer(subject: Subject, *, corpus: tuple[str, ...], pieces: int) -> Iterator[Block]:
    """Yield the merges of a corpus, to be played, and one word cut."""
    text = Corpus.of("\n".join(corpus))

    def make() -> dict[Rule, LearnedMerges]:
        return {
            rule: vocabularies.learn(text.marked, merges=pieces, rule=rule, least=corpora.LEAST)
            for rule in vocabularies.RULES
        }

    with names.told(words.LEARNING, instead=words.LEARNING_INSTEAD):
        learned = subject.of_all(("merges", text.text, pieces), make)
    bpe = learned["count"]
    if not bpe.merges:
        raise ValueError(words.no_merges(least=corpora.LEAST, pieces=pieces))
    first = subject.of_all(("telling merge", text.text, pieces), partial(telling, bpe))
    code = (
        "from inspector import vocabularies\n\n"
        f"corpus = vocabularies.Corpus.of({text.text!r})\n"
        f"learned = vocabularies.learn(corpus.marked, merges={pieces}, least={corpora.LEAST})\n"
    )
    step = replace(MERGE, steps=lambda subject: [merge.piece for merge in bpe.merges], default=lambda subject: first)
    yield replace(MERGING, answer=partial(_merged, learned=learned, code=code), picks=(step,))
    yield replace(CUTTING, answer=partial(cutting.answer, corpus=text, pieces=pieces), picks=(cutting.word(text),))


def _merged(subject: Subject, *, merge: int, learned: Mapping[Rule, LearnedMerges], code: str) -> Iterator[Block]:
    """Yield one merge: the corpus after it, the pairs that it chose among, and what other rules would join."""
    bpe = learned["count"]
    table = pairs(bpe, merge)
    yield Sentence(
        merging(bpe, merge, table=table), words.TERMS, (Mark("pairs", {"piece": bpe.merges[merge - 1].piece}),)
    )
    yield Row((_spelled(subject, bpe, merge, code), _pairs(table, merge, code)), widths=(3, 2))
    first = Table("first-merges", first_merges(learned), words.FIRST, words.HEADS, folded=False, height=320)
    yield Row((_lengths(learned, merge, code), first), widths=(3, 2))
    yield Note(words.LIBRARY)


def _spelled(subject: Subject, bpe: LearnedMerges, step: int, code: str) -> Figure:
    """Draw the most frequent words as their pieces."""
    spelled = bpe.spelled(step)
    shown = [(word, spelled[word], times) for word, times in list(bpe.words.items())[:MOST_WORDS]]
    width = chips.NARROW if subject.narrow else chips.WIDE
    return Figure(
        "spelled",
        words.SPELLED,
        partial(chips.words, shown, newest=bpe.merges[step - 1].piece, width=width),
        words.SPELLED_ALT,
        f"import pandas as pd\n{code}spelled = learned.spelled({step})\n"
        'rows = [(word, " ".join(spelled[word]), times) for word, times in learned.words.items()]\n'
        'table = pd.DataFrame(rows, columns=["word", "pieces", "count"])',
        pd.DataFrame([(word, " ".join(pieces), times) for word, pieces, times in shown], columns=SPELLED),
        note=words.about_words(len(shown), len(bpe.words)),
        name=f"words-after-merge-{step}",
    )


def _pairs(table: pd.DataFrame, step: int, code: str) -> Figure:
    """Draw the counts of the most frequent pairs, the chosen one in full colour."""
    shown = table.head(TOP)
    places = [words.pair(*pair) for pair in zip(shown["first"], shown["second"], strict=True)]
    chart = cutting.bars(shown, "count", places=places, quantity=words.TIMES, title=words.FREQUENT, chosen=0)
    code += f'table = learned.pairs({step - 1})\ntable = table[table["count"] >= learned.least]'
    return Figure(
        "pairs",
        words.PAIRS,
        chart,
        words.PAIRS_ALT,
        code,
        table,
        note=words.weighed(table),
        name=f"pairs-of-merge-{step}",
    )


def _lengths(learned: Mapping[Rule, LearnedMerges], step: int, code: str) -> Figure:
    """Draw the symbols of the corpus by merges, a line for each rule."""
    rows = [(rule, at, symbols) for rule, one in learned.items() for at, symbols in enumerate(one.lengths())]
    table = pd.DataFrame(rows, columns=["rule", "merges", "symbols"])
    chart = Chart(
        table,
        "merges",
        "symbols",
        by="rule",
        names=words.RULES,
        parts=PARTS,
        styles=LINES,
        x_title=words.MERGES_MADE,
        y_title=words.SYMBOLS,
        title=words.BY_MERGES,
        x_marks={words.HERE: step},
        y_range=(0, 1.05 * float(table["symbols"].max())),
        height=330,
    )
    first, _, last = code.rpartition("learned = ")
    arguments = last.strip().removesuffix(")")
    code = (
        f"import pandas as pd\n{first}rows = []\nfor rule in vocabularies.RULES:\n"
        f"    learned = {arguments}, rule=rule)\n"
        "    rows += [(rule, at, symbols) for at, symbols in enumerate(learned.lengths())]\n"
        'table = pd.DataFrame(rows, columns=["rule", "merges", "symbols"])'
    )
    return Figure("lengths", words.LENGTHS, chart, words.LENGTHS_ALT, code, table, name="corpus-by-merges")


def pairs(learned: LearnedMerges, step: int) -> pd.DataFrame:
    """Weigh the pairs that merge number `step` chose among: those that stand often enough, the chosen one first."""
    table = learned.pairs(step - 1)
    return table[table["count"] >= learned.least].reset_index(drop=True)


def merging(learned: LearnedMerges, step: int, *, table: pd.DataFrame) -> str:
    """Say what merge number `step` joins; table: of `pairs`."""
    merge = learned.merges[step - 1]
    return words.merging(
        step=step,
        pair=merge.pair,
        piece=merge.piece,
        count=merge.count,
        first=learned.lengths()[0],
        symbols=merge.symbols,
        by_gain=str(table["piece"][table["gain"].idxmax()]),
    )


def telling(learned: LearnedMerges) -> int:
    """Find the merge to see first: after a few, the first at which the likelihood would choose another pair."""
    last = len(learned.merges)
    for step in range(FEW, last + 1):
        table = pairs(learned, step)
        if table["piece"][table["gain"].idxmax()] != learned.merges[step - 1].piece:
            return step
    return min(FEW, last)


def first_merges(learned: Mapping[Rule, LearnedMerges], *, most: int = FIRST_MERGES) -> pd.DataFrame:
    """List the pieces that each rule makes first, a row per merge; columns merge, count, gain, ratio."""
    rules: tuple[Rule, ...] = ("count", "gain", "ratio")
    made = [[merge.piece for merge in learned[rule].merges[:most]] for rule in rules]
    rows = [(at, *pieces) for at, pieces in enumerate(zip_longest(*made, fillvalue=""), start=1)]
    return pd.DataFrame(rows, columns=["merge", *rules])


SPELLED = ["word", "pieces", "count"]
MERGE = Step("merge", words.MERGE, lambda subject: (), first_value=1, slider=True)
MERGING = Section("merging", "", _merged, (MERGE,), about="course")
CUTTING = Section("cutting", words.ONE_WORD, cutting.answer, (cutting.WORD,), about="course")
SECTION = Section(
    "merges",
    words.MERGES,
    answer,
    (corpora.CORPUS, corpora.PIECES),
    about="course",
    behind=wording.pieces.CORPUS,
    parts=(MERGING, CUTTING),
)
