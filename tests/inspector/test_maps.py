"""Hidden special tokens and merged word pieces against a plain double loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
from inspector import Trace, record
from inspector.maps import Arrangement, Groups, arrange
from models import LoadedModel
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, "Antidisestablishmentarianism is unbelievable, isn't it?")


def by_loops(weights: np.ndarray, groups: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Sum over key pieces, mean over query pieces (Clark et al. 2019, 4.1)."""
    return np.array(
        [[np.mean([sum(float(weights[q, k]) for k in keys) for q in queries]) for keys in groups] for queries in groups]
    )


def test_words_are_merged(trace: Trace) -> None:
    words = arrange(trace, merge_words=True)
    assert words.keys.labels[:3] == ("[CLS]", "antidisestablishmentarianism", "is")
    assert words.keys.members[1] == tuple(range(1, 9))
    merged = words.apply(trace.attention(layer=3))
    assert_close(merged[5], by_loops(trace.attention(layer=3, head=5), words.keys.members), relative=1e-6)
    assert_close(merged.sum(axis=-1), 1, relative=3e-6)


def test_hidden_tokens_take_their_attention_with_them(trace: Trace) -> None:
    weights = trace.attention(layer=3, head=5)
    plain = arrange(trace, hide_special=True)
    assert plain.queries.labels == trace.tokens[1:-1]
    np.testing.assert_array_equal(plain.apply(weights), weights[1:-1, 1:-1])
    assert (plain.apply(weights).sum(axis=-1) < 1).all()
    again = arrange(trace, hide_special=True, renormalise=True).apply(weights)
    expected = weights[1:-1, 1:-1] / weights[1:-1, 1:-1].sum(axis=1, keepdims=True)
    assert_close(again, expected, relative=1e-6)


def test_everything_shown_is_the_map_itself(trace: Trace) -> None:
    weights = trace.attention(layer=0)
    np.testing.assert_array_equal(arrange(trace, renormalise=True).apply(weights), weights)


def test_neighbouring_special_tokens_are_not_one_word(minilm: LoadedModel) -> None:
    trace = record(minilm, "a b", text_pair="c")
    assert arrange(trace, merge_words=True).keys.labels == trace.tokens
    both = replace(trace, encoding=replace(trace.encoding, words=(None, None, 0, 1, None, None)))
    assert len(arrange(both, merge_words=True).keys.members) == 6


def test_words_of_a_pair_are_not_merged_across_the_texts(minilm: LoadedModel) -> None:
    trace = record(minilm, "cat", text_pair="cat unbelievable")
    assert trace.words == (None, 0, None, 1, *[2] * (len(trace.tokens) - 5), None)


def test_a_row_without_attention_stays_empty() -> None:
    groups = Groups(("a", "b"), ((0,), (1,)))
    shown = Arrangement(groups, groups, renormalise=True)
    weights = np.array([[0, 0, 1], [0.25, 0.25, 0.5], [0, 0, 1]], np.float32)
    np.testing.assert_array_equal(shown.apply(weights), [[0, 0], [0.5, 0.5]])


def test_nothing_left_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="every token is special"):
        Groups((), ())


def test_cross_attention_has_two_texts_and_rows_name_what_they_predict() -> None:
    trace = record(models.load("own-encoder-decoder"), "Unbelievable cats.", target="My unbelievable dog")
    sites = {site.stream: site for site in trace.sites}
    shown = arrange(trace, stream="cross")
    assert shown.keys.labels == trace.tokens == sites["cross"].keys
    read_and_predicted = zip(sites["cross"].queries, sites["cross"].predicts, strict=True)
    assert shown.queries.labels == tuple(f"{read} → {predicted}" for read, predicted in read_and_predicted)
    weights = trace.attention(layer=1, stream="cross")
    np.testing.assert_array_equal(shown.apply(weights), weights)
    hidden = arrange(trace, stream="cross", hide_special=True)
    assert hidden.keys.labels == trace.tokens[1:-1]
    assert hidden.apply(weights).shape == (4, len(hidden.queries.labels), len(hidden.keys.labels))
    assert arrange(trace, stream="encoder").queries.labels == trace.tokens


def test_a_block_is_one_group_whatever_was_chosen(minilm: LoadedModel) -> None:
    trace = record(minilm, "The old unbelievable cat.")
    last = trace.tokens.index("cat")
    for words in (False, True):
        shown = arrange(trace, merge_words=words, block=range(2, last))
        assert shown.keys.members == ((0,), (1,), tuple(range(2, last)), (last,), (last + 1,), (last + 2,))
        mean = trace.attention(layer=0, head=0)[2:last, 1].mean()
        assert_close(shown.apply(trace.attention(layer=0, head=0))[2, 1], mean, relative=1e-7)
    rows = np.arange(2 * len(trace.tokens), dtype=np.float32).reshape(-1, 2)
    expected = [rows[0], rows[1], rows[2:last].mean(axis=0), *rows[last:]]
    assert_close(shown.queries.mean(rows), expected, relative=1e-6)
