"""The page What if where a word is swapped and where heads are dropped: what is seen is what the core gives."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import interventions, record
from inspector.interventions import importance
from inspector.views.what_if import importance as what_if_alone
from tests.inspector.views.page import EXAMPLE, messages, metrics, said
from tests.inspector.views.page import opened as start

SWAP, DROP = "Swap a word", "Drop heads"


def opened(model: str, part: str, **link: str) -> AppTest:
    return start("What if", model=model, part=part, **link)


def maps(app: AppTest) -> list[np.ndarray]:
    """Before, after and their difference, as the browser gets them."""
    return [numbers.reshape(len(header["queries"]), -1) for header, numbers in messages(app, "head")]


def crossed(app: AppTest) -> list[list[int]]:
    return messages(app, "grid")[0][0]["crossed"]


@pytest.mark.parametrize("model", ["minilm", "own-decoder", "own-encoder-decoder", "mini-bert"])
@pytest.mark.parametrize("part", [SWAP, DROP])
def test_every_shape_of_model_is_compared_without_a_click(model: str, part: str) -> None:
    app = opened(model, part, text="The cat sat on the mat.")
    assert not app.exception
    assert "Cannot be shown" not in said(app)
    before, after, apart = maps(app)
    np.testing.assert_array_equal(apart, after - before)
    assert "1 - cos" in said(app).replace("\\", "")
    assert ("has no head that predicts tokens" in said(app)) == (model == "minilm")
    assert ("Divergence" in metrics(app)) == (model != "minilm")


def test_a_word_of_more_pieces_is_one_block() -> None:
    loaded = models.load("own-decoder")
    app = opened("own-decoder", SWAP, word="1", by="unbelievably", mask_layer="1", mask_head="2")
    assert not app.exception
    swapped = interventions.swap(loaded, EXAMPLE, position=1, by="unbelievably")
    was, now = swapped.replaced
    assert len(now) > len(was)
    before, after, _ = maps(app)
    assert before.shape == after.shape == (len(swapped.before.tokens),) * 2  # the word is one row and one column
    full = swapped.after.attention(layer=1, head=2)
    np.testing.assert_allclose(after[was.stop :, was.stop :], full[now.stop :, now.stop :], rtol=0, atol=1e-7)
    np.testing.assert_allclose(after[was.stop :, was.start], full[now.stop :, now].sum(axis=1), rtol=0, atol=1e-6)
    np.testing.assert_allclose(after[was.start, 0], full[now, 0].mean(), rtol=0, atol=1e-6)
    assert "After: The unbelievably sat on the mat because it was tired." not in said(app)  # token 1 is "the"
    assert "After: unbelievably cat sat on the mat because it was tired." in said(app)


def test_what_is_predicted_can_be_chosen_and_is_a_link() -> None:
    loaded = models.load("own-decoder")
    app = opened("own-decoder", SWAP, word="2", by="dog", ask="5")
    swapped = interventions.swap(loaded, EXAMPLE, position=2, by="dog")
    found = interventions.predict(loaded, swapped, position=5)
    assert metrics(app)["Its rank"] == f"{found.before.rank:,} → {found.after.rank:,}"
    app.pills(key="ask-next").set_value([5, 7]).run()
    assert app.query_params["ask"] == "7"
    found = interventions.predict(loaded, swapped, position=7)
    assert metrics(app)["Its rank"] == f"{found.before.rank:,} → {found.after.rank:,}"
    app.pills(key="ask-next").set_value([]).run()  # one stays chosen
    assert app.pills(key="ask-next").value == [7]
    assert not app.exception


def test_first_asked_is_the_position_that_changed_most() -> None:
    loaded = models.load("own-decoder")
    app = opened("own-decoder", SWAP)
    table = interventions.surprises(loaded, interventions.swap(loaded, EXAMPLE, position=2, by="dog"))
    assert app.pills(key="ask-next").value == [table.loc[table["divergence"].idxmax(), "position"]]
    assert "ask" not in app.query_params


@pytest.mark.parametrize("by", ["", "   "])
def test_no_other_word_is_a_sentence(by: str) -> None:
    app = opened("own-decoder", SWAP)
    app.text_input(key="by").set_value(by).run()
    assert not app.exception
    assert "there is no word to put there" in said(app)
    assert app.text_area(key="text").value == EXAMPLE


@pytest.mark.parametrize("by", ["<b>**x**</b>", "猫😀", "a\u200bb", "dog dog dog"])
def test_an_unusual_word_is_shown_literally(by: str) -> None:
    app = opened("mini-bert", SWAP, by=by)
    assert not app.exception
    assert f"After: The {by} sat on the mat because it was tired." in [text.value for text in app.text]


def test_the_word_that_is_swapped_is_not_the_one_to_guess() -> None:
    app = opened("mini-bert", SWAP, word="2", ask="2")
    assert not app.exception
    assert "The link asks for ask" in said(app)
    app = opened("mini-bert", SWAP, text="Cat")
    assert not app.exception
    assert "the text has one word" in said(app)


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
    np.testing.assert_allclose(maps(app)[1], expected, rtol=0, atol=1e-7)
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


def test_a_link_to_no_part_is_a_sentence() -> None:
    app = opened("own-encoder", "Ablate")
    assert not app.exception
    assert 'The link asks for part "Ablate"; it can be Hide a token, Swap a word, Drop heads.' in said(app)


def test_each_head_alone_is_measured_once_and_drawn() -> None:
    app = opened("own-decoder", DROP)
    app.button(key="alone-start").click().run()
    assert not app.exception
    loaded = models.load("own-decoder")
    expected = list(importance.measure(loaded, record(loaded, EXAMPLE)))
    (_, moved), (_, surprise) = messages(app, "grid")[-2:]
    most = max(one.moved for one in expected)
    np.testing.assert_allclose(moved, [255 * one.moved / most for one in expected], atol=0.51)
    most = max(abs(one.surprise) for one in expected)
    np.testing.assert_allclose(surprise, [127.5 + 127.5 * one.surprise / most for one in expected], atol=0.51)
    assert "alone-start" not in [button.key for button in app.button]  # there is no more to do
    app.run()
    assert len(messages(app, "grid")) == 4


def test_many_heads_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if_alone, "MOST", 7)
    app = opened("own-decoder", DROP)
    assert not app.exception
    assert "this page makes up to 7" in said(app)


def test_a_long_text_has_no_maps_but_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.maps.WHOLE", 8)
    app = opened("own-decoder", DROP)
    assert not app.exception
    assert "The text has 12 keys, and maps before and after are compared whole, up to 8." in said(app)
    assert maps(app) == []
    assert "Divergence" in metrics(app)
