"""Leaks of a mask for every fill, order and dtype, held to numpy in float64 and to torch's own behaviour."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

from inspector import batches
from inspector.batches.leaks import RAISES
from models import LoadedModel
from tests.closeness import assert_close
from tests.models.own_models import own

TEXTS = ["the cat sat on the mat because it was tired", "a dog"]


def expected(batch: batches.Batch, fill: str, *, before: bool, added: bool, head: int) -> tuple[float, float]:
    """The mean weight of text 1's queries on padding, and on all that is masked, in float64 with numpy alone."""
    row = batch.rows[1]
    record = row.trace.record_of(0, None)
    query, key = (tensor[head].double().numpy() for tensor in (record.query, record.key))
    visible = np.broadcast_to(row.owner == 1, (len(row.owner), len(row.owner))).copy()
    if "decoder" in row.trace.streams:
        visible &= np.tri(len(row.owner), dtype=bool)
    factor = 1 / math.sqrt(query.shape[1])
    scores = query @ key.T * (1 if before else factor)
    value = batches.FILLS[fill]
    if fill == "x 0":
        scores = np.where(visible, scores, 0)
    elif value is not None:
        scores = np.where(visible, scores, scores + value if added else value)
    scores, visible = scores[row.owner == 1] * (factor if before else 1), visible[row.owner == 1]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights[:, row.owner < 0].sum(axis=1).mean(), (weights * ~visible).sum(axis=1).mean()


def at(table: pd.DataFrame, fill: str, dtype: str = "float32") -> pd.Series:
    return table.set_index(["fill", "dtype"]).loc[(fill, dtype)]


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_the_leak_is_that_of_numpy_in_float64(shape: str, added: bool, before: bool) -> None:
    side = "right" if shape == "encoder" else "left"
    batch = batches.read(own(shape), TEXTS, layout=side)
    table = batches.leaks(batch, layer=0, head=2, before_scale=before, added=added)
    for fill in batches.FILLS:
        leak, hidden = expected(batch, fill, before=before, added=added, head=2)
        found = at(table, fill)
        assert_close(found["leak"], leak, relative=1e-4)
        if len(batch.rows[0].owner) == batch.lengths[0] and shape == "encoder":  # text 0 hides nothing
            rows = np.array(batch.lengths) / sum(batch.lengths)
            assert_close(found["hidden"], hidden * rows[1], relative=1e-4)
        for dtype, slack in (("bfloat16", 0.15), ("float16", 0.02)):
            rounded = at(table, fill, dtype)
            refused = dtype == "float16" and fill == "-1e9" and not added
            assert rounded["problem"] == (RAISES if refused else "")
            if not refused and leak > 1e-6:
                assert_close(rounded["leak"], leak, relative=slack)


def test_a_packed_row_leaks_onto_other_texts(minilm: LoadedModel) -> None:
    """A row of minilm's in the own Transformer: without a mask the weight on other texts is what the map shows."""
    batch = batches.read(minilm, TEXTS, layout="packed")
    table = batches.leaks(batch, layer=2, head=5)
    assert at(table, "-inf")["leak"] == 0
    unmasked = batches.read(minilm, TEXTS, layout="packed", masked=False, restart=False)
    weights = [unmasked.seen(text, layer=0, head=5).to_others for text in range(2)]
    mean = np.average(weights, weights=batch.lengths)
    running = batches.read(minilm, TEXTS, layout="packed", restart=False)
    assert_close(at(batches.leaks(running, layer=0, head=5), "no mask")["leak"], mean, relative=1e-6)


def test_another_score_leaks_too() -> None:
    """Cosine and linear scores and T5's bias are made again; a fill of the model's own is replaced."""
    for switches in (
        {"score": "cosine"},
        {"weighting": "linear"},
        {"positions": "t5"},
        {"positions": "shaw"},
        {"positions": "xl"},
        {"mask_fill": -20.0},
    ):
        batch = batches.read(own("encoder", **switches), TEXTS, layout="right")
        table = batches.leaks(batch, layer=1, head=1)
        assert at(table, "-inf")["leak"] == 0 < at(table, "-10")["leak"] < 1e-3 < 0.1 < at(table, "no mask")["leak"]
        assert at(table, "-1e9", "bfloat16")["leak"] == 0
    with pytest.raises(ValueError, match="its weights are no softmax's"):
        batches.leaks(batches.read(own("encoder", weighting="sigmoid"), TEXTS, layout="right"), layer=0, head=0)
    seen = batch.seen(1, layer=1, head=1)
    assert at(table, "-20")["leak"] == pytest.approx(seen.to_padding, rel=1e-4)


def test_a_query_that_may_look_at_nothing() -> None:
    found = batches.nothing_to_see(np.array([0.5, -1.0, 2.0, 0.0], np.float32)).set_index("mask")
    assert np.isnan(found["weight"]["filled with -inf"])
    for mask in ("filled with -1e9", "filled with -20", "x 0"):
        assert found["weight"][mask] == pytest.approx(0.25)
        assert found["sum"][mask] == pytest.approx(1)
    assert found.loc["SDPA, boolean mask"].tolist() == [0, 0]
    with torch.no_grad():
        rows = torch.full((1, 3), -torch.inf)
    assert torch.softmax(rows, dim=-1).isnan().all()


def test_each_way_to_mask_is_told_once() -> None:
    found = batches.nothing_to_see(np.array([0.5, -1.0], np.float32))
    filled = [f"filled with {number}" for number in ("-inf", "-1e9", "-1e4", "-20", "-10")]
    assert found["mask"].tolist() == [*filled, "x 0", "SDPA, boolean mask"]
