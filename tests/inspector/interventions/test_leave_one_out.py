"""Tokens left out against transformers' own attention mask, ranks against scipy, and models that leave none out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats

import inspector
from inspector.interventions import leave_one_out as loo
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE
from tests.models.own_models import own


def cosine(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cosine_similarity(a.double(), b.double(), dim=-1)


def test_a_token_left_out_is_one_that_transformers_masks(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, EXAMPLE)
    left = loo.leave_out(minilm, trace)
    at_query = loo.leave_out(minilm, trace, query=3)
    assert (left.measure, left.variation) == ("turned", ())
    assert left.positions == tuple(range(1, 12))
    ids = torch.tensor([trace.encoding.ids])
    for place in (1, 6):
        mask = torch.ones_like(ids)
        mask[0, place] = 0
        with torch.inference_mode():
            states = minilm.network(input_ids=ids, attention_mask=mask).last_hidden_state[0]
        alike = cosine(trace.hidden, states)  # a change is 1 less this, and rounds as this does
        others = [position for position in range(ids.shape[1]) if position != place]
        assert_close(1 - left.changes[left.positions.index(place)], float(alike[others].mean()), relative=1e-6)
        assert_close(1 - at_query.changes[at_query.positions.index(place)], float(alike[3]), relative=1e-6)
    assert 3 not in at_query.positions


def test_a_guess_and_the_next_token_are_compared_as_distributions(shipped: Callable[[str], LoadedModel]) -> None:
    for name, query in (("mini-bert", 6), ("mini-gpt", 9)):
        loaded = shipped(name)
        trace = inspector.record(loaded, EXAMPLE)
        left = loo.leave_out(loaded, trace, query=query)
        assert left.measure == "divergence"
        assert (left.trace.tokens[query] == "[MASK]") == (name == "mini-bert")
        ids = torch.tensor([left.trace.encoding.ids])
        for index in (0, len(left.positions) - 1):
            keep = torch.ones_like(ids, dtype=torch.bool)
            keep[0, left.positions[index]] = False
            assert loaded.predict is not None
            with torch.inference_mode():
                p, q = (
                    loaded.predict(loaded.run(ids, mask, torch.zeros_like(ids)))[0, query].double().softmax(-1).numpy()
                    for mask in (torch.ones_like(keep), keep)
                )
            assert_close(left.changes[index], stats.entropy(p, q, base=2), relative=1e-4)
            assert left.variation[index] == pytest.approx(np.abs(p - q).sum() / 2, rel=1e-4)
        if name == "mini-gpt":
            assert max(left.positions) < query  # what comes later is not seen


def test_rho_is_scipy_s_and_attention_is_the_map_s(shipped: Callable[[str], LoadedModel]) -> None:
    loaded = shipped("translator")
    trace = inspector.record(loaded, EXAMPLE)
    left = loo.leave_out(loaded, trace, query=2)
    table = loo.correlations(left)
    assert set(table["stream"]) == {"encoder", "cross"}  # no key of the decoder is a token that was left out
    places = list(left.positions)
    for row in table.iloc[[0, 7, 20, 33]].itertuples():
        weights = trace.attention(layer=row.layer, head=row.head, stream=row.stream).astype(float)
        if row.stream == "cross":
            to_tokens = weights[2, places]
        else:
            np.fill_diagonal(weights, np.nan)
            to_tokens = np.nanmean(weights, axis=0)[places]
        assert_close(row.rho, stats.spearmanr(to_tokens, left.changes).statistic, relative=1e-9)
    gpt = shipped("mini-gpt")
    left = loo.leave_out(gpt, inspector.record(gpt, EXAMPLE))
    weights = np.tril(left.trace.attention(layer=1, head=2).astype(float), -1)
    expected = weights.sum(axis=0)[list(left.positions)] / [len(weights) - 1 - place for place in left.positions]
    assert_close(loo.received(left, left.trace.sites[1])[2], expected, relative=1e-6)


def test_chance_is_that_of_a_table() -> None:
    single, best = loo.chance(10, heads=72)
    assert single == pytest.approx(0.648, abs=0.02)  # the table of Zar (1972) for n = 10, two-tailed 5 %
    assert single < best < 1
    assert loo.chance(10, heads=1)[1] == pytest.approx(0, abs=0.02)


def test_what_cannot_be_left_out_is_refused(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="still changes the others, by up to"):
        loo.leave_out(own("encoder", mask_fill="zero"), EXAMPLE)
    with pytest.raises(ValueError, match="2 tokens can be left out here, and ranks need 4"):
        loo.leave_out(minilm, "A cat")
    with pytest.raises(ValueError, match="position 40 is out of range"):
        loo.leave_out(minilm, EXAMPLE, query=40)
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(total)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loo.leave_out(minilm, EXAMPLE, on_progress=stop)
    assert seen == [11]
