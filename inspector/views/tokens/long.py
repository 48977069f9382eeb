"""The section Long texts: truncation, windows and hierarchy, and what each loses against full attention."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.plots.tokens import long as draw
from inspector.readings.tokens import long as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, progress, sentence, session, widgets
from inspector.wording.english.tokens import long as words
from models import failures

if TYPE_CHECKING:
    import models
    from inspector.long_texts import Compared, Name, Padded
    from inspector.trace import Trace
    from inspector.views.shell.session import Inspected

OWN = "own"
TEXTS = {"pride": "Pride and Prejudice", "home": "故乡, in Chinese", OWN: "My text"}
FEWEST = 8  # tokens of a piece, special ones included


def show(inspected: Inspected) -> None:
    """Draw the section: what each way keeps, token by token, its numbers, the weight cut off, and padding."""
    from inspector.long_texts import NAMES

    loaded = session.at_hand(inspected, so="no way to read a long text can be run")
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = _text(inspected)
        try:
            trace = inspected.trace if chosen == OWN else _page(inspected, loaded, chosen)
            piece, overlap = _pieces(trace, loaded)
            found = _compared(loaded, trace, piece=piece, overlap=overlap)
        except ValueError as error:
            with place:
                said = f"{error}.".replace("..", ".")
                session.show_problem(f"{said[0].upper()}{said[1:]}")
            return
    told = read.losing(found, trace, piece=piece, most=loaded.max_tokens)
    with place:
        opening = words.losing(told, model=available_models.name(trace.model), text=_named(chosen))
        sentence.show(opening, words.TERMS)
        if not loaded.card.trained:
            widgets.untrained()
    python = _python(trace, chosen, piece=piece, overlap=overlap)
    name: Name = widgets.bar("Way", NAMES, "way", default="windows", words=words.WAYS.__getitem__)
    chart.show(
        partial(draw.cosines, found.cosines, tokens=found.tokens, names=words.WAYS, chosen=name),
        alt="Cosine of each token's state with full attention's by position, a line for each way",
        key="long-cosines",
        python=f"{python}found.cosines[{name!r}]",
    )
    widgets.numbers(words.numbers(told.ways[name]), of=f" ({words.WAYS[name]})")
    widgets.table(read.lines(found, whole=told.whole, names=words.WAYS), name="long-texts", words=words.COLUMNS)
    st.markdown(words.windows(told, room=piece - found.specials, overlap=overlap, tokens=len(found.tokens)))
    st.caption(words.ways(told, hidden=found.guessed or None))
    _cut(found, trace, name, python=python)
    _padding(loaded, trace, piece=piece)


def _text(inspected: Inspected) -> str:
    chinese = available_models.base(inspected.trace.model) == "mini-bert-zh"
    return widgets.bar("Text", list(TEXTS), "page", default="home" if chinese else "pride", words=TEXTS.__getitem__)


def _named(chosen: str) -> str:
    from inspector.long_texts import PAGES

    return next((words.page(page) for name, page in PAGES.items() if name == chosen), "your text")


def _page(inspected: Inspected, loaded: models.LoadedModel, chosen: str) -> Trace:
    """Record a book page; an encoder-decoder would write to it, so it is refused before."""
    from inspector.long_texts import PAGES

    if loaded.shape == "encoder-decoder" or inspected.model is None:
        return inspected.trace  # `compare` says why not
    text = next(page.text for name, page in PAGES.items() if name == chosen)
    return session.record(inspected.model, text).trace


def _pieces(trace: Trace, loaded: models.LoadedModel) -> tuple[int, int]:
    """Let the reader choose how many tokens a piece has, and how many two windows share."""
    read_at_once = len(trace.encoding)
    default = min(max(FEWEST, read_at_once // 4), loaded.max_tokens)
    piece = widgets.number(
        "Tokens of a piece",
        "piece",
        default=default,
        first=min(FEWEST, loaded.max_tokens),
        last=loaded.max_tokens,
        width=140,
        help="Special tokens included: the budget of every way.",
    )
    room = piece - sum(trace.encoding.special)
    overlap = widgets.number(
        "Shared by two windows", "overlap", default=max(room // 2, 0), last=max(room - 1, 0), width=160
    )
    return piece, overlap


def _compared(loaded: models.LoadedModel, trace: Trace, *, piece: int, overlap: int) -> Compared:
    from inspector.long_texts import compare

    def make() -> Compared:
        bar = progress.Bar(at_once=False, stop="stop ways")

        def watch(done: int, total: int) -> None:
            bar.draw(done, total, f"Reading the text in every way: {done} of {total}")

        with failures.told("Reading the text in every way", instead="Choose a shorter text."):
            found = compare(loaded, trace, budget=piece, overlap=overlap, on_progress=watch)
        bar.clear()
        return found

    return session.cached((trace.key, "long texts", piece, overlap), make)


def _cut(found: Compared, trace: Trace, name: Name, *, python: str) -> None:
    st.subheader("The attention that a way cuts off", anchor=False)
    shares = found.cut[name]
    matrix.show(
        matrix.Panel(
            shares.astype(np.float32),
            rows=[site.name.capitalize() for site in trace.sites],
            columns=[f"head {head}" for head in range(shares.shape[1])],
        ),
        row_title="layer",
        column_title="head",
        quantity="share of weight",
        numbered="neither",
        top=1.0,
        name=f"cut-{name}",
        key="long-cut",
        python=f"{python}found.cut[{name!r}]",
    )
    st.caption(words.cut(found, name, layers=[site.name for site in trace.sites]))


def _padding(loaded: models.LoadedModel, trace: Trace, *, piece: int) -> None:
    from inspector.long_texts import MOST, padded

    st.subheader("Padding is no cure", anchor=False)
    columns = min(loaded.max_tokens, MOST)

    def make() -> Padded:
        return padded(loaded, trace, budget=piece, columns=columns)

    try:
        st.markdown(words.padding(session.cached((trace.key, "padded", piece, columns), make)))
    except ValueError as error:
        st.caption(f"Not counted here: {error}.")


def _python(trace: Trace, chosen: str, *, piece: int, overlap: int) -> str:
    text = repr(trace.text) if chosen == OWN else f"PAGES[{chosen!r}].text"
    return (
        "import inspector, models\nfrom inspector.long_texts import *\n\n"
        f"loaded = models.load({trace.model!r})\ntrace = inspector.record(loaded, {text})\n"
        f"found = compare(loaded, trace, budget={piece}, overlap={overlap})\n"
    )
