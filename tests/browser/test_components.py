"""The grid and the head in a real Chromium: what they show, what they report, what they let a token do (nothing)."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from inspector.components import standalone
from inspector.components.grid import Options, Roles, grid_bytes
from inspector.components.head import every
from inspector.components.matrix import MatrixMessage, Panel
from inspector.components.pack import quantise
from inspector.plots import theme
from tests.browser.drawing import (
    TOKENS,
    N,
    events,
    frame,
    head_message,
    head_values,
    pixel,
    point,
    show,
    tooltip,
    weights,
)


def grid_message(scale="linear", selected=(1, 2), layers=3, heads=4):
    maps = np.stack([[weights(seed=10 * layer + head) for head in range(heads)] for layer in range(layers)])
    pictures = quantise(maps)
    notes = [[f"entropy {layer}.{head} nats" for head in range(heads)] for layer in range(layers)]
    return grid_bytes(pictures, tokens=N, selected=selected, notes=notes, scale=scale)


@pytest.mark.parametrize("component", ["grid", "head", "matrix"])
def test_a_place_narrower_than_the_labels_is_drawn_in(tab, component):
    """While a page is laid out a place can be a few pixels wide; `tab` fails on any error."""
    matrix = MatrixMessage((Panel(weights(), rows=TOKENS, columns=TOKENS),), row_title="query", column_title="key")
    messages = {"grid": grid_message, "head": head_message, "matrix": matrix.to_bytes}
    show(tab, component, messages[component]())
    for width in (*range(1, 240, 7), 800):
        tab.locator("#root").evaluate("(root, width) => { root.style.width = `${width}px`; }", width)
        frame(tab)
        assert tab.locator("canvas").first.evaluate("(canvas) => canvas.width * canvas.height") > 0


# ---- grid -----------------------------------------------------------------------------------------------------------


def test_grid_names_every_head(tab):
    show(tab, "grid", grid_message())
    assert tab.get_by_role("grid").count() == 1
    assert tab.get_by_role("gridcell").count() == 12
    assert tab.get_by_role("gridcell", name="layer 2, head 3, entropy 2.3 nats").count() == 1
    assert tab.get_by_role("rowheader").all_inner_texts() == ["layer 0", "layer 1", "layer 2"]
    assert tab.get_by_role("columnheader", name="head 3").count() == 1
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 1, head 2")
    assert events(tab) == []


def test_a_click_shows_at_once_and_reports(tab):
    show(tab, "grid", grid_message())
    tab.get_by_role("gridcell", name="layer 2, head 0").click()
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 2, head 0")
    assert events(tab) == [["open", {"layer": 2, "head": 0}]]
    show(tab, "grid", grid_message())  # an answer from before the click leaves the frame where it is
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 2, head 0")
    show(tab, "grid", grid_message(selected=(2, 0)))
    show(tab, "grid", grid_message(selected=(0, 3)))  # answered; from here on the host decides
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 0, head 3")
    assert tab.locator(".hl-grid").count() == 1


def test_a_head_of_another_pages_larger_model_is_not_followed(tab):
    show(tab, "grid", grid_message(selected=(1, 2)))
    tab.evaluate("() => window.view.follow([5, 11])")
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 1, head 2")
    tab.evaluate("() => window.view.follow([2, 1])")
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 2, head 1")


def test_grid_by_keyboard(tab):
    show(tab, "grid", grid_message())
    tab.locator("#text").focus()
    tab.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label').slice(0, 15)"
    assert tab.evaluate(focused) == "layer 1, head 2"
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Home", "ArrowUp"):
        tab.keyboard.press(key)
    assert tab.evaluate(focused) == "layer 1, head 0"
    assert tab.locator(".preview").inner_text().splitlines() == ["layer 1, head 0", "entropy 1.0 nats"]
    for key in ("Enter", "End", " ", "]", "PageUp", "["):
        tab.keyboard.press(key)
    places = [(value["layer"], value["head"]) for name, value in events(tab) if name == "open"]
    assert places == [(1, 0), (1, 3), (2, 0), (1, 3), (1, 2)]


def test_grid_rows_of_different_lengths(tab):
    pictures = np.zeros((3, 4, 2, 2), np.uint8)
    entropy = [[None] * 4, [0.2, 0.1, None, None], [None] * 4]
    message = grid_bytes(pictures, tokens=2, widths=[4, 2, 3], selected=(0, 3), measures={"entropy": entropy})
    show(tab, "grid", message)
    cells = tab.get_by_role("gridcell")
    assert cells.count() == 9
    tab.locator("#text").focus()
    tab.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    walked = []
    for pressed in ("ArrowDown", "ArrowRight", "ArrowDown", "End", "ArrowUp", "ArrowUp"):
        tab.keyboard.press(pressed)
        walked.append(tab.evaluate(focused))
    places = [(1, 1), (1, 1), (2, 1), (2, 2), (1, 1), (0, 1)]
    assert walked == [f"layer {layer}, head {head}" for layer, head in places]
    for pressed in ("End", "Enter", "]", "]", "]", "["):
        tab.keyboard.press(pressed)
    opened = [(value["layer"], value["head"]) for name, value in events(tab) if name == "open"]
    assert opened == [(0, 3), (1, 0), (1, 1), (2, 0), (1, 1)]
    tab.evaluate("() => window.view.follow([1, 3])")  # a place without a head
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label") == "layer 1, head 1"
    tab.get_by_role("combobox").select_option("entropy")
    order = cells.evaluate_all("(cells) => cells.map((cell) => cell.dataset.tag)")
    assert order == ["1.0", "1.1", "0.0", "0.1", "0.2", "0.3", "2.0", "2.1", "2.2"]


def test_grid_draws_signed_pictures_with_zero_as_the_page(tab):
    pictures = np.array([0, 128, 255], np.uint8).reshape(1, 3, 1, 1)
    colours = {mode: ["#ff0000", "#123456", "#0000ff"] for mode in ("light", "dark")}
    show(tab, "grid", grid_bytes(pictures, tokens=1, colours=colours, diverging=True, scale="sqrt"))
    drawn = tab.locator("canvas").first.evaluate(
        """(canvas) => {
          const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1);
          return [2, Math.round(width / 2), width - 3].map((x) => [...data.slice(4 * x, 4 * x + 3)]);
        }"""
    )
    assert drawn[0] == [255, 0, 0]
    assert min(drawn[1]) > 245  # 128 of 255 is half a step over zero
    assert drawn[2] == [0, 0, 255]


def test_grid_sorts_by_a_measure_and_shows_some_heads_alone(tab):
    names = [["broad", "other", "other", "next"], ["other", "next", "other", "other"], ["other"] * 4]
    look = {"colours": {"light": ["#ffffff", "#0000ff"], "dark": ["#000000", "#0000ff"]}}
    frames = {"broad": "#808080", "next": "#00ff00"}
    does = {"next": ("looks ahead", "look ahead"), "broad": ("spreads out", "spread out")}
    roles = Roles(names, {"next": "over 0.5", "broad": "high"}, does, {"light": frames, "dark": frames})
    entropy = [[0.1, 0.2, 0.3, 0.4], [0.5, None, 0.7, 0.8], [1.2, 1.1, 1.0, 0.9]]
    pictures = np.zeros((3, 4, 2, 2), np.uint8)
    message = grid_bytes(pictures, tokens=2, measures={"entropy": entropy}, roles=roles, **look)
    show(tab, "grid", message)
    cells = tab.get_by_role("gridcell")
    order = "(cells) => cells.map((cell) => cell.dataset.tag)"
    assert cells.evaluate_all(order)[:5] == ["0.0", "0.1", "0.2", "0.3", "1.0"]
    tab.get_by_role("combobox").select_option("entropy")
    ranked = ["2.0", "2.1", "2.2", "2.3", "1.3", "1.2", "1.0", "0.3", "0.2", "0.1", "0.0", "1.1"]
    assert cells.evaluate_all(order) == ranked  # the one without a value last
    assert events(tab)[-1] == ["options", {"sort": "entropy", "rising": False, "only": []}]
    tab.get_by_role("button", name="largest first").click()
    assert cells.evaluate_all(order)[:3] == ["0.0", "0.1", "0.2"]
    assert cells.evaluate_all(order)[-1] == "1.1"
    tab.get_by_role("gridcell", name="layer 0, head 1").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert events(tab)[-1] == ["open", {"layer": 0, "head": 2}]  # the next in this order

    chip = tab.get_by_role("button", name="2 look ahead")
    assert chip.get_attribute("title") == "over 0.5"
    assert tab.locator(".chip").evaluate_all("all => all.map((chip) => chip.tabIndex)") == [0, -1]
    tab.locator(".chip").first.focus()  # one stop of Tab for all chips, and arrow keys within
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("button", name="spreads out")).to_be_focused()
    tab.keyboard.press("ArrowLeft")
    expect(chip).to_be_focused()
    tab.keyboard.press("Enter")
    dimmed = "(cells) => cells.filter((cell) => !cell.classList.contains('dim')).map((cell) => cell.dataset.tag)"
    assert sorted(cells.evaluate_all(dimmed)) == ["0.3", "1.1"]
    show(tab, "grid", message)  # the host sends the same again: what was chosen here stays
    assert sorted(cells.evaluate_all(dimmed)) == ["0.3", "1.1"]
    tab.get_by_role("button", name="show all").click()
    assert len(cells.evaluate_all(dimmed)) == 12
    options = Options("entropy", only=("broad",))
    show(
        tab,
        "grid",
        grid_bytes(pictures, tokens=2, measures={"entropy": entropy}, roles=roles, options=options, **look),
    )
    assert cells.evaluate_all(dimmed) == ["0.0"]
    assert cells.evaluate_all(order)[0] == "2.0"


@pytest.mark.parametrize("width", [358, 420, 900, 1240])
def test_twelve_heads_fit_any_width(tab, width):
    tab.set_viewport_size({"width": width + 40, "height": 1200})
    show(tab, "grid", grid_message(layers=6, heads=12))
    assert tab.evaluate("document.documentElement.scrollWidth") <= width + 40
    right = tab.get_by_role("gridcell").last.evaluate("(cell) => cell.getBoundingClientRect().right")
    assert 0.8 * width <= right - 20 <= width


@pytest.mark.parametrize("scale", ["linear", "sqrt"])
def test_grid_pixels_are_the_weights_on_the_scale(tab, scale):
    maps = np.zeros((1, 1, 2, 2), np.float32)
    maps[0, 0] = [[1, 0], [0.25, 0.75]]
    pictures = quantise(maps)
    colours = dict.fromkeys(("light", "dark"), ("#ff0000", "#0000c8"))  # zero gives way to the page's background
    show(tab, "grid", grid_bytes(pictures, tokens=2, colours=colours, scale=scale))
    size = tab.locator(".hl-grid .field canvas").evaluate("(canvas) => canvas.width")
    corners = [pixel(tab, ".hl-grid .field canvas", x, y) for y in (1, size - 2) for x in (1, size - 2)]
    part = np.sqrt([1, 0, 0.25, 0.75]) if scale == "sqrt" else np.array([1, 0, 0.25, 0.75])
    expected = np.outer(1 - part, [255, 255, 255]) + np.outer(part, [0, 0, 200])
    assert np.abs(corners - expected).max() <= 2


# ---- head -----------------------------------------------------------------------------------------------------------


def test_the_tooltip_tells_the_value(tab):
    values = weights()
    show(tab, "head", head_message(values))
    for query, key in np.random.default_rng(1).integers(0, N, (12, 2)):
        point(tab, query, key)
        found = re.search(
            r"query (\d+) .* → key (\d+) .* weight (\S+), rank (\d+) of (\d+) in its row exactly (\S+)", tooltip(tab)
        )
        assert (int(found[1]), int(found[2])) == (query, key)
        assert float(found[3]) == pytest.approx(values[query, key], rel=5e-3)
        assert np.float32(found[6]) == values[query, key]
        assert int(found[4]) == 1 + np.sum(values[query] > values[query, key])
        assert int(found[5]) == N
        assert tab.locator(".live").text_content() == tab.locator(".tip").text_content()


def test_a_long_text_is_exact_and_draws_only_what_is_in_sight(tab):
    n = 512
    values = weights(n, n)
    show(tab, "head", head_message(values, tokens=[f"t{i}" for i in range(n)]))
    assert re.fullmatch(r"the \d+ strongest of 262,144 lines", tab.locator(".note").inner_text())
    box = tab.locator(".plot").bounding_box()
    for x, y in ((0.11, 0.92), (0.5, 0.5), (0.98, 0.03)):
        tab.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
        frame(tab)
        query, key, value = re.search(r"query (\d+) .* → key (\d+) .* exactly (\S+)", tooltip(tab)).groups()
        assert abs(int(query) - y * n) <= 2
        assert abs(int(key) - x * n) <= 2
        assert np.float32(value) == values[int(query), int(key)]
    assert tab.locator(".item").count() < 100  # of 1024: only what is in sight


def test_lines_of_a_long_text_are_the_strongest(tab):
    n = 39
    values = weights(n, n)
    tab.set_viewport_size({"width": 700, "height": 1000})
    show(tab, "head", head_message(values, tokens=[f"t{i}" for i in range(n)], compact=True))

    def shown(side):
        tokens = tab.locator(f".item.{side}:visible").evaluate_all(
            "(all) => all.map((one) => one.firstChild.innerText)"
        )
        return [int(token.removeprefix("t")) for token in tokens]

    drawn = int(re.fullmatch(r"the (\d+) strongest of 1,521 lines", tab.locator(".note").inner_text())[1])
    queries, keys = shown("query"), shown("key")
    assert 15 < max(len(queries), len(keys)) < n  # as many as fit, in the text's order
    assert (queries, keys) == (sorted(queries), sorted(keys))
    for place in np.argsort(-values, axis=None)[:drawn]:
        query, key = divmod(int(place), n)
        assert query in queries
        assert key in keys
    frames = tab.locator(".sheet").evaluate("(sheet) => [sheet.scrollHeight, sheet.clientHeight]")
    assert frames[0] == frames[1]  # nothing is cut, nothing scrolls

    absent = next(query for query in range(n) if query not in queries)
    point(tab, absent, 5, n=n)  # in the map
    assert absent in shown("query")
    strongest = np.argsort(-values[absent])[:12]
    assert {*map(int, strongest)} <= {*shown("key")}
    tab.mouse.move(1, 1)
    frame(tab)
    assert shown("query") == queries
    first = tab.locator(".item.query:visible").first
    first.locator(".label").hover()  # in the lines: the pointer's side stays, the other holds its strongest keys
    frame(tab)
    assert shown("query") == queries
    assert {*map(int, np.argsort(-values[queries[0]])[:12])} <= {*shown("key")}
    assert re.fullmatch(r"the \d+ strongest of 39 keys of this query", tab.locator(".note").inner_text())


def test_lines_show_what_a_query_looks_at_and_who_looks_at_a_key(tab):
    values = weights()
    show(tab, "head", head_message(values))

    def printed(side):
        items = tab.locator(f".item.{side}").evaluate_all("(all) => all.map((one) => one.lastChild.textContent)")
        return {row: float(text) for row, text in enumerate(items) if text}

    def expected(entries):
        strongest = np.argsort(-entries)[:5]
        return {int(i): pytest.approx(float(entries[i]), rel=6e-3) for i in strongest if entries[i] >= 0.05}

    tab.locator(".item.query .label").nth(2).hover()
    frame(tab)
    assert printed("key") == expected(values[2])
    assert tab.locator(".left .label.on").get_attribute("data-index") == "2"
    tab.locator(".item.key .label").nth(3).hover()
    frame(tab)
    assert printed("query") == expected(values[:, 3])
    assert tab.locator(".top .label.on").get_attribute("data-index") == "3"
    tab.locator(".top .label").nth(1).hover()
    frame(tab)
    assert tab.locator(".item.key.on").inner_text() == "the"


def test_clicks_pin_and_the_pins_outlive_the_next_head(tab):
    pinned = tab.locator(".item.chosen")
    show(tab, "head", head_message())
    point(tab, 3, 5, act="click")
    point(tab, 1, 4, act="click")
    tab.mouse.move(5, 5)
    frame(tab)
    assert events(tab) == [["choose", {"queries": [3]}], ["choose", {"queries": [1, 3]}]]
    assert pinned.all_inner_texts() == ["the", "sat"]
    assert tab.locator(".pinned:visible").count() == 2
    show(tab, "head", head_message(weights(seed=4)))
    assert pinned.all_inner_texts() == ["the", "sat"]
    show(tab, "head", head_message(chosen=[2, 1]))
    assert pinned.all_inner_texts() == ["the", "cat"]
    tab.locator(".item.query .label").nth(1).click()
    assert pinned.all_inner_texts() == ["cat"]
    tab.locator(".hl-head").focus()
    tab.keyboard.press("Escape")
    assert pinned.count() == 0
    assert events(tab)[2:] == [["choose", {"queries": [2]}], ["choose", {"queries": []}]]


def test_head_by_keyboard(tab):
    values = weights()
    show(tab, "head", head_message(values))
    tab.locator("#text").focus()
    tab.keyboard.press(".")
    show(tab, "head", head_message(values))
    assert tab.evaluate("document.activeElement.id") == "text"
    assert events(tab) == []
    tab.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        tab.keyboard.press(key)
    frame(tab)
    assert "query 1 ‘the’ → key 2 ‘cat’ weight " in tooltip(tab)
    assert f"exactly {values[1, 2]!s}" in tooltip(tab)
    for key in ("Enter", ",", ".", "[", "]", "Escape"):
        tab.keyboard.press(key)
    steps = [["step", -1], ["step", 1], ["step", -1], ["step", 1]]
    assert events(tab) == [["choose", {"queries": [1]}], *steps, ["choose", {"queries": []}]]


@pytest.mark.parametrize("width", [358, 900])
def test_hostile_tokens_are_text(tab, width):
    tab.set_viewport_size({"width": width + 40, "height": 1200})
    show(tab, "head", head_message(title="<b>title</b>"))
    for index in range(N):
        point(tab, index, index)
    assert tab.locator("#root :is(img, b, script, a, code)").count() == 0
    assert tab.locator(".head-title").inner_text() == "<b>title</b>"
    labels = tab.locator(".left .label").evaluate_all("(all) => all.map((one) => one.textContent)")
    shown = {"": "(empty)", "\u202eevil": "U+202Eevil", "a\u200bb": "aU+200Bb", "\n": "↵"}
    assert labels == [shown.get(token, token) for token in TOKENS]
    assert tab.locator(".left .label .mark", has_text="##").count() == 1
    assert tab.evaluate("document.documentElement.scrollWidth") <= width + 40


def test_masked_cells_and_differences(tab):
    values = weights() - weights(seed=2)
    values[np.triu_indices_from(values, 1)] = np.nan
    look = {"diverging": True, "vmax": 0.5}
    show(tab, "head", head_message(values, quantity="difference of weights", **look))
    point(tab, 2, 9)
    assert tooltip(tab) == "query 2 ‘cat’ → key 9 ‘’ difference of weights: masked".replace("‘’", "‘(empty)’")
    point(tab, 4, 1)
    sign = "−" if values[4, 1] < 0 else "+"
    assert f"exactly {sign}{abs(values[4, 1])!s}" in tooltip(tab)
    assert tab.locator(".caption").inner_text() == "difference of weights, linear scale"
    assert tab.get_by_role("img", name="heatmap, difference of weights, 18 queries by 18 keys").count() == 1
    assert tab.locator(".ticks div").all_inner_texts() == ["−0.5", "−0.25", "0", "0.25", "0.5"]


@pytest.mark.parametrize("background", ["#ffffff", "#14151a", "#fff8e7", "#002b36"])
def test_zero_is_the_background(tab, background):
    values = np.array([[0, 1], [1, 0]], np.float32)
    show(tab, "head", head_message(values, tokens=("a", "b")))
    tab.evaluate("(colour) => document.documentElement.style.setProperty('--st-background-color', colour)", background)
    show(tab, "head", head_message(values, tokens=("a", "b")))
    assert pixel(tab, ".cells", 2, 2) == [int(background[i : i + 2], 16) for i in (1, 3, 5)]
    mode = "dark" if background in ("#14151a", "#002b36") else "light"
    width = tab.locator(".cells").evaluate("(canvas) => canvas.width")
    top = theme.SEQUENTIAL[mode][-1]
    assert pixel(tab, ".cells", width - 2, 2) == [int(top[i : i + 2], 16) for i in (1, 3, 5)]


# ---- the file -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_saved_page_works_alone(tab, tmp_path, mode):
    path = tmp_path / "page.html"
    heads = [head_values(weights(seed=head), layer=1, head=head, title=f"Layer 1, head {head}") for head in (2, 3)]
    facts = {"text": TOKENS[4], "<i>": "</dl>"}
    shown = {"grid_bytes": grid_message(), "every": every(heads)}
    path.write_text(standalone.page(TOKENS[6], heads[0].to_bytes(), **shown, facts=facts))
    tab.emulate_media(color_scheme=mode)
    tab.goto(path.as_uri())
    assert tab.title() == TOKENS[6]
    assert tab.locator("dd").all_inner_texts() == [TOKENS[4], "</dl>"]
    tab.get_by_role("gridcell", name="layer 1, head 3").click()
    assert tab.locator(".head-title").inner_text() == "Layer 1, head 3"
    tab.get_by_role("gridcell", name="layer 0, head 0").click()
    assert tab.locator("#status").inner_text() == "layer 0, head 0 is not in this file"
    assert tab.locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 1, head 3")
    tab.locator(".hl-head").focus()
    tab.keyboard.press("[")
    assert tab.locator(".head-title").inner_text() == "Layer 1, head 2"
    bar = pixel(tab, ".bar canvas", 0, 4)
    assert bar == [int(theme.BACKGROUND[mode][i : i + 2], 16) for i in (1, 3, 5)]
