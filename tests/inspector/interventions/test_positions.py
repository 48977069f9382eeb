"""A text in another order, with positions and without, and the four terms of the first scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
from inspector import interventions, record
from models.loaded import LoadedModel
from models.registry import own_model
from models.transformer import build
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, save

TEXT = "The cat sat on the mat because it was tired."
SIZES = {"vocabulary": 30522, "layers": 2, "width": 24, "heads": 2, "ffn_width": 32, "max_positions": 40}


def test_without_positions_an_encoder_is_blind_to_order(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    found = interventions.reorder(minilm, trace, "reverse")
    assert found.without is not None
    assert found.order == (0, *range(len(trace.tokens) - 2, 0, -1), len(trace.tokens) - 1)
    assert found.changed.mean() > 0.1
    assert_close(found.without, 0, relative=1e-5, scale=1)  # a share of the state's length
    ids = torch.tensor([[trace.encoding.ids[place] for place in found.order]])
    after = minilm.network(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].double().numpy()
    place = found.order.index(3)
    own = trace.output[3].astype(np.float64)
    expected = np.linalg.norm(after[place] - own) / np.linalg.norm(own)
    assert found.changed[3] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("shape", "positions", "changes", "blind"),
    [
        ("encoder", "rope", True, True),
        ("encoder", "t5", True, True),
        ("encoder", "sinusoidal", True, True),
        ("encoder", "none", False, True),
        ("decoder", "none", True, False),
        ("decoder", "learned", True, False),
    ],
)
def test_a_causal_mask_knows_the_order_by_itself(
    shape: str, positions: str, changes: bool, blind: bool, minilm: LoadedModel
) -> None:
    torch.manual_seed(0)
    network = build(TransformerConfig(**SIZES, shape=shape, positions=positions)).eval().requires_grad_(False)
    card = models.catalogue()[0]
    loaded = own_model(card, network, minilm.tokenizer, max_tokens=40)
    found = interventions.reorder(loaded, record(loaded, TEXT), "shuffle")
    assert found.without is not None
    assert (found.changed.max() > 1e-3) == changes
    assert all(found.without < 1e-5) == blind


def test_a_shift_changes_what_knows_places_and_not_what_knows_distances(minilm: LoadedModel, tmp_path: Path) -> None:
    save(Family("llama", ""), tmp_path)
    llama = models.load(tmp_path)
    turned = interventions.reorder(llama, record(llama, "the cat sat on the log"), "shift")
    learned = interventions.reorder(minilm, record(minilm, TEXT), "shift")
    assert turned.by == learned.by == 16
    assert turned.changed.max() < 1e-5 < 1e-2 < learned.changed.max()
    ids = torch.tensor([learned_ids := record(minilm, TEXT).encoding.ids])
    moved = minilm.network(input_ids=ids, position_ids=torch.arange(16, 16 + len(learned_ids))[None])
    before, after = record(minilm, TEXT).output[4], moved.last_hidden_state[0, 4].numpy()
    expected = np.linalg.norm((after - before).astype(np.float64)) / np.linalg.norm(before.astype(np.float64))
    assert learned.changed[4] == pytest.approx(expected, rel=1e-4)


def test_what_has_no_other_order_is_said(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="one token of its own"):
        interventions.reorder(minilm, record(minilm, "cat"), "reverse")


@pytest.mark.parametrize("name", ["minilm", "gpt2", "bart", "opt"])
def test_four_terms_make_the_score(name: str, minilm: LoadedModel, tmp_path: Path) -> None:
    if name == "minilm":
        loaded = minilm
    else:
        save(Family(name, ""), tmp_path)
        loaded = models.load(tmp_path)
    trace = record(loaded, "the cat sat on the log")
    split = interventions.split_scores(loaded, trace)
    scores = trace.scores(layer=0, stream=split.stream).astype(np.float64)
    for head in range(split.heads):
        whole, seen = np.sum(list(split.terms(head).values()), axis=0), np.isfinite(scores[head])
        assert_close(whole[seen], scores[head][seen], relative=1e-5)
    assert np.isfinite(split.cosines).all()


def test_the_parts_are_the_models_own_embeddings(minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    split = interventions.split_scores(minilm, trace)
    own: Any = minilm.network.embeddings
    ids = torch.tensor(trace.encoding.ids)
    token = (own.word_embeddings.weight[ids] + own.token_type_embeddings.weight[0]).double().numpy()
    place = own.position_embeddings.weight[: len(ids)].double().numpy()
    assert_close(split.content, token, relative=1e-6)
    cosine = [a @ (a + b) / np.linalg.norm(a) / np.linalg.norm(a + b) for a, b in zip(token, place, strict=True)]
    assert_close(split.cosines, cosine, relative=1e-5)


def test_a_model_without_a_table_has_no_four_terms(tmp_path: Path) -> None:
    save(Family("llama", ""), tmp_path)
    llama = models.load(tmp_path)
    with pytest.raises(ValueError, match="no vector is added to a token"):
        interventions.split_scores(llama, record(llama, "the cat"))


def test_two_norms_of_an_embedding_leave_no_four_terms(minilm: LoadedModel) -> None:
    """The second norm takes what the first gave, which is no sum of a token and a position."""
    trace = record(minilm, "the cat sat")
    (norm,) = (norm for norm in trace.norms if norm.part == "embedding")
    for norms in ((norm, *trace.norms), (*trace.norms, replace(norm, input=norm.output))):
        with pytest.raises(ValueError, match="two norms stand before its first scores"):
            interventions.split_scores(minilm, replace(trace, norms=norms))
