"""The names of tokens in a head's view: all where there is room, else some with their place; and tokens that repeat."""

from __future__ import annotations

import numpy as np

from inspector.text import Named, named
from inspector.wording import phrases
from tests.browser.drawing import events, frame, head_message, point, show, weights

SENTENCE = [
    *("the", "quick", "brown", "fox", "jumps", "over", "the"),
    *("lazy", "dog", "and", "then", "it", "sleeps", ","),
]
LONG = ["[CLS]", *(SENTENCE * 36)[:500], "[SEP]"]
TEXTS = "(all) => all.map((one) => one.textContent)"


def written(tokens: list[str], position: int) -> str:
    """A token's label, with the number that a sentence gives the token."""
    place: Named = named(tokens, position)
    return place.token if place.of == 1 else f"{place.token} {phrases.ordinal(place.ordinal)}"


def labels(tab, side):
    return tab.locator(f".{side} .label").evaluate_all(TEXTS)


def test_33_tokens_are_all_named_in_a_low_window(tab):
    tab.set_viewport_size({"width": 900, "height": 900})
    tokens = [*SENTENCE, *SENTENCE, *SENTENCE][:33]
    show(tab, "head", head_message(weights(33, 33), tokens=tokens, compact=True))
    expected = [written(tokens, place) for place in range(33)]
    assert labels(tab, "left") == labels(tab, "top") == expected
    assert "the 2nd" in expected
    assert "fox 3rd" in expected
    sizes = tab.locator(".left .label").evaluate_all(
        "(all) => all.map((one) => [one.getBoundingClientRect().y, parseFloat(getComputedStyle(one).fontSize)])"
    )
    places, letters = np.array(sizes).T
    assert np.diff(places).min() > letters.max(), "no label lies over the next"
    assert letters.min() >= 9
    tab.set_viewport_size({"width": 760, "height": 900})
    frame(tab)
    assert labels(tab, "left") == [f"{place} {expected[place]}" for place in range(0, 33, 2)], "every second has room"


def test_of_502_tokens_some_are_named_and_each_on_hover_and_by_zoom(tab):
    show(tab, "head", head_message(weights(502, 502), tokens=LONG, compact=True))
    for side in ("left", "top"):
        seen = labels(tab, side)
        assert 10 < len(seen) < 60
        places = [int(label.split()[0]) for label in seen]
        assert seen == [f"{place} {written(LONG, place)}" for place in places]
        assert len(set(np.diff(places))) == 1, "they stand at even steps"
    point(tab, 260, 35, n=502)
    assert tab.locator(".left .crossed").text_content() == f"260 {written(LONG, 260)}"
    assert tab.locator(".top .crossed").text_content() == f"35 {written(LONG, 35)}"
    assert LONG[260] == "lazy"
    assert "‘lazy’ (19th)" in tab.locator(".tip").inner_text()
    first = tab.locator(".left .label").nth(3)
    first.click()
    assert events(tab)[-1] == ["choose", {"queries": [int(labels(tab, "left")[3].split()[0])]}]
    for _ in range(20):
        tab.keyboard.press("+")
    frame(tab)
    seen = labels(tab, "left")
    start = int(tab.locator(".left .label").first.get_attribute("data-index"))
    assert seen == [written(LONG, start + at) for at in range(len(seen))], "close enough, all are named"


def test_lines_stand_in_the_texts_order_and_say_which_of_its_like_a_token_is(tab):
    values = weights(502, 502)
    values[260, 35] = 2.0  # the strongest by far
    show(tab, "head", head_message(values, tokens=LONG, compact=True))
    for side in ("query", "key"):
        rows = tab.locator(f".item.{side}:visible")
        seen = rows.evaluate_all(
            f"(all) => all.map((one) => [Number(one.dataset.{side}Token), one.firstChild.textContent])"
        )
        assert [place for place, _ in seen] == sorted(place for place, _ in seen)
        assert [text for _, text in seen] == [written(LONG, place) for place, _ in seen]
        assert (260 if side == "query" else 35) in [place for place, _ in seen]


def test_a_window_counts_the_tokens_before_it(tab):
    show(
        tab,
        "head",
        head_message(
            weights(14, 14),
            tokens=SENTENCE,
            first=(280, 294),
            ordinals=([20 + (token == "the") for token in SENTENCE], [0] * 14),
        ),
    )
    assert labels(tab, "left")[:2] == ["the 21st", "quick 20th"]
    assert labels(tab, "top") == SENTENCE


def test_a_decoders_rows_name_what_is_read_and_what_is_predicted(tab):
    """A byte-level vocabulary's mark of a space is drawn with each word, and nowhere else."""
    read = ["The", "Ġcat", "Ġsaw", "Ġthe", "Ġcat"]
    rows = [f"{token} → {after}" for token, after in zip(read, [*read[1:], "Ċ"], strict=True)]
    map_ = np.tril(np.ones((5, 5), np.float32))
    show(tab, "head", head_message(map_ / map_.sum(axis=1, keepdims=True), rows))
    assert labels(tab, "left") == ["The → ␣cat", "␣cat 1st → ␣saw", "␣saw → ␣the", "␣the → ␣cat", "␣cat 2nd → ↵"]
