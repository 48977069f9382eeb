"""Sentences on masking and sentence vectors where the numbers turn the other way."""

from __future__ import annotations

import pandas as pd
import pytest

from inspector.sections.tokens.both import late_token
from inspector.sections.tokens.both import moved as moved_by
from inspector.text import Named
from inspector.wording.english.tokens import both, masking, vector
from inspector.wording.english.tokens.both import TokenChange
from inspector.wording.english.tokens.vector import Ranks

GOOD, POOR = Ranks(1.0, 4, 0.2, 0.9), Ranks(2.0, 1, 0.5, 0.6)


def drawn(*fates: tuple[str, str, str], right: int, by_chance: bool = True) -> str:
    return masking.masking(rate=0.15, tokens=12, by_chance=by_chance, none=0.85**12, fates=fates, right=right)


def shares(away: float) -> str:
    return masking.shares(shares=(0.12, 0.015, 0.015), rules=(0.12, 0.015, 0.015), away=away, draws=100_000)


def rated(high: tuple[float, float] = (0.5, 0.6), *, differs: bool = True, trained: float | None = 0.25) -> str:
    return masking.rated(low=(0.05, 0.8), high=high, differs=differs, trained=trained, model="M")


def test_a_draw_is_told_in_words() -> None:
    kept = ("a", "kept", "a")
    assert drawn(kept, right=1).endswith("tokens: `a` stays. The model's first guess is right.")
    said = drawn(("a", "random", "b"), ("c", "kept", "c"), right=0)
    assert "`a` is read as `b` and `c` stays. The model's first guess is right for none of them." in said
    many = drawn(*[("a", "masked", "[MASK]")] * 5, right=5)
    assert "5 are read as [MASK], 0 as a random token, 0 as they are." in many
    assert "right for all of them" in many
    assert "chose none of 12 tokens, as 14 % of draws do. The first is taken instead: `a` stays." in drawn(
        kept, right=1, by_chance=False
    )
    assert "chance explains it" in shares(0.5)
    assert "chance hardly explains" in shares(5.0)


def test_a_curve_that_does_not_fall_is_not_told_as_one_that_does() -> None:
    assert "the less is left to guess from" in rated()
    assert "M was trained at 25 %" in rated()
    assert "a difference that chance explains" in rated(differs=False)
    assert "here more hidden tokens help" in rated((0.5, 0.9))
    assert "its files do not say" in rated(trained=None)
    assert masking.fates(masked=0.6, unchanged=float("nan")) == ""


@pytest.mark.parametrize(
    ("cls", "mean", "words"),
    [(POOR, GOOD, "the mean of all tokens is the better"), (GOOD, POOR, "[CLS] is the better"), (GOOD, GOOD, "alike")],
)
def test_the_better_vector_is_named(cls: Ranks, mean: Ranks, words: str) -> None:
    said = vector.pooled(cls=cls, mean=mean, sentences=4, model="M")
    assert words in said
    assert f"[CLS] for {cls.first} of 4" in said or f"[CLS] puts the paraphrase first for {cls.first} of 4" in said


def test_one_sentence_has_no_pair() -> None:
    assert "Write a second sentence" in vector.alone(agreement=0.5, model="M")
    alone = Ranks(1.0, 2, float("nan"), 0.9)
    assert vector.apart(cls=alone, mean=alone) == ""


def test_only_a_state_that_stays_is_told_as_one() -> None:
    table = pd.DataFrame(
        {"position": [0, 1, 2], "token": ["a", "tired", "b"], "change": [0.1, 0.2, 0.5], "largest": [0.4, 1.0, 2.0]}
    )
    moves = moved_by(table, token=1, put="was")
    assert moves == TokenChange(Named("tired", 1, 1), "was", 0.1, 0.4)
    stays = TokenChange(moves.changed, "was", 0.0, 0.0)
    named = {"encoder": "E", "decoder": "D"}
    said = both.both(cosine=0.5, same=True, moves=(moves, stays), **named)
    assert "E's earlier states move by 0.100, D's by 0" in said
    assert "by 0" not in both.both(cosine=0.5, same=True, moves=(moves, moves), **named)
    first = moved_by(table, token=0, put="was")
    assert "no token stands before" in both.why(moves=(first, stays), **named)
    assert late_token(("[CLS]", "was", "tired", ".", "[SEP]"), (True, False, False, False, True)) == 2
    assert late_token(("[CLS]", ".", "[SEP]"), (True, False, True)) == 1
