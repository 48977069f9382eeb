"""A page whose chosen model cannot do what it is for: the stand-in reads the text, says so, and can be chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import examples
from inspector.views.shell import loaded_models
from tests.inspector.views.page import pressed, said


def _page() -> None:
    """Show who read which text, on a page for models that guess."""
    import streamlit as st

    from inspector.sections.registry import PAGES
    from inspector.views.shell import header, stand_in

    header.draw(PAGES["what_if"], narrow=False)
    for name in ("pair", "target"):
        st.session_state.setdefault(name, "")
    can = lambda loaded: loaded.fills_masks  # noqa: E731
    shown = stand_in.inspected("guesses no hidden words", can=can, instead=["mini-bert", "mini-bert-zh"])
    st.code(f"{shown.loaded.card.id} | {shown.trace.text} | {shown.stands_in}")


def opened(*, model: str, text: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    app.session_state["model"], app.session_state["text"] = model, text
    app.run()
    assert not app.exception
    return app


def test_a_model_that_can_is_shown_itself() -> None:
    app = opened(model="mini-bert", text="A cat.")
    assert app.code[0].value == "mini-bert | A cat. | False"
    assert [button.key for button in app.button] == ["language", "write report"]


def test_the_stand_in_reads_the_readers_text_and_is_chosen_with_a_click() -> None:
    app = opened(model="minilm", text="A cat.")
    assert app.code[0].value == "mini-bert | A cat. | True"
    assert "**MiniLM** guesses no hidden words, so you see **mini&#45;BERT** on your text." in said(app)
    assert "Model: **mini&#45;BERT" in said(app)
    assert app.session_state["model"] == "minilm"
    pressed(app, "choose stand-in")
    assert app.session_state["model"] == "mini-bert"
    assert app.code[0].value == "mini-bert | A cat. | False"


def test_in_place_of_the_example_the_stand_in_reads_its_own() -> None:
    app = opened(model="minilm", text=examples.FIRST)
    assert examples.of("mini-bert") in app.code[0].value
    assert "on its own example" in said(app)
    assert app.session_state["text"] == examples.FIRST
    pressed(app, "choose stand-in")
    assert app.session_state["text"] == examples.of("mini-bert")


def test_a_text_in_another_script_is_kept_and_said() -> None:
    app = opened(model="minilm", text="Я люблю кошек.")
    assert examples.of("mini-bert") in app.code[0].value
    assert "it has learned English, and your text is kept" in said(app)
    pressed(app, "choose stand-in")
    assert app.session_state["text"] == "Я люблю кошек."
    assert examples.reads("mini-bert", "Ça va? 😀 123")
    assert examples.reads("mini-bert", "123")
    assert not examples.reads("mini-bert", "Да, да, cat")


def test_chinese_is_read_by_the_stand_in_that_learned_it() -> None:
    app = opened(model="minilm", text="我爱水课。")
    assert app.code[0].value == "mini-bert-zh | 我爱水课。 | True"
    assert "on your text." in said(app)


@pytest.mark.parametrize("reason", ["its package is missing", "it takes more memory than is allowed"])
def test_a_model_that_is_not_at_hand_stands_in_for_nothing(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason == "its package is missing":
        monkeypatch.setattr(loaded_models, "is_installed", lambda id: id != "mini-bert")
    else:
        cards = [replace(card, parameters=10**12 * (card.id == "mini-bert")) for card in models.catalogue()]
        monkeypatch.setattr(models, "catalogue", lambda: cards)
    app = opened(model="minilm", text="A cat.")
    assert not app.error
    assert app.code[0].value.startswith("mini-bert-zh | ")
