"""The parts Two texts and Scissors of What if: what they say is what the analysis says; cuts are kept in the link."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inspector import patching
from inspector.text import number, signed
from models import LoadedModel
from tests.inspector.views.page import messages, opened, pressed, said, sentence, sentences

TEXT, OTHER = "The old man saw the dog and said", "The old man saw the house and said"


def test_two_texts_say_what_both_answer_and_which_head_brings_most(shipped: Callable[[str], LoadedModel]) -> None:
    app = opened(
        "What if", model="mini-gpt", text=TEXT, part="Two texts", corrupted=OTHER, answer="the", against="that"
    )
    assert not app.exception
    both = patching.pair(shipped("mini-gpt"), TEXT, OTHER, answer="the", against="that")
    clean, corrupted = both.measured(both.kept_clean), both.measured(both.kept_corrupted)
    assert f"is {signed(clean)} in the clean text and {signed(corrupted)} in the corrupted one" in sentence(app)
    table = patching.patch_heads(both)
    most = table.loc[table["share"].abs().idxmax()]
    assert f"head {most['layer']}.{most['head']}: {number(most['share'])} of the difference" in said(app)
    assert len(messages(app, "matrix")) == 3  # the grid, and the open head in both texts
    app.selectbox(key="patched").set_value("stream").run()
    assert not app.exception
    assert "the stream entering layer" in said(app)


def test_what_cannot_be_patched_is_a_sentence() -> None:
    app = opened("What if", model="mini-gpt", text=TEXT, part="Two texts", corrupted="The old man saw it")
    assert not app.exception
    assert "The clean text has 9 tokens and the corrupted one 6" in said(app)
    app = opened("What if", model="mini-gpt", text=TEXT, part="Two texts", corrupted=OTHER, answer="incomprehensible")
    assert "tokens here" in said(app)


@pytest.mark.parametrize("model", ["minilm", "own-encoder"])
def test_a_model_that_predicts_nothing_is_shown_with_one_that_does(model: str) -> None:
    app = opened("What if", model=model, text="The cat sat on a chair.", part="Scissors")
    assert not app.exception
    assert "predicts no tokens, so you see" in said(app)
    assert sentence(app).startswith("Cutting the edge from head")


def test_a_cut_stands_beside_its_promise_and_is_kept(shipped: Callable[[str], LoadedModel]) -> None:
    app = opened("What if", model="mini-gpt", text=TEXT, part="Scissors", writer="head 2.1", norms="Norms held")
    assert not app.exception
    uncut = patching.read(shipped("mini-gpt"), TEXT)
    one = patching.parse("head 2.1 -> logit, norms held", stream="decoder")
    row = patching.measure_cuts(uncut, [one]).iloc[0]
    assert number(abs(row["effect"])) == number(abs(row["promise"]))
    assert f"by {number(abs(row['effect']))}; the split promised" in sentence(app)
    pressed(app, "keep-cut")
    assert app.session_state["link.held"]["cuts"] == "head 2.1 -> logit, norms held"
    assert "Cuts that you kept" in said(app)
    pressed(app, "forget-cuts")
    assert "cuts" not in app.session_state["link.held"]


def test_a_link_restores_kept_cuts_and_refuses_what_is_none() -> None:
    app = opened("What if", model="mini-gpt", text=TEXT, part="Scissors", cuts="head 0.1 -> zero;ffn 1 -> logit")
    assert not app.exception
    assert "Cuts that you kept" in said(app)
    app = opened("What if", model="mini-gpt", text=TEXT, part="Scissors", cuts="head 9.1 -> zero")
    assert not app.exception
    assert "Layer 9 of the decoder has no attention." in said(app)
    app = opened("What if", model="mini-gpt", text=TEXT, part="Scissors", cuts="cut it all")
    assert "is no cut; write one like" in said(app)


def test_an_edge_into_a_key_tells_the_score() -> None:
    app = opened("What if", model="mini-gpt", text=TEXT, part="Scissors", writer="head 0.2", reader="key 1.0")
    assert not app.exception
    assert "the split promises nothing for such a cut" in sentence(app)
    assert "and the split promised" in said(app)
    assert len(sentences(app)) == 1
