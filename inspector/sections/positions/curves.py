"""Values that the model adds, turns by or takes off, by position or by distance, with its own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log, log2, pi
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import positional
from inspector.components.matrix import Panel
from inspector.plots import positional as draw
from inspector.plots.chart import Chart
from inspector.sections.picks import Several
from inspector.sections.positions.found import MOST, Found, code, find, of_each
from inspector.sections.section import Block, Figure, Map, Note, Number, Numbers, Row, Section
from inspector.wording import positions as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

MOST_CURVES = 8
CURVES, ROWS = 32, 64  # positions of the curves and of the tables, or as many as the text has
WAVES = (8, 16, 32, 64)  # wavelengths, in tokens, of the dimensions that are shown first
COLOURS = ("positions", "residual", "norm")  # of the tables, in their order
HEIGHT = 350


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the model's own values first, and the paper's table beside its table, or for want of any."""
    found = find(subject)
    for at, rotation in enumerate(found.rotations):
        yield _turns(subject, rotation, at)
    for at, bias in enumerate(found.biases):
        yield from _bias(subject, bias, at)
    for at, vectors in enumerate(found.vectors):
        yield _vectors(subject, vectors, at)
    if found.compares:
        first, *others = found.waves_first
        yield Row(((DIMENSIONS, _wavelengths(subject, found)), _waves(subject, found, first)))
        tables = tuple(_table(subject, found, name) for name in others)
        below = (_alike(subject, found), _lengths(found), Note(words.ABOUT_COLOURS))
        yield from (Row((tables, below)),) if tables else below


def _turns(subject: Subject, rotation: positional.Rotation, at: int) -> Row:
    positions, pairs = rotation.cos.shape
    lines = f"{subject.code}turned = inspector.positional.rotations(loaded, positions={positions})[{at}]\n"
    turns = Map(
        f"turns-{at}",
        words.turned(rotation.layers),
        (Panel(rotation.cos, rows=_places(subject, positions), columns=range(pairs)),),
        words.POSITION,
        words.PAIR,
        words.TURNED_ALT,
        quantity=words.COSINE_OF_ANGLE,
        numbered="neither",
        top=max(1.0, rotation.factor),
        diverging=True,
        code=f"{lines}table = turned.cos",
        note=words.about_turns(rotation.variant, factor=rotation.factor, pure=rotation.pure),
        name=f"{subject.trace.model}-turns",
    )
    waves = pd.DataFrame({"pair": range(pairs), "tokens": rotation.wavelengths})
    waves = waves[waves["tokens"] < float("inf")]
    of_text = waves.assign(tokens=float(len(subject.tokens)))
    whole = Chart(
        pd.concat([waves.assign(of=words.ONE_TURN), of_text.assign(of=words.THIS_TEXT)]),
        "pair",
        "tokens",
        by="of",
        parts={words.ONE_TURN: "positions", words.THIS_TEXT: "residual"},
        styles={words.THIS_TEXT: 1},
        x_title=words.PAIR,
        y_title=words.TOKENS,
        title=words.WHOLE_TURN,
        y_log=True,
        height=HEIGHT,
    )
    left = pd.DataFrame({"distance": range(positions), "share": rotation.decay()})
    decay = Chart(
        left,
        "distance",
        "share",
        parts={"share": "positions"},
        x_title=words.IN_TOKENS,
        y_title=words.SHARE_OF_PRODUCT,
        title=words.DECAY,
        height=HEIGHT,
    )
    panda = f"import pandas as pd\n{lines}"
    of_waves = (
        f'{panda}table = pd.DataFrame({{"pair": range({pairs}), "tokens": turned.wavelengths}})\n'
        'table = table[table["tokens"] < float("inf")]'
    )
    of_decay = f'{panda}table = pd.DataFrame({{"distance": range({positions}), "share": turned.decay()}})'
    return Row(
        (
            turns,
            (
                Figure(f"wavelengths-{at}", words.WHOLE_TURN, whole, words.WHOLE_TURN_ALT, of_waves, waves),
                Figure(
                    *(f"decay-{at}", words.DECAY, decay, words.DECAY_ALT, of_decay, left),
                    note=words.about_decay(rotation.spread(distance=1)),
                ),
            ),
        ),
        widths=(3, 2),
    )


