from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cosine, jensenshannon
from scipy.special import rel_entr
from scipy.stats import entropy, spearmanr

import models
from inspector import record
from inspector.compare import changed_heads, moved, shared, subtract
from inspector.maps import arrange
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close

CHANCE = np.random.default_rng(0)


def rows(n: int) -> np.ndarray:
    return CHANCE.dirichlet(np.ones(n), size=n).astype(np.float32)


def test_same_tokens_subtract_cell_by_cell() -> None:
    a, b = rows(5), rows(5)
    found = subtract(a, b, queries=tuple("abcde"), keys=tuple("abcde"))
    np.testing.assert_array_equal(found.values, a - b)
    assert found.queries == found.keys == tuple("abcde")
    assert found.largest == pytest.approx(float(np.abs(a - b).max()))
    expected = np.mean([jensenshannon(p, q) ** 2 for p, q in zip(a, b, strict=True)])  # scipy gives the square root
    assert found.jensen_shannon == pytest.approx(expected, rel=1e-5)


def test_shared_tokens_keep_their_order() -> None:
    a_tokens, b_tokens = ("[CLS]", "the", "cat", "sat", "[SEP]"), ("[CLS]", "the", "old", "cat", "[SEP]")
    assert shared(a_tokens, b_tokens) == [(0, 0), (1, 1), (2, 3), (4, 4)]


def test_extremes() -> None:
    a, same = rows(4), tuple("abcd")
    assert subtract(a, a, queries=same, keys=same).jensen_shannon == 0
    identity, shifted = np.eye(4, dtype=np.float32), np.roll(np.eye(4, dtype=np.float32), 1, axis=1)
    far = subtract(identity, shifted, queries=same, keys=same)
    assert far.jensen_shannon == pytest.approx(np.log(2))
    assert far.largest == 1


def test_changed_heads_are_measured_on_the_chosen_rows(minilm: LoadedModel) -> None:
    before, after = record(minilm, "The cat sat on the mat."), record(minilm, "The dog sat on the mat.")
    table = changed_heads(before, after, queries=[2, 3])
    assert len(table) == 72
    assert table["jensen_shannon"].is_monotonic_decreasing
    for row in table.iloc[[0, 20, 71]].itertuples():
        p, q = (trace.attention(layer=row.layer, head=row.head)[[2, 3]].astype(float) for trace in (before, after))
        assert_close(row.jensen_shannon, np.mean(jensenshannon(p, q, axis=1) ** 2), relative=1e-6, scale=1)
        assert_close(row.total_variation, np.abs(p - q).sum() / 4, relative=1e-6, scale=1)
    same = changed_heads(before, before, queries=[1])
    assert_close(same[["jensen_shannon", "total_variation"]], 0, relative=1e-12, scale=1)  # of at most 1


def long_pair(loaded: LoadedModel, tokens: int) -> list[Trace]:
    return [record(loaded, " ".join([word, *["cat", "sat", "here"] * tokens][: tokens - 2])) for word in ("a", "the")]


def test_rows_of_several_blocks_are_those_of_the_whole_maps(minilm: LoadedModel) -> None:
    """A text of more query rows than are computed at once; a row that is asked for twice counts twice."""
    before, after = long_pair(minilm, 150)
    for queries in (None, [140, 3, -1, 3]):
        table = changed_heads(before, after, queries=queries)
        for row in table.iloc[[0, 40, 71]].itertuples():
            maps = (trace.attention(layer=row.layer, head=row.head).astype(float) for trace in (before, after))
            p, q = (weights[slice(None) if queries is None else queries] for weights in maps)
            expected = (rel_entr(p, (p + q) / 2) + rel_entr(q, (p + q) / 2)).sum(axis=1).mean() / 2
            assert_close(row.jensen_shannon, expected, relative=1e-6, scale=1)
            assert_close(row.total_variation, np.abs(p - q).sum() / 2 / len(p), relative=1e-6, scale=1)


def test_memory_is_linear_in_the_text(minilm: LoadedModel) -> None:
    most = []
    for tokens in (256, 512):
        pair = long_pair(minilm, tokens)
        tracemalloc.start()
        changed_heads(*pair)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 2.2 * most[0]


def test_hidden_states_turn_by_their_cosine(minilm: LoadedModel) -> None:
    before, after = record(minilm, "The cat sat on the mat."), record(minilm, "The dog sat on the mat.")
    expected = [cosine(a, b) for a, b in zip(before.output.astype(float), after.output.astype(float), strict=True)]
    assert_close(moved(before, after), expected, relative=1e-12)
    assert_close(moved(before, before), 0, relative=1e-12, scale=1)


