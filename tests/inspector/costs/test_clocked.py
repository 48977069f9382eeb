"""Times of the clock as tables, from times that are given."""

from __future__ import annotations

import pandas as pd
import pytest
from transformers import LlamaConfig

from inspector import costs
from inspector.costs import clocked
from inspector.costs.clock import LayerShape, LayerTimes
from inspector.plots import costs as draw
from inspector.wording.english import costs as words


def test_measured_times_stand_for_the_layers_that_are_alike() -> None:
    config = LlamaConfig(hidden_size=8, num_hidden_layers=3, num_attention_heads=2, intermediate_size=16, vocab_size=9)
    table = costs.breakdown(config, tokens=5)
    table.loc[(table["layer"] == 2) & (table["component"] == "up"), "flops"] += 1  # a layer of its own kind
    seconds = {"projections": 0.004, "scores": 0.001, "softmax": 0.002, "mix": 0.001, "fused": 0.002, "ffn": 0.004}
    rows = [(5, part, one, 1, 1) for part, one in seconds.items()]
    frame = pd.DataFrame(rows, columns=["tokens", "part", "seconds", "flops", "bytes"])
    shape = LayerShape(width=8, heads=2, kv_heads=2, head_width=4, ffn_width=16, gated=True)
    measured = LayerTimes(shape, frame, "float32", "cpu", "CPU time", 7, shape.crossover)
    for kernel, attention, parts in (("eager", 8.0, 5), ("sdpa", 6.0, 3)):
        found = clocked.by_layer(table, measured, kernel=kernel, tokens=5)
        assert (found.layers, found.others) == (2, 1)
        assert (found.attention, found.ffn) == (attention, 4.0)
        assert len(found.table) == 2 * parts
        assert found.table["milliseconds"].sum() == pytest.approx(2 * (attention + 4))
        said = words.timed(found, measured, kernel=kernel, tokens=5)
        assert f"attention takes {attention:.2f} ms and the FFN 4.00 ms, so attention takes" in said
        bars = draw.by_layer(found.table, value="milliseconds")(mode="light").data
        assert sum(sum(bar.y) for bar in bars) == pytest.approx(2 * (attention + 4))
        assert (
            "8.00 ms" in draw.by_component(found.table, value="milliseconds")(mode="light").data[0].text[0]
        )  # 2 x 4 ms
        (tree,) = draw.treemap(found.table, value="milliseconds").data
        assert tree.values[0] == 1e6 * 2 * (attention + 4)  # nanoseconds: areas add up exactly
        summed = clocked.by_length(measured).iloc[0]
        assert 1000 * (summed[kernel] + summed["ffn"]) == pytest.approx(attention + 4)
    by_heads = clocked.by_heads({4: measured, 2: measured})
    assert by_heads["heads"].tolist() == [2, 4]
    assert by_heads[["eager", "sdpa"]].iloc[0].tolist() == pytest.approx([0.004, 0.002])  # without projections
