"""Storages of models that share and of models that do not; a tied head's nearest row; heads side by side."""

from __future__ import annotations

import numpy as np

import inspector
from inspector import block, probe, sharing
from inspector.sections.block.sharing import apart, shared
from inspector.wording.english import block as words
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."


def test_storages_are_told() -> None:
    said = []
    for switches in ({}, {"shared_layers": True}, {"shared_key_value": True}):
        loaded = own("encoder", layers=2, **switches)
        blocks = inspector.record_blocks(loaded, inspector.record(loaded, TEXT))
        table = sharing.storages(blocks, stream="encoder")
        pointers = [loaded.network.get_parameter(name).data_ptr() for name in table["name"]]
        assert len(set(pointers)) == table["storage"].nunique()
        keys = [sharing.keys_from_values(layer, loaded.network) for layer in blocks.layers]
        said.append(f"{shared(table)} {apart(keys)}")
    assert "each is a tensor of its own: layers share nothing" in said[0]
    assert "12 matrices, which are 6 tensors: every layer uses the same" in said[1]
    assert "W_K and W_V are one tensor in every layer" in said[2]
    assert "12 matrices, which are 10 tensors." in said[2]


def test_a_tied_head_and_heads_side_by_side() -> None:
    loaded = own("decoder", layers=1, tied_embeddings="output")
    trace = inspector.record(loaded, TEXT)
    blocks = inspector.record_blocks(loaded, trace)
    head = probe.record_head(loaded, trace)
    assert head.matrix.name == blocks.embedding
    table = sharing.storages(blocks, stream="decoder", head=head.matrix.name)
    first, last = table.iloc[0], table.iloc[-1]
    assert (first["row"], last["row"], first["role"]) == ("embedding", "head", last["role"])
    assert first["storage"] == last["storage"]
    assert (table["storage"] == first["storage"]).sum() == 2
    near = sharing.nearest(head, loaded.network)
    assert near.equal == near.positions == len(trace.tokens)
    rows, x = loaded.network.get_parameter(head.matrix.name).double().numpy(), head.input.astype(np.float64)
    distances = np.linalg.norm(x[:, None] - rows[None], axis=2)
    assert near.unscaled == ((x @ rows.T).argmax(1) == distances.argmin(1)).sum()
    mixed = block.mixed(trace, stream="decoder", layer=0, position=4)
    found = sharing.heads(trace, blocks.layers[0], loaded.network, mixed=mixed)
    assert found.sides < 1e-12
    assert found.summed < 1e-12 < found.swapped
    assert (found.heads, found.width) == mixed.shape
    assert "does not tell which head spoke" in words.heads(found)
