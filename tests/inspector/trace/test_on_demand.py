"""A field that is computed when it is first read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from inspector.trace.on_demand import OnDemand


@dataclass(frozen=True)
class Text:
    words: str
    length: OnDemand[int] = OnDemand()
    letters: OnDemand[int | None] = OnDemand(None)


def test_a_function_is_called_once_and_late() -> None:
    asked: list[str] = []

    def length(text: Text) -> int:
        asked.append(text.words)
        return len(text.words)

    text = Text("a cat", length=length)
    assert not asked
    assert (text.length, text.length) == (5, 5)
    assert asked == ["a cat"]


def test_a_copy_with_another_field_keeps_the_value_of_the_original() -> None:
    text = Text("a cat", length=lambda text: len(text.words))
    assert replace(text, words="changed since").length == 5


def test_a_value_a_default_and_no_default() -> None:
    text = Text("a cat", length=7)
    assert (text.length, text.letters) == (7, None)
    with pytest.raises(TypeError, match="length"):
        Text("a cat")
