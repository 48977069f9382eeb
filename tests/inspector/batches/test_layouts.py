"""Layouts of a batch: each text as alone, as transformers and torch's fused kernel have it; what cannot be is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

import models
from inspector import batches
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save
from tests.models.own_models import own

TEXTS = ["the cat sat on the log because it was tired", "the dog", "it was the mat"]
Shipped = Callable[[str], LoadedModel]


@torch.no_grad()
def test_padded_rows_are_those_of_transformers(tmp_path: Path) -> None:
    """A BERT of transformers, loaded apart, runs the padded batch in torch's fused kernel."""
    save(next(family for family in CAPTURED if family.name == "bert"), tmp_path)
    loaded = models.load(tmp_path)
    theirs = AutoModel.from_pretrained(tmp_path, attn_implementation="sdpa").eval()
    alone = batches.read(loaded, TEXTS, layout="alone")
    for layout in ("right", "left"):
        batch = batches.read(loaded, TEXTS, layout=layout)
        ids = torch.tensor([row.trace.encoding.ids for row in batch.rows])
        keep = torch.from_numpy(np.stack([row.owner >= 0 for row in batch.rows]))
        positions = (keep.long().cumsum(dim=1) - 1).clamp(min=0)
        hidden = theirs(ids, attention_mask=keep.long(), position_ids=positions).last_hidden_state
        for text, row in enumerate(batch.rows):
            assert_close(batch.states(text), hidden[text][keep[text]], relative=2e-5)
            assert (row.trace.tokens[0 if layout == "left" else -1] == "[PAD]") == (text > 0)
        found = batches.compare(batch, alone)
        assert_close(found["states"], 0, relative=1e-5, scale=alone.states(0))
        assert_close(found["weights"], 0, relative=1e-6, scale=1)
        assert not found[["to_padding", "to_others"]].to_numpy().any()
    blind = batches.read(loaded, TEXTS, layout="right", masked=False)
    hidden = theirs(torch.tensor([row.trace.encoding.ids for row in blind.rows])).last_hidden_state
    assert_close(blind.rows[1].trace.output, hidden[1], relative=2e-5)
    assert batches.compare(blind, alone)["to_padding"][1] > 0.1


@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_packed_texts_are_blocks_and_equal_separate_ones(shape: str) -> None:
    """Weights are those of torch's fused kernel with a boolean mask of blocks, made here."""
    loaded = own(shape)
    alone = batches.read(loaded, TEXTS, layout="alone")
    batch = batches.read(loaded, TEXTS, layout="packed")
    (row,) = batch.rows
    length = len(row.owner)
    blocks = row.owner[:, None] == row.owner[None, :]
    blocks &= np.tri(length, dtype=bool) | (shape == "encoder")
    record = row.trace.record_of(1, None)
    weights = torch.nn.functional.scaled_dot_product_attention(
        record.query, record.key, torch.eye(length).expand(4, -1, -1), attn_mask=torch.from_numpy(blocks)
    )
    for head in range(4):
        seen = batch.seen(1, layer=1, head=head)
        np.testing.assert_array_equal(seen.mask, blocks)
        assert_close(seen.weights, weights[head], relative=1e-6)
        assert seen.to_others == seen.to_padding == seen.to_masked == 0
    assert_close(batches.compare(batch, alone)["states"], 0, relative=1e-5, scale=alone.states(0))
    running = batches.compare(batches.read(loaded, TEXTS, layout="packed", restart=False), alone)
    assert_close(
        running["states"][0], 0, relative=1e-5, scale=alone.states(0)
    )  # the first text begins at position 0 either way
    assert running["states"][1:].min() > 0.1  # sinusoidal positions
    assert batches.compare(batches.read(loaded, TEXTS, layout="packed", masked=False), alone)["to_others"].max() > 0.3


def test_a_source_s_padding_is_hidden_from_the_decoder(shipped: Shipped) -> None:
    loaded = shipped("own-encoder-decoder")
    alone = batches.read(loaded, TEXTS, layout="alone")
    for layout in ("right", "left"):
        batch = batches.read(loaded, TEXTS, layout=layout)
        for stream in ("encoder", "decoder", "cross"):
            seen = batch.seen(1, layer=1, head=0, stream=stream)
            assert seen.to_padding == 0
            if stream == "cross":
                np.testing.assert_array_equal(seen.mask, np.broadcast_to(seen.key_owner == 1, seen.mask.shape))
        if layout == "right":  # padded left the sinusoidal positions of a source are others
            assert_close(batches.compare(batch, alone)["states"], 0, relative=1e-5, scale=alone.states(0))
    with pytest.raises(ValueError, match="packs neither; pad its texts"):
        batches.read(loaded, TEXTS, layout="packed")


def test_what_a_batch_cannot_be_is_said() -> None:
    loaded = own("encoder")
    for wrong, message in (
        ({"layout": "up"}, "layout is 'up'; it can be right, left, packed, alone"),
        ({"layout": "right", "most_cells": 30}, "3 texts of up to 12 tokens make 36 cells, and 30 are read at most"),
    ):
        with pytest.raises(ValueError, match=message):
            batches.read(loaded, TEXTS, **wrong)
    with pytest.raises(ValueError, match="a batch needs a text"):
        batches.read(loaded, [], layout="right")
    with pytest.raises(ValueError, match=r"packed in one row the texts have [\d,]+ tokens, and own-encoder reads 512"):
        batches.read(loaded, ["the cat sat " * 60] * 4, layout="packed")
    batch = batches.read(loaded, TEXTS, layout="right")
    with pytest.raises(ValueError, match="there is no text 3: the batch has 3, counted from 0"):
        batch.row_of(3)
    with pytest.raises(ValueError, match="hold other texts"):
        batches.compare(batch, batches.read(loaded, TEXTS[:1], layout="alone"))


def test_one_text_is_a_batch() -> None:
    loaded = own("encoder")
    for layout in batches.LAYOUTS:
        batch = batches.read(loaded, ["the cat"], layout=layout)
        assert (batch.cells, batch.padding, batch.lengths) == (4, 0, (4,))
        assert batches.leaks(batch, layer=0, head=0)["leak"].fillna(0).eq(0).all()
