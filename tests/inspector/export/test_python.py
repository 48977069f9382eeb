"""The Python lines of a view are run, and give the page's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import inspector
import models
from inspector import flow, maps
from inspector.export import python
from models import LoadedModel
from tests.closeness import assert_close

HOSTILE = 'It\'s "quoted" \\ and\n"""tripled""" __import__("os") antidisestablishmentarian'


def run(lines: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    exec(lines, scope)
    return scope


@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"hide_special": True},
        {"merge_words": True},
        {"hide_special": True, "merge_words": True, "renormalise": True},
    ],
)
def test_the_lines_give_the_weights_of_the_page(minilm: LoadedModel, switches: dict[str, bool]) -> None:
    trace = inspector.record(minilm, HOSTILE, text_pair="a second text")
    shown = maps.arrange(trace, **switches)
    seen = shown.apply(trace.attention(layer=2, head=5))
    scope = run(python.lines(trace, shown, layer=2, head=5, stream="encoder"))
    np.testing.assert_array_equal(scope["weights"], seen)


def test_a_window_of_a_long_text(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, "one two three four five " * 60)
    shown = maps.arrange(trace, hide_special=True)
    window = slice(100, 140), slice(20, 90)
    scope = run(python.lines(trace, shown, layer=1, head=3, stream="encoder", window=window))
    np.testing.assert_array_equal(scope["weights"], shown.apply(trace.attention(layer=1, head=3))[window])


def test_cross_attention_with_a_target() -> None:
    loaded = models.load("translator")
    trace = inspector.record(loaded, "I love cats.", target="我喜欢猫。")
    shown = maps.arrange(trace, stream="cross")
    scope = run(python.lines(trace, shown, layer=1, head=0, stream="cross"))
    assert_close(scope["weights"], trace.attention(layer=1, head=0, stream="cross"), relative=1e-6)


def test_a_rollout(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, HOSTILE)
    scope = run(python.rollout(trace, token=3, stream="encoder"))
    np.testing.assert_array_equal(scope["shares"], flow.rollout(trace, token=3, stream="encoder"))


def test_a_cell_rebuilt_by_the_lines_is_that_of_the_page(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, HOSTILE, text_pair="a second text")
    cell = inspector.explain.why(trace, layer=2, head=5, query=3, key=4)
    scope = run(python.cell(trace, cell))
    assert scope["cell"].steps == cell.steps
