"""The order of the keys by q . k, by cosine and by distance: scipy's rank correlation, over the keys that are seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

import inspector
from inspector.scores import ranks
from tests.models.own_models import own


@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_orders_are_compared_as_scipy_does_over_the_keys_that_a_query_sees(shape: str) -> None:
    trace = inspector.record(own(shape), "the cat sat on the mat")
    table = ranks.measure(trace, stream=shape).set_index(["layer", "head"])
    record = trace.record_of(1, shape)
    query, key = (tensor.double().numpy() for tensor in (record.query, record.key))
    for head in range(4):
        rows = []
        for place, q in enumerate(query[head]):
            seen = key[head][: place + 1] if shape == "decoder" else key[head]
            if len(seen) >= ranks.FEWEST:
                cosine = seen @ q / np.linalg.norm(seen, axis=1)
                distance = -np.linalg.norm(seen - q, axis=1)
                rows.append([spearmanr(seen @ q, other).statistic for other in (cosine, distance)])
        assert table.loc[(1, head), ["cosine", "distance"]].tolist() == pytest.approx(np.mean(rows, axis=0).tolist())
