"""Cells of mixers' maps rebuilt step by step, and states and erasures held to plain recurrences in float64."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from inspector import mixers
from inspector.trace import MixerRecord, MixerSite
from models.mixers import DecayingState
from tests.closeness import assert_close
from tests.inspector.probe.hybrids import loaded_family, recorded

TOKENS = 20
FAMILIES = ("qwen3_next", "kimi_linear", "minimax", "mamba2", "mamba", "recurrent_gemma", "rwkv", "lfm2", "yoso")


@pytest.mark.families
@pytest.mark.parametrize("name", FAMILIES)
def test_every_cell_stands_rebuilt(name: str, tmp_path: Path) -> None:
    trace = recorded(loaded_family(name, tmp_path), TOKENS)
    for record in trace.mixers[:2]:
        size = mixers.read(record, 1).size
        weights = record.of_head(1).window(queries=slice(0, TOKENS), keys=slice(0, TOKENS))[0]
        assert_close(np.abs(weights).max(), size, relative=1e-9)
        for query, key in np.ndindex(TOKENS, TOKENS):
            if key > query and record.site.stream == "decoder":
                continue
            cell = mixers.why(record, head=1, query=query, key=key, size=size)
            assert cell.weight == weights[query, key]
            assert cell.holds, (name, query, key, cell.rebuilt, cell.weight, size)


def delta(key: np.ndarray, *, strength: float = 1.0, removes: bool = True, decay: float = 0.0) -> MixerRecord:
    """A head of a delta rule that is asked with its own keys [T, E]; values are the tokens' one-hot vectors."""
    tokens = len(key)
    vectors = torch.tensor(key, dtype=torch.float64)[:, None]
    given = torch.full((tokens, 1), decay, dtype=torch.float64)
    core = DecayingState(
        vectors, vectors, given, torch.full((tokens, 1), strength, dtype=torch.float64), removes=removes
    )
    value = torch.eye(tokens, dtype=torch.float64)[:, None]
    state, left = np.zeros((key.shape[1], tokens)), []
    for at in range(tokens):  # the recurrence itself
        state = np.exp(decay) * state
        state = state + strength * np.outer(key[at], np.eye(tokens)[at] - removes * (key[at] @ state))
        left.append(key[at] @ state)
    site = MixerSite("gated delta rule", "decoder", 0, 1, tuple(map(str, range(tokens))), (None,) * tokens)
    return MixerRecord(site, core, value, torch.tensor(np.array(left))[:, None])


def test_a_key_that_is_written_again_erases_the_first() -> None:
    first, other = np.eye(4)[0], np.eye(4)[1]
    record = delta(np.array([first, other, first, first]))
    cell = mixers.why(record, head=0, query=3, key=0, size=1.0)
    assert_close(cell.rebuilt, 0, relative=1e-12, scale=1)
    assert [step.name for step in cell.steps] == ["match", "decay", "erased", "strength"]
    assert list(cell.erasers["token"]) == [1, 2, 3]
    assert_close(cell.erasers["erased"].to_numpy(), [0, 0, 1], relative=1e-9)
    shares = mixers.erased_by(record, 0)
    assert_close(shares[2], [1, 0, 0, 0], relative=1e-9)  # the third token took all of the first
    assert_close(shares[1], [0, 0, 0, 0], relative=1e-9)
    assert mixers.by_token(record, 0)["state"].to_list() == pytest.approx([1, 2**0.5, 2**0.5, 2**0.5])
    kept = delta(np.array([first, other, first, first]), removes=False)
    assert mixers.why(kept, head=0, query=3, key=0, size=1.0).rebuilt == pytest.approx(1)
    with pytest.raises(ValueError, match="erases nothing"):
        mixers.erased_by(kept, 0)


def test_states_and_erasures_are_those_of_the_recurrence() -> None:
    rng = np.random.default_rng(0)
    key = rng.normal(size=(12, 5))
    key /= np.linalg.norm(key, axis=1, keepdims=True)
    record = delta(key, strength=0.7, decay=-0.2)
    state, norms, left = np.zeros((5, 12)), [], [np.zeros((5, 12))]
    for at in range(12):
        state = np.exp(-0.2) * state
        state = state + 0.7 * np.outer(key[at], np.eye(12)[at] - key[at] @ state)
        norms.append(np.linalg.norm(state))
        left.append(state.copy())
    table = mixers.by_token(record, 0)
    assert_close(table["state"].to_numpy(), norms, relative=1e-12)
    assert_close(table["decay"].to_numpy(), np.exp(-0.2), relative=1e-12)
    shares = mixers.erased_by(record, 0)
    for later, earlier in zip(*np.tril_indices(12, k=-1), strict=True):
        before = np.exp(-0.2) * left[later][:, earlier]  # the column of a one-hot value is where it stands in the state
        taken = before - left[later + 1][:, earlier]
        assert_close(shares[later, earlier], np.linalg.norm(taken) / np.linalg.norm(before), relative=1e-9)


def test_a_fault_in_a_step_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    key = np.random.default_rng(1).normal(size=(8, 4))
    record = delta(key / np.linalg.norm(key, axis=1, keepdims=True), strength=0.6, decay=-0.1)
    size = mixers.read(record, 0).size
    assert mixers.why(record, head=0, query=6, key=2, size=size).holds
    of_cell = import_module("inspector.mixers.why")
    true = of_cell.recurrence
    monkeypatch.setattr(of_cell, "recurrence", lambda core: replace(true(core), decay=0.9 * true(core).decay))
    assert not mixers.why(record, head=0, query=6, key=2, size=size).holds


@pytest.mark.parametrize(("query", "key"), [(3, 4), (-1, 0), (8, 0), (0, 9)])
def test_a_cell_that_is_not_there_is_refused(query: int, key: int) -> None:
    record = delta(np.eye(8))
    with pytest.raises(ValueError, match=r"out of range|still to come"):
        mixers.why(record, head=0, query=query, key=key, size=1.0)


@pytest.mark.families
@pytest.mark.parametrize(("name", "erases"), [("qwen3_next", True), ("kimi_linear", True), ("mamba2", False)])
def test_states_are_those_that_answer_the_layers_queries(name: str, erases: bool, tmp_path: Path) -> None:
    record = recorded(loaded_family(name, tmp_path), TOKENS).mixers[0]
    assert mixers.has_state(record)
    assert mixers.erases(record) == erases
    decays = mixers.decays(record)
    for head in range(record.site.heads):
        table = mixers.by_token(record, head)
        assert len(table) == TOKENS
        assert_close(table["decay"].mean(), decays["decay"][head], relative=1e-9)
        assert (table["state"] > 0).all()
        if erases:
            shares = mixers.erased_by(record, head)
            assert (shares >= 0).all()
            assert not np.triu(shares).any()
