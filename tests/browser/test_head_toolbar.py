"""Switches in the toolbar of a head: lines, directions between two texts, tokens."""

from __future__ import annotations

import re

import numpy as np
import pytest

from inspector.components.head import HeadOptions, Segments
from tests.browser.drawing import TOKENS, N, events, frame, head_message, pixel, point, show, tooltip, weights

PAIR = tuple(int(position > 8) for position in range(N))
KEPT = "() => { const { filter, matrix } = window.view; return matrix.all().map((one) => filter.keeps(one)); }"


def kept(tab):
    """The cells that have a line: boolean [Q, T]."""
    return np.array(tab.evaluate(KEPT)).reshape(N, N)


def choose(tab, name, value):
    tab.get_by_label(name, exact=True).select_option(value)
    frame(tab)


def reported(tab, **options):
    """True if the host was last told these options; on a slow machine it is told of each change."""
    expected = {"lines": "", "between": "", "tokens": ""} | options
    script = "(wanted) => JSON.stringify(events.at(-1)) === JSON.stringify(['options', wanted])"
    tab.wait_for_function(script, arg=expected)
    return True


def test_the_strongest_of_each_query(tab):
    values = weights()
    values[2] = 0.5 / N  # of equal weights the first
    show(tab, "head", head_message(values, options=HeadOptions()))
    assert kept(tab).all()
    choose(tab, "Lines", "strongest of each query")
    tab.get_by_label("lines for each query").fill("4")
    expected = np.zeros((N, N), bool)
    np.put_along_axis(expected, np.argsort(-values, axis=1, kind="stable")[:, :4], True, axis=1)
    np.testing.assert_array_equal(kept(tab), expected)
    assert reported(tab, lines="top4")


def test_a_threshold(tab):
    values = weights()
    show(tab, "head", head_message(values, options=HeadOptions(lines="above0.05")))
    np.testing.assert_array_equal(kept(tab), values >= 0.05)
    assert tab.locator("output").inner_text() == "0.05"
    tab.get_by_label("threshold of the lines").focus()
    tab.keyboard.press("Home")
    np.testing.assert_array_equal(kept(tab), values >= 0.001)
    assert reported(tab, lines="above0.001")


@pytest.mark.parametrize(
    ("name", "key", "texts"),
    [
        ("first to second", "ab", (0, 1)),
        ("second to first", "ba", (1, 0)),
        ("within the first", "a", (0, 0)),
        ("within the second", "b", (1, 1)),
    ],
)
def test_directions_between_two_texts(tab, name, key, texts):
    show(tab, "head", head_message(segments=Segments(PAIR, PAIR), options=HeadOptions()))
    choose(tab, "Texts", name)
    segments = np.array(PAIR)
    expected = (segments[:, None] == texts[0]) & (segments[None] == texts[1])
    np.testing.assert_array_equal(kept(tab), expected)
    assert reported(tab, between=key)
    pixels = "(overlay) => [...overlay.getContext('2d').getImageData(0, 0, overlay.width, overlay.height).data]"
    opacity = tab.locator(".overlay").evaluate(pixels)[3::4]
    np.testing.assert_array_equal(np.array(opacity).reshape(N, N) == 0, expected)


def test_without_a_pair_there_are_no_directions(tab):
    show(tab, "head", head_message())
    assert tab.get_by_label("Texts", exact=True).is_hidden()


def test_only_tokens_with_a_text(tab):
    show(tab, "head", head_message(options=HeadOptions()))
    tab.get_by_label("only tokens that contain this text").fill("SCRIPT")
    has = np.array(["script" in token for token in TOKENS])
    assert has.sum() == 1
    np.testing.assert_array_equal(kept(tab), has[:, None] | has[None])
    assert tab.locator(".item.query:not(.dim)").count() == 1
    assert tab.locator(".left .label:not(.dim)").count() == 1
    assert reported(tab, tokens="SCRIPT")


def test_the_host_gives_options_back_and_can_change_them(tab):
    show(tab, "head", head_message(options=HeadOptions(lines="top2")))
    assert tab.get_by_label("lines for each query").input_value() == "2"
    choose(tab, "Lines", "strongest that fit")
    tab.evaluate("() => { view.toolbar.settling ??= 1; }")  # as if the change were fresh, however slow the machine
    show(tab, "head", head_message(weights(seed=3), options=HeadOptions(lines="top2")))  # from before the change
    assert tab.get_by_label("Lines", exact=True).input_value() == ""
    tab.evaluate("() => { view.toolbar.settling = null; }")
    show(tab, "head", head_message(options=HeadOptions()))
    show(tab, "head", head_message(options=HeadOptions(tokens="cat")))
    assert tab.get_by_label("only tokens that contain this text").input_value() == "cat"


def test_a_page_that_keeps_no_options_is_not_asked_to(tab):
    show(tab, "head", head_message())
    choose(tab, "Lines", "strongest of each query")
    assert kept(tab).sum() == 3 * N
    tab.wait_for_function("view.toolbar.settling === null")  # the moment at which a page that keeps them is told
    assert events(tab) == []


def test_keys_typed_into_the_toolbar_are_no_commands(tab):
    show(tab, "head", head_message(options=HeadOptions()))
    tab.get_by_label("only tokens that contain this text").focus()
    tab.keyboard.type("a.,[")
    tab.keyboard.press("ArrowLeft")
    assert reported(tab, tokens="a.,[")
    assert tab.locator(".tip").is_hidden()


def test_a_key_tells_what_each_pin_gives_it(tab):
    values = weights()
    show(tab, "head", head_message(values, chosen=[1, 3]))
    tab.locator(".top .label").nth(2).hover()
    frame(tab)
    said = tooltip(tab)
    for query in (1, 3):
        told = re.search(rf"query {query} ‘{TOKENS[query]}’ → key 2 ‘cat’ weight ([\d.e-]+)", said)[1]
        assert float(told) == pytest.approx(values[query, 2], rel=5e-3)


def test_a_cell_that_is_left_out_keeps_its_number(tab):
    values = weights()
    before = None
    for options in (HeadOptions(), HeadOptions(tokens="cat")):
        show(tab, "head", head_message(values, options=options))
        point(tab, 8, 9)
        before = before or tooltip(tab)
        assert tooltip(tab) == before
        assert pixel(tab, ".cells", 3, 3) != [0, 0, 0]