def _bias(subject: Subject, bias: positional.DistanceBias, at: int) -> Iterator[Map]:
    heads, reach = len(bias.values), int(-bias.distances[0])
    lines = f"{subject.code}bias = inspector.positional.biases(loaded, reach={reach})[{at}]\n"
    by_distance = Map(
        f"bias-{at}",
        words.bias(bias.kind, stream=bias.stream),
        (Panel(bias.values, rows=range(heads), columns=tuple(map(str, bias.distances))),),
        words.HEAD,
        words.BY_QUERY,
        words.BIAS_ALT,
        quantity=words.BIAS,
        numbered="neither",
        diverging=True,
        code=f"{lines}table = bias.values",
        note=words.slopes(bias.slopes.tolist()) if bias.table is None else words.buckets(len(bias.table)),
        name=f"{subject.trace.model}-bias",
    )
    yield by_distance
    if bias.table is not None:
        yield replace(
            by_distance,
            id=f"buckets-{at}",
            heading="",
            panels=(Panel(bias.table.T, rows=range(heads), columns=range(len(bias.table))),),
            column_title=words.BUCKET,
            alt=words.BUCKETS_ALT,
            code=f"{lines}table = bias.table",
            note="",
            name=f"{subject.trace.model}-buckets",
        )


def _vectors(subject: Subject, vectors: positional.DistanceVectors, at: int) -> Map:
    width = vectors.values.shape[1]
    return Map(
        f"vectors-{at}",
        words.vectors(vectors.meets),
        (Panel(vectors.values.T, rows=range(width), columns=tuple(map(str, vectors.distances))),),
        words.DIMENSION,
        words.BY_QUERY,
        words.VECTORS_ALT,
        quantity=words.VALUE,
        numbered="neither",
        top=draw.reach(vectors.values),
        diverging=True,
        code=f"{subject.code}found = inspector.positional.vectors(loaded, reach={-vectors.distances[0]})[{at}]\n"
        "table = found.values",
        note=words.met(vectors.kind, layers=vectors.layers),
        name=f"{subject.trace.model}-distance-vectors-{at}",
    )


def _alike(subject: Subject, found: Found) -> Map:
    shown = min(len(subject.tokens), MOST, *map(len, found.tables.values()))
    tokens = subject.tokens[:shown]
    origins = dict.fromkeys(words.origin(table.kind, own_waves=table.own_waves) for table in found.own.values())
    return Map(
        "alike",
        words.ALIKE,
        tuple(
            Panel(
                positional.similarity(found.tables[name][:shown]), rows=tokens, columns=tokens, title=name.capitalize()
            )
            for name in dict.fromkeys((found.first, words.PAPER))
        ),
        words.POSITION,
        words.POSITION,
        words.ALIKE_ALT,
        quantity="cosine",
        top=1.0,
        diverging=True,
        code=f"{code(subject)}table = inspector.positional.similarity(tables[{found.first!r}][:{shown}])",
        note=words.about_alike(
            origins,
            positions=max(map(len, found.tables.values())),
            width=found.width,
            longest=subject.model.max_tokens,
            tokens=len(subject.tokens),
        ),
        name=f"{subject.trace.model}-positions" if found.own else "sinusoidal-positions",
    )


def _dimensions(subject: Subject, *, dimensions: tuple[int, ...]) -> Iterator[Figure]:
    found, chosen = find(subject), list(dimensions)
    shown = max(CURVES, min(len(subject.tokens), ROWS))
    tables = {name: found.tables[name] for name in found.waves_first}
    table = pd.concat(
        {name: pd.DataFrame(rows[:shown])[chosen] for name, rows in tables.items()}, names=["table", "position"]
    ).reset_index()
    made = (
        f"made = {{name: pd.DataFrame(tables[name][:{shown}])[{chosen}] for name in {list(tables)}}}\n"
        "table = pd.concat(made, names=['table', 'position']).reset_index()"
    )
    yield Figure(
        "curves",
        "",
        draw.curves({name: rows[:shown] for name, rows in tables.items()}, dimensions=chosen, tokens=subject.tokens),
        words.dimensions_alt(tables),
        code(subject) + made,
        table,
        name=f"{subject.trace.model}-dimensions",
    )


