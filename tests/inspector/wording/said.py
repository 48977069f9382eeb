"""Reads the numbers of a sentence back, and says how near the true value each may lie: half of its last digit."""

from __future__ import annotations

import re
from math import floor, inf, isinf, log10

PERCENT = r"((?:over 99|under 1|\d+) %|nearly all)"
NUMBER = r"(−?(?:\d[\d,]*(?:\.\d+)?(?:e[+-]\d\d)?|∞))"
COUNT = r"(\d[\d,]*)"
TOKEN = r"(`+ ?(?:.+?) ?`+)"
SLACK = 1e-9  # of a half digit, for what lies between two digits


def is_percent(said: str, share: float) -> bool:
    """Return True if a percentage is what a share 0..1 is told as."""
    if said == "nearly all":
        return 0.999 <= share < 1
    if said == "over 99 %":
        return 0.995 - SLACK <= share < 0.999
    if said == "under 1 %":
        return 0 < share <= 0.005 + SLACK
    whole = int(said.removesuffix(" %"))
    return abs(whole / 100 - share) <= 0.005 + SLACK and (whole in range(1, 100) or share * 100 == whole)


def is_number(said: str, value: float, *, rough: float = 0.0) -> bool:
    """Return True if a number of three digits is what a value is told as; rough: what the value may be off by."""
    told = number(said)
    if isinf(told) or told == 0:
        return told == value or abs(told - value) <= rough
    half = 0.5 * 10.0 ** (floor(log10(abs(told)) + 1e-9) - 2)
    return abs(told - value) <= half * (1 + 1e-6) + rough


def number(said: str) -> float:
    """Read "−1,230" and "1.20e-05"; "∞" is infinite."""
    sign = -1 if said.startswith("−") else 1
    bare = said.removeprefix("−")
    return sign * (inf if bare == "∞" else float(bare.replace(",", "")))


def count(said: str) -> int:
    """Read "1,234"."""
    return int(said.replace(",", ""))


def claim(pattern: str, sentence: str) -> tuple[str, ...]:
    """Return what a pattern finds in a whole sentence; AssertionError for a sentence of another kind."""
    found = re.fullmatch(pattern, sentence, re.DOTALL)
    assert found, f"no check for: {sentence}"
    return tuple(part or "" for part in found.groups())


def planted(said: str, *, decimals: bool = False, rounding: bool = True) -> list[str]:
    """Return the sentence with one number after the other made false, by a tenth, a small whole one by 1.

    decimals: no whole ones. rounding: those too that are written as 1.20e-07, for some are what rounding left over.
    """
    found = list(re.finditer(r"(?<![\w.,`])\d[\d,]*(?:\.\d+)?(?:e[+-]\d\d)?(?![\w`,.]*\d)", said))
    chosen = [one for one in found if (not decimals or "." in one[0]) and (rounding or "e-" not in one[0])]
    return [said[: one.start()] + _other(one[0]) + said[one.end() :] for one in chosen]


def _other(told: str) -> str:
    if re.fullmatch(r"[\d,]+", told):
        whole = count(told)
        return f"{whole + max(1, whole // 10):,}"
    return f"{1.1 * number(told) or 1:.3g}"
