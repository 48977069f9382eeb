"""An old link opens the place where its content stands now, with the same model, text, head and numbers."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from inspector.sections import moved
from inspector.sections.registry import PAGES
from tests.inspector.views.page import message, opened, said

CARRIED = {"model": "mini-gpt", "text": "He said that the old man was the first.", "layer": "1", "head": "3"}
VALUES = {"measure": "Entropy", "beams": "3", "flops_of": "each step", "cache_counted": "true", "log_steps": "true"}
"""The values of an old link where a move takes any value."""
SHOWN = {  # of each move, by the place that opens: the page's title, and words that stand there
    "All heads": ("Scores", "Var(q · k) is "),
    "This head": ("Scores", "Layer 1, head 3: the scale 1/√d_k takes"),
    "Leave each out": ("What if", "Leaving out `"),
    "Beam search": ("Generate", "Beam search as a tree"),
    "KV cache": ("Generate", "Bytes in the cache after each step"),
    "Loss": ("Training", "Loss, accuracy and gradient by step"),
    "The table": ("Positions", "How far queries and keys are turned"),  # mini-GPT adds no table
    "One token changed": ("Tokens", "no token before it moves, for the mask is causal"),
    "Ways to read a long text": ("Tokens", "with full attention's, and drop none."),
    "usual": ("Atlas", "On texts"),
    "strongest": ("Atlas", "On texts"),
    "pairs": ("Atlas", "On texts"),
}


def followed(move: moved.Move) -> AppTest:
    given = {name: VALUES[name] if value == moved.ANY else value for name, value in move.given.items()}
    old = {name: value for name, value in given.items() if value != moved.NONE}
    return opened(PAGES[move.page].title, **CARRIED, **old)


@pytest.mark.parametrize("move", moved.MOVES, ids=[", ".join(move.now.values()) for move in moved.MOVES])
def test_an_old_link_opens_what_it_named(move: moved.Move) -> None:
    app = followed(move)
    (place,) = move.now.values()
    title, words = SHOWN[place]
    assert not app.exception
    assert app.title[0].value == title
    assert words in said(app)
    assert "The link asks for" not in said(app)
    assert {name: app.query_params[name] for name in CARRIED} == CARRIED
    (name,) = move.now
    assert place == (app.query_params[name] if name in app.query_params else app.session_state[name])


def test_a_measure_without_a_section_is_drawn_of_all_heads() -> None:
    assert message(opened("Scores", measure="Entropy"), "matrix")[0]["quantity"] == "Entropy"
