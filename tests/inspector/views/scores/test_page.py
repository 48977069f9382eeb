"""The page Scores: its sections on models of each shape, and the open head that it shares with the page Attention."""

from __future__ import annotations

import re

import pytest

from tests.closeness import assert_close
from tests.inspector.views.page import message, messages, opened, pressed, said, sentence, turned
from tests.inspector.wording.said import is_number

SECTIONS = {  # maps and charts of each
    **{"All heads": (1, 0), "This head": (2, 0), "Queries and keys": (3, 1), "Dot or cosine": (1, 1)},
    **{"Score functions": (0, 2), "Weightings": (2, 0)},
    "Theory": (0, 2),
    "Gradients": (0, 2),
}


@pytest.mark.parametrize("model", ["minilm", "mini-gpt"])
def test_every_section_shows_its_pictures(model: str) -> None:
    for section, pictures in SECTIONS.items():
        app = opened("Scores", model=model, section=section, layer="1", head="3")
        assert not app.exception
        assert not app.warning
        assert "Cannot be shown" not in said(app)
        assert app.header, section
        drawn = len(messages(app, "matrix")), len(app.get("plotly_chart"))
        assert drawn == pictures, section
        if section not in ("All heads", "Theory", "Gradients"):
            assert "Layer 1, head 3" in said(app)


def test_the_measure_of_the_link_is_drawn_for_every_head() -> None:
    app = opened("Scores", section="All heads", measure="Saturated rows")
    header, values = message(app, "matrix")
    assert header["quantity"] == "Saturated rows"
    assert values.shape == (72,)
    assert values[2] == 1  # layer 0, head 2 gives one key over 0.9 in every row
    assert "Layer 0, head 2 is the most saturated: in 100 % of its rows" in said(app)
    layer, head, told = re.search(r"Layer (\d+), head (\d+): Saturated rows is ([\d.]+)\.$", sentence(app)).groups()
    assert is_number(told, values.reshape(6, 12)[int(layer), int(head)])
    assert header["panels"][0]["named"] == [int(layer), int(head)]
    app = turned(opened("Scores", layer="2", head="5"), "Attention")
    assert message(app, "head")[0]["title"] == "Layer 2, head 5"


def test_two_texts_have_no_mirror_image() -> None:
    app = opened("Scores", model="translator", stream="cross", section="Queries and keys")
    assert "two texts" in said(app)
    app = opened("Scores", model="translator", stream="cross", section="Dot or cosine")
    assert "attention of a text to itself" in said(app)


def test_score_functions_are_compared_at_the_readers_sizes_and_timed_when_asked() -> None:
    app = opened("Scores", section="Score functions")
    assert sentence(app).startswith("Additive scores, factorised, take ")
    assert "From 33 tokens on linear attention takes fewer." in sentence(app)
    app.number_input(key="race_tokens").set_value(1000).run()
    app.number_input(key="race_width").set_value(1024).run()
    app.number_input(key="race_heads").set_value(1).run()
    assert "4.10 GB in one tensor" in said(app)
    assert "Additive, naive would be left out: 4,198,400,000,000 FLOPs" in said(app)
    assert app.dataframe[0].value["scores_times_dot"].round(2).tolist()[:4] == [1.0, 2.02, 3.05, 2049.0]
    app.number_input(key="race_tokens").set_value(4).run()
    app.number_input(key="race_width").set_value(8).run()
    app.button(key="measure-scores").click().run()
    assert not app.exception
    assert "medians of 7 runs that take turns" in said(app)


def test_theory_draws_again_for_other_keys_and_fills_in_the_example() -> None:
    app = opened("Scores", section="Theory")
    assert "once heads are wider than 6" in sentence(app)
    assert "Your heads have d_k = 32" in sentence(app)
    app = opened("Scores", section="Theory", theory_keys="2")
    assert "moves less with its scores at every width" in sentence(app)
    app.number_input(key="example_width").set_value(100).run()
    assert not app.exception
    assert "±10.0 is 1.00 σ" in said(app)
    assert "Not against explosion" not in said(app)
    app = opened("Scores", state={"theory_more": True}, section="Theory")
    assert "Not against explosion" in said(app)
    assert len(app.get("plotly_chart")) == 4


def test_a_long_text_is_left_out_at_a_button_and_a_head_is_opened_beside() -> None:
    app = opened("What if", part="Leave each out", model="mini-gpt", text="a cat sat and " * 20)
    assert "a run of the model each: about" in said(app)
    assert not app.get("plotly_chart")
    app = pressed(app, "left-out-start")
    assert not app.exception
    assert "changes what is expected after" in sentence(app)
    assert "a run of the model each" not in said(app)
    assert len(app.get("plotly_chart")) == 2
    app.run()
    assert len(app.get("plotly_chart")) == 2  # what was measured stays
    app = opened("Scores", section="Gradients", model="mini-gpt", text="a cat sat and " * 40)
    assert "tokens go forward and back" in said(app)
    assert not app.get("plotly_chart")
    app = opened("What if", part="Leave each out", text="A cat.")
    assert "ranks need 4 or more" in said(app)


def test_tied_on_side_a_and_untied_on_side_b_is_read_off_the_page() -> None:
    """W_Q = W_K: the scores are symmetric on side A alone, the weights on neither side."""
    tied = "mini-bert?shared_query_key=true"
    app = opened("Scores", model=tied, section="Queries and keys", layer="1", head="3")
    assert not app.exception
    assert "Layer 1, head 3 has symmetric scores: the asymmetry of S is 0, but that of A is" in sentence(app)
    assert "Side B: Layer 1, head 3 scores a pair differently in its two directions" in said(app)
    assert len(messages(app, "matrix")) == 5  # S and A of both sides, and all heads
    (a, b) = messages(app, "matrix")[-1][0]["panels"]
    assert (a["title"], b["title"]) == ("Side A", "Side B")
    _, numbers = messages(app, "matrix")[-1]
    assert_close(numbers[:24], 0, relative=1e-5, scale=1)
    assert numbers[24:].min() > 0.5
    for section in ("All heads", "This head", "Dot or cosine"):
        app = opened("Scores", model=tied, section=section)
        assert not app.exception
        assert "Side B" in said(app)
