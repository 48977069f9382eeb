"""The fused kernel with a bias of positions against numpy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import inspector
from models.attention.fused_kernel import attend_fused
from tests.closeness import assert_close
from tests.models.own_models import own


@pytest.mark.parametrize("positions", ["t5", "alibi"])
@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_every_query_has_its_own_row_of_the_bias(shape: str, positions: str) -> None:
    record = inspector.record(own(shape, positions=positions), "the cat sat on the mat").record_of(0, None)
    given = [tensor.double()[None] for tensor in (record.query, record.key, record.value)]
    tokens = record.query.shape[1]
    made = attend_fused(record.function, *given, record.mask)[0].numpy()
    query, key, value = (tensor[0].numpy() for tensor in given)
    scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
    scores += record.function.added(slice(0, tokens), tokens)[0].double().numpy()
    if shape == "decoder":
        scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    expected = weights / weights.sum(axis=-1, keepdims=True) @ value
    assert_close(made, expected, relative=1e-12)
