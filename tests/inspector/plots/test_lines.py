"""Lines for a slide: a line for each weight, thicker with it, the named one framed, its tokens in bold."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.plots import lines, theme
from inspector.plots.scene import Line, Scene, Text

TOKENS = ["the", "cat", "sat"]
WEIGHTS = np.array([[0.0, 0.9, 0.1], [0.5, 0.001, 0.5], [1.0, 0.0, 0.0]], np.float32)


def slide(**changes) -> Scene:
    return lines.slide(WEIGHTS, **{"queries": TOKENS, "keys": TOKENS, "title": "Layer 1, head 2", **changes})


def ends(scene: Scene) -> dict[tuple[float, float], list[Line]]:
    """The lines by the heights of their ends."""
    drawn: dict[tuple[float, float], list[Line]] = {}
    for mark in scene.marks:
        if isinstance(mark, Line):
            drawn.setdefault((mark.y, mark.to_y), []).append(mark)
    return drawn


def test_each_weight_that_can_be_seen_is_a_line_from_its_query_to_its_key() -> None:
    scene = slide()
    heights = {
        (name, mark.anchor): mark.y - 0.35 * mark.size
        for mark in scene.marks
        if isinstance(mark, Text) and (name := mark.text) in TOKENS
    }
    expected = {
        (heights[TOKENS[query], "end"], heights[TOKENS[key], "start"]): WEIGHTS[query, key]
        for query, key in np.argwhere(WEIGHTS > 0.01)
    }
    drawn = ends(scene)
    assert {tuple(round(end, 3) for end in pair) for pair in drawn} == {
        tuple(round(end, 3) for end in pair) for pair in expected
    }
    by_weight = sorted(zip(expected.values(), (drawn[near(pair, drawn)][0].weight for pair in expected), strict=True))
    assert [weight for _, weight in by_weight] == sorted(weight for _, weight in by_weight)
    assert all(len(alike) == 1 for alike in drawn.values())


def near(pair: tuple[float, float], drawn: dict[tuple[float, float], list[Line]]) -> tuple[float, float]:
    return min(drawn, key=lambda other: abs(other[0] - pair[0]) + abs(other[1] - pair[1]))


def test_the_named_cell_is_framed_and_its_tokens_are_bold_below_the_sentence() -> None:
    scene = slide(named=(2, 0), caption="Layer 1, head 2: ‘sat’ gives all of its attention to ‘the’.")
    framed = [alike for alike in ends(scene).values() if len(alike) == 3]
    assert [[line.colour for line in alike][:2] for alike in framed] == [
        [theme.TEXT["light"], theme.BACKGROUND["light"]]
    ]
    texts = [mark for mark in scene.marks if isinstance(mark, Text)]
    assert {mark.text for mark in texts if mark.bold} == {"Layer 1, head 2", "sat", "the"}
    assert [mark.text for mark in texts][1] == "Layer 1, head 2: ‘sat’ gives all of its attention to ‘the’."
    assert all(mark.y < scene.height for mark in texts)


def test_tokens_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        slide(keys=TOKENS[:2])
