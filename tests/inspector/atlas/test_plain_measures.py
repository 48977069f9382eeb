"""The plain measures themselves on maps by hand, whose numbers can be written down."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from inspector import heads
from models import LoadedModel
from models.tokenizers import Encoding
from tests.inspector.atlas.plain_measures import MEASURES, OFFSETS, Maps, is_punctuation, measured

TOKENS = ("[CLS]", "a", "b", "##c", "7", "a", ".", "[UNK]", "[SEP]")
WORDS = (None, 0, 1, 1, 2, 3, 4, 5, None)
SHARES = ("to_special", "to_unknown", "punctuation", "to_number", "to_rest", "to_start")


def encoding(tokens: tuple[str, ...] = TOKENS, words: tuple[int | None, ...] = WORDS) -> Encoding:
    unknown = 9
    return Encoding(
        ids=tuple(unknown if token == "[UNK]" else ord(token[-1]) for token in tokens),
        tokens=tokens,
        words=words,
        segments=(0,) * len(tokens),
        special=tuple(word is None for word in words),
        unknown=tokens.count("[UNK]"),
        unknown_id=unknown,
    )


def of_one_head(
    weights: np.ndarray, *, causal: bool = False, one_text: bool = True, lengths: np.ndarray | None = None
) -> Mapping[str, float]:
    """Measure one map; the lengths of what keys add are 1, 2, ... unless given."""
    own = np.arange(1.0, len(TOKENS) + 1) if lengths is None else lengths
    found = measured(Maps(weights[None], own[None], encoding(), one_text=one_text, causal=causal))
    return {name: float(numbers[0]) for name, numbers in found.items()}


def test_there_are_62() -> None:
    assert len(MEASURES) == 62


def test_uniform() -> None:
    n = len(TOKENS)
    found = of_one_head(np.full((n, n), 1 / n))
    expected = {
        **{"entropy": math.log(n), "relative_entropy": 1.0, "information": 0.0, "confidence": 1 / n, "sink": 1 / n},
        **{"distance": (n * n - 1) / (3 * n), "self": 1 / n, "previous": 1 / n, "next": 1 / n},
        **{"offset_-2": 1 / n, "offset_+8": 1 / n, "offset_+9": math.nan, "offset_-16": math.nan},
        **{"first": 1 / n, "cls": 1 / n, "sep": 1 / n, "punctuation": 1 / n},
        **{"part_1": 3 / n, "part_2": 2 / n, "part_3": 2 / n, "part_4": 2 / n},
        **{"to_special": 2 / n, "to_unknown": 1 / n, "to_number": 1 / n, "to_rest": 1 / n, "to_start": 3 / n},
        **{"induction": 1 / n, "duplicate": 1 / n, "word": 1 / n},
        **{"norm_first": 1 / 45, "norm_cls": 1 / 45, "norm_sep": 9 / 45, "norm_punctuation": 7 / 45},
        **{"norm_self": 45 / 45 / n, "norm_previous": 36 / 45 / (n - 1), "norm_next": 44 / 45 / (n - 1)},
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_identity() -> None:
    found = of_one_head(np.eye(len(TOKENS)))
    assert (found["self"], found["norm_self"], found["entropy"], found["distance"]) == (1.0, 1.0, 0.0, 0.0)
    assert found["information"] == pytest.approx(math.log(len(TOKENS)))
    assert (found["induction"], found["duplicate"], found["word"], found["previous"]) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("by", [-8, -4, -1, 1, 4, 8])
def test_one_offset(by: int) -> None:
    """Queries whose key would lie outside look at themselves."""
    n = len(TOKENS)
    weights = np.zeros((n, n))
    for query in range(n):
        weights[query, query + by if 0 <= query + by < n else query] = 1.0
    found = of_one_head(weights)
    names = {-1: "previous", 0: "self", 1: "next", **{offset: f"offset_{offset:+d}" for offset in OFFSETS}}
    for offset, name in names.items():
        expected = 1.0 if offset == by else abs(by) / n if offset == 0 else 0.0 if abs(offset) < n else math.nan
        assert found[name] == pytest.approx(expected, nan_ok=True)
    assert found["distance"] == pytest.approx(abs(by) * (n - abs(by)) / n)
    assert found["duplicate"] == {-4: 0.5, 4: 0.5}.get(by, 0.0)  # the two "a" are four tokens apart
    assert found["word"] == {-1: 0.5, 1: 0.5}.get(by, 0.0)


def test_a_causal_head_counts_the_queries_that_saw_a_target() -> None:
    n = len(TOKENS)
    weights = np.tril(np.ones((n, n)))
    weights /= weights.sum(axis=1, keepdims=True)
    found = of_one_head(weights, causal=True)
    assert found["duplicate"] == pytest.approx(1 / 6)  # the second "a" alone, one of whose six keys is the first
    assert found["induction"] == pytest.approx(1 / 6)  # and another one is behind it
    assert found["word"] == pytest.approx(1 / 4)  # "##c" alone
    assert found["previous"] == pytest.approx(sum(1 / (query + 1) for query in range(1, n)) / (n - 1))
    assert all(math.isnan(found[name]) for name in ("next", "norm_next", "offset_+2"))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_short_text_has_no_such_key(n: int) -> None:
    maps = np.full((1, n, n), 1 / n)
    found = measured(Maps(maps, np.ones((1, n)), encoding(TOKENS[:n], WORDS[:n]), one_text=True, causal=False))
    empty = {f"part_{number}" for number in (1, 2, 3, 4)} - {f"part_{1 + 4 * key // n}" for key in range(n)}
    assert all(math.isnan(found[name][0]) for name in empty)
    assert all(math.isnan(found[name][0]) == (n == 1) for name in ("previous", "next", "norm_previous", "norm_next"))


def test_queries_whose_keys_move_nothing_have_no_share() -> None:
    lengths = np.array([0.0, 1, 1, 1, 1, 1, 1, 1, 1])
    found = of_one_head(np.eye(len(TOKENS)), lengths=lengths)
    assert (found["norm_self"], found["norm_cls"]) == (pytest.approx(1.0), 0.0)
    assert found["norm_sep"] == pytest.approx(1 / 8)
    assert found["norm_previous"] == 0.0
    of_nothing = of_one_head(np.eye(len(TOKENS)), lengths=np.zeros(len(TOKENS)))
    too_far = {f"offset_{offset:+d}" for offset in OFFSETS if abs(offset) >= len(TOKENS)}
    for name, number in of_nothing.items():
        assert math.isnan(number) == (name.startswith("norm_") or name in too_far), name


def test_classes_of_tokens_share_everything_out() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(len(TOKENS)), size=len(TOKENS))
    found = of_one_head(weights)
    assert sum(found[name] for name in SHARES) == pytest.approx(1.0)
    assert sum(found[f"part_{number}"] for number in (1, 2, 3, 4)) == pytest.approx(1.0)


def test_between_two_texts_positions_mean_nothing() -> None:
    found = of_one_head(np.eye(len(TOKENS)), one_text=False)
    empty = {name for name, number in found.items() if math.isnan(number)}
    offsets = {f"offset_{offset:+d}" for offset in OFFSETS}
    paired = {"distance", "self", "previous", "next", "induction", "duplicate", "word"}
    assert empty == offsets | paired | {"norm_self", "norm_previous", "norm_next"}


def test_punctuation_is_what_the_inspector_takes_for_it(minilm: LoadedModel) -> None:
    tokens = [*minilm.tokenizer.get_vocab(), "Ġ,", "▁.", "▁", "Ġ", "<s>", "</s>", "<|endoftext|>", "Ġ--", "$", "Ġ("]
    assert [token for token in tokens if is_punctuation(token) != heads.is_punctuation(token)] == []
