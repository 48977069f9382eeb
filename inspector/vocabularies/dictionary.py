"""Words of a text: English between blanks and marks, Chinese by the longest word of a dictionary that fits.

The lists are in word_lists/, with their sources and licences. A vocabulary of whole words is the list itself in
English, and the more frequent part of the list in Chinese: what cuts a text must know more words than what reads it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

Script = Literal["english", "chinese"]

FREQUENT = 12_000  # words of the Chinese vocabulary
LONGEST = 6  # characters of a Chinese word of the dictionary
_LISTS = Path(__file__).with_name("word_lists")
_CHINESE = "\u4e00-\u9fff"
_RUNS = re.compile(rf"[{_CHINESE}]+|[^\W\d_{_CHINESE}]+(?:['’][^\W\d_{_CHINESE}]+)*")


@cache
def listed(script: Script) -> tuple[str, ...]:
    """Return the words of a list: English by letters, Chinese by frequency, the most frequent first."""
    return tuple((_LISTS / f"{script}.txt").read_text(encoding="utf-8").split())


@cache
def vocabulary(script: Script) -> frozenset[str]:
    """Return a vocabulary of whole words, of more than 10,000."""
    return frozenset(listed(script)[: FREQUENT if script == "chinese" else None])


def words(text: str) -> list[str]:
    """Cut a text into words, without marks and figures: `words("He can't.")` is ["He", "can't"].

    A Chinese character that begins no word of the dictionary is a word.
    """
    found: list[str] = []
    for run in _RUNS.findall(text):
        found += _cut(run) if _is_chinese(run) else [run]
    return found


def unknown(text: str) -> float:
    """Return the share of a text's words that the vocabulary of their script lacks; NaN for a text without words."""
    cut = words(text)
    lacking = sum(word.lower().replace("’", "'") not in vocabulary(_script(word)) for word in cut)
    return lacking / len(cut) if cut else float("nan")


def _script(word: str) -> Script:
    return "chinese" if _is_chinese(word) else "english"


def _is_chinese(run: str) -> bool:
    return "\u4e00" <= run[0] <= "\u9fff"


@cache
def _dictionary() -> frozenset[str]:
    return frozenset(listed("chinese"))


def _cut(run: str) -> list[str]:
    """Cut a run of Chinese from the left, each time the longest word that fits."""
    found, start = [], 0
    while start < len(run):
        ends = range(min(len(run), start + LONGEST), start + 1, -1)
        end = next((end for end in ends if run[start:end] in _dictionary()), start + 1)
        found.append(run[start:end])
        start = end
    return found