def test_traces_of_different_lengths_are_a_sentence(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="with 4 tokens and minilm with 5 cannot be compared head by head"):
        changed_heads(record(minilm, "A cat"), record(minilm, "A black cat"), queries=[1])


def test_the_numbers_of_a_difference_against_scipy() -> None:
    a, b = rows(7), rows(7)
    a[:, 1], a[:, 4] = a[:, 0], 0.0  # ties
    b[:, 2] = 0.0
    a[:, 5:] = b[:, 5:] = 0.0  # as a mask hides keys from both
    a[5], b[6] = 1 / 7, 1 / 7  # no ranks in these two
    found = subtract(a, b, queries=tuple("abcdefg"), keys=tuple("abcdefg"))
    p, q = (side.astype(np.float64) / side.sum(axis=1, dtype=np.float64, keepdims=True) for side in (a, b))
    assert found.jensen_shannon == pytest.approx(np.mean(jensenshannon(p, q, axis=1) ** 2), rel=1e-9)
    assert found.entropy_change == pytest.approx(np.mean(entropy(p, axis=1) - entropy(q, axis=1)), rel=1e-9)
    ranked = [spearmanr(x[:5], y[:5]).statistic for x, y in zip(a[:5], b[:5], strict=True)]
    assert found.spearman == pytest.approx(np.mean(ranked), rel=1e-12)


def test_maps_of_one_weight_have_no_ranks() -> None:
    flat = np.full((3, 3), 1 / 3, np.float32)
    assert np.isnan(subtract(flat, rows(3), queries=tuple("abc"), keys=tuple("abc")).spearman)
    assert subtract(rows(3), flat, queries=tuple("abc"), keys=tuple("abc")).entropy_change < 0


def test_maps_of_other_shapes_are_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"shapes \(3, 3\) and \(2, 2\) between 3 queries and 3 keys"):
        subtract(rows(3), rows(2), queries=tuple("abc"), keys=tuple("abc"))


def test_texts_of_different_lengths_are_compared_between_groups(minilm: LoadedModel) -> None:
    before, after = record(minilm, "The cat sat."), record(minilm, "The old dog sat.")
    shown = arrange(before, block=range(2, 3)), arrange(after, block=range(2, 4))
    row = changed_heads(before, after, shown=shown, queries=[3]).iloc[5]
    p = before.attention(layer=row["layer"], head=row["head"])[3].astype(float)
    q = after.attention(layer=row["layer"], head=row["head"])[4].astype(float)
    q = np.array([*q[:2], q[2:4].sum(), *q[4:]])
    assert_close(row["jensen_shannon"], jensenshannon(p, q) ** 2, relative=1e-6, scale=1)
    before, after = (record(minilm, f"The {dog} sat. " + "It sat here. " * 40) for dog in ("cat", "old dog"))
    shown = arrange(before, block=range(2, 3)), arrange(after, block=range(2, 4))
    row = changed_heads(before, after, shown=shown).iloc[5]  # of more rows than are computed at once
    p, q = (trace.attention(layer=row["layer"], head=row["head"]).astype(float) for trace in (before, after))
    q = np.column_stack([q[:, :2], q[:, 2:4].sum(axis=1), q[:, 4:]])
    q = np.stack([*q[:2], q[2:4].mean(axis=0), *q[4:]])
    assert_close(row["jensen_shannon"], np.mean(jensenshannon(p, q, axis=1) ** 2), relative=1e-6, scale=1)


def test_states_of_texts_of_different_lengths_are_compared_between_groups(minilm: LoadedModel) -> None:
    before, after = record(minilm, "The cat sat."), record(minilm, "The old dog sat.")
    shown = arrange(before, block=range(2, 3)), arrange(after, block=range(2, 4))
    a, b = before.output.astype(float), after.output.astype(float)
    b = np.stack([*b[:2], b[2:4].mean(axis=0), *b[4:]])
    expected = [cosine(one, other) for one, other in zip(a, b, strict=True)]
    assert_close(moved(before, after, groups=(shown[0].queries, shown[1].queries)), expected, relative=1e-6, scale=1)


def test_heads_of_one_stream_alone() -> None:
    loaded = models.load("own-encoder-decoder")
    before, after = (record(loaded, text, target="Die Katze.") for text in ("A cat sat", "A dog sat"))
    table = changed_heads(before, after, stream="cross")
    assert set(table["stream"]) == {"cross"}
    assert len(table) == 8
    weights = [trace.attention(layer=1, head=2, stream="cross").astype(float) for trace in (before, after)]
    row = table.query("layer == 1 and head == 2").iloc[0]
    expected = np.mean(jensenshannon(*weights, axis=1) ** 2)
    assert_close(row["jensen_shannon"], expected, relative=1e-6, scale=1)
