"""Heads that are linked by a name light up each other's tokens, in a real Chromium."""

from __future__ import annotations

import base64

from inspector.components.head import LinkedTokens
from tests.browser.drawing import frame, head_message, show, weights

LEFT = ("the", "cat", "un", "##tamed", "sat")
RIGHT = ("a", "dog", "untamed", "quickly", "sat")
LEFT_NUMBERS = (None, 1, 2, 2, 4)
RIGHT_NUMBERS = (None, 1, 2, None, 4)


def message(tokens, numbers, *, name="pair"):
    linked = LinkedTokens(name, numbers, numbers)
    return base64.b64encode(head_message(weights(5, 5), tokens=tokens, linked=linked)).decode()


def show_pair(tab, *, name="pair"):
    """Two heads, each in a shadow root of its own, as Streamlit mounts them; those told of a look are counted."""
    show(tab, "head", head_message(weights(5, 5), tokens=LEFT))
    script = """([left, right]) => {
      window.view.close();
      window.told = [];
      document.addEventListener("headlight-look", ({ detail }) => told.push([detail.query, detail.key]));
      window.pair = [left, right].map((data, side) => {
        const host = document.createElement("div");
        host.id = ["left", "right"][side];
        document.body.append(host);
        const root = host.attachShadow({ mode: "open" });
        root.append(document.querySelector("style").cloneNode(true));
        return draw(root, Uint8Array.from(atob(data), (c) => c.charCodeAt(0)), () => {});
      });
    }"""
    tab.evaluate(script, [message(LEFT, LEFT_NUMBERS), message(RIGHT, RIGHT_NUMBERS, name=name)])
    frame(tab)


def lit(tab, side):
    """The labels of the heatmap that are lit: (queries, keys)."""
    return tuple(tab.locator(f"#{side} .{axis} .label.on").all_inner_texts() for axis in ("left", "top"))


def look(tab, side, axis, index):
    tab.locator(f"#{side} .{axis} .label").nth(index).hover()
    frame(tab)
    frame(tab)


def test_a_look_at_one_lights_the_counterparts_in_the_other(tab):
    show_pair(tab)
    look(tab, "left", "left", 1)
    assert lit(tab, "right") == (["dog"], [])
    assert tab.locator("#right .item.query.on").inner_text() == "dog"
    assert tab.locator("#right .tip").is_hidden()
    look(tab, "right", "left", 2)  # one token there, two here
    assert lit(tab, "left") == (["un", "##tamed"], [])
    look(tab, "left", "top", 4)
    assert lit(tab, "right") == ([], ["sat"])
    look(tab, "left", "left", 0)  # without a counterpart
    assert lit(tab, "right") == ([], [])
    look(tab, "left", "left", 4)
    tab.mouse.move(2, 2)
    frame(tab)
    frame(tab)
    assert lit(tab, "left") == lit(tab, "right") == ([], [])


def test_what_is_heard_is_not_told_on(tab):
    show_pair(tab)
    tab.evaluate("told.length = 0")
    look(tab, "left", "left", 1)
    look(tab, "left", "left", 4)
    tab.mouse.move(2, 2)
    frame(tab)
    frame(tab)
    assert tab.evaluate("told") == [[1, None], [4, None], [None, None]]


def test_the_keyboard_links_and_leaving_clears(tab):
    show_pair(tab)
    tab.locator("#left .hl-head").focus()
    for key in ("ArrowDown", "ArrowDown"):  # the first goes to query 0, key 0
        tab.keyboard.press(key)
    frame(tab)
    frame(tab)
    assert lit(tab, "right") == (["dog"], [])
    tab.keyboard.press("ArrowRight")
    frame(tab)
    frame(tab)
    assert lit(tab, "right") == (["dog"], ["dog"])
    tab.evaluate("document.activeElement.blur()")
    frame(tab)
    frame(tab)
    assert lit(tab, "right") == ([], [])


def test_another_name_or_a_closed_head_lights_nothing(tab):
    show_pair(tab, name="other")
    look(tab, "left", "left", 1)
    assert lit(tab, "right") == ([], [])
    show_pair(tab)
    tab.evaluate("() => { pair[0].light({ queries: [1], keys: [] }); pair[1].look({ query: 1 }); }")
    frame(tab)
    tab.evaluate("() => pair[1].close()")
    frame(tab)
    assert lit(tab, "left")[1] == []
