"""The rule by which the words and the numbers of an opening are counted, and by which a sentence tells a datum."""

from __future__ import annotations

import math

import pytest

from inspector.sections.section import Check, Figure, Note, Paragraph, Row, Section, Sentence, flat
from tests.inspector.sections.openings import Count, counted, length_faults, numbers, opening, sentences, tells


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Layer 1, head 7: `on` gives 70 % of its attention to `[SEP]`.", ["70 %"]),
        ("Layers 0 and 5, heads 1, 2 and 3, positions 4–9 and dimension 223 are names; 6 heads are not.", ["6"]),
        ("From layer 1 on 3 of 12 heads do, at step 4 after 5 steps of mini&#45;GPT.", ["3", "12", "5"]),
        ("1/√d_k, n², 4n², W_Q, the 2nd `2`, GPT-2, mini-gpt2, A100 and `d = 5` hold none.", []),
        ("d_k = 32: 1,234.5, −0.2, ±3, 2 × 10⁻⁷, 50%.", ["32", "1,234.5", "−0.2", "±3", "2 × 10⁻⁷", "50%"]),
        ("It is 1.20e-07 or 31/64.", ["1.20e-07", "31", "64"]),
        ("A third of 45.4 MB, or half.", ["45.4", "A third", "half"]),
        ('[head 3](#why "1") gives [30 %](#why) at $n^2 = 4$.', ["30 %"]),
        ("Layer 0's FFN adds **10.8**.", ["10.8"]),
    ],
)  # fmt: skip
def test_numbers_are_told_from_names_and_symbols(text: str, told: list[str]) -> None:
    assert numbers(text) == told


def test_a_token_a_formula_and_a_symbol_are_a_word_each() -> None:
    text = "`a long token` = $Q K^T$ · √d_k – 0.5 %, (and) q · k."
    assert counted(text) == Count(words=7, numbers=1)


def test_a_sentence_ends_where_another_begins() -> None:
    text = "`the` is 1.5 long (Vaswani et al. 2017). `it` is not! Is **it**? No. 3 are."
    assert [counted(sentence).words for sentence in sentences(text)] == [8, 3, 2, 3]


def test_what_is_read_before_the_first_picture_is_the_opening() -> None:
    def no_answer(subject: object) -> None: ...

    figure = Figure("a", "", no_answer, "A picture of it", sentence="It reads so.")
    part, headed = (Section("part", title, no_answer) for title in ("", "Part"))
    row = Row((Paragraph("Beside."), figure))
    below = Sentence("Its part.")
    listed = [Sentence("One."), Check("Equal.", holds=True), row, Note("Below."), part, below, headed, below]
    assert opening(list(flat(listed))) == "One. Equal. Beside. It reads so. Its part."
    headings = [Paragraph("One.", "First"), Note("More."), Note("Two.", "Second"), Note("No more.")]
    assert opening(headings) == "One. More."
    assert opening([headed, Paragraph("One."), headed, Note("No more.")]) == "One."


def test_what_is_too_long_is_listed_with_its_figures() -> None:
    assert list(length_faults("Short, with 2 numbers and 3 words.")) == []
    words, whole = length_faults(f"{'word ' * 31}. {'More ' * 20}.")
    assert "first sentence has 31 words and 0 numbers" in words
    assert "opening has 51 words and 0 numbers" in whole
    (numbers,) = length_faults("1, 2 and 3. Then 4.")
    assert "first sentence has 4 words and 3 numbers" in numbers
    (numbers,) = length_faults("1 and 2. Then 3, 4 and 5.")
    assert "opening has 8 words and 5 numbers" in numbers


@pytest.mark.parametrize(
    ("text", "value", "told"),
    [
        ("It has 0.123.", 0.12345, True),
        ("It has 0.124.", 0.12345, False),
        ("It has 12,300 of them.", 12_345, True),
        ("It has 70 %.", 0.7049, True),
        ("It has 71 %.", 0.7049, False),
        ("It has 70.5 %.", 0.7049, True),
        ("It has under 1 %.", 0.001, True),
        ("It has 1 %.", 0.001, False),
        ("It has over 99 %.", 0.998, True),
        ("It has nearly all.", 0.9995, True),
        ("It has nearly all.", 0.9, False),
        ("It has a third.", 0.33, True),
        ("It has a third.", 0.3, False),
        ("It has −2.00.", -2.0, True),
        ("It falls by 2.00.", -2.0, True),
        ("It has −2.00.", 2.0, False),
        ("Layer 2 has it.", 2.0, False),
        ("It has 0.", 0.0, True),
        ("It has 0.", math.nan, False),
    ],
)
def test_a_datum_is_told_as_it_is_written(text: str, value: float, told: bool) -> None:
    assert tells(text, value) == told
