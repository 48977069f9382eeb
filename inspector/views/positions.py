"""Positions: how the model knows the order of the reader's tokens, beside the sinusoidal encoding of the paper."""

from __future__ import annotations

from functools import partial
from math import log, pi

import pandas as pd
import streamlit as st

from inspector import positional
from inspector.plots import positional as draw
from inspector.readings import positions as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, by_name, link, sentence, session, widgets
from inspector.wording.english import positions as words

PAPER, OWN = "the paper's, sinusoidal", "this model's, "
MOST = 512  # positions drawn where the model has no table
PAPERS = "import inspector\n\ntable = inspector.positional.sinusoidal({positions}, {width})"
MOST_CURVES = 8
CURVES, ROWS = 32, 64  # positions of the curves and of the tables, or as many as the text has
LONGEST = 512  # tokens of a text that are compared two by two
WAVES = (8, 16, 32, 64)  # wavelengths, in tokens, of the dimensions that are shown first

link.parameters("dimensions")
inspected = session.inspected()
loaded = session.at_hand(inspected, so="its table is not")
name, tokens = loaded.card.id, inspected.trace.tokens
found = session.cached(
    ("position tables", name, available_models.version(name)),
    lambda: positional.tables(loaded),
)
width = min((table.values.shape[1] for table in found), default=inspected.trace.output.shape[1])
positions = max((len(table.values) for table in found), default=min(loaded.max_tokens, MOST))
stacks = ("",) if len(found) == 1 else (" (encoder)", " (decoder)")
own = {f"{OWN}{table.kind}{stack}": table for stack, table in zip(stacks, found, strict=False)}
tables: dict[str, draw.Table] = {named: table.values for named, table in own.items()}
tables[PAPER] = positional.sinusoidal(positions, width)
first, *_ = tables
seen = read.Positions(
    ways=positional.ways(loaded.config, found),
    own=bool(own),
    alike=read.alike(tables[first], tokens=len(tokens)),
)
sentence.show(words.positions(seen), words.terms(seen))

python = f"import inspector, models\n\nloaded = models.load({name!r})\n"
python += (
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
    for table in found
)
used = f"This model {' and '.join(origins)}, {positions} positions, added to the token's vector. " if found else ""
st.caption(
    f"The cosine of the vectors of every two places, whatever token stands there. {used}The paper's encoding is "
    r"$PE(p, 2i) = \sin(p / 10000^{2i/D})$, $PE(p, 2i+1) = \cos(p / 10000^{2i/D})$ (Vaswani et al. 2017, 3.5) "
    rf"with $D$ = {width}. No text can be longer than {loaded.max_tokens:,} tokens here; this text has {len(tokens)}."
)

left, right = st.columns(2, gap="medium")
with left:
    st.subheader("A few dimensions along the positions", anchor=False)
    telling = sorted({2 * round(width * log(wave / (2 * pi)) / log(10_000) / 2) for wave in WAVES} & set(range(width)))
    dimensions = by_name.several("Dimension", range(width), name="dimensions", default=telling, most=MOST_CURVES)
    shown = max(CURVES, min(len(tokens), ROWS))
    chart.show(
        partial(draw.curves, {named: table[:shown] for named, table in tables.items()}, dimensions=dimensions),
        alt=f"value of the chosen dimensions along the positions, a panel for each of {', '.join(tables)}",
        key="curves",
        name=f"{name}-dimensions",
        python=python,
    )
by_distance = {
    named: session.cached(
        ("positions", available_models.version(name), name, named, table.shape),
        partial(positional.similarity_by_distance, table),
    )
    for named, table in tables.items()
}
with right:
    st.subheader("Similarity by distance", anchor=False)
    st.caption(
        "All positions, by how far apart two of them are. The sinusoidal encoding knows distance alone, so its band is "
        "a line; a learned table may also know where it is."
    )
    chart.show(
        partial(draw.similarity_by_distance, by_distance),
        alt="mean cosine similarity of positions against their distance",
        key="similarity",
        name=f"{name}-similarity",
        python=f"{python}\nrows = inspector.positional.similarity_by_distance(table)",
    )

st.subheader("What is added to a token, by its position", anchor=False)
for named, values in tables.items():
    rows, every = min(max(ROWS, len(tokens)), len(values)), range(values.shape[1])
    waves = named == PAPER or own[named].kind == "sinusoidal"
    order = [*every[::2], *every[1::2]] if waves else list(every)
    matrix.show(
        matrix.Panel(values[:rows, order], rows=range(rows), columns=list(map(str, order)), title=named.capitalize()),
        row_title="position",
        column_title="dimension, sines before cosines" if waves else "dimension",
        quantity="value",
        numbered="neither",
        top=draw.reach(values),
        diverging=True,
        name=f"{name}-table" if named != PAPER else "sinusoidal-table",
        key=f"table-{named}",
        python=python if named == first else PAPERS.format(positions=positions, width=width),
    )
st.caption("The colours span 99.5 % of the values, so that a few outlying dimensions do not pale the rest.")
link.publish()

with st.expander("All numbers"):
    widgets.table(pd.concat(by_distance, names=["table"]).reset_index(level="table"), name="positions", height=320)
