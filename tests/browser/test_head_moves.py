"""Zooming into a head and moving what is in sight; several heads in colours."""

from __future__ import annotations

import re

import numpy as np
import pytest

from inspector.components.head import ColouredHead, WholeMap
from inspector.plots import theme
from tests.browser.drawing import N, events, frame, head_message, pixel, point, show, tooltip, weights

SIZE = 60
LABELS = tuple(f"t{position}" for position in range(SIZE))


def window(**changes):
    """60 by 60 of a text of 600 tokens, from query 100 and key 200 on."""
    picture = np.full((30, 30), 9, np.uint8)
    return head_message(weights(SIZE, SIZE), LABELS, first=(100, 200), whole=WholeMap(600, 600, picture), **changes)


def sight(tab):
    return tab.evaluate("() => ['query', 'key', 'rows', 'cols'].map((name) => view.map.viewport[name])")


def press(tab, *keys):
    tab.locator(".hl-head").focus()
    for key in keys:
        tab.keyboard.press(key)
    frame(tab)


def drag(tab, cells_right, cells_down):
    box = tab.locator(".plot").bounding_box()
    cell = tab.evaluate("() => view.map.cellWidth")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    across, down = (cells * cell + 0.5 * np.sign(cells) for cells in (cells_right, cells_down))
    tab.mouse.move(x + across, y + down, steps=3)
    tab.mouse.up()
    frame(tab)


def test_zoomed_in_the_numbers_are_the_same_cells(tab):
    values = weights()
    show(tab, "head", head_message(values))
    press(tab, "+", "+")
    query, key, rows, cols = sight(tab)
    assert rows == cols == 8
    assert query > 0
    point(tab, 2, 5, n=rows)
    said = re.search(r"query (\d+) .* → key (\d+) .* exactly (\S+)", tooltip(tab))
    assert (int(said[1]), int(said[2])) == (query + 2, key + 5)
    assert np.float32(said[3]) == values[query + 2, key + 5]
    drag(tab, 2, -1)
    assert sight(tab) == [query + 1, key - 2, rows, cols]
    assert events(tab) == []  # dragging pins nothing and asks for no window
    press(tab, "Shift+ArrowDown", "Shift+Home")
    assert sight(tab)[:2] == [min(query + 3, N - rows), 0]
    tab.locator(".plot").dblclick()
    assert sight(tab) == [0, 0, N, N]


def test_the_wheel_zooms_where_the_pointer_is(tab):
    show(tab, "head", head_message(weights(SIZE, SIZE), LABELS))
    point(tab, 50, 10, n=SIZE)
    tab.keyboard.down("Control")
    for _ in range(4):
        tab.mouse.wheel(0, -100)
    tab.keyboard.up("Control")
    frame(tab)
    query, key, rows, cols = sight(tab)
    assert rows < 30
    assert query <= 50 < query + rows
    assert key <= 10 < key + cols
    assert abs((50 - query) / rows - 50 / SIZE) < 0.1
    assert tab.locator(".left .label").count() == rows


def test_the_keyboard_brings_what_it_goes_to_into_sight(tab):
    show(tab, "head", head_message())
    press(tab, "+", "+", "+", "Shift+Home", "End")
    _, key, _, cols = sight(tab)
    assert key + cols == N
    assert "key 17 " in tooltip(tab)
    press(tab, "0")
    assert sight(tab) == [0, 0, N, N]


def test_dragging_a_window_asks_for_another(tab):
    show(tab, "head", window())
    asked = "(wanted) => JSON.stringify(events.at(-1)) === JSON.stringify(['pan', wanted])"  # the pointer may pause
    drag(tab, -4, 3)
    tab.wait_for_function(asked, arg={"query": 97, "key": 204})
    drag(tab, 0, 2)
    drag(tab, 0, 1)  # before the window came: both count
    tab.wait_for_function(asked, arg={"query": 94, "key": 204})


def test_the_small_picture_frames_the_window_and_moves_it(tab):
    show(tab, "head", window())
    box, framed = (tab.locator(place).bounding_box() for place in (".minimap canvas", ".viewport"))
    assert (framed["x"] - box["x"]) / box["width"] == pytest.approx(200 / 600, abs=0.02)
    assert (framed["y"] - box["y"]) / box["height"] == pytest.approx(100 / 600, abs=0.02)
    assert framed["width"] / box["width"] == pytest.approx(0.1, abs=0.02)
    tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.99 * box["height"])
    tab.wait_for_function("window.events.length")
    ((name, to),) = events(tab)
    assert (name, to["query"]) == ("pan", 540)  # the last window that there is
    assert abs(to["key"] - 270) <= 7
    show(tab, "head", head_message())
    assert tab.locator(".minimap").is_hidden()


def test_what_is_in_sight_stays_when_the_window_moves(tab):
    show(tab, "head", window())
    press(tab, "+")
    query, key, rows, cols = sight(tab)
    changed = head_message(
        weights(SIZE, SIZE), LABELS, first=(105, 205), whole=WholeMap(600, 600, np.zeros((30, 30), np.uint8))
    )
    show(tab, "head", changed)
    assert sight(tab) == [query - 5, key - 5, rows, cols]


def test_several_heads_have_a_colour_and_a_number_each(tab):
    maps = [weights(seed=head) for head in (3, 7)]
    mean = np.mean(maps, axis=0, dtype=np.float64).astype(np.float32)
    parts = [ColouredHead(f"head {head}", values) for head, values in zip((3, 7), maps, strict=True)]
    show(tab, "head", head_message(mean, parts=parts, quantity="mean weight"))
    assert tab.locator(".legend > span").all_inner_texts() == ["head 3", "head 7"]
    point(tab, 4, 1)
    said = tooltip(tab)
    assert f"exactly {mean[4, 1]!s}" in said
    told = re.search(r"head 3 (\S+) head 7 (\S+)", said).groups()
    assert [float(one) for one in told] == pytest.approx([one[4, 1] for one in maps], rel=5e-3)
    swatch = tab.locator(".swatch").first.evaluate("(one) => getComputedStyle(one).backgroundColor")
    assert swatch == f"rgb({', '.join(str(int(theme.HEADS['light'][0][i : i + 2], 16)) for i in (1, 3, 5))})"
    assert pixel(tab, ".cells", 2, 2) != [0, 0, 0]
