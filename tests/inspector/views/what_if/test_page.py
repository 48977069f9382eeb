"""The page What if as a whole: its parts, and the model that stands in for one that cannot do them."""

from __future__ import annotations

import pytest

from tests.inspector.views.page import EXAMPLE, messages, opened, pressed, said, sentence, sentences


def test_a_link_to_no_part_is_a_sentence() -> None:
    app = opened("What if", model="own-encoder", part="Ablate")
    assert not app.exception
    parts = "Hide a token, Swap a word, Leave each out, Drop heads, Two texts, Scissors"
    assert f'The link asks for part "Ablate"; it can be {parts}.' in said(app)


@pytest.mark.parametrize("model", ["minilm", "own-encoder"])
def test_a_model_that_guesses_no_words_is_shown_with_one_that_does(model: str) -> None:
    app = opened("What if", model=model, text="The cat sat on a chair.", part="Hide a token")
    assert not app.exception
    assert "guesses no hidden words, so you see **mini&#45;BERT" in said(app)
    assert app.selectbox(key="model").value == model  # the sidebar's choice is left alone
    assert "____" in said(app)
    assert len(messages(app, "head")) == 3
    (opening,) = sentences(app)
    assert "mini" in opening
    for excuse in ("does not guess", "predicts no tokens", "no head that predicts"):
        assert excuse not in said(app)
    pressed(app, "choose stand-in")
    assert not app.exception
    assert app.selectbox(key="model").value == "mini-bert"
    assert app.text_area(key="text").value == "The cat sat on a chair."
    assert "so you see" not in said(app)


@pytest.mark.parametrize("model", ["translator", "own-decoder"])
def test_of_a_writer_only_what_is_true_is_said(model: str) -> None:
    app = opened("What if", model=model, text="The cat sat.", token="2")
    assert not app.exception
    assert "so you see" not in said(app)
    assert "guess" not in sentence(app)
    assert sentence(app).startswith("Hiding `")
    assert "the probability of" in sentence(app)
    assert "What stands in the gap?" not in said(app)
    assert "writes from left to right and fills no gaps" in said(app)


@pytest.mark.parametrize(
    ("model", "part"), [("minilm", "Swap a word"), ("mini-gpt", "Swap a word"), ("mini-bert", "Hide a token")]
)
def test_it_opens_on_what_the_model_does_itself(model: str, part: str) -> None:
    app = opened("What if", model=model, text="The cat sat on a chair.")
    assert not app.exception
    assert app.segmented_control(key="part").value == part
    assert "part" not in app.query_params
    assert "so you see" not in said(app)


@pytest.mark.parametrize("model", ["minilm", "mini-gpt"])
def test_a_link_that_names_a_token_hides_it(model: str) -> None:
    """Links to a hidden token named no part, for hiding was the first; the reader goes on to others from there."""
    app = opened("What if", model=model, text="The cat sat on a chair.", token="2")
    assert app.segmented_control(key="part").value == "Hide a token"
    app.segmented_control(key="part").set_value("Swap a word").run()
    assert not app.exception
    assert app.segmented_control(key="part").value == "Swap a word"


@pytest.mark.parametrize("part", ["Swap a word", "Drop heads"])
def test_what_a_model_can_do_it_does_itself(part: str) -> None:
    app = opened("What if", part=part)
    assert not app.exception
    assert "so you see" not in said(app)
    assert messages(app, "head")[0][0]["queries"][1] == EXAMPLE.split()[0].lower()
