"""Other weightings of a head's queries and keys against numpy (claim 13)."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import record
from inspector.scores import weightings
from tests.closeness import assert_close
from tests.models import own_models

TEXT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_every_weighting_is_its_formula(shape: str) -> None:
    own = own_models.own(shape)
    trace = record(own, TEXT)
    head = trace.record_of_head(1, 2, None)
    q, k = head.query[0].double().numpy(), head.key[0].double().numpy()
    seen = np.tril(np.ones((len(q), len(k)), bool)) if shape == "decoder" else np.ones((len(q), len(k)), bool)
    dots = q @ k.T / np.sqrt(q.shape[1])
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (q, k)]
    phi = [np.where(x > 0, x + 1, np.exp(x)) for x in (q, k)]
    alike = {"softmax": np.exp(dots), "linear": phi[0] @ phi[1].T, "cosine": np.exp(unit[0] @ unit[1].T)}
    expected = {name: one * seen / (one * seen).sum(axis=1, keepdims=True) for name, one in alike.items()}
    expected["sigmoid"] = seen / (1 + np.exp(np.log(seen.sum(axis=1, keepdims=True)) - dots))
    done: list[tuple[int, int]] = []
    found = {one.name: one for one in weightings.weigh(head, on_done=lambda *at: done.append(at))}
    assert done == [(0, 4), (1, 4), (2, 4), (3, 4)]
    np.testing.assert_array_equal(found["softmax"].map, trace.attention(layer=1, head=2))
    choosing = seen.sum(axis=1) > 1
    for name in weightings.NAMES:
        one, rows = found[name], expected[name]
        assert_close(one.map, rows, relative=3e-6)
        assert_close(one.sums, (rows.sum(axis=1).min(), rows.sum(axis=1).max()), relative=1e-5)
        p = rows / rows.sum(axis=1, keepdims=True)
        entropies = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1)
        assert_close(one.entropy, entropies[choosing].mean(), relative=1e-5)
        assert_close(one.largest, rows.max(axis=1)[choosing].mean(), relative=1e-6)
