"""The number that colours the heads of an atlas: a measure, or how well a head finds governors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector.atlas import library, measures
from inspector.atlas.opened import WITH_EXAMPLES
from inspector.atlas.reading import head_relations, search
from inspector.atlas.reading.head_relations import BEST
from inspector.atlas.relations import DIRECTIONS
from inspector.wording import atlas as words

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from inspector.atlas import Atlas
    from inspector.sections.subject import Subject

FIRST = "previous"
BETWEEN = "confidence"  # of cross-attention, which has no token before


@dataclass(frozen=True, eq=False)
class Colour:
    """One number for each head, float64 [N], NaN where it has none.

    key: in the link, a measure's name, `BEST` or "nsubj governor". title: in words. quantity: of a cell. top: the end
    of the colour scale; the largest value where None. code: the Python expression of `atlas` that gives the numbers.
    diverging: they have a sign. scores: of heads on a relation, of `of_each` or `best_of_each`; None where the number
    is a measure.
    """

    key: str
    title: str
    values: NDArray[np.float64]
    quantity: str
    top: float | None
    code: str
    diverging: bool = False
    scores: pd.DataFrame | None = None

    def relation(self, place: int) -> tuple[str, str] | None:
        """The relation and the direction that the number is of for a head; None where it is a measure."""
        if self.scores is None or place not in self.scores.index:
            return None
        row = self.scores.loc[place]
        return str(row["relation"]), str(row["direction"])

    @property
    def measure(self) -> str:
        """The measure that is told of one head over all texts: the key's, or the first."""
        return self.key if self.scores is None else FIRST

    @property
    def with_examples(self) -> str:
        """The measure by which texts are shown: of some the atlas keeps none."""
        return self.measure if self.measure in WITH_EXAMPLES else FIRST


def options(subject: Subject) -> Mapping[str, str]:
    """Name all that a stream's heads can be coloured by: measures, the best of relations, relations both ways."""
    atlas = subject.atlas
    own = np.flatnonzero(atlas.heads["stream"] == subject.stream)
    means = atlas.statistics.mean[:, own]
    names = [name for number, name in enumerate(measures.NAMES) if np.isfinite(means[number]).any()]
    table = atlas.scores
    keys = names
    if table is not None:  # a decoder, which looks back alone, finds some governors from no dependent
        scored = table[(table["stream"] == subject.stream) & table["share"].notna()]
        known = set(zip(scored["relation"], scored["direction"], strict=True))
        pairs = [(relation, way) for relation in dict.fromkeys(scored["relation"]) for way in DIRECTIONS]
        keys += [BEST] * bool(known) + [" ".join(pair) for pair in pairs if pair in known]
    return {key: words.by(key) for key in keys}


def first(subject: Subject) -> str:
    """Return the key of the number that is shown at first."""
    return FIRST if FIRST in options(subject) else BETWEEN


def found(subject: Subject, asked: str) -> str | None:
    """Find the key that a reader's words mean; None where they mean none."""
    return search.find(asked, among=list(options(subject)))


def of(atlas: Atlas, key: str) -> Colour:
    """Read the numbers of a key for every head."""
    title, (relation, _, direction) = words.by(key), key.rpartition(" ")
    if key != BEST and not relation:
        own = measures.find(key)
        top = 1.0 if own.unit == "share" and own.group == "head" else None
        means = atlas.statistics.mean[measures.NAMES.index(key)]
        return Colour(key, title, means, words.QUANTITIES[own.unit], top, f"atlas.table()[[*atlas.heads, {key!r}]]")
    call = "best_of_each(atlas)" if key == BEST else f"of_each(atlas, {relation!r}, {direction!r})"
    code = f"head_relations.{call}"
    if key == BEST:
        scores = head_relations.best_of_each(atlas)
        return Colour(key, title, _of_all(atlas, scores, "gain") * 100, words.POINTS, None, code, True, scores)
    scores = head_relations.of_each(atlas, relation, direction)
    return Colour(key, title, _of_all(atlas, scores, "share"), words.SHARE_FOUND, 1.0, code, scores=scores)


def _of_all(atlas: Atlas, scores: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Take a column of scores for every head of an atlas, NaN for a head without."""
    values = np.full(len(atlas.heads), np.nan)
    if len(scores):
        values[scores.index] = scores[column]
    return values


def interval(atlas: Atlas, colour: Colour, place: int) -> tuple[float, float]:
    """Return the ends between which a head's number lies with 95 %; equal where nothing is known of its spread.

    Of a mean over texts 1.96 deviations / sqrt(texts) to both sides; of a share Wilson's; of a gain p - q over the
    offset, with the intervals [l, u] of both shares (Newcombe 1998, method 10), from p - q - sqrt((p - l_p)^2 +
    (u_q - q)^2) to p - q + sqrt((u_p - p)^2 + (q - l_q)^2).
    """
    value = float(colour.values[place])
    if colour.scores is None:
        at = measures.NAMES.index(colour.key), place
        count = int(atlas.statistics.count[at])
        reach = 1.96 * float(atlas.statistics.deviation[at]) / max(count, 1) ** 0.5
        return value - reach, value + reach
    if place not in colour.scores.index:
        return value, value
    row = colour.scores.loc[place]
    if colour.key != BEST:
        return float(row["low"]), float(row["high"])
    share, offset = row["share"], row["baseline_share"]
    down = np.hypot(share - row["low"], row["baseline_high"] - offset)
    up = np.hypot(row["high"] - share, offset - row["baseline_low"])
    return value - 100 * float(down), value + 100 * float(up)


def opened(atlas: Atlas, reading: str = "") -> str:
    """Write the Python lines that open an atlas, without a path of this machine, and import a module that reads it."""
    needed = f"from inspector.atlas.reading import {reading}\n" if reading else ""
    return f"import inspector\nfrom inspector.atlas import library\n{needed}\n{opening(atlas)}"


def opening(atlas: Atlas) -> str:
    """Write the Python line that opens an atlas."""
    id = library.id_of(atlas)
    folder = f"library.kept() / {id!r}" if id else f"library.SHIPPED / {atlas.folder.name!r}"
    return f"atlas = inspector.atlas.open({folder})\n"
