"""Attention and positions by distance: what depends on how far apart two tokens stand, and what on where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import positional
from inspector.components.matrix import Panel
from inspector.plots import positional as draw
from inspector.sections.picks import Option
from inspector.sections.positions.found import HEAD, Found, Rows, code, code_of_split, find, of_each, split
from inspector.sections.section import Block, Figure, Map, Note, Number, Numbers, Row, Section, Table
from inspector.text import plain
from inspector.wording import positions as words

if TYPE_CHECKING:
    from inspector.positional import Measure
    from inspector.sections.subject import Subject

REACH = 24  # tokens either way of the heads' attention
STEP = 8  # tokens of the turn that is tried


def answer(subject: Subject) -> Iterator[Block]:
    """Yield attention by distance, products of positions before and after a head's matrices, and the turn by k."""
    yield _attention(subject)
    try:
        split(subject)
    except ValueError as error:
        yield Row((SIMILARITY, Note(words.nothing_after(plain(str(error))), words.AFTER)))
    else:
        yield Row((SIMILARITY, AFTER))
    yield from _turn(subject, find(subject))


def _attention(subject: Subject) -> Map:
    reach = max(min(REACH, len(subject.tokens) - 1), 1)
    heads, found = subject.once(
        ("attention by distance", reach),
        lambda: positional.attention_by_distance(subject.trace, stream=subject.stream, reach=reach, special=False),
    )
    apart, kept = np.arange(-reach, reach + 1), ~np.isnan(found).all(axis=0)
    if subject.stream == "decoder":
        kept &= apart <= 0
    return Map(
        "by-distance",
        words.LOOK,
        (
            Panel(
                np.nan_to_num(found[:, kept]),
                rows=tuple(f"{layer}.{head}" for layer, head in heads),
                columns=tuple(f"{k:+d}" if k else "0" for k in apart[kept]),
                named=told(found[:, kept], apart[kept]) if kept.sum() > 1 else None,
            ),
        ),
        words.HEAD,
        words.BY_QUERY,
        words.LOOK_ALT,
        quantity=words.MEAN_WEIGHT,
        numbered="neither",
        code=f"{subject.code}heads, table = inspector.positional.attention_by_distance("
        f"trace, stream={subject.stream!r}, reach={reach}, special=False)",
        sentence=looks(found[:, kept], apart[kept], heads),
        note=words.about_looks(special=any(subject.trace.read_by(subject.stream).special)),
        name=f"{subject.trace.model}-attention-by-distance",
    )


def _similarity(subject: Subject, *, measure: Measure) -> Iterator[Block]:
    found, quantity = find(subject), words.QUANTITIES[measure]
    table = subject.of_model(
        ("products of positions", len(next(iter(found.tables.values()))), measure),
        lambda: found.of_each(partial(positional.similarity_by_distance, measure=measure)),
    )
    by_table = {str(name): rows for name, rows in table.groupby("table", sort=False)}
    yield Figure(
        "similarity",
        "",
        draw.similarity_by_distance(by_table, quantity=quantity),
        words.similarity_alt(quantity),
        code(subject) + of_each(f"inspector.positional.similarity_by_distance(rows, measure={measure!r})"),
        table,
        note=words.about_similarity(first_rise(by_table[words.PAPER])),
        name=f"{subject.trace.model}-similarity",
    )
    yield Table("positions", table, height=320)


def _after(subject: Subject, *, split_head: int) -> Iterator[Figure]:
    table = positional.by_distance(split(subject).terms(split_head)["position-position"])
    means = table["mean"].to_numpy()
    yield Figure(
        "after",
        "",
        draw.similarity_by_distance({words.LAYER_0.format(split_head): table}, quantity=words.PART_OF_SCORE),
        words.AFTER_ALT,
        f"{code_of_split(subject)}"
        f"table = inspector.positional.by_distance(split.terms({split_head})['position-position'])",
        table,
        note=words.about_after(
            sides=float(np.abs(means - means[::-1]).max()),
            spread=float(np.sqrt((table["std"] ** 2 * table["count"]).sum() / table["count"].sum())),
        ),
        name=f"{subject.trace.model}-position-position",
    )


def _turn(subject: Subject, found: Found) -> Iterator[Numbers | Note]:
    """Yield by how much the step from p to p + k misses one turn, for each table and each rotation."""
    heading, reach = words.one_turn(STEP), len(next(iter(found.tables.values())))
    turns = subject.of_model(
        ("one turn", reach), lambda: [turn for name, rows in found.tables.items() for turn in _one_turn(name, rows)]
    )
    numbers = list(turns)
    for rotation in found.rotations:
        if len(rotation.cos) > STEP:
            numbers.append(Number(*words.differs(rotation.spread(distance=STEP), step=STEP)))
    if not numbers:
        yield Note(words.FEW_POSITIONS, heading)
        return
    for number in numbers:
        yield Numbers((number,), heading=heading if number is numbers[0] else "")
    yield Note(words.ABOUT_TURN)


def _one_turn(name: str, rows: Rows) -> Iterator[Number]:
    if len(rows) <= 4 * STEP:
        return
    where, elsewhere = positional.fitted_shift(rows, distance=STEP)
    yield Number(*words.missed(name, positional.shift_residual(rows, distance=STEP)))
    yield Number(*words.fitted(where=where, elsewhere=elsewhere))


def looks(found: NDArray[np.float64], apart: NDArray[np.int64], heads: Sequence[tuple[int, int]]) -> str:
    """Say to which distance heads give most, from their mean attention [N, R] at distances [R].

    heads: (layer, head) of each row.
    """
    inside, places = _near(found, apart)
    row, column = told(found, apart)
    layer, head = heads[row]
    return words.looks(
        distances=len(places),
        within=int(np.abs(places).max()),
        layer=layer,
        head=head,
        distance=int(apart[column]),
        weight=float(found[row, column]),
        mean=int(places[inside.mean(axis=0).argmax()]),
    )


def told(found: NDArray[np.float64], apart: NDArray[np.int64]) -> tuple[int, int]:
    """Find the head that gives most to one distance, and that distance, by row and column; of equal ones the first."""
    inside, places = _near(found, apart)
    row, column = np.unravel_index(int(inside.argmax()), inside.shape)
    return int(row), int(np.flatnonzero(apart == places[column])[0])


def _near(found: NDArray[np.float64], apart: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Leave out distances that fewer than half of the text's queries have: few weights make a mean that says little."""
    near = np.abs(apart) <= max(np.abs(apart).max() // 2, 1)
    return np.nan_to_num(found[:, near]), apart[near]


def first_rise(rows: pd.DataFrame) -> int | None:
    """Find the distance at which products of positions rise for the first time; None where they never do."""
    rises = np.flatnonzero(np.diff(rows["mean"].to_numpy()) > 1e-9)
    return int(rises[0]) if len(rises) else None


SIMILARITY = Section(
    "similarity",
    words.PRODUCTS,
    _similarity,
    (Option("measure", words.MEASURE, lambda subject: words.MEASURES),),
    needs_model=True,
)
AFTER = Section("after_matrices", words.AFTER, _after, (HEAD,), needs_model=True)
SECTION = Section("distance", words.DISTANCE, answer, needs_model=True, parts=(SIMILARITY, AFTER))
