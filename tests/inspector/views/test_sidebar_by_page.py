"""The sidebar holds what a page uses, and an empty text blanks no page that reads none."""

from __future__ import annotations

import pytest

from inspector import examples
from tests.inspector.views.page import opened, pressed, said, turned, typed


@pytest.mark.parametrize(
    ("page", "fields"),
    [("Attention", {"model", "text", "pair"}), ("Atlas", {"model"}), ("Lab", set()), ("Training", set())],
)
def test_the_sidebar_offers_what_the_page_uses(page: str, fields: set[str]) -> None:
    app = opened(page, text="A small cat sat there.")
    keys = {widget.key for widget in (*app.sidebar.selectbox, *app.sidebar.text_area)}
    assert keys & {"model", "text", "pair"} == fields
    turned(app, "Attention")
    assert app.text_area(key="text").value == "A small cat sat there."


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("Lab", ""),
        ("Training", ""),
        ("Atlas", ""),
        ("Time", "RNN, LSTM, GRU"),
        ("Time", "Serial or parallel"),
        ("Tokens", "How pieces are learned"),
        ("Tokens", "Sparse masks"),
    ],
)
def test_an_empty_text_blanks_nothing_that_reads_none(page: str, section: str) -> None:
    full = opened(page, text="A cat.", **({"section": section} if section else {}))
    app = opened(page, text=" ", **({"section": section} if section else {}))
    assert not app.exception
    assert "The text is empty" not in said(app)
    assert "Cannot be shown" not in said(app)
    assert len(app.get("plotly_chart")) == len(full.get("plotly_chart"))


def test_an_empty_text_offers_an_example() -> None:
    app = typed(opened("Block"), " ")
    assert "The text is empty." in said(app)
    assert "Cannot be shown" not in said(app)
    pressed(app, "take example")
    assert app.text_area(key="text").value == examples.of("minilm")
    assert "The text is empty" not in said(app)
