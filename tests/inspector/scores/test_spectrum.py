"""W_Q W_K^T: its spectrum against numpy's on the whole matrix, and W_Q and W_K found in models of every layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import inspector
import models
from inspector.scores import Projections, of_product, projections
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save

TEXT = "the cat sat on the mat"
FAMILIES = {family.name: family for family in CAPTURED}
FOUND = ("bert", "gpt2", "gpt_neox", "phi3", "opt", "t5")
"""W_Q and W_K by themselves, in thirds of one matrix, by heads; turned or not."""


def test_the_spectrum_is_that_of_the_whole_matrix() -> None:
    """Setting: N(0, 1), [40, 8] and [40, 8], seed 0, float64. Claim 30: the rank is d_k and no more."""
    a, b = torch.randn(2, 40, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found, matrix = of_product(a, b), (a @ b.T).numpy()
    assert_close(found.values, np.linalg.svd(matrix, compute_uv=False)[:8], relative=1e-9)
    assert found.rank == 8
    symmetric = (matrix + matrix.T) / 2
    assert found.symmetric == pytest.approx((symmetric**2).sum() / (matrix**2).sum())
    eigenvalues = np.linalg.eigvals(matrix)
    assert found.positive == (eigenvalues.real > 1e-9 * abs(eigenvalues).max()).sum()
    tied = of_product(a, a)
    assert tied.symmetric == pytest.approx(1)
    assert tied.positive == 8  # positive semidefinite
    flat = of_product(a[:, :1].expand(40, 8), b[:, :1].expand(40, 8))
    assert (flat.rank, flat.energy) == (1, 1)
    assert flat.effective == pytest.approx(1)


@pytest.mark.parametrize("name", FOUND)
def test_projections_are_found_by_their_numbers(name: str, tmp_path: Path) -> None:
    """x W_Q and x W_K of the first token are the recorded query and key, of every head, but for the bias."""
    save(FAMILIES[name], tmp_path / name)
    loaded = models.load(str(tmp_path / name))
    target = TEXT if loaded.shape == "encoder-decoder" else None
    trace = inspector.record(loaded, TEXT, target=target)
    blocks = inspector.record_blocks(loaded, trace)
    stream = trace.streams[0]
    found = projections(trace, blocks, loaded.network, layer=1, stream=stream)
    record = trace.record_of(1, stream)
    assert (
        found.query.shape == found.key.shape == (*record.query.shape[:1], found.query.shape[1], record.query.shape[2])
    )
    assert found.turned == (name in ("gpt_neox", "phi3"))
    differences = (record.query[:, 0] - record.query[:, -1]).double()  # of two tokens no bias is left
    if not found.turned:
        first, last = _inputs(trace, blocks, stream)
        assert_close(torch.einsum("d,hde->he", first - last, found.query).numpy(), differences.numpy(), relative=2e-4)


def _inputs(trace: inspector.Trace, blocks: object, stream: str) -> tuple[torch.Tensor, torch.Tensor]:
    norms = [
        one
        for one in trace.norms
        if (one.stream, one.layer, one.part, one.placement) == (stream, 1, "attention", "pre")
    ]
    states = norms[0].output if norms else blocks.of(stream)[1].enters  # type: ignore[attr-defined]
    return torch.tensor(states[0]).double(), torch.tensor(states[-1]).double()


@pytest.mark.parametrize(("name", "why"), [("qwen3", "a norm or another step"), ("bloom", "were not seen")])
def test_other_queries_are_refused_in_a_sentence(name: str, why: str, tmp_path: Path) -> None:
    save(FAMILIES[name], tmp_path / name)
    loaded = models.load(str(tmp_path / name))
    trace = inspector.record(loaded, TEXT)
    blocks = inspector.record_blocks(loaded, trace)
    with pytest.raises(ValueError, match=why):
        projections(trace, blocks, loaded.network, layer=1, stream="decoder")


def test_key_and_value_of_bert_have_nothing_in_common() -> None:
    """Claim 33. Setting: BertModel with one layer of width 768 as it is initialised, seed 0: 1.42, median of heads."""
    torch.manual_seed(0)
    config = transformers.BertConfig(num_hidden_layers=1, vocab_size=50, intermediate_size=8)
    attention = transformers.BertModel(config).encoder.layer[0].attention.self
    query, key, value = (
        getattr(attention, name).weight.detach().double().T.reshape(768, 12, 64).transpose(0, 1)
        for name in ("query", "key", "value")
    )
    found = Projections(query, key, value, False, ("", ""))
    each = [found.key_from_value(head) for head in range(12)]
    assert np.median(np.array(each, float)) == pytest.approx(1.42, abs=0.02)
    assert Projections(query, key, key, False, ("", "")).key_from_value(3) == 0
    assert of_product(query[3], key[3]).rank == 64


def test_an_eigenvalue_is_positive_from_a_billionth_of_the_largest_on() -> None:
    values = torch.tensor([2.0, 3e-9, 1e-9, -3e-9, -1.0], dtype=torch.float64)
    assert of_product(torch.diag(values), torch.eye(5, dtype=torch.float64)).positive == 2
