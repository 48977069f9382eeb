"""Directions held to torch's own LayerNorm and cosine similarity."""

from __future__ import annotations

import torch

from inspector import normalization, record
from models import LoadedModel
from tests.closeness import assert_close


def test_cosines_are_those_of_torch(minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    table = normalization.direction(trace)
    assert table["norm"].value_counts().to_dict() == dict.fromkeys(range(13), len(trace.tokens))
    for index, norm in enumerate(trace.norms):
        x = torch.tensor(norm.input)
        y = minilm.network.get_submodule(norm.name)(x).detach()
        expected = torch.cosine_similarity(x.double(), y.double(), dim=-1).numpy()
        assert_close(table[table["norm"] == index]["cosine"].to_numpy(), expected, relative=1e-6)
