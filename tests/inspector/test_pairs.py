"""Readings of Compare against plain numpy on the maps, and the sentences made of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

import models
from inspector import chance, head_distances, record
from inspector import pairs as read
from inspector.trace import Trace
from inspector.wording.english import compare as words
from models import LoadedModel
from tests.closeness import assert_close

TEXTS = (
    "The cat sat on the mat because it was tired.",
    "Hi.",
    "?!",
    "the the the the",
    "She sat by the river bank and wondered whether the bank would lend her the money.",
)


@pytest.fixture(scope="module", params=TEXTS, ids=lambda text: text[:8])
def trace(minilm: LoadedModel, request: pytest.FixtureRequest) -> Trace:
    return record(minilm, request.param)


def beyond_chance(map_: np.ndarray) -> np.ndarray:
    """The cells beyond what random heads of an unknown width give; each query of these texts sees all keys."""
    return map_ > min(share for keys, share in zip(chance.KEYS, chance.SHARES[64], strict=True) if keys <= len(map_))


def test_the_pair_is_what_the_maps_say(trace: Trace) -> None:
    tokens = trace.tokens
    for layer, head in ((0, 0), (3, 7), (5, 11)):
        a, b = trace.attention(layer=1, head=7), trace.attention(layer=layer, head=head)
        found = read.pair(a, b, queries=tokens, keys=tokens)
        beyond = beyond_chance(a) | beyond_chance(b)
        assert found.by_chance == (not beyond.any())
        apart = np.where(beyond, np.abs(a - b), 0)
        rows, columns = np.where(apart == apart.max())
        row, column = int(rows[0]), int(columns[0])
        assert (found.a, found.b) == (float(a[row, column]), float(b[row, column]))
        assert (found.query.token, found.key.token) == (tokens[row], tokens[column])
        assert found.query.ordinal == sum(token == tokens[row] for token in tokens[: row + 1])
        p, q = (one.astype(np.float64) / one.astype(np.float64).sum(axis=1, keepdims=True) for one in (a, b))
        moved = float(np.mean([0.5 * sum(map(abs, first - second)) for first, second in zip(p, q, strict=True)]))
        assert found.moved == pytest.approx(moved, rel=1e-9)
        said = words.pair(found, a="A (layer 1, head 7)", b="B (layer 0, head 0)")
        assert f"on average {round(100 * moved)} % of" in said
        for limit, phrase in ((0.05, "almost the same"), (1 / 3, "mostly the same"), (2 / 3, "partly the same")):
            assert (phrase in said) == (moved < limit and "almost" not in said.replace(phrase, ""))
            if moved < limit:
                break


def test_equal_maps_are_told_as_equal(trace: Trace) -> None:
    a = trace.attention(layer=2, head=2)
    found = read.pair(a, a.copy(), queries=trace.tokens, keys=trace.tokens)
    assert (found.equal, found.moved) == (True, 0)
    assert (
        words.pair(found, a="A (x)", b="B (x)") == "A (x) and B (x) are equal on this text: every weight is the same."
    )


def test_queries_without_weight_here_are_left_out() -> None:
    a, b = np.array([[0.0, 0.0], [1.0, 0.0]], np.float32), np.array([[0.5, 0.5], [0.5, 0.5]], np.float32)
    assert read.pair(a, b, queries="xy", keys="xy").moved == pytest.approx(0.5)
    assert read.pair(a[:1], b[:1], queries="x", keys="xy").moved == 1


def test_the_best_match_of_two_models_is_the_smallest_distance(minilm: LoadedModel) -> None:
    a, b = record(minilm, TEXTS[0]), record(models.load("own-encoder"), TEXTS[0])
    apart = np.array(
        [
            [
                np.mean(jensenshannon(p, q, axis=1) ** 2)
                for layer in range(2)
                for q in b.attention(layer=layer).astype(float)
            ]
            for layer in range(6)
            for p in a.attention(layer=layer).astype(float)
        ]
    )
    found = read.heads(head_distances.between(a, b))
    row, column = np.unravel_index(apart.argmin(), apart.shape)
    assert found.best.a == (row // 12, row % 12, 0)
    assert found.best.b == (column // 4, column % 4, 0)
    assert_close(found.best.distance, apart.min(), relative=1e-8)
    assert_close(found.median, float(np.median(apart)), relative=1e-8)
    assert (found.pairs, found.count) == (72 * 8, 72)
    mutual = sum(apart[:, near].argmin() == head for head, near in enumerate(apart.argmin(axis=1)))
    assert found.mutual == mutual
    said = words.heads(found, a="X", b="Y")
    assert said.startswith(f"Most alike are layer {row // 12}, head {row % 12} of X and layer {column // 4}, head")
    assert f"{mutual} of the 72 heads of X {'has' if mutual == 1 else 'have'} a partner in Y" in said


def test_heads_of_one_recording_are_never_matched_with_themselves(trace: Trace) -> None:
    distances = head_distances.measure(trace, stream="encoder")
    found = read.heads(distances)
    apart = distances.values + np.diag([9.0] * 72)
    assert found.best.a != found.best.b
    assert_close(found.best.distance, apart.min(), relative=1e-9)
    nearest = apart.argmin(axis=1)
    assert found.mutual == sum(nearest[nearest[head]] == head for head in range(72))
    assert found.pairs == 72 * 71 // 2
    assert found.median == pytest.approx(float(np.median(distances.values[np.triu_indices(72, 1)])))
    assert "of X and" not in words.heads(found, a="X", b="X").replace("of X and layer", "", 1)
