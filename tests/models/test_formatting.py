from __future__ import annotations

import pytest

from models.formatting import format_bytes, one_line, shortened


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (12_345_678, "12.3 MB"), (5 * 10**15, "5,000 TB")],
)
def test_format_bytes(count: int, words: str) -> None:
    assert format_bytes(count) == words


def test_an_error_is_said_in_one_printable_line() -> None:
    assert one_line(ValueError("one\n  two\x1b[31m \u202e three")) == "one two [31m   three"
    assert len(one_line(ValueError("x" * 10_000))) == 300
    assert one_line(ZeroDivisionError("integer division")) == "one of its numbers is 0, and another is divided by it"


@pytest.mark.parametrize("name", ["a" * 300 + ".npz", "x\0y\n\t.npz", "\u202ezpn.evil", "../../etc/passwd", ""])
def test_a_strangers_name_is_one_printable_line(name: str) -> None:
    line = shortened(name)
    assert len(line) <= 60
    assert line.isprintable()
    assert len(name) > 60 or not name.isprintable() or line == name
