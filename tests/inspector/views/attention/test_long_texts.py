"""A text that is too long for one picture: the open head is a window, exact, that moves; the grid shows the whole."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from inspector import maps, record
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, message, opened, said


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    monkeypatch.setattr(maps, "WINDOW", 6)


PLACE = {"layer": "1", "head": "7"}


def window(app: AppTest) -> np.ndarray:
    """The numbers of the open head's window, as they were sent."""
    header, numbers = message(app, "head")
    assert header["whole"] is not None
    return numbers[: len(header["queries"]) * len(header["keys"])]


def test_the_window_is_exact_and_moves(minilm: LoadedModel) -> None:
    weights = record(minilm, EXAMPLE).attention(layer=1, head=7)
    app = opened(
        **PLACE,
    )
    assert not app.exception
    np.testing.assert_array_equal(window(app), weights[:6, :6].ravel())
    assert "queries 0 to 5 of 13, keys 0 to 5 of 13" in said(app)
    app.number_input(key="row").set_value(5).run()
    np.testing.assert_array_equal(window(app), weights[5:11, 5:11].ravel())
    app.toggle(key="apart").set_value(True).run()
    app.number_input(key="column").set_value(7).run()
    np.testing.assert_array_equal(window(app), weights[5:11, 7:13].ravel())
    assert "queries 5 to 10 of 13, keys 7 to 12 of 13" in said(app)


def test_a_link_restores_the_window_and_a_wrong_one_is_a_sentence(minilm: LoadedModel) -> None:
    weights = record(minilm, EXAMPLE).attention(layer=1, head=7)
    np.testing.assert_array_equal(window(opened(**PLACE, row="3", apart="true", column="2")), weights[3:9, 2:8].ravel())
    app = opened(**PLACE, row="99")
    assert not app.exception
    assert any("they go from 0 to 7" in warning.value for warning in app.warning)


def test_hidden_and_renormalised_rows_are_those_of_the_whole_map(minilm: LoadedModel) -> None:
    trace = record(minilm, EXAMPLE)
    shown = maps.arrange(trace, hide_special=True, renormalise=True)
    whole = shown.apply(trace.attention(layer=1, head=7))
    app = opened(**PLACE, hide="true", renormalise="true", row="2", apart="true", column="4")
    assert_close(window(app), whole[2:8, 4:10].ravel(), relative=1e-7)


def test_word_pieces_are_merged_within_a_window(minilm: LoadedModel) -> None:
    text = "Antidisestablishmentarianism is an unbelievably long word, and another unbelievably long one."
    trace = record(minilm, text)
    shown = maps.arrange(trace, merge_words=True)
    whole = shown.apply(trace.attention(layer=1, head=7))
    app = opened(**PLACE, text=text, words="true", row="1", apart="true")
    assert_close(window(app), whole[1:7, :6].ravel(), relative=1e-7)


def test_a_long_text_has_readable_pictures_and_says_their_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    app = opened()
    assert "All share one colour scale, from 0 to" in said(app)
    assert "by square root" in said(app)
    app.toggle(key="linear").set_value(True).run()
    assert "by square root" not in said(app)
