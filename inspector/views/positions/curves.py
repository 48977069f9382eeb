"""The section The curves: what the model adds, turns or takes off, by position, with its own numbers."""

from __future__ import annotations

from functools import partial
from math import log, pi
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from inspector import positional
from inspector.plots import positional as draw
from inspector.plots.theme import number
from inspector.views.figures import chart, matrix
from inspector.views.positions.subject import PAPER
from inspector.views.shell import by_name, widgets
from inspector.wording.english import positions as words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.views.positions.subject import Subject

PAPERS = "import inspector\n\ntable = inspector.positional.sinusoidal({positions}, {width})"
MOST_CURVES = 8
CURVES, ROWS = 32, 64  # positions of the curves and of the tables, or as many as the text has
LONGEST = 512  # tokens of a text that are compared two by two
WAVES = (8, 16, 32, 64)  # wavelengths, in tokens, of the dimensions that are shown first


def show(subject: Subject) -> None:
    """Draw the model's own values first, and the paper's table beside its table, or for want of any."""
    for at, rotation in enumerate(subject.rotations):
        _turns(subject, rotation, at)
    for at, bias in enumerate(subject.biases):
        _bias(subject, bias, at)
    for at, vectors in enumerate(subject.vectors):
        _vectors(subject, vectors, at)
    if subject.own or not subject.inside:
        _tables(subject)


def _turns(subject: Subject, rotation: positional.Rotation, at: int) -> None:
    layers = f" ({rotation.layers.replace('_', ' ')})" if rotation.layers else ""
    st.subheader(f"How far queries and keys are turned{layers}", anchor=False)
    python = f"{subject.python}turned = inspector.positional.rotations(loaded, positions={len(rotation.cos)})[{at}]"
    finite = np.isfinite(rotation.wavelengths)
    pairs = np.flatnonzero(finite)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        matrix.show(
            matrix.Panel(rotation.cos, rows=range(len(rotation.cos)), columns=range(rotation.cos.shape[1])),
            row_title="position",
            column_title="pair of dimensions",
            quantity="cosine of the angle",
            numbered="neither",
            top=max(1.0, rotation.factor),
            diverging=True,
            name=f"{subject.name}-turns",
            key=f"turns-{at}",
            python=f"{python}\nturned.cos",
        )
        st.caption(
            r"Pair $i$ of a query or key at position $p$ is turned by the angle $p\,w_i$; the cosine is drawn as this "
            f"model multiplies with it. Kind: {rotation.variant}. Length of (cos, sin): {number(rotation.factor)}"
            f"{'' if abs(rotation.factor - 1) < 1e-5 else ', so it stretches as well as turns'}."
        )
    with right:
        st.subheader("Tokens for one whole turn", anchor=False)
        curves: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {"one turn": (pairs, rotation.wavelengths[finite])}
        curves["this text"] = (pairs, np.full(len(pairs), float(len(subject.tokens))))
        chart.show(
            partial(
                draw.lines,
                curves,
                axes=("pair of dimensions", "tokens"),
                title="Tokens for one whole turn",
                logarithmic=(False, True),
            ),
            alt="tokens that each pair of dimensions needs for one whole turn, and the tokens of this text",
            key=f"wavelengths-{at}",
            python=f"{python}\nturned.wavelengths",
        )
        st.subheader("What is left of a match by distance", anchor=False)
        decay = rotation.decay()
        chart.show(
            partial(
                draw.lines,
                {"score": (np.arange(len(decay)), decay)},
                axes=("distance (tokens)", "share of the product"),
                title="What is left of a match by distance",
            ),
            alt="the product of a query and a key of ones, turned, over that unturned, by their distance",
            key=f"decay-{at}",
            python=f"{python}\nturned.decay()",
        )
        st.caption(
            "A query and a key of ones, turned: the mean cosine of all angles. At one distance it is the same wherever "
            "the two stand, but for rounding: at distance 1 it differs by "
            f"{number(rotation.spread(distance=1))} at most."
        )


def _bias(subject: Subject, bias: positional.DistanceBias, at: int) -> None:
    heads, reach = len(bias.values), int(-bias.distances[0])
    what = "T5's bias" if bias.kind == "t5" else "ALiBi's bias"
    st.subheader(f"{what}: what each head adds to a score ({bias.stream})", anchor=False)
    python = f"{subject.python}bias = inspector.positional.biases(loaded, reach={reach})[{at}]"
    matrix.show(
        matrix.Panel(bias.values, rows=range(heads), columns=tuple(map(str, bias.distances))),
        row_title="head",
        column_title="key's position less query's",
        quantity="bias",
        numbered="neither",
        diverging=True,
        name=f"{subject.name}-bias",
        key=f"bias-{at}",
        python=f"{python}\nbias.values",
    )
    if bias.table is None:
        slopes = ", ".join(number(slope) for slope in bias.slopes)
        st.caption(f"Nothing is learned: each head takes its slope off for each token of distance. Slopes: {slopes}.")
        return
    st.caption(
        f"{len(bias.table)} learned numbers a head, one for each bucket of distances: near distances have buckets of "
        "their own, far ones share them."
    )
    matrix.show(
        matrix.Panel(bias.table.T, rows=range(heads), columns=range(len(bias.table))),
        row_title="head",
        column_title="bucket",
        quantity="bias",
        numbered="neither",
        diverging=True,
        name=f"{subject.name}-buckets",
        key=f"buckets-{at}",
        python=f"{python}\nbias.table",
    )


