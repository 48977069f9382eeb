"""An old link opens the place where its content stands now, with the same model, text, head and numbers."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from inspector.sections import moved
from tests.inspector.views.page import message, opened, said

CARRIED = {"model": "mini-gpt", "text": "He said that the old man was the first.", "layer": "1", "head": "3"}
SHOWN = {  # of each move, by what its link says: the page's title, and words of the section that opens
    "told": ("Scores", "Var(q · k) is "),
    "Every head": ("Scores", "Var(q · k) is "),
    "One head": ("Scores", "Layer 1, head 3: the scale 1/√d_k takes"),
    "Importance": ("What if", "Leaving out `"),
    "One token changed": ("Tokens", "no token before it moves, for the mask is causal"),
    "Long texts": ("Tokens", "with full attention's, and drop none."),
    "The curves": ("Positions", "How far queries and keys are turned"),  # mini-GPT adds no table
}


def followed(move: moved.Move) -> tuple[str, AppTest]:
    old = {name: value for name, value in move.given.items() if value not in (moved.ANY, moved.NONE)}
    measure = {name: "Entropy" for name, value in move.given.items() if value == moved.ANY}
    titles = {"scores": "Scores", "positions": "Positions", "tokens": "Tokens", "batch": "Batch"}
    return old.get("section", "told"), opened(titles[move.page], **CARRIED, **old, **measure)


@pytest.mark.parametrize("move", moved.MOVES)
def test_an_old_link_opens_what_it_named(move: moved.Move) -> None:
    section, app = followed(move)
    title, words = SHOWN[section]
    assert not app.exception
    assert app.title[0].value == title
    assert words in said(app)
    assert "The link asks for" not in said(app)
    assert {name: app.query_params[name] for name in CARRIED} == CARRIED
    assert move.now.items() <= {name: app.query_params[name] for name in app.query_params}.items()


def test_a_measure_without_a_section_is_drawn_of_all_heads() -> None:
    assert message(opened("Scores", measure="Entropy"), "matrix")[0]["quantity"] == "Entropy"
