"""Shares, lists and tokens in sentences."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.text import Named, named, quoted, token
from inspector.wording.english import phrases, terms


def test_a_share_in_words_is_true_within_its_tolerance() -> None:
    for share in np.linspace(0, 1, 4001):
        said = phrases.share(share)
        if said in phrases.FRACTIONS.values():
            assert min(abs(share - value) for value, name in phrases.FRACTIONS.items() if name == said) <= 0.01
        elif said.endswith(" %") and said[0].isdigit():
            assert abs(share - int(said[:-2]) / 100) <= 0.005001
    assert [phrases.share(share) for share in (0, 0.001, 0.5, 0.667, 0.995, 0.9999, 1)] == (
        ["0 %", "under 1 %", "half", "two thirds", "over 99 %", "nearly all", "100 %"]
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *[
            ("it", "`it`"),
            ("**b**", "`**b**`"),
            ("`", "`` ` ``"),
            ("``", "``` `` ```"),
            ("▁cat", "`cat`"),
            ("▁", "`▁`"),
        ],
        *[("##ed", "`##ed`"), ("\n", "`U+000A`"), ("$x$", "`$x$`"), ("a" * 50, None), (" a", "`  a `")],
    ],
)
def test_a_token_is_written_letter_by_letter(text: str, written: str | None) -> None:
    assert token(text) == written or (written is None and len(token(text)) < 30)


@pytest.mark.parametrize("text", ["it", "``", "`", "##ed", " a", "a`b"])
def test_tokens_of_a_sentence_stand_in_quotation_marks_where_nothing_reads_markdown(text: str) -> None:
    assert quoted(f"Layer 1: {token(text)} gives {token('on')} half.") == f"Layer 1: ‘{text}’ gives ‘on’ half."


def test_tokens_that_repeat_are_counted() -> None:
    assert named(["the", "cat", "saw", "the", "dog"], 3) == Named("the", 2, 2)
    assert phrases.named(Named("the", 2, 2)) == "the 2nd `the`"
    assert [phrases.ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]
    )


def test_lists() -> None:
    assert phrases.listed(["a"]) == "a"
    assert phrases.listed(["a", "b", "c"]) == "a, b and c"


def test_each_term_is_at_least_two_plain_sentences() -> None:
    for term, meaning in terms.MEANINGS.items():
        assert meaning.count(".") >= 1, term
        assert meaning.endswith("."), term


def test_a_count_has_its_number() -> None:
    assert [phrases.count_of(number, "head") for number in (0, 1, 2, 1024)] == [
        "0 heads",
        "1 head",
        "2 heads",
        "1,024 heads",
    ]
    assert [phrases.count_of(number, "query") for number in (1, 2)] == ["1 query", "2 queries"]
