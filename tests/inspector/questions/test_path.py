"""A teacher's path comes out of a link as it went in, and what is no path is one sentence."""

from __future__ import annotations

import random

import pytest

from inspector.questions.path import MOST_STEPS, ROOM, Path, Step, decode, encode, plain, room

KNOWN = range(1, 140)
LETTERS = "ab |\\.&=?#%+\n字，。é𝒳<>*_$`~/'\""


def read(path: Path) -> Path:
    given = encode(path)
    return decode(given["path"], given.get("path_words", ""), known=KNOWN)


@pytest.mark.parametrize(
    "texts",
    [
        ("", ""),
        ("one", ""),
        ("", "two"),
        ("a|b", "\\"),
        ("\\|", "|\\|"),
        ("先看缩放。", "再看多头。"),
        ("two\nlines", "<b>&amp;</b> **bold** $x$"),
        ("\\\\", "\\\\|"),
    ],
)
def test_a_path_comes_back(texts: tuple[str, ...]) -> None:
    path = Path(tuple(Step(number, text) for number, text in zip((16, 35), texts, strict=True)))
    assert read(path) == path


def test_a_thousand_random_paths_come_back() -> None:
    draw = random.Random(0)
    for _ in range(1000):
        numbers = draw.sample(KNOWN, draw.randint(1, 8))
        texts = ["".join(draw.choices(LETTERS, k=draw.randint(0, 12))).strip() for _ in numbers]
        path = Path(tuple(Step(*one) for one in zip(numbers, texts, strict=True)))
        assert read(path) == path


def test_hostile_links_give_a_path_or_a_sentence() -> None:
    draw = random.Random(1)
    letters = [*LETTERS, "1", "16", ".", "..", "-", "１", "²", "\0", "\ud800", "\u202e", "9" * 50]
    sentences: set[tuple[type, str]] = set()
    for _ in range(5000):
        raw = ["".join(draw.choices(letters, k=draw.randint(0, 12))) for _ in range(2)]
        try:
            path = decode(*raw, known=KNOWN)
        except ValueError as error:
            sentences.add((type(error), str(error)))
            continue
        assert set(path.numbers) <= set(KNOWN)
        assert read(path) == path
    assert {kind for kind, _ in sentences} == {ValueError}
    assert all(said.startswith("The ") and said.endswith(".") for _, said in sentences)


@pytest.mark.parametrize(
    ("numbers", "words", "said"),
    [
        ("", "", "no list of numbers"),
        ("16,35", "", "no list of numbers"),
        ("16.", "", "no list of numbers"),
        ("-1", "", "no list of numbers"),
        ("9999", "", "asks for question 9999"),
        ("16.35.16", "", "question 16 more than once"),
        (".".join(["16"] * (MOST_STEPS + 1)), "", "more than 30 questions"),
        ("16", "a" * (ROOM + 1), "longer than the 1,500 letters"),
        ("16", "字" * (ROOM // 3 + 1), "longer than the 1,500 letters"),
        ("16", "a|b", "words for more questions"),
    ],
)
def test_what_is_no_path_is_one_sentence(numbers: str, words: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decode(numbers, words, known=KNOWN)


def test_room_is_counted_as_the_link_needs_it() -> None:
    assert room(Path((Step(16),))) == ROOM
    assert room(Path((Step(16, "a|"), Step(35, "字")))) == ROOM - len("a\\||") - 3
    full = Path((Step(16, "字" * (ROOM // 3)),))
    assert room(full) == 0
    assert read(full) == full


def test_what_is_not_seen_or_turns_the_text_is_left_out() -> None:
    assert plain("a\0b\u202ec\r\nd\x1b[0m\ud800") == "abc\nd[0m"
