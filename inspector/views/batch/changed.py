"""The section One token changed: which tokens' states move, before it and after it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots import batches as draw
from inspector.readings import batch as read
from inspector.views.figures import chart
from inspector.views.shell import by_name, sentence, widgets
from inspector.wording.english import batch as words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.views.batch.subject import Subject


def show(subject: Subject, *, said: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draw the section; said: the place of its sentence."""
    from inspector import batches

    with left:
        text = widgets.number("Text", "changed_text", default=0, last=len(subject.texts) - 1)
    alone = subject.read("alone")
    row = alone.row_of(text)
    tokens = row.trace.read_by(row.trace.sites[-1].stream).tokens
    with left:
        token = by_name.token("Token to change", tokens, name="changed", default=len(tokens) // 2)
    table, put = subject.cached(
        ("spread", text, token), lambda: batches.spread(subject.loaded, subject.texts[text], token=token)
    )
    found = read.spreading(table, token=token, put=put)
    with said:
        sentence.show(words.spreading(found), words.TERMS["change"])
    with right:
        st.subheader("How far each last hidden state moves", anchor=False)
        chart.show(
            partial(draw.spread, table, changed=token),
            alt="mean change of the numbers of each token's last hidden state",
            key="spread",
            name=f"batch-changed-{token}",
            python=f"{subject.python}table, put = batches.spread(loaded, texts[{text}], token={token})",
            table=table,
        )
        st.caption(
            f"|after − before| of a number of the state, mean over its {row.trace.hidden.shape[1]}. Both texts are "
            "read in one batch, so that nothing else differs. A causal mask hides what comes after a "
            "token: then nothing before the changed one can move, not even by rounding."
        )
