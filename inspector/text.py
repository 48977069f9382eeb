"""Numbers and tokens as text, as every figure and sentence writes them."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from models.formatting import number as number

LONGEST_TOKEN = 16  # characters of a token beside an axis or in a sentence


def signed(value: float) -> str:
    """`number` with a true minus sign, for text: −1.50."""
    return number(value).replace("-", "−")


def bits(value: float) -> str:
    """Write a change of surprise with its sign and unit: "+0.250 bits"."""
    return f"{'−' if value < 0 else '+'}{number(abs(value))} bits"


def quantity(value: float, unit: str = "") -> str:
    """`value` in three significant digits with an SI prefix: quantity(22_347_251_712, "FLOP") is "22.3 GFLOP"."""
    rounded = float(f"{value:.2e}")
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(rounded) >= factor:
            return f"{number(rounded / factor)} {prefix}{unit}".rstrip()
    return f"{number(rounded)} {unit}".rstrip()


def visible(text: str) -> str:
    """`text` with every character that draws nothing (controls, zero-width, direction marks) written as U+XXXX.

    A space stays a space; so do the joiners inside an emoji or a script that needs them, between two drawn characters.
    """
    shown = []
    for index, character in enumerate(text):
        hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        joins = character in "\u200c\u200d" and 0 < index < len(text) - 1 and not text[index - 1].isascii()
        shown.append(f"U+{ord(character):04X}" if hidden and not joins else character)
    return "".join(shown)


def token_name(token: str) -> str:
    """Name a token as a reader sees it: its marks read, nothing invisible in it."""
    return visible(read_marks(token))


def read_marks(token: str) -> str:
    """Write a token's marks as a reader knows them: "␣cat" for "Ġcat" and "▁cat", "↵" for "Ċ", "␣é" for "ĠÃ©".

    A byte-level vocabulary writes each byte as a letter (Radford et al. 2019): bytes that are no whole letter stay, and
    so does a token whose letters would be control characters, for it was no bytes. Written twice it stays the same. Of
    "Ġcat → Ġsat", what a decoder reads and predicts, both are read.
    """
    return " → ".join(map(_read_mark, token.split(" → ")))


def _read_mark(token: str) -> str:
    letters = token.replace("▁", " ")
    with suppress(KeyError, UnicodeDecodeError):
        read = bytes(map(_BYTES.__getitem__, letters)).decode()
        if all(letter == "\n" or unicodedata.category(letter) != "Cc" for letter in read):
            letters = read
    letters = letters.replace("Ġ", " ").replace("Ċ", "\n").replace("\n", "↵")
    return re.sub("^ +| +$", lambda spaces: "␣" * len(spaces[0]), letters)


def _byte_letters() -> dict[str, int]:
    """Return the byte of each letter of a byte-level vocabulary: printable bytes are themselves, others follow U+0100.

    A space stands for itself too, for sentences' marks of spaces are read before.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)} | {" ": 32}


_BYTES = _byte_letters()


def cut(text: str) -> str:
    """Cut a token after LONGEST_TOKEN characters, an ellipsis among them."""
    return text if len(text) <= LONGEST_TOKEN else f"{text[: LONGEST_TOKEN - 1]}…"


def token(text: str, *, spaced: bool = False) -> str:
    """Write a token in a sentence: as inline code, in which Markdown reads nothing, so that it stays as it is.

    spaced: with the mark of the space before it, which tells two tokens of a vocabulary apart.
    """
    name = token_name(text)
    name = cut(name if spaced else name.lstrip("␣") or name)
    fence = "`" * (1 + max(map(len, re.findall("`+", name)), default=0))
    space = " " if name.startswith("`") or name.endswith("`") else ""
    return f"{fence}{space}{name}{space}{fence}"


def quoted(sentence: str) -> str:
    """Write a sentence for a picture, where nothing reads Markdown: its tokens in quotation marks."""
    return re.sub(r"(`+) ?(.+?) ?\1(?!`)", r"‘\2’", sentence)


def plain(text: str) -> str:
    """`text` letter by letter where Markdown is read: every mark of punctuation as its character reference."""
    return "".join(f"&#{ord(letter)};" if letter in string.punctuation else letter for letter in text)


@dataclass(frozen=True)
class Named:
    """A token and which of its like it is: the `ordinal`th, from 1, of `of` in the text."""

    token: str
    ordinal: int
    of: int


def named(tokens: Sequence[str], position: int) -> Named:
    """Name the token at a position."""
    name = tokens[position]
    return Named(name, tokens[: position + 1].count(name), tokens.count(name))


def ordinals(tokens: Sequence[str]) -> tuple[int, ...]:
    """Number each token among its like, from 1; 0 for a token that stands once."""
    counts, seen = Counter(tokens), Counter[str]()
    numbers = []
    for name in tokens:
        seen[name] += 1
        numbers.append(seen[name] if counts[name] > 1 else 0)
    return tuple(numbers)


def ordinal(number: int) -> str:
    """Write 1 as "1st", 12 as "12th"."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def names_of(tokens: Sequence[str]) -> list[str]:
    """Name the tokens of a text for a picture, long ones cut; words that come again with their number: "the 2nd".

    Of what a decoder reads and predicts the read token has the number: "the 2nd → mat".
    """
    parts = [token.partition(" → ") for token in tokens]
    numbers = ordinals([read for read, _, _ in parts])
    return [
        _numbered(token_name(read), number) + cut(arrow + token_name(predicted))
        for (read, arrow, predicted), number in zip(parts, numbers, strict=True)
    ]


def _numbered(name: str, number: int) -> str:
    return f"{cut(name)} {ordinal(number)}" if number and len(name) > 1 else cut(name)
