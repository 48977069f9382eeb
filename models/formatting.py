"""Numbers and other people's errors, put into one line that is safe to show."""

from __future__ import annotations


def bytes_in_words(count: int) -> str:
    """12,300,000 -> "12.3 MB"."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:,.3g} {unit}" if count < 1000 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"


def said(error: BaseException) -> str:
    """An error's own words in one printable line of at most 300 characters: they may quote a stranger's file."""
    return _printable(str(error))[:300]


def shortened(name: str, most: int = 60) -> str:
    """Cut a name of a stranger's choice to one printable line of at most `most` characters, its end kept."""
    line = _printable(name)
    return line if len(line) <= most else f"{line[: most - 13]}…{line[-12:]}"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
