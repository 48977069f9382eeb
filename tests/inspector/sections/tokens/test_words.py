"""Sentences on masking and sentence vectors where the numbers turn the other way."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from inspector.batches.spreading import spreading
from inspector.sections.tokens.changed import late_token
from inspector.wording.english.tokens import changed, masking, vector
from inspector.wording.english.tokens.vector import Ranks

GOOD, POOR = Ranks(1.0, 4, 0.2, 0.9), Ranks(2.0, 1, 0.5, 0.6)


def drawn(*fates: tuple[str, str, str], right: int, by_chance: bool = True) -> str:
    draw = {"rate": 0.15, "tokens": 12, "by_chance": by_chance, "none": 0.85**12}
    return masking.masking(**draw, fates=fates, right=right, sure=0.61, model="M")


def shares(away: float) -> str:
    return masking.shares(shares=(0.12, 0.015, 0.015), rules=(0.12, 0.015, 0.015), away=away, draws=100_000)


def rated(high: tuple[float, float] = (0.5, 0.6), *, differs: bool = True, trained: float | None = 0.25) -> str:
    return masking.rated(low=(0.05, 0.8), high=high, differs=differs, trained=trained, model="M")


def test_a_draw_is_told_in_words() -> None:
    kept = ("a", "kept", "a")
    learns = "BERT learns by guessing hidden words: here M"
    assert (
        drawn(kept, right=1)
        == f"{learns} guesses the only one, at 61 %. At 15 % chance chose it of 12 tokens: `a` stays."
    )
    assert drawn(kept, right=0).startswith(f"{learns} misses the only one, at 61 %.")
    said = drawn(("a", "random", "b"), ("c", "kept", "c"), right=0)
    assert said == (
        f"{learns} guesses none of 2. At 15 % chance chose them of 12 tokens: `a` is read as `b` and `c` stays."
    )
    many = drawn(*[("a", "masked", "[MASK]")] * 5, right=5)
    assert many == f"{learns} guesses 5 of 5. At 15 % chance chose them of 12 tokens."
    assert drawn(kept, right=1, by_chance=False).endswith(
        "chose none of 12 tokens, as in 14 % of draws, so the first is taken: `a` stays."
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
    [
        (POOR, GOOD, "The mean of all tokens is the better"),
        (GOOD, POOR, "[CLS] is the better"),
        (GOOD, GOOD, "are equally good"),
    ],
)
def test_the_better_vector_is_named(cls: Ranks, mean: Ranks, words: str) -> None:
    said = vector.pooled(cls=cls, mean=mean, sentences=4, model="M")
    assert words in said
    assert (
        f"Among 4 sentences in M, a paraphrase comes at rank {mean.mean:.2f} by the mean, at {cls.mean:.2f} by" in said
    )
    meanings = [meaning for _, _, meaning in vector.numbers(cls=cls, mean=mean, sentences=4, chance=2, agreement=0.5)]
    assert f"{cls.first} of 4 have it" in meanings[0]
    assert f"{mean.first} of 4 have it" in meanings[1]


def test_one_sentence_has_no_pair() -> None:
    assert "Write a second sentence" in vector.alone(agreement=0.5, model="M")
    alone = Ranks(1.0, 2, float("nan"), 0.9)
    assert vector.apart(cls=alone, mean=alone) == ""


def test_only_a_state_that_stays_is_told_as_one() -> None:
    table = pd.DataFrame(
        {"position": [0, 1, 2], "token": ["a", "tired", "b"], "change": [0.1, 0.2, 0.5], "largest": [0.4, 1.0, 2.0]}
    )
    moves, first = (spreading(table, token=token, put="was") for token in (1, 0))
    assert (moves.before, moves.before_largest, moves.after, moves.itself) == (0.1, 0.4, 0.5, 0.2)
    stays = replace(moves, before=0.0, before_largest=0.0)
    assert changed.spreading({"E": moves, "D": stays}) == (
        "Change `tired`, and in E the tokens before it move too, by 0.100 in the mean; "
        "in D no token before it moves, for the mask is causal. Its own state moves by 0.200."
    )
    assert "causal" not in changed.spreading({"E": moves, "F": moves})
    assert "no token stands before it" in changed.spreading({"E": first})
    assert changed.why({"E": moves, "D": stays}).endswith(
        "The tokens after it move in E by 0.500 and in D by 0.500 in the mean."
    )
    assert late_token(("[CLS]", "was", "tired", ".", "[SEP]"), (True, False, False, False, True)) == 2
    assert late_token(("[CLS]", ".", "[SEP]"), (True, False, True)) == 1
