from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon, pdist, squareform

import models
from inspector import record
from inspector.head_distances import between, matches, measure, plane
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close

Shipped = Callable[[str], LoadedModel]
TEXT = "The cat sat on the mat because it was tired."


def test_every_pair_against_scipy(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    found = measure(trace, stream="encoder")
    assert found.values.shape == (72, 72)
    assert (found.queries, found.of) == (13, 13)
    maps = np.concatenate([trace.attention(layer=layer) for layer in range(6)]).astype(np.float64)
    for row in (0, 17, 71):
        expected = [np.mean(jensenshannon(maps[row], other, axis=1) ** 2) for other in maps]  # scipy gives the root
        assert_close(found.values[row], np.nan_to_num(expected), relative=2e-9)
    np.testing.assert_array_equal(found.values, found.values.T)
    assert found.heads[17] == (1, 5)


def test_more_work_than_allowed_compares_evenly_spaced_queries(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    some = measure(trace, stream="encoder", work=72 * 71 // 2 * 13 * 4)
    assert (some.queries, some.of) == (4, 13)
    maps = np.concatenate([trace.attention(layer=layer) for layer in range(6)])[:, [0, 4, 8, 12]].astype(np.float64)
    expected = np.mean(jensenshannon(maps[3], maps[40], axis=1) ** 2)
    assert_close(some.values[3, 40], expected, relative=2e-9)
    assert measure(trace, stream="encoder", work=1).queries == 1


def test_rows_of_several_steps_and_blocks_are_all_counted_once(minilm: LoadedModel) -> None:
    """A text of more rows than a step has room for, and than are computed at once."""
    trace = record(minilm, " ".join(["the", *["cat", "sat", "here"] * 45]))
    maps = np.concatenate([trace.attention(layer=layer) for layer in range(6)]).astype(np.float64)
    found = measure(trace, stream="encoder")
    assert (found.queries, found.of) == (138, 138)
    other = between(trace, record(minilm, trace.text))
    for row, column in ((0, 71), (17, 40)):
        expected = np.mean(jensenshannon(maps[row], maps[column], axis=1) ** 2)
        for distances in (found, other):
            assert_close(distances.values[row, column], expected, relative=2e-9)


def test_causal_and_cross_maps() -> None:
    trace = record(models.load("own-encoder-decoder"), "A cat.", target="My dog sat.")
    for stream in ("decoder", "cross"):
        found = measure(trace, stream=stream)
        a, b = (trace.attention(layer=layer, head=1, stream=stream).astype(np.float64) for layer in (0, 1))
        assert_close(found.values[1, 5], np.mean(jensenshannon(a, b, axis=1) ** 2), relative=2e-9)
        assert 0 <= found.values.min() <= found.values.max() <= np.log(2)


def test_points_of_the_plane_come_back() -> None:
    points = np.random.default_rng(0).normal(size=(9, 2))
    found, share = plane(squareform(pdist(points)))
    assert_close(pdist(found), pdist(points), relative=1e-9)
    assert share == pytest.approx(1)
    assert (found[np.abs(found).argmax(axis=0), [0, 1]] > 0).all()


def test_the_plane_keeps_a_share_of_more_dimensions() -> None:
    cube = np.array(np.meshgrid([0, 3], [0, 2], [0, 1])).reshape(3, -1).T.astype(float)
    found, share = plane(cdist(cube, cube))
    assert share == pytest.approx((9 + 4) / (9 + 4 + 1))  # variances along the sides
    assert_close(sorted(np.abs(found[:, 0]).round(9)), [1.5] * 8, relative=1e-6)


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_heads_that_are_alike_fall_together(heads: int) -> None:
    points, share = plane(np.zeros((heads, heads)))
    np.testing.assert_array_equal(points, np.zeros((heads, 2)))
    assert share == 1


def rows(trace: Trace, groups: list[list[int]], head: tuple[int, int]) -> np.ndarray:
    """A head's map between words, given by their tokens: sums over the keys' tokens, means over the queries'."""
    weights = trace.attention(layer=head[0], head=head[1]).astype(np.float64)
    return np.array([[weights[np.ix_(down, across)].sum(axis=1).mean() for across in groups] for down in groups])


def test_heads_of_two_models_of_one_tokenizer_token_by_token(minilm: LoadedModel) -> None:
    a, b = record(minilm, TEXT), record(models.load("own-encoder"), TEXT)
    assert a.tokens == b.tokens
    found = between(a, b)
    assert found.values.shape == (72, 8)
    p, q = (trace.attention(layer=1, head=3).astype(np.float64) for trace in (a, b))
    assert_close(found.values[15, 7], np.mean(jensenshannon(p, q, axis=1) ** 2), relative=2e-9)


def test_heads_of_a_recording_and_of_itself(minilm: LoadedModel) -> None:
    a = record(minilm, TEXT)
    found = between(a, a)
    assert_close(found.values, measure(a, stream="encoder").values, relative=1e-9)
    assert found.a == found.b
    assert found.a[19] == (1, 7, 0)
    assert (found.queries, found.of) == (13, 13)
    table = matches(found)
    assert (table["distance"] == 0).all()  # each is nearest to itself
    assert table["mutual"].all()


def test_heads_of_two_tokenizers_word_by_word(minilm: LoadedModel, shipped: Shipped) -> None:
    text = "Antidisestablishmentarianism is a long word."
    a, b = record(minilm, text), record(shipped("mini-bert"), text)
    groups = []
    for trace in (a, b):
        words = trace.encoding.words
        numbers = list(dict.fromkeys(word for word in words if word is not None))
        middle = [[place for place, own in enumerate(words) if own == number] for number in numbers]
        groups.append([[0], *middle, [len(words) - 1]])
    assert len(groups[0]) == len(groups[1])
    found = between(a, b)
    assert found.values.shape == (72, 24)
    assert (found.queries, found.of) == (len(groups[0]),) * 2
    for row, column in ((0, 0), (19, 7), (71, 23)):
        p, q = rows(a, groups[0], found.a[row][:2]), rows(b, groups[1], found.b[column][:2])
        assert_close(found.values[row, column], np.mean(jensenshannon(p, q, axis=1) ** 2), relative=1e-6)


def test_a_token_at_the_end_that_only_one_model_has_is_left_out(minilm: LoadedModel, shipped: Shipped) -> None:
    text = "The cat sat on the mat."
    a, b = record(minilm, text), record(shipped("mini-gpt"), text)
    last = len(b.tokens)
    assert len(a.tokens) == last + 1, "MiniLM ends with a mark of its own"
    found = between(a, b)
    for row, column in ((0, 0), (19, 7), (71, 23)):
        p = a.attention(layer=found.a[row][0], head=found.a[row][1])[:last, :last].astype(np.float64)
        q = b.attention(layer=found.b[column][0], head=found.b[column][1]).astype(np.float64)
        expected = np.mean(jensenshannon(p, q, axis=1) ** 2)  # scipy divides each row by its sum
        assert_close(found.values[row, column], expected, relative=1e-6)


def test_the_matches_are_the_smallest_of_each_row(minilm: LoadedModel, shipped: Shipped) -> None:
    found = between(record(minilm, TEXT), record(shipped("mini-bert"), TEXT))
    table = matches(found)
    assert table["distance"].is_monotonic_increasing
    assert len(table) == 72
    for match in table.itertuples():
        row = found.a.index((match.a_layer, match.a_head, match.a_call))
        column = found.b.index((match.b_layer, match.b_head, match.b_call))
        assert match.distance == found.values[row].min() == found.values[row, column]
        assert match.mutual == (found.values[:, column].argmin() == row)
    assert 0 < table["mutual"].sum() <= 24


def test_more_work_than_allowed_between_two_models(minilm: LoadedModel, shipped: Shipped) -> None:
    a, b = record(minilm, TEXT), record(shipped("mini-bert"), TEXT)
    keys = between(a, b).of
    whole = [between(a, b, work=work) for work in (72 * 24 * keys * 4, 1)]
    assert [(found.queries, found.of) for found in whole] == [(4, keys), (1, keys)]
    p, q = a.attention(layer=0, head=0).astype(np.float64), b.attention(layer=3, head=5).astype(np.float64)
    rows = np.unique(np.linspace(0, keys - 1, 4).round().astype(int))
    expected = np.mean(jensenshannon(p[rows], q[rows], axis=1) ** 2)
    assert_close(whole[0].values[0, 23], expected, relative=2e-9)


def test_a_text_that_one_model_read_in_part_is_compared_by_what_both_read(
    minilm: LoadedModel, shipped: Shipped
) -> None:
    text = " ".join([TEXT] * 20)
    a, b = record(minilm, text), record(shipped("mini-bert"), text)
    found = between(a, b)
    assert len(b.tokens) == found.of == 128
    p = a.attention(layer=2, head=1)[:, [*range(127), len(a.tokens) - 1]][[*range(127), len(a.tokens) - 1]]
    p = p.astype(np.float64) / p.sum(axis=1, keepdims=True, dtype=np.float64)
    q = b.attention(layer=0, head=4).astype(np.float64)
    assert_close(found.values[25, 4], np.mean(jensenshannon(p, q, axis=1) ** 2), relative=1e-6)


def test_two_texts_and_two_streams_are_a_sentence(minilm: LoadedModel) -> None:
    a = record(minilm, TEXT)
    with pytest.raises(ValueError, match="one of 11 words and one of 5, which are not the same"):
        between(a, record(minilm, "The dog ran home."))
    written = record(models.load("own-encoder-decoder"), TEXT, target="My dog sat.")
    assert between(a, written).values.shape == (72, 8)  # both read the source
    with pytest.raises(ValueError, match="these queries are of two"):
        between(a, written, streams=("encoder", "cross"))