def _vectors(subject: Subject, vectors: positional.DistanceVectors, at: int) -> None:
    st.subheader(f"The vector of each distance, which {vectors.meets} meet", anchor=False)
    matrix.show(
        matrix.Panel(vectors.values.T, rows=range(vectors.values.shape[1]), columns=tuple(map(str, vectors.distances))),
        row_title="dimension",
        column_title="key's position less query's",
        quantity="value",
        numbered="neither",
        top=draw.reach(vectors.values),
        diverging=True,
        name=f"{subject.name}-distance-vectors-{at}",
        key=f"vectors-{at}",
        python=f"{subject.python}found = inspector.positional.vectors(loaded, reach={-vectors.distances[0]})[{at}]\n"
        "found.values",
    )
    st.caption(words.met(vectors.kind, layers=vectors.layers))


def _tables(subject: Subject) -> None:
    name, tokens, tables, own = subject.name, subject.tokens, subject.tables, subject.own
    first, width = subject.first, subject.width
    positions = max(len(table) for table in tables.values())
    python = subject.python + (
        "table = inspector.positional.table(loaded)"
        if own
        else f"table = inspector.positional.sinusoidal({positions}, {width})"
    )
    read_here = min(len(tokens), LONGEST, *(len(table) for table in tables.values()))
    st.subheader("How alike the places of this text are", anchor=False)
    panels = [
        matrix.Panel(
            positional.similarity(tables[named][:read_here]),
            rows=tokens[:read_here],
            columns=tokens[:read_here],
            title=named.capitalize(),
        )
        for named in dict.fromkeys((first, PAPER))
    ]
    matrix.show(
        *panels,
        row_title="position",
        column_title="position",
        quantity="cosine",
        top=1.0,
        diverging=True,
        name=f"{name}-positions" if own else "sinusoidal-positions",
        key="alike",
        python=f"{python}\ncosine = inspector.positional.similarity(table[:{read_here}])",
    )
    origins = dict.fromkeys(
        "learned a table of its own"
        if table.kind == "learned"
        else f"uses the paper's sines and cosines {table.own_waves}"
        if table.own_waves
        else "uses the paper's very table"
        for table in own.values()
    )
    used = f"This model {' and '.join(origins)}, {positions} positions, added to the token's vector. " if own else ""
    st.caption(
        f"The cosine of the vectors of every two places, whatever token stands there. {used}The paper's encoding is "
        r"$PE(p, 2i) = \sin(p / 10000^{2i/D})$, $PE(p, 2i+1) = \cos(p / 10000^{2i/D})$ (Vaswani et al. 2017, 3.5) "
        rf"with $D$ = {width}, and pairs $i$ from 0 to {max(width // 2 - 1, 0)}. No text can be longer than "
        f"{subject.loaded.max_tokens:,} tokens here; this text has {len(tokens)}."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("A few dimensions along the positions", anchor=False)
        telling = sorted(
            {2 * round(width * log(wave / (2 * pi)) / log(10_000) / 2) for wave in WAVES} & set(range(width))
        )
        dimensions = by_name.several(
            "Dimension", range(width), name="dimensions", default=telling or [0], most=MOST_CURVES
        )
        shown = max(CURVES, min(len(tokens), ROWS))
        chart.show(
            partial(draw.curves, {named: table[:shown] for named, table in tables.items()}, dimensions=dimensions),
            alt=f"value of the chosen dimensions along the positions, a panel for each of {', '.join(tables)}",
            key="curves",
            name=f"{name}-dimensions",
            python=python,
        )
    with right:
        st.subheader("Wavelengths in the table", anchor=False)
        st.caption("The Fourier transform of every column along the positions: the share of each wavelength.")
        waves = {named: positional.spectrum(table) for named, table in tables.items()}
        chart.show(
            partial(
                draw.lines,
                {named: (rows["wavelength"].to_numpy(), rows["share"].to_numpy()) for named, rows in waves.items()},
                axes=("wavelength (tokens)", "share"),
                title="Wavelengths in the table",
                logarithmic=(True, True),
            ),
            alt=f"share of each wavelength in {', '.join(tables)}",
            key="spectrum",
            name=f"{name}-spectrum",
            python=f"{python}\nrows = inspector.positional.spectrum(table)",
        )
        norms = {named: np.linalg.norm(table, axis=1) for named, table in tables.items()}
        widgets.numbers(
            [
                (
                    f"Length of a row, {named}",
                    " to ".join(dict.fromkeys((number(norm.min()), number(norm.max())))),
                    "Euclidean norm.",
                )
                for named, norm in norms.items()
            ]
        )
    st.subheader("What is added to a token, by its position", anchor=False)
    for named, values in tables.items():
        rows, every = min(max(ROWS, len(tokens)), len(values)), range(values.shape[1])
        waves_ = named == PAPER or own[named].kind == "sinusoidal"
        order = [*every[::2], *every[1::2]] if waves_ else list(every)
        matrix.show(
            matrix.Panel(
                values[:rows, order], rows=range(rows), columns=list(map(str, order)), title=named.capitalize()
            ),
            row_title="position",
            column_title="dimension, sines before cosines" if waves_ else "dimension",
            quantity="value",
            numbered="neither",
            top=draw.reach(values),
            diverging=True,
            name=f"{name}-table" if named != PAPER else "sinusoidal-table",
            key=f"table-{named}",
            python=python if named == first else PAPERS.format(positions=positions, width=width),
        )
    st.caption("The colours span 99.5 % of the values, so that a few outlying dimensions do not pale the rest.")
