"""Units of an FFN against numpy, and what a linear map would do."""

from __future__ import annotations

import numpy as np
import pytest

import inspector
from inspector import feedforward
from tests.closeness import assert_close
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."


def test_units_are_counted_as_numpy_counts_them() -> None:
    loaded = own("encoder", layers=1, activation="relu", bias=False)
    trace = inspector.record(loaded, TEXT)
    (ffn,) = inspector.record_blocks(loaded, trace).ffns
    up, down = (
        loaded.network.get_parameter(f"layers.0.ffn.{one}.weight").detach().double().numpy() for one in ("up", "down")
    )
    before = ffn.input.astype(np.float64) @ up.T
    made = np.maximum(before, 0)
    found = feedforward.units(ffn, loaded.network)
    assert (found.units, found.pairs) == (up.shape[0], before.size)
    assert found.positive == (before > 0).sum()
    assert found.silent == (before <= 0).all(axis=0).sum()
    assert found.counts.sum() == before.size
    slope, offset = np.polyfit(before.ravel(), made.ravel(), 1)
    out, line = made @ down.T, (slope * before + offset) @ down.T
    assert found.straight == pytest.approx(((out - line) ** 2).sum() / ((out - out.mean(0)) ** 2).sum(), rel=1e-4)
    assert found.doubled == pytest.approx(2, rel=1e-5)  # ReLU without biases: f(2x) = 2 f(x), and is not linear
    minus = np.maximum(-before, 0) @ down.T
    ratio = np.linalg.norm(out + minus, axis=1) / np.linalg.norm(out, axis=1)
    assert found.mirrored == pytest.approx(ratio.mean(), rel=1e-5)
    table = feedforward.busiest(ffn, loaded.network, tokens=trace.tokens, most=3)
    order = np.argsort(-made.max(axis=0))[:3]
    assert table["unit"].tolist() == order.tolist()
    assert_close(table["largest"], made.max(axis=0)[order], relative=1e-5)
    assert table["first"].tolist() == made.argmax(axis=0)[order].tolist()
    assert table["above"].tolist() == (before > 0).sum(axis=0)[order].tolist()
    softmax, without = feedforward.attention_doubled(trace, stream="encoder", layer=0)
    assert without == pytest.approx(8, rel=1e-9)
    assert softmax != pytest.approx(8, rel=0.05)


def test_blocks_of_tokens_change_no_count_and_a_layers_row_tells_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = own("encoder", layers=1, activation="relu", bias=False)
    blocks = inspector.record_blocks(loaded, inspector.record(loaded, TEXT))
    up = loaded.network.get_parameter("layers.0.ffn.up.weight").detach().double().numpy()
    above = blocks.ffns[0].input.astype(np.float64) @ up.T > 0
    monkeypatch.setattr(feedforward, "_ROWS", 4)
    found = feedforward.units(blocks.ffns[0], loaded.network)
    assert (found.positive, found.silent) == (above.sum(), (~above.any(axis=0)).sum())
    (row,) = feedforward.by_layer(blocks, loaded.network, stream="encoder").to_dict("records")
    assert row["positive"] == pytest.approx(above.mean())
    assert row["silent"] == pytest.approx((~above.any(axis=0)).mean())


def test_doubled_attention_grows_as_numpys_does() -> None:
    trace = inspector.record(own("encoder", layers=1), TEXT)
    record = trace.record_of(0, None)
    query, key, value = (tensor.double().numpy() for tensor in (record.query, record.key, record.value))

    def mixed(factor: int) -> np.ndarray:
        scores = np.exp(factor**2 * query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]))
        return scores / scores.sum(axis=-1, keepdims=True) @ (factor * value)

    found, _ = feedforward.attention_doubled(trace, stream="encoder", layer=0)
    assert found == pytest.approx(np.linalg.norm(mixed(2)) / np.linalg.norm(mixed(1)), rel=1e-9)
