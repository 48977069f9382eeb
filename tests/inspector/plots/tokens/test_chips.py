"""Boxes of tokens: each stands under the characters that it holds, and every box that is unknown is no colour alone."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from inspector import vocabularies
from inspector.plots.tokens import chips


def written(figure: go.Figure) -> list[tuple[float, float, str]]:
    """Read the letters of the boxes: row, middle, text."""
    (letters,) = (trace for trace in figure.data if trace.mode == "text")
    return sorted(zip(letters.y, letters.x, letters.text, strict=True))


def outlines(figure: go.Figure, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name)


def test_tokens_stand_under_their_characters() -> None:
    text = "ab 书🙂"
    way = vocabularies.CutText(
        text, ("ab", "▁", "书", "<0xF0>", "<0x9F>"), ((0, 2), (2, 3), (3, 4), (4, 5), (4, 5)), (True,) * 5, 9
    )
    unknown = vocabularies.CutText(text, ("[UNK]", "▁书🙂"), ((0, 2), (2, 5)), (False, True), 9)
    figure = chips.ways({"one": way, "two": unknown})
    assert written(figure) == [
        (0, 1, "ab"),
        (0, 2.5, "·"),
        (0, 4, "书"),
        (0, 5.5, ""),  # two bytes share the place of one character
        (0, 6.5, ""),
        (1, 1, "?"),
        (1, 5, "书🙂"),  # the space before a word is a gap
    ]
    assert outlines(figure, "unknown").line.dash == "dot"
    assert list(figure.layout.yaxis.ticktext) == ["one", "two"]
    assert not figure.layout.shapes
    (frame,) = chips.ways({"one": way, "two": unknown}, framed=["two"]).layout.shapes
    assert frame.y0 < 1 < frame.y1


def test_the_mark_that_a_tokenizer_puts_before_a_text_stands_before_it() -> None:
    way = vocabularies.CutText("我们", ("▁", "我们"), ((0, 1), (0, 2)), (True, True), 9)
    bytes_too = vocabularies.CutText("我们", ("▁", "<0xE6>", "们"), ((0, 1), (0, 1), (1, 2)), (True,) * 3, 9)
    figure = chips.ways({"one": way, "two": bytes_too})
    assert [(row, x > 0, text) for row, x, text in written(figure)] == [
        (0, False, "▁"),
        (0, True, "我们"),
        (1, False, "▁"),
        (1, True, "我"),
        (1, True, "们"),
    ]


@pytest.mark.parametrize("text", ["word " * 40, "我们都" * 60])
def test_long_texts_are_drawn_in_lines(text: str) -> None:
    drawn = chips.drawn(text, width=26)
    assert drawn < len(text)
    assert chips.units(text[:drawn]) <= chips.MOST_LINES * 26
    spans = tuple((at, at + 1) for at in range(len(text)))
    way = vocabularies.CutText(text, tuple(text), spans, (True,) * len(text), 9)
    letters = written(chips.ways({"characters": way}, width=26))
    assert "".join(letter for *_, letter in letters).replace("·", " ") == text[:drawn]


def test_html_in_a_text_stays_text() -> None:
    figure = chips.words([("<b>$x$", ("<b>", "$x$"), 2)], newest="<b>", width=40)
    assert [text for *_, text in written(figure)] == ["&lt;b&gt;", "&#36;x&#36;", "×2"]
    assert outlines(figure, "made by this merge").line.width > 2


def test_a_word_longer_than_a_line_goes_on_in_the_next() -> None:
    figure = chips.words([("abcdefghij", ("abcd", "efgh", "ij"), 1)], newest="", width=9)
    assert [(row, text) for row, _, text in written(figure)] == [(0, "abcd"), (0, "efgh"), (1, "ij")]
