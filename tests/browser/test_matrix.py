"""A matrix in a real Chromium: its pixels, its names of cells, pins, keyboard, and twins that line up."""

from __future__ import annotations

import re

import numpy as np
import pytest

from inspector.components.matrix import MatrixMessage, Panel
from inspector.plots import theme
from tests.browser.drawing import HOSTILE, events, frame, pixel, show
from tests.closeness import assert_close

ROWS, COLUMNS = ("⊢", "7", "<b>x</b>", "because"), ("⊢", "3", "9", "⊣", "a")


def message(*values: np.ndarray, **changes) -> bytes:
    panels = [Panel(one, rows=ROWS, columns=COLUMNS, title=f"map {at}") for at, one in enumerate(values)]
    return MatrixMessage(panels, row_title="query", column_title="key", **changes).to_bytes()


def numbers(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((4, 5)).astype(np.float32)


def colour(value: float, stops: tuple[str, ...], low: float, high: float) -> np.ndarray:
    """The colour of a value on evenly spaced stops, by numpy's own interpolation."""
    channels = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in stops])
    places = np.linspace(low, high, len(stops))
    return np.array([np.interp(value, places, channels[:, channel]) for channel in range(3)])


@pytest.mark.parametrize("diverging", [False, True])
def test_pixels_are_the_values_on_the_scale(tab, diverging):
    values = numbers(0) - (0.5 if diverging else 0)
    values[0, 0], values[3, 4] = 0, np.nan
    top = float(np.nanmax(np.abs(values)))
    show(tab, "matrix", message(values, diverging=diverging))
    size = tab.locator(".cells").evaluate("(canvas) => [canvas.width, canvas.height]")
    stops = (theme.DIVERGING if diverging else theme.SEQUENTIAL)["light"]
    for row, column in ((0, 0), (0, 1), (1, 3), (2, 2), (3, 0)):
        place = [int((column + 0.5) * size[0] / 5), int((row + 0.5) * size[1] / 4)]
        expected = colour(float(values[row, column]), stops, -top if diverging else 0, top)
        assert_close(pixel(tab, ".cells", *place), expected, relative=2 / 255, scale=255)
    assert pixel(tab, ".cells", 2, 2) == [255, 255, 255]  # zero is the page's background


def test_a_cell_is_named_kept_and_left_by_pointer_and_keyboard(tab):
    values = numbers(1)
    show(tab, "matrix", message(values, picks=True))
    box = tab.locator(".plot").bounding_box()
    tab.mouse.click(box["x"] + 2.5 / 5 * box["width"], box["y"] + 2.5 / 4 * box["height"])
    frame(tab)
    name = "query 2 ‘<b>x</b>’ → key 2 ‘9’"
    told = tab.locator(".tip").inner_text().splitlines()
    assert told[0] == name
    assert told[1] == f"weight {values[2, 2]:#.3g}"
    kept = tab.locator(".kept").inner_text().splitlines()
    assert kept[0] == name
    assert np.float32(kept[1].rpartition("exactly ")[2]) == values[2, 2]
    assert events(tab) == [["pick", {"panel": 0, "row": 2, "column": 2}]]
    tab.mouse.move(0, 0)
    assert tab.locator(".kept").inner_text().startswith(name)  # a pin stays when the pointer leaves

    tab.locator(".hl-matrix").focus()
    for key in ("ArrowDown", "End", "Enter"):
        tab.keyboard.press(key)
    assert tab.locator(".kept").inner_text().startswith("query 3 ‘because’ → key 4 ‘a’")
    tab.keyboard.press("Escape")
    assert tab.locator(".kept").inner_text() == ""


def test_kinds_of_cells_are_named_and_listed_beside_their_colours(tab):
    values = np.array([[0, 1, 2, 0, 1]] * 4, dtype=np.float32)
    kinds = ("not seen", "near", "global")
    show(tab, "matrix", message(values, kinds=kinds))
    assert tab.locator(".swatch").all_inner_texts() == list(kinds)
    assert not tab.locator(".caption").is_visible()
    stops = theme.SEQUENTIAL["light"]
    for at in range(3):
        shown = tab.locator(".swatch .colour").nth(at).evaluate("(box) => getComputedStyle(box).backgroundColor")
        channels = [int(channel) for channel in re.findall(r"\d+", shown)]
        assert_close(channels, colour(at, stops, 0, 2), relative=2 / 255, scale=255)
    box = tab.locator(".plot").bounding_box()
    tab.mouse.click(box["x"] + 2.5 / 5 * box["width"], box["y"] + 0.5 / 4 * box["height"])
    frame(tab)
    assert tab.locator(".kept").inner_text().splitlines()[1] == "weight global"


def test_twins_have_one_size_one_height_and_one_cursor(tab):
    before, after = numbers(2), numbers(3)
    left = Panel(before, rows=("a", "because", "c", "d"), columns=COLUMNS, title="before")
    right = Panel(after, rows=("a", "[MASK]", "c", "d"), columns=HOSTILE[:5], title="after")
    show(tab, "matrix", MatrixMessage((left, right), row_title="query", column_title="key").to_bytes())
    boxes = [tab.locator(".plot").nth(at).bounding_box() for at in (0, 1)]
    assert [boxes[0][side] for side in ("y", "width", "height")] == [
        boxes[1][side] for side in ("y", "width", "height")
    ]
    panels = [tab.locator(".panel").nth(at).bounding_box() for at in (0, 1)]
    assert boxes[0]["x"] - panels[0]["x"] == boxes[1]["x"] - panels[1]["x"]
    tab.locator(".hl-matrix").focus()
    for key in ("ArrowRight", "End", "ArrowDown"):
        tab.keyboard.press(key)
    told = tab.locator(".tip").inner_text().splitlines()
    assert told[0] == "query 1 ‘because’ → key 4 ‘a’"
    assert told[1:] == [f"before: {before[1, 4]:#.3g}", f"after: {after[1, 4]:#.3g}"]
    tab.keyboard.press("ArrowRight")  # over the edge: the twin
    assert tab.locator(".tip").inner_text().startswith("query 1 ‘[MASK]’ → key 0")


def test_marks_stand_upright_and_a_phone_needs_no_scrolling(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    tokens = ("⊢", "because", "of", "⊣", *"0123456789")
    values = np.eye(len(tokens))
    panel = Panel(values, rows=tokens, columns=tokens)
    show(tab, "matrix", MatrixMessage((panel, panel), row_title="query", column_title="key").to_bytes())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    classes = "(labels) => labels.map((label) => [label.textContent, label.className])"
    turned = {text for text, name in tab.locator(".top .label").evaluate_all(classes) if name != "label"}
    assert turned == {"because", "of"}


def test_a_token_that_stands_more_than_once_says_which_of_its_like_it_is(tab):
    tokens = ("the", "cat", "and", "the", "dog")
    panel = Panel(np.eye(5, dtype=np.float32), rows=tokens, columns=tokens)
    show(tab, "matrix", MatrixMessage((panel,), row_title="query", column_title="key").to_bytes())
    for edge in (".left .label", ".top .label"):
        assert tab.locator(edge).all_inner_texts() == ["the 1st", "cat", "and", "the 2nd", "dog"]
        cut = "(labels) => labels.some((label) => label.scrollWidth > label.clientWidth)"
        assert not tab.locator(edge).evaluate_all(cut)
