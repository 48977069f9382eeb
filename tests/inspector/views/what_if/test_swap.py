"""The page What if where a word is swapped: what is seen is what the core gives."""

from __future__ import annotations

import pytest

import models
from inspector import interventions
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, numbers, said
from tests.inspector.views.what_if.changes import SWAP, is_compared, maps, opened


@pytest.mark.parametrize("model", ["minilm", "own-decoder", "own-encoder-decoder", "mini-bert"])
def test_every_shape_of_model_is_compared_without_a_click(model: str) -> None:
    is_compared(opened(model, SWAP, text="The cat sat on the mat."), predicts=model != "minilm")


def test_a_word_of_more_pieces_is_one_block() -> None:
    loaded = models.load("own-decoder")
    app = opened("own-decoder", SWAP, word="1", swap_by="unbelievably", mask_layer="1", mask_head="2")
    assert not app.exception
    swapped = interventions.swap(loaded, EXAMPLE, position=1, by="unbelievably")
    was, now = swapped.replaced
    assert len(now) > len(was)
    before, after, _ = maps(app)
    assert before.shape == after.shape == (len(swapped.before.tokens),) * 2  # the word is one row and one column
    full = swapped.after.attention(layer=1, head=2)
    assert_close(after[was.stop :, was.stop :], full[now.stop :, now.stop :], relative=1e-7)
    assert_close(after[was.stop :, was.start], full[now.stop :, now].sum(axis=1), relative=1e-6)
    assert_close(after[was.start, 0], full[now, 0].mean(), relative=1e-6)
    assert "After: The unbelievably sat on the mat because it was tired." not in said(app)  # token 1 is "the"
    assert "After: unbelievably cat sat on the mat because it was tired." in said(app)


def test_what_is_predicted_can_be_chosen_and_is_a_link() -> None:
    loaded = models.load("own-decoder")
    app = opened("own-decoder", SWAP, word="2", swap_by="dog", ask="5")
    swapped = interventions.swap(loaded, EXAMPLE, position=2, by="dog")
    found = interventions.predict(loaded, swapped, position=5)
    assert numbers(app)["its rank"] == f"{found.before.rank:,} → {found.after.rank:,}"
    app.pills(key="ask-next").set_value([5, 7]).run()
    assert app.query_params["ask"] == "7"
    found = interventions.predict(loaded, swapped, position=7)
    assert numbers(app)["its rank"] == f"{found.before.rank:,} → {found.after.rank:,}"
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
    app.text_input(key="swap_by").set_value(by).run()
    assert not app.exception
    assert "there is no word to put there" in said(app)
    assert app.text_area(key="text").value == EXAMPLE


@pytest.mark.parametrize("by", ["<b>**x**</b>", "猫😀", "a\u200bb", "dog dog dog"])
def test_an_unusual_word_is_shown_literally(by: str) -> None:
    app = opened("mini-bert", SWAP, swap_by=by)
    assert not app.exception
    assert f"After: The {by} sat on the mat because it was tired." in [text.value for text in app.text]


def test_the_word_that_is_swapped_is_not_the_one_to_guess() -> None:
    app = opened("mini-bert", SWAP, word="2", ask="2")
    assert not app.exception
    assert "The link asks for ask" in said(app)
    app = opened("mini-bert", SWAP, text="Cat")
    assert not app.exception
    assert "the text has one word" in said(app)
