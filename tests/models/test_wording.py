from __future__ import annotations

import pytest

from models.wording import bytes_in_words, said


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (12_345_678, "12.3 MB"), (5 * 10**15, "5,000 TB")],
)
def test_bytes_in_words(count: int, words: str) -> None:
    assert bytes_in_words(count) == words


def test_an_error_is_said_in_one_printable_line() -> None:
    assert said(ValueError("one\n  two\x1b[31m \u202e three")) == "one two [31m   three"
    assert len(said(ValueError("x" * 10_000))) == 300
