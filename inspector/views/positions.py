"""Positions: the sinusoidal encoding of the paper beside the model's own table."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector import positional
from inspector.plots import positional as draw
from inspector.views.shell import available_models, link, session, widgets

PAPER = "sinusoidal"
MOST = 512  # positions drawn where the model has no table
SHOWN = 128  # positions of the curves: over all of them the fast dimensions are a solid band

inspected = session.inspected()
mode = session.mode()
loaded = session.at_hand(inspected, so="its table is not")
name = loaded.card.id
found = session.cached(
    ("position tables", name, available_models.version(name)),
    lambda: positional.tables(loaded),
)
width = min((table.values.shape[1] for table in found), default=inspected.trace.output.shape[1])
positions = max((len(table.values) for table in found), default=min(loaded.max_tokens, MOST))
stacks = ("",) if len(found) == 1 else (" encoder", " decoder")
own = {f"{name}{stack}, {table.kind}": table for stack, table in zip(stacks, found, strict=False)}
tables: dict[str, draw.Table] = {PAPER: positional.sinusoidal(positions, width)}
tables |= {named: table.values for named, table in own.items()}
if found:
    origins = dict.fromkeys(
        "learned a table of its own"
        if table.kind == "learned"
        else f"uses the paper's sines and cosines {table.own_waves}"
        if table.own_waves
        else "uses this very table"
        for table in found
    )
    used = f"{name} {' and '.join(origins)}, {positions} positions, added to the token's vector."
elif positional.rotates(loaded.config):
    used = (
        f"{name} has no table: it turns pairs of dimensions of every query and key by angles that grow with the "
        "position (RoPE, Su et al. 2021)."
    )
else:
    used = ""
    st.info(
        "The model adds no table of absolute positions to its tokens. Their order enters in another way (a bias by "
        "distance, say) or by layers that read one token after the other. You see the paper's table alone."
    )

st.caption(
    r"The paper's encoding is $PE(p, 2i) = \sin(p / 10000^{2i/D})$, $PE(p, 2i+1) = \cos(p / 10000^{2i/D})$ "
    rf"(Vaswani et al. 2017, 3.5) with $D$ = {width}. {used} No unit."
)
by_distance = {
    named: session.cached(
        ("positions", available_models.version(name), named, table.shape),
        partial(positional.similarity_by_distance, table),
    )
    for named, table in tables.items()
}
text = len(inspected.trace.tokens)
cards = [
    ("Positions", f"{loaded.max_tokens:,}", "No text can be longer"),
    ("Used by the text", f"{text}", "One position for each token, special ones included"),
    (
        "Neighbours, paper",
        f"{by_distance[PAPER]['mean'][1]:.3g}",
        "Mean cosine similarity of positions 1 apart, sinusoidal",
    ),
]
cards += [
    (f"1 apart, {table.kind}", f"{by_distance[named]['mean'][1]:.3g}", f"The same, {named.partition(',')[0]}")
    for named, table in own.items()
]
widgets.cards(cards, width=170)

telling = [dimension for dimension in (4, 5, 20, 21) if dimension < width]
bind = link.bind_several("dimensions", options=range(width), default=telling, most=8)
dimensions = st.multiselect("Dimensions", range(width), default=telling, key="dimensions", max_selections=8, bind=bind)
if dimensions:
    widgets.chart(
        draw.curves({name: table[:SHOWN] for name, table in tables.items()}, dimensions=dimensions, mode=mode),
        alt=f"value of the chosen dimensions along the positions, a panel for each of {', '.join(tables)}",
        key="curves",
    )
else:
    st.caption("Choose dimensions to see their curves.")

st.subheader("Similarity by distance")
st.caption(
    "Cosine of every two positions, by how far apart they are. The sinusoidal encoding knows distance alone, so its "
    "band is a line; a learned table may also know where it is."
)
widgets.chart(
    draw.similarity_by_distance(by_distance, mode=mode),
    alt="mean cosine similarity of positions against their distance",
    key="similarity",
)

st.subheader("The tables whole")
for column, (name, values) in zip(st.columns(len(tables)), tables.items(), strict=True):
    with column:
        widgets.chart(
            draw.heatmap(values, title=name, mode=mode), alt=f"{name}: position by dimension", key=f"table-{name}"
        )

with st.expander("All numbers"):
    widgets.table(pd.concat(by_distance, names=["table"]).reset_index(level="table"), name="positions", height=320)
