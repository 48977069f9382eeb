"""A text in another order, with positions and without."""

from __future__ import annotations

from pathlib import Path

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
