"""The switches in the sidebar: every field, both sides, the link, and what cannot be built, said in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector.views.shell import model_shelf
from inspector.wording.english import switches as words
from models.transformer import TransformerConfig
from models.transformer.switches import FIXED
from tests.inspector.views.page import forget, message, opened, pressed, said, typed, with_menus

TEXT = "The cat sat."
OPEN = {"switches.open": True}


def test_every_field_is_in_the_panel_or_says_why_not() -> None:
    """A new field of the configuration needs a line in GROUPS, or in FIXED a reason, which the page shows."""
    shown = [field for group in words.GROUPS.values() for field in group]
    assert sorted([*shown, *FIXED]) == sorted(field.name for field in fields(TransformerConfig))


def test_two_sides_are_set_in_the_panel_and_stand_in_the_link() -> None:
    app = opened(state=OPEN, model="mini-bert", text=TEXT)
    app.selectbox(key="switches.group").select("Attention").run()
    app.selectbox(key="switches.A.scale").select("none").run()
    app.selectbox(key="switches.B.shared_query_key").select(True).run()
    assert not app.exception
    ids = ["mini-bert?scale=none", "mini-bert?shared_query_key=true"]
    assert ["".join(app.query_params[name]) for name in ("model", "b")] == ids
    titles = ["mini-BERT, A: scale none", "mini-BERT, B: W_Q = W_K on"]
    assert app.selectbox(key="model").options[2:5] == ["mini-BERT, trained here", *titles]
    assert "Trained&#44; then changed&#58; scale none" in said(app)
    header, drawn = message(app, "head")
    weights = inspector.record(models.load(ids[0]), TEXT).attention(layer=header["layer"], head=header["head"])
    np.testing.assert_array_equal(drawn[: weights.size].reshape(weights.shape), weights)
    again = opened(model=ids[0], b=ids[1], text=TEXT)
    np.testing.assert_equal(message(again, "head")[0], header)
    assert again.selectbox(key="model").options[3:5] == titles
    app.number_input(key="switches.A.heads").set_value(3).run()
    assert "Trained&#44; 17&#46;6 &#37; redrawn&#58; heads 3&#44; scale none" in said(app)
    pressed(app, "switches.reset.A")
    assert "model" in app.query_params
    assert "".join(app.query_params["model"]) == "mini-bert"
    pressed(app, "switches.reset.B")
    assert "b" not in app.query_params


def test_switches_that_do_not_fit_are_a_sentence_and_the_last_model_stays() -> None:
    app = opened(state=OPEN | {"switches.group": "Attention"}, model="mini-bert?scale=none", text=TEXT)
    before = message(app, "head")[0]
    app.number_input(key="switches.A.heads").set_value(5).run()
    assert "width 192 does not divide into 5 heads" in said(app)
    assert app.number_input(key="switches.A.heads").value == 5
    np.testing.assert_equal(message(app, "head")[0], before)
    assert "".join(app.query_params["model"]) == "mini-bert?scale=none"
    app.selectbox(key="switches.A.head_size").select("full").run()
    assert "".join(app.query_params["model"]) == "mini-bert?heads=5&head_size=full&scale=none"
    assert "does not divide" not in said(app)
    app.selectbox(key="switches.group").select("Block").run()
    app.text_input(key="switches.B.norm_epsilon").set_value("**x**").run()
    assert "norm_epsilon is '**x**'; it must be a number" in [text.value for text in app.text]
    assert not app.exception


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ({"model": "mini-bert?layers=999999999"}, "the limits are 500"),
        ({"model": "mini-bert?layers=200&shared_layers=true"}, "HEADLIGHT&#95;LAYERS allows 128"),
        ({"model": "mini-bert?width=2&heads=1&ffn_width=8000000"}, "HEADLIGHT&#95;CAPTURE&#95;BYTES allows"),
        ({"model": "mini-bert?heads=192&positions=none"}, "192 heads in each of 4 layers"),
        ({"model": "mini-bert?<img src=x>=1"}, "is no switch"),
        ({"model": "mini-bert?scale=none&scale=none"}, "each switch once"),
        ({"model": "mini-bert?mask_fill=nan"}, "mask&#95;fill is nan"),
        ({"model": "mini-bert?norm_epsilon=abc"}, "must be a number"),
        ({"model": "mini-bert?scale=" + "x" * 9_000}, "no value of a switch"),
        ({"model": "mini-bert?"}, None),
        ({"model": "mini-bert?scale=1%2Fsqrt(d_k)"}, None),
        ({"model": "mini-bert", "b": "mini-gpt?scale=none"}, "another model"),
        ({"model": "mini-bert", "b": "**x**"}, "another model"),
        ({"model": "mini-bert", "b": "mini-bert?heads=0"}, "at least 1"),
    ],
)
def test_a_link_to_what_cannot_be_built_is_a_sentence_and_shows_the_model_as_it_is(
    link: dict[str, str], reason: str | None
) -> None:
    app = AppTest.from_function(sides, default_timeout=60)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    problems = [warning.value for warning in app.warning]
    assert (reason is None and not problems) or (len(problems) == 1 and str(reason) in problems[0])
    assert all(len(problem) < 3_000 and "<img" not in problem for problem in problems)
    assert (app.session_state["model"], app.session_state["side_b"]) == ("mini-bert", None)


def sides() -> None:
    """A page that takes the two sides from its link."""
    from inspector.views.shell import link, sidebar

    sidebar.begin("")
    link.show_problems()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Nothing in memory, before and after."""
    forget()
    yield monkeypatch
    forget()


def test_many_switches_take_no_more_memory_than_the_budget(fresh: pytest.MonkeyPatch) -> None:
    fresh.setenv("HEADLIGHT_MEMORY_BYTES", "30MB")  # mini-bert has 9 MB
    fresh.setattr(model_shelf, "REMEMBERED", 3)
    app = opened(state=OPEN | {"switches.group": "Size"}, model="mini-bert?heads=3", text="A cat.")
    for seed in range(1, 6):
        app.number_input(key="switches.A.seed").set_value(seed).run()
        assert not app.exception
        assert "17&#46;6 &#37; redrawn" in said(app)
    shelf = model_shelf.shelf()
    assert shelf.weights.used <= 30_000_000
    assert len(shelf.of_variants) == 3


def test_a_batch_norm_has_the_statistics_of_the_readers_text() -> None:
    app = opened(model="mini-bert?norm=batch", text=TEXT)
    assert "with your text&#39;s statistics" in said(app)
    assert "Exact on this text" in said(app)
    for text in (TEXT, "It was raining."):
        typed(app, text)
        loaded = models.load("mini-bert?norm=batch", batch=[text])
        header, drawn = message(app, "head")
        weights = inspector.record(loaded, text).attention(layer=header["layer"], head=header["head"])
        np.testing.assert_array_equal(drawn[: weights.size].reshape(weights.shape), weights)
    lines = "\n".join(code.value for code in with_menus(app).code)
    assert "models.load('mini-bert?norm=batch', batch=['It was raining.'])" in lines
