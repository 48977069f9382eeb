"""The sections Gradient by distance and RNN, LSTM, GRU of the page Time, and what they refuse."""

from __future__ import annotations

import pytest

from inspector.distance import reach
from tests.closeness import assert_close
from tests.inspector.views.page import messages, opened, pressed, said, section_opened, sentence

OWN = "own-encoder"


def test_gradients_of_the_reader_s_text() -> None:
    app = opened("Time", state={"reach_more": True}, model="mini-bert-zh", text="我喜欢猫。")
    assert "gradient" in sentence(app)
    assert "from `猫`: tokens more than 2 off get " in sentence(app)
    assert "The gradient reaches all 7 tokens, even through the last layer alone" in said(app)
    assert "s = Σ_d out_T[d], the sum of the 192 numbers of out_T" in said(app)
    assert "What the residual does" in said(app)
    ((header, shares),) = messages(app, "matrix")
    assert header["panels"][0]["columns"] == ["[CLS]", "我", "喜", "欢", "猫", "。", "[SEP]"]
    assert_close(shares.reshape(4, 7).sum(axis=1), 1, relative=1e-6)
    (chips,) = (one for one in app.button_group if one.key == "chips reach_token")
    chips.set_value([5, 1]).run()
    assert "from `我`: tokens more than" in sentence(app)
    app.segmented_control(key="reach_scalar").set_value("prediction").run()
    assert "s = ln p of the token that the model finds likeliest at T" in said(app)
    assert not app.exception


def test_the_first_view_tells_one_thing_and_the_rest_waits_to_be_opened() -> None:
    app = opened("Time", model="mini-bert-zh", text="我喜欢猫。")
    assert len(app.get("plotly_chart")) == 1
    assert not messages(app, "matrix")
    assert "What the residual does" not in said(app)


def test_recurrent_networks_beside_attention() -> None:
    app = section_opened(opened("Time", state={"recurrent_more": True}, model=OWN), "RNN, LSTM, GRU")
    assert "A tanh-RNN forgets its first input: the gradient there is 2.07e-33" in sentence(app)
    assert "in attention, one step away, 0.0188" in sentence(app)
    assert "The weights of early steps are updated" in said(app)
    app.number_input(key="recurrent_scale").set_value(4.0).run()
    assert "it explodes in the tanh-RNN." in sentence(app)
    app.number_input(key="recurrent_width").set_value(4).run()
    app.number_input(key="recurrent_steps").set_value(151).run()
    assert "151 steps of width 4, each with weights of its own" in said(app)
    pressed(app, "recurrent-parts-start")
    assert "The weights of early steps are updated" in said(app)
    assert not app.exception


def test_a_source_and_a_target() -> None:
    link = {"model": "translator", "text": "I love cats.", "target": "我爱猫。"}
    app = opened("Time", state={"reach_more": True}, **link)
    assert "from `猫`: tokens more than" in sentence(app)
    assert "across 9 sublayers of 3 layers" in said(app)
    app.segmented_control(key="reach_stream").set_value("encoder").run()
    assert "What the decoder makes of `猫` goes back most of all to" in sentence(app)
    assert "The gradient reaches all" in said(app)
    assert "The skip alone brings nothing: it stays in the decoder." in said(app)


def test_what_does_not_move_or_cannot_be_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("Time", model=OWN, text="A cat.")
    assert app.segmented_control(key="reach_scalar").value == "direction"
    assert "Sum of out_T does not move: the last LayerNorm has equal gammas" in said(app)
    app = opened("Time", state={"reach_more": True}, model=f"{OWN}?residual=false", text="A cat.")
    assert "has no residual: every gradient goes back through its sublayers alone" in said(app)
    app = opened("Time", model=OWN, text="cat " * 150)
    assert "152 tokens go forward and back" in said(app)
    pressed(app, "reach-start")
    assert "from the 150th `cat`: tokens more than" in sentence(app)
    monkeypatch.setattr(reach, "MOST_TOKENS", 100)
    app.run()
    assert "The text has 152 tokens; gradients are taken of up to 100: shorten it" in said(app)
    assert not app.exception
