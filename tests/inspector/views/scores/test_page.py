"""The page Scores: its sections on models of each shape, and the open head that it shares with the page Attention."""

from __future__ import annotations

import pytest

from tests.inspector.views.page import message, opened, said, turned

SECTIONS = ("Every head", "Theory")


@pytest.mark.parametrize("model", ["minilm", "mini-gpt", "translator"])
def test_every_section_shows_its_picture(model: str) -> None:
    for section in SECTIONS:
        app = opened("Scores", model=model, section=section, layer="1", head="3")
        assert not app.exception
        assert not app.warning
        assert "Cannot be shown" not in said(app)
        assert app.header, section
        assert app.get("bidi_component") or app.get("plotly_chart"), section


def test_the_measure_of_the_link_is_drawn_for_every_head() -> None:
    app = opened("Scores", measure="Saturated rows")
    header, values = message(app, "matrix")
    assert header["quantity"] == "Saturated rows"
    assert values.shape == (72,)
    assert values[2] == 1  # layer 0, head 2 gives one key over 0.9 in every row
    assert "Layer 0, head 2 is the fullest: 100 % of its rows" in app.header[0].value
    app = turned(app, "Attention")
    assert not app.exception


def test_theory_draws_again_for_other_keys_and_fills_in_the_example() -> None:
    app = opened("Scores", section="Theory")
    assert "up to d_k near 6" in app.header[0].value
    assert "Your heads have d_k = 32" in app.header[0].value
    app = opened("Scores", section="Theory", theory_keys="2")
    assert "moves less without the scale at every width" in app.header[0].value
    app.number_input(key="example_width").set_value(100).run()
    assert not app.exception
    assert "±10.0 is 1.00 σ" in said(app)
