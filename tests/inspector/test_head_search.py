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
    maps = np.stack([trace.attention(layer=layer) for layer in range(6)]).astype(np.float64)
    others = np.delete(maps[:, :, :, 2], 9, axis=2).mean(axis=2)
    assert_close([one.share for one in found], [maps[one.layer, one.head, 9, 2] for one in found], relative=1e-6)
    assert_close([one.others for one in found], [others[one.layer, one.head] for one in found], relative=1e-5)
    beyond = maps[:, :, 9, 2] - others
    assert (found[0].layer, found[0].head) == np.unravel_index(beyond.argmax(), (6, 12))
    assert_close([one.singled_out for one in found], np.sort(beyond.ravel())[::-1], relative=1e-5)


def test_a_key_that_all_queries_look_at_is_no_link(trace: Trace) -> None:
    """[CLS] gets most in many heads: the first head is one in which it gets more from this query than from others."""
    most = find.linking(trace, stream="encoder", query=3, key=0)
    largest = max(most, key=lambda head: head.share)
    assert largest.others > 0.5
    assert most.index(largest) > 0
    said = words.links(most[0], Named("sat", 1, 1), Named("[CLS]", 1, 1))
    assert said.startswith("No head links these two much. The nearest is layer ") == (most[0].singled_out < 0.25)


def test_of_a_decoder_only_the_queries_that_see_the_key_count() -> None:
    trace = inspector.record(models.load("mini-gpt"), "The cat sat on the mat.")
    map_ = trace.attention(layer=1, head=2).astype(np.float64)
    match = next(
        one for one in find.linking(trace, stream="decoder", query=4, key=2) if (one.layer, one.head) == (1, 2)
    )
    assert match.others is not None
    assert_close(match.others, map_[[2, 3, *range(5, len(map_))], 2].mean(), relative=1e-5)
    (alone, *_) = find.linking(trace, stream="decoder", query=len(map_) - 1, key=len(map_) - 1)
    assert alone.others is None
    assert "on average" not in words.links(alone, Named("mat", 1, 1), Named("mat", 1, 1)) + words.linking(alone)


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
    linking = find.FittingHead(3, 0, 7, 0.5, others=0.06)
    said = words.links(linking, Named("it", 1, 1), Named("cat", 2, 2))
    gives = "`it` gives the 2nd `cat` half of its attention, other tokens 6 % on average"
    assert said == f"Layer 3, head 7 links these two most beyond what its other tokens do: {gives}."
    assert words.linking(linking) == "50 %, other tokens 6 % on average"