def _wavelengths(subject: Subject, found: Found) -> Figure:
    table = found.of_each(positional.spectrum)
    chart = Chart(
        table,
        "wavelength",
        "share",
        by="table",
        parts=dict(zip(found.tables, COLOURS, strict=False)),
        styles={name: at for at, name in enumerate(found.tables)},
        x_title=words.WAVELENGTH,
        y_title=words.SHARE,
        title=words.WAVELENGTHS,
        ticks=_octaves(float(table["wavelength"].max())),
        x_log=True,
        y_log=True,
        height=HEIGHT,
    )
    return Figure(
        "spectrum",
        words.WAVELENGTHS,
        chart,
        words.wavelengths_alt(found.tables),
        code(subject) + of_each("inspector.positional.spectrum(rows)"),
        table,
        note=words.ABOUT_WAVELENGTHS,
        name=f"{subject.trace.model}-spectrum",
    )


def _octaves(last: float) -> dict[float, str]:
    """Name every other power of two along an axis that ends with `last`."""
    return {2.0**power: f"{2**power:,}" for power in range(1, max(2, ceil(log2(last)) + 1), 2)}


def _lengths(found: Found) -> Numbers:
    lengths = {name: np.linalg.norm(rows, axis=1) for name, rows in found.tables.items()}
    told = (words.row_length(name, shortest=rows.min(), longest=rows.max()) for name, rows in lengths.items())
    return Numbers(tuple(Number(*one) for one in told))


def _waves(subject: Subject, found: Found, name: str) -> Map:
    """Lay out a table of sines and cosines, those of one kind beside each other: its stripes."""
    values = found.tables[name]
    rows = min(max(CURVES, min(len(subject.tokens), ROWS)), len(values))
    places, width, title = _places(subject, rows), values.shape[1], name.capitalize()
    return replace(
        _table(subject, found, name),
        heading=words.ADDED if name in found.own else words.COMPARED,
        panels=(
            Panel(values[:rows, ::2], rows=places, columns=range(0, width, 2), title=words.SINES.format(title)),
            Panel(values[:rows, 1::2], rows=places, columns=range(1, width, 2), title=words.COSINES.format(title)),
        ),
        code=f"{code(subject)}table = tables[{name!r}][:{rows}]\nsines, cosines = table[:, ::2], table[:, 1::2]",
    )


def _table(subject: Subject, found: Found, name: str) -> Map:
    """Lay out a whole table."""
    values = found.tables[name]
    rows = min(max(ROWS, len(subject.tokens)), len(values))
    return Map(
        f"table-{name}",
        words.ADDED if name in found.own else "",
        (Panel(values[:rows], rows=_places(subject, rows), columns=range(values.shape[1]), title=name.capitalize()),),
        words.POSITION,
        words.DIMENSION,
        words.table_alt(name),
        quantity=words.VALUE,
        numbered="neither",
        top=draw.reach(values),
        diverging=True,
        code=f"{code(subject)}table = tables[{name!r}][:{rows}]",
        name="sinusoidal-table" if name == words.PAPER else f"{subject.trace.model}-table",
    )


def _places(subject: Subject, count: int) -> list[str]:
    """Name the first positions, with the tokens of the text that stand there."""
    tokens = subject.tokens[:count]
    return [f"{place} {token}" for place, token in enumerate(tokens)] + list(map(str, range(len(tokens), count)))


def _telling(subject: Subject) -> tuple[int, ...]:
    """Choose the dimensions of the paper's table whose wavelengths can be seen, the even one of a pair."""
    width = find(subject).width
    waves = {2 * round(width * log(wave / (2 * pi)) / log(10_000) / 2) for wave in WAVES}
    return tuple(sorted(waves & set(range(width)))) or (0,)


DIMENSIONS = Section(
    "few_dimensions",
    words.DIMENSIONS,
    _dimensions,
    (Several("dimensions", words.A_DIMENSION, lambda subject: range(find(subject).width), _telling, MOST_CURVES),),
    needs_model=True,
)
SECTION = Section("curves", words.CURVES, answer, needs_model=True, parts=(DIMENSIONS,))
