"""The search for heads: sorted by numbers that are computed again from the maps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import inspector
import models
from inspector import head_search as find
from inspector import heads
from inspector.text import Named
from inspector.trace import Trace
from inspector.wording.english import find as words
from models.loaded import LoadedModel
from tests.closeness import assert_close

TEXT = "The cat sat on the mat, because the cat was unbelievably tired."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, TEXT)


@pytest.fixture(scope="module")
def chosen(trace: Trace) -> pd.DataFrame:
    return heads.with_choice(heads.measure(trace), trace)


def share(wish: str, map_: np.ndarray, trace: Trace) -> float:
    """Sum how well a map fits, one weight at a time."""
    tokens, words, special = trace.tokens, trace.words, trace.special
    n = len(tokens)

    def mean(keys_of: dict[int, list[int]]) -> float:
        return float(np.mean([map_[i, keys].sum() for i, keys in keys_of.items() if keys]))

    def each(holds) -> dict[int, list[int]]:
        return {i: [j for j in range(n) if holds(i, j)] for i in range(n)}

    every = {
        "self": lambda i, j: j == i,
        "punctuation": lambda _, j: tokens[j] in ".,",
        "start": lambda _, j: tokens[j] == "[CLS]",
        "end": lambda _, j: tokens[j] == "[SEP]",
    }
    some = {
        "previous": lambda i, j: j == i - 1,
        "next": lambda i, j: j == i + 1,
        "same token": lambda i, j: i != j and tokens[i] == tokens[j] and not special[i],
        "repeats": lambda i, j: j > 0 and i != j - 1 and tokens[i] == tokens[j - 1] and not special[i],
        "own word": lambda i, j: i != j and words[i] is not None and words[i] == words[j],
    }
    if wish in every:
        return sum(map_[i, keys].sum() for i, keys in each(every[wish]).items()) / n
    if wish in some:
        return mean(each(some[wish]))
    if wish == "broad":
        return float(-(map_ * np.log(map_)).sum(axis=1).mean() / np.log(n))
    return float(map_[:, :-1].max(axis=1).mean())  # sharp: the end token is no candidate


def test_every_wish_is_sorted_by_what_the_maps_hold(trace: Trace, chosen: pd.DataFrame) -> None:
    wishes = find.possible(chosen, stream="encoder")
    assert set(wishes) == set(find.WISHES) - {"first"}  # [CLS] is the first token
    for wish in wishes:
        found = find.fitting(chosen, wish, stream="encoder")
        assert len({(one.layer, one.head) for one in found}) == len(found) == 72
        assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
        for one in (found[0], found[1], found[-1]):
            map_ = trace.attention(layer=one.layer, head=one.head).astype(np.float64)
            assert_close(one.share, share(wish, map_, trace), relative=1e-5, scale=1)


def test_heads_are_sorted_by_a_link(trace: Trace) -> None:
    found = find.linking(trace, stream="encoder", query=9, key=2)
    maps = np.stack([trace.attention(layer=layer) for layer in range(6)])
    assert (found[0].layer, found[0].head) == np.unravel_index(maps[:, :, 9, 2].argmax(), (6, 12))
    assert_close([one.share for one in found], np.sort(maps[:, :, 9, 2].ravel())[::-1], relative=1e-6)


def test_wishes_that_mean_nothing_here_are_left_out(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, "cats sleep")
    possible = find.possible(heads.with_choice(heads.measure(trace), trace), stream="encoder")
    assert not {"same token", "repeats", "own word", "punctuation"} & set(possible)
    decoder = inspector.record(models.load("own-decoder"), TEXT)
    assert "next" not in find.possible(heads.with_choice(heads.measure(decoder), decoder), stream="decoder")


def test_every_wish_has_its_words() -> None:
    assert words.WISHES.keys() == find.WISHES.keys()
    for wish in find.WISHES:
        assert "81 %" in words.fits(find.FittingHead(3, 0, 7, 0.81), wish)
        assert words.best(find.FittingHead(3, 0, 7, 0.81), wish).startswith("Layer 3, head 7 does this most: ")
        assert words.best(find.FittingHead(3, 0, 7, 0.2), wish).startswith(
            "No head does this much on this text. The nearest"
        )
    said = words.links(find.FittingHead(3, 0, 7, 0.5), Named("it", 1, 1), Named("cat", 2, 2))
    assert said == "Layer 3, head 7 gives the most from `it` to the 2nd `cat`: half of its attention."
