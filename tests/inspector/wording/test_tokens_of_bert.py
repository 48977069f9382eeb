"""Sentences on masking and sentence vectors where the numbers turn the other way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.readings.batch import Spreading
from inspector.readings.links import Named
from inspector.readings.tokens.both import Both, late_token
from inspector.readings.tokens.masking import Masking, Rated
from inspector.readings.tokens.vector import Pooled, Ranked
from inspector.wording.english.tokens import both, masking, vector

DRAWN = Masking(0.15, 12, (("a", "kept", "a"),), 1, (0.12, 0.015, 0.015), (0.12, 0.015, 0.015), 0.5, 100_000)
RATED = Rated((0.05, 0.8, 1.0), (0.5, 0.6, 2.0), True, 0.6, 1.0, 0.25)
GOOD, POOR = Ranked(1.0, 4, 0.2, 0.9), Ranked(2.0, 1, 0.5, 0.6)


def test_a_draw_is_told_in_words() -> None:
    assert masking.masking(DRAWN).endswith("tokens: `a` stays. The model's first guess is right.")
    random = replace(DRAWN, fates=(("a", "random", "b"), ("c", "kept", "c")), right=0)
    assert "`a` is read as `b` and `c` stays. The model's first guess is right for none of them." in masking.masking(
        random
    )
    many = replace(DRAWN, fates=(("a", "masked", "[MASK]"),) * 5, right=5)
    assert "5 are read as [MASK], 0 as a random token, 0 as they are." in masking.masking(many)
    assert "right for all of them" in masking.masking(many)
    assert "chance explains it" in masking.shares(DRAWN)
    assert "chance hardly explains" in masking.shares(replace(DRAWN, away=5.0))


def test_a_curve_that_does_not_fall_is_not_told_as_one_that_does() -> None:
    assert "the less is left to guess from" in masking.rated(RATED, model="M")
    assert "M was trained at 25 %" in masking.rated(RATED, model="M")
    assert "a difference that chance explains" in masking.rated(replace(RATED, differs=False), model="M")
    assert "here more hidden tokens help" in masking.rated(replace(RATED, last=(0.5, 0.9, 0.5)), model="M")
    assert "its files do not say" in masking.rated(replace(RATED, trained=None), model="M")
    assert masking.fates(replace(RATED, kept=float("nan"))) == ""


@pytest.mark.parametrize(
    ("cls", "mean", "words"),
    [(POOR, GOOD, "the mean of all tokens is the better"), (GOOD, POOR, "[CLS] is the better"), (GOOD, GOOD, "alike")],
)
def test_the_better_vector_is_named(cls: Ranked, mean: Ranked, words: str) -> None:
    said = vector.pooled(Pooled(4, 2.0, cls, mean, 0.5), model="M")
    assert words in said
    assert f"[CLS] for {cls.first} of 4" in said or f"[CLS] puts the paraphrase first for {cls.first} of 4" in said


def test_one_sentence_has_no_pair() -> None:
    assert "Write a second sentence" in vector.pooled(Pooled(0, 0.5, None, None, 0.5), model="M")
    assert vector.apart(Pooled(0, 0.5, None, None, 0.5)) == ""


def test_only_a_state_that_stays_is_told_as_one() -> None:
    moves = Spreading(Named("tired", 1, 1), "was", 0.1, 0.4, 0.2, 0.5)
    stays = replace(moves, before=0.0, before_largest=0.0)
    found = Both(("x", 0.5), True, moves, stays)
    assert "E's earlier states move by 0.100, D's by 0" in both.both(found, encoder="E", decoder="D")
    assert "by 0" not in both.both(replace(found, decoder=moves), encoder="E", decoder="D")
    assert "no token stands before" in both.why(
        replace(found, encoder=replace(moves, before=None)), encoder="E", decoder="D"
    )
    assert late_token(("[CLS]", "was", "tired", ".", "[SEP]"), (True, False, False, False, True)) == 2
    assert late_token(("[CLS]", ".", "[SEP]"), (True, False, True)) == 1
