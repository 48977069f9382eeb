"""The steps to a weight in a real Chromium: played, walked through, and still where motion is unwelcome."""

from __future__ import annotations

import pytest

from inspector.components.source import script, style
from tests.browser.conftest import inert
from tests.browser.drawing import HARNESS

WAY = [
    {"formula": "q · k", "value": "4.00", "meaning": "match", "numbers": [4.0, -2.0], "told": ["4.00", "−2.00"]},
    {"formula": "mask", "value": "4.00", "meaning": "hidden", "numbers": [4.0, None], "told": ["4.00", "masked"]},
    {"formula": "exp: the weight", "value": "1.00", "meaning": "share", "numbers": [1.0, 0.0], "told": ["1.00", "0"]},
]


def show(tab) -> None:
    data = {"steps": WAY, "keys": ["<b>a</b>", "##b"], "positions": [0, 1], "chosen": 0, "note": "1 of 2"}
    tab.set_content(HARNESS.replace("CSS", style("steps")).replace("SCRIPT", script("steps")))
    tab.wait_for_function("window.ready")
    tab.evaluate("(data) => void draw(document.querySelector('#root'), data)", data)


def shown(tab) -> str:
    return tab.locator("[aria-current=step] .formula").inner_text()


def bars(tab) -> list[float]:
    return tab.locator(".bar").evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width))")


def test_the_weight_is_seen_first_and_the_steps_are_walked_by_keyboard(tab):
    show(tab)
    assert shown(tab) == "exp: the weight"
    assert bars(tab) == [100, 0]
    assert tab.locator(".key .label").all_inner_texts() == ["<b>a</b>", "##b"]
    tab.locator("#text").focus()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Home")
    assert shown(tab) == "q · k"
    assert tab.locator(".meaning").inner_text() == "match"
    assert [round(width, 3) for width in bars(tab)] == [66.667, 33.333]
    tab.keyboard.press("ArrowRight")
    assert tab.locator(".key .number").all_inner_texts() == ["4.00", "masked"]


@pytest.fixture
def own_tab(browser):
    """A window of its own, which another clock outlasts."""
    page = browser.new_page()
    with inert(page) as tab:
        yield tab
    page.close()


def test_it_plays_from_the_first_step_to_the_last_and_stops(own_tab):
    tab = own_tab
    show(tab)
    tab.clock.install(time=0)
    tab.clock.pause_at(1000)  # else it goes on by itself, and a slow machine sees a later step
    tab.get_by_role("button", name="Play the steps").click()
    assert shown(tab) == "q · k"
    assert tab.locator(".ahead").count() == 2
    tab.clock.run_for(1700)
    assert shown(tab) == "mask"
    tab.clock.run_for(1700)
    assert shown(tab) == "exp: the weight"
    assert tab.get_by_role("button", name="Play the steps").count() == 1
    assert tab.locator(".ahead").count() == 0


def test_nothing_moves_where_motion_is_unwelcome(tab):
    show(tab)
    moves = "(bar) => getComputedStyle(bar).transitionDuration"
    assert tab.locator(".bar").first.evaluate(moves).startswith("0.6s")
    tab.emulate_media(reduced_motion="reduce")
    assert tab.locator(".bar").first.evaluate(moves) == "0s"
