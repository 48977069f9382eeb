"""The section What each token sees: the mask and the weights of one head, in the row of one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.plots.theme import number
from inspector.readings import batch as read
from inspector.views.batch import choices
from inspector.views.figures import matrix
from inspector.views.shell import recording_notes, sentence, widgets
from inspector.wording.english import batch as words
from inspector.wording.english.phrases import percent

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.batches import Batch, Seen
    from inspector.views.batch.subject import Subject


def show(subject: Subject, *, said: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draw the section; said: the place of its sentence."""
    from inspector.batches import LAYOUTS

    with left:
        layout = choices.layout(LAYOUTS, name="layout")
        last = len(subject.texts) - 1
        text = widgets.number("Text", "row", default=min(1, last), last=last, width=104)
        with st.container(horizontal=True, gap="small"):
            head = choices.head(subject)
    batch = subject.read(layout)
    site = head.site
    seen = batch.seen(text, layer=site.layer, head=head.head, stream=site.stream, call=site.call)
    with said:
        sentence.show(words.seeing(read.seeing(batch, seen), head=head.name), words.TERMS["seen"])
    with right:
        _maps(subject, batch, seen, head)
        _numbers(batch, seen)
    if unknown := sum(row.trace.unknown for row in batch.rows):
        st.caption(recording_notes.unknown_in_words(unknown, of=sum(batch.lengths)))
    st.caption(_about(batch, seen, subject, head))


def _maps(subject: Subject, batch: Batch, seen: Seen, head: choices.Head) -> None:
    python = (
        f"{subject.python}batch = batches.read(loaded, texts, layout={batch.layout!r})\n"
        f"seen = batch.seen({seen.text}, {head.python})\nseen.mask, seen.weights"
    )
    shown = {
        "mask": (seen.mask.astype(np.float32), "The mask", "sees"),
        "weights": (seen.weights, f"Weights of {head.name}", "weight"),
    }
    names = [_marked(seen.queries, seen.query_owner, seen.text), _marked(seen.keys, seen.key_owner, seen.text)]
    for place, (key, (values, title, quantity)) in zip(st.columns(2, gap="small"), shown.items(), strict=True):
        with place:
            st.subheader(title, anchor=False)
            matrix.show(
                matrix.Panel(values, rows=names[0], columns=names[1]),
                row_title="query",
                column_title="key",
                quantity=quantity,
                top=1.0 if key == "mask" else None,
                name=f"batch-{batch.layout}-{key}",
                key=f"batch-{key}",
                python=python,
            )


def _marked(tokens: tuple[str, ...], owner: np.ndarray, text: int) -> list[str]:
    """Name the tokens of a row: padding and other texts are said."""
    return [
        token if whose == text else "padding" if whose < 0 else f"{token} ({whose})"
        for token, whose in zip(tokens, owner, strict=True)
    ]


def _numbers(batch: Batch, seen: Seen) -> None:
    fewest, most = seen.keys_seen
    own = seen.weights[seen.query_owner == seen.text][:, seen.key_owner == seen.text].astype(np.float64)
    widgets.numbers(
        [
            ("Cells", f"{batch.cells:,}", "Tokens that the batch computes, padding included."),
            ("Padding", percent(batch.padding / batch.cells), "Share of the cells that hold no text."),
            ("Keys seen", f"{fewest}" if fewest == most else f"{fewest} to {most}", "By a query of the text."),
            ("To its own text", number(float(own.sum(axis=1).mean())), "Weight, mean over the text's queries."),
            ("To padding", number(seen.to_padding), "Weight, mean over the text's queries."),
            ("To other texts", number(seen.to_others), "Weight, mean over the text's queries."),
            ("To masked keys", number(seen.to_masked), "Weight on all that the mask hides, mean over its queries."),
        ]
    )


def _about(batch: Batch, seen: Seen, subject: Subject, head: choices.Head) -> str:
    from inspector.batches import own_fill

    site = head.site
    function = batch.row_of(seen.text).trace.record_of(site.layer, site.stream, call=site.call).function
    masked = words.masking(own_fill(function), causal=site.stream == "decoder", softmax=function.normalised)
    first = "Row = query, column = key; 1: the query sees the key, 0: it is masked."
    if batch.layout in ("right", "left"):
        pads = int((seen.key_owner < 0).sum())
        counted = (
            f"{len(seen.keys)} columns, {pads} of padding: {len(seen.keys)} − {pads} = {len(seen.keys) - pads} keys."
        )
        return f"{first} {counted} {masked} Queries of padding compute weights too; nobody reads them."
    if batch.layout == "packed":
        lengths = " + ".join(map(str, batch.lengths))
        who = "" if subject.own else " It is read by the same weights in this project's own Transformer."
        return (
            f"{first} The number after a token is its text's: {lengths} = {batch.cells} columns, and the mask is a "
            f"block for each text. {masked}{who}"
        )
    return f"{first} Each text is a batch of its own: no padding has to be masked."
