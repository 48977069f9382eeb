"""The page What if where heads are dropped: what is seen is what the core gives."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import interventions, record
from inspector.interventions import importance
from inspector.views.what_if import importance as page_importance
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, messages, numbers, said
from tests.inspector.views.what_if.changes import DROP, is_compared, maps, opened


def crossed(app: AppTest) -> list[list[int]]:
    return messages(app, "grid")[0][0]["crossed"]


@pytest.mark.parametrize("model", ["minilm", "own-decoder", "own-encoder-decoder", "mini-bert"])
def test_every_shape_of_model_is_compared_without_a_click(model: str) -> None:
    is_compared(opened(model, DROP, text="The cat sat on the mat."), predicts=model != "minilm")


def test_first_dropped_is_the_head_that_is_open_on_the_attention_page() -> None:
    app = opened("minilm", DROP)
    app.session_state["link.held"].update(layer=3, head=7)
    app.run()
    assert not app.exception
    assert crossed(app) == [[3, 7]]
    assert "drop" not in app.query_params


def test_several_heads_of_a_link_are_dropped_at_once() -> None:
    app = opened("minilm", DROP, drop="3.7 4.1")
    assert crossed(app) == [[3, 7], [4, 1]]
    dropped = interventions.drop(models.load("minilm"), EXAMPLE, heads=[("encoder", 3, 7), ("encoder", 4, 1)])
    header = messages(app, "head")[0][0]
    expected = dropped.after.attention(layer=header["layer"], head=header["head"])
    assert_close(maps(app)[1], expected, relative=1e-7)
    assert "2 of 72 heads dropped" in said(app)
    assert app.query_params["drop"] == "3.7,4.1"


def test_a_whole_layer_goes_and_comes_back() -> None:
    app = opened("own-encoder-decoder", DROP, drop="cross.0.1", stream="cross")
    app.pills(key="whole-layers").set_value([1]).run()
    assert not app.exception
    assert app.query_params["drop"] == "cross.0.1,cross.1.0,cross.1.1,cross.1.2,cross.1.3"
    assert app.pills(key="whole-layers").value == [1]
    app.pills(key="whole-layers").set_value([]).run()
    assert app.query_params["drop"] == "cross.0.1"
    next(button for button in app.button if "Only the head" in button.label).click().run()
    assert "drop" not in app.query_params
    assert not app.exception


@pytest.mark.parametrize("drop", ["9.9", "x", "0", "-1.0", "0.0 9.9", "**b**", ""])
def test_a_link_to_no_head_is_a_sentence(drop: str) -> None:
    app = opened("own-encoder", DROP, drop=drop)
    assert not app.exception
    assert "they go from 0.0 to 1.3. You see" in said(app)
    assert len(maps(app)) == 3


def test_each_head_alone_is_measured_once_and_drawn() -> None:
    app = opened("own-decoder", DROP)
    app.button(key="alone-start").click().run()
    assert not app.exception
    loaded = models.load("own-decoder")
    expected = list(importance.measure(loaded, record(loaded, EXAMPLE)))
    (_, moved), (_, surprise) = messages(app, "grid")[-2:]
    most = max(one.moved for one in expected)
    assert_close(moved, [255 * one.moved / most for one in expected], relative=0.51 / 255, scale=255)
    most = max(abs(one.surprise) for one in expected)
    assert_close(surprise, [127.5 + 127.5 * one.surprise / most for one in expected], relative=0.51 / 255, scale=255)
    assert "alone-start" not in [button.key for button in app.button]  # there is no more to do
    app.run()
    assert len(messages(app, "grid")) == 4


def test_many_heads_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_importance, "MOST", 7)
    app = opened("own-decoder", DROP)
    assert not app.exception
    assert "this page makes up to 7" in said(app)


def test_a_long_text_has_no_maps_but_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.maps.WHOLE", 8)
    app = opened("own-decoder", DROP)
    assert not app.exception
    assert "The text has 12 keys, and maps before and after are compared whole, up to 8." in said(app)
    assert maps(app) == []
    assert "divergence, bits" in numbers(app)
