"""Links and texts that a stranger may write: values that have broken programs, and mixtures of them by a seed."""

from __future__ import annotations

import random
import string

LINK_VALUES = (
    "",
    " ",
    "   \n",
    "0",
    "-0",
    "-1",
    "+1",
    "00000001",
    "0" * 5_000 + "1",
    "9" * 5_000,
    "99999999999999999999",
    "2147483648",
    "1e309",
    "-1e309",
    "1e3",
    "1_000",
    "0x10",
    "0b1",
    "1.5",
    ".5",
    "5.",
    ".",
    "1.5.5",
    "1,5",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "²",
    "٣",
    "Ⅷ",
    "½",
    "１",
    "true",
    "TRUE",
    "false",
    "yes",
    "on",
    "None",
    "null",
    "undefined",
    "[]",
    "{}",
    '["weights"]',
    "weights,scores",
    "weights scores",
    "Weights",
    "weights ",
    "\x00",
    "a\x00b",
    "\x1b[31m",
    "\u202eabc",
    "\ufeff",
    "\ufffd",
    "é" * 300,
    "😀👩‍👩‍👧‍👦",
    "../../etc/passwd",
    "C:\\x",
    "file:///etc/passwd",
    "<script>alert(1)</script>",
    "**bold** [a](javascript:alert(1)) $x$ :red[x]",
    "'; DROP TABLE x; --",
    "{{7*7}}${7*7}%s%n",
    "=HYPERLINK(1)",
    "__class__",
    "head:1,2;between:0-1",
    "x" * 40_000,
)


def mixtures(count: int, *, seed: int) -> list[str]:
    """Values put together from pieces of the ones above, the same for the same seed."""
    chosen = random.Random(seed)
    pieces = [value for value in LINK_VALUES if 0 < len(value) < 100]
    return [
        "".join(chosen.choices([*pieces, *string.digits, ",", "-", " "], k=chosen.randint(2, 4))) for _ in range(count)
    ]


VALUES = [*LINK_VALUES, *mixtures(33, seed=11)]
