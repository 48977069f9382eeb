"""All heads in numbers: sorted, filtered, to take away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from inspector import heads as labels
from inspector.atlas import MEASURES
from inspector.atlas.reading.head_relations import BEST
from inspector.sections.picks import Filter
from inspector.sections.section import Block, File, Files, Note, Section, Table
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

SHOWN = ("entropy", "distance", "confidence", "previous", "next", "self", "cls", "sep", "first", "punctuation")


def answer(
    subject: Subject, *, atlas_layers: tuple[str, ...], atlas_labels: tuple[str, ...], colour: Colour
) -> Iterator[Block]:
    """Yield a row per head of a stream, the strongest first, with files."""
    means, scores = _labelled(subject).copy(), subject.atlas.scores
    means.insert(4, colour.title, colour.values)
    beside = _beside_offset(colour)
    for at, column in enumerate(beside, start=5):
        means.insert(at, column, beside[column])
    own = means[means["stream"] == subject.stream].sort_values(colour.title, ascending=False, kind="stable")
    layers, kinds = own["layer"].astype(str), own["label"]
    chosen = own[layers.isin(atlas_layers or layers) & kinds.isin(atlas_labels or kinds)]
    if chosen.empty:
        yield Note(words.NO_HEAD_LEFT)
        return
    columns = dict.fromkeys(["layer", "head", colour.title, *beside, "label", *SHOWN])
    if (own["call"] > 0).any():
        columns = dict.fromkeys(["layer", "call", *columns])
    yield Note(words.listed_heads(len(chosen), of=len(own)))
    yield Table("atlas", chosen[list(columns)].dropna(axis=1, how="all"), folded=False, height=320)
    files = [
        File("atlas-heads.csv", lambda mode: means, words.all_numbers(len(MEASURES)), words.HEADS_CSV),
        File("atlas-heads.parquet", lambda mode: means, words.FOR_PANDAS, words.HEADS_PARQUET),
    ]
    if scores is not None:
        files.append(File("atlas-relations.csv", lambda mode: scores, words.ALL_SCORES, words.RELATIONS_CSV))
    yield Files(tuple(files))


def _beside_offset(colour: Colour) -> pd.DataFrame:
    """Set what heads score on a relation beside the best fixed offset, as columns; none where the number is a measure.

    Heads of one relation have one best offset, so those that find most beat it by most; each one's best relation is
    another one, and stands beside it.
    """
    rows = colour.scores
    if rows is None:
        return pd.DataFrame()
    columns = {
        words.LOW: rows["low"],
        words.HIGH: rows["high"],
        words.BEST_OFFSET: rows["baseline_share"],
        words.PARTED: rows["clear"],
    }
    if colour.key == BEST:
        of_relation = {words.ON: rows["relation"], words.SIDE: rows["direction"], words.SHARE_FOUND: rows["share"]}
        return pd.DataFrame({**of_relation, **columns})
    return pd.DataFrame({words.ABOVE: 100 * rows["gain"], **columns})


def _labelled(subject: Subject) -> pd.DataFrame:
    """Return the means of all heads, with a label of what each mostly does."""
    atlas = subject.atlas

    def make() -> pd.DataFrame:
        means = atlas.table()
        return means.assign(label=labels.label(means))

    return subject.of_all(("atlas labels", atlas.manifest.key), make)


def _values(subject: Subject, column: str) -> list[str]:
    own = _labelled(subject)
    return [str(value) for value in sorted(own.loc[own["stream"] == subject.stream, column].unique())]


ALL = Section(
    "atlas_table",
    words.ALL_HEADS,
    answer,
    (
        Filter("atlas_layers", words.LAYERS, lambda subject: _values(subject, "layer")),
        Filter("atlas_labels", words.MOSTLY, lambda subject: _values(subject, "label"), width=320),
    ),
    about="atlas",
    folded=True,
)
