"""Shares, lists and tokens in sentences."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers.pre_tokenizers import ByteLevel

from inspector.text import Named, named, names_of, quoted, token, token_name
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
            ("▁", "`␣`"),
        ],
        *[("##ed", "`##ed`"), ("\n", "`↵`"), ("\t", "`U+0009`"), ("$x$", "`$x$`"), ("a" * 50, None), (" a", "`a`")],
    ],
)
def test_a_token_is_written_letter_by_letter(text: str, written: str | None) -> None:
    assert token(text) == written or (written is None and len(token(text)) < 30)


@pytest.mark.parametrize("text", ["it", "``", "`", "##ed", "a`b"])
def test_tokens_of_a_sentence_stand_in_quotation_marks_where_nothing_reads_markdown(text: str) -> None:
    assert quoted(f"Layer 1: {token(text)} gives {token('on')} half.") == f"Layer 1: ‘{text}’ gives ‘on’ half."


@pytest.mark.parametrize(
    "text", ["cat", " cat", " café", "\n", "\n\n", " ", "猫", " “", "don't", "ß", " naïve.", "🙂", " Ω"]
)
def test_bytes_that_stand_as_letters_are_read(text: str) -> None:
    """The alphabet of the tokenizers library writes bytes as letters; a reader sees the text, its spaces and breaks."""
    (piece,) = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert (piece[0] == text) == (text in ("cat", "don't"))
    seen = text.replace("\n", "↵")
    assert token_name(piece[0]) == seen.replace(" ", "␣")
    assert token_name(token_name(piece[0])) == token_name(piece[0])


@pytest.mark.parametrize(
    "text", ["cat", "##s", "[CLS]", "był", "się", "Čech", "ĉu", "čas", "éa", "Łódź", "<|im_start|>", "猫"]
)
def test_a_token_of_letters_stays_as_it_is(text: str) -> None:
    """Letters of Polish, Czech or Esperanto would be bytes too, but of no text."""
    assert token_name(text) == text


def test_bytes_of_a_part_of_a_letter_stay_behind_the_space() -> None:
    assert token_name("ĠâĢ") == "␣âĢ"


def test_names_in_a_picture_number_what_is_read_and_not_what_is_predicted() -> None:
    assert names_of(["The", "Ġcat", ".", "Ġcat", "."]) == ["The", "␣cat 1st", ".", "␣cat 2nd", "."]
    assert names_of(["the → Ġcat", "Ġcat → the", "the → Ċ"]) == ["the 1st → ␣cat", "␣cat → the", "the 2nd → ↵"]


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
