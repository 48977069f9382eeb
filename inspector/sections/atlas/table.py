"""All heads in numbers: sorted, filtered, to take away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector import heads as labels
from inspector.atlas import MEASURES
from inspector.sections.picks import Filter
from inspector.sections.section import Block, File, Files, Note, Section, Table
from inspector.wording import atlas as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

SHOWN = ("entropy", "distance", "confidence", "previous", "next", "self", "cls", "sep", "first", "punctuation")


def answer(
    subject: Subject, *, atlas_layers: tuple[str, ...], atlas_labels: tuple[str, ...], colour: Colour
) -> Iterator[Block]:
    """Yield a row per head of a stream, the strongest first, with files."""
    means, scores = _labelled(subject).copy(), subject.atlas.scores
    means.insert(4, colour.title, colour.values)
    own = means[means["stream"] == subject.stream].sort_values(colour.title, ascending=False, kind="stable")
    layers, kinds = own["layer"].astype(str), own["label"]
    chosen = own[layers.isin(atlas_layers or layers) & kinds.isin(atlas_labels or kinds)]
    if chosen.empty:
        yield Note(words.NO_HEAD_LEFT)
        return
    columns = dict.fromkeys(["layer", "head", colour.title, "label", *SHOWN])
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
