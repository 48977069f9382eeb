"""The page Scores: its sections on models of each shape, and the open head that it shares with the page Attention."""

from __future__ import annotations

import pytest

from tests.inspector.views.page import message, opened, said, turned

SECTIONS = ("Every head",)


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
