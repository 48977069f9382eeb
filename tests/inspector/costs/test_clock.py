"""The clock's arithmetic on times that are made up, and one very small run."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import DeepseekV3Config

from inspector.costs import SHELF, measure
from inspector.costs.clock import LayerShape, LayerTimes, layer_shape, measure_shape
from models import LoadedModel

BERT = LayerShape(width=768, heads=12, kv_heads=12, head_width=64, ffn_width=3072, gated=False)


def made_up(attention: dict[int, float]) -> LayerTimes:
    rows = [
        (n, part, seconds, 1, 1)
        for n, total in attention.items()
        for part, seconds in (("projections", 0), ("fused", total), ("ffn", 1))
    ]
    table = pd.DataFrame(rows, columns=["tokens", "part", "seconds", "flops", "bytes"])
    return LayerTimes(BERT, table, "float32", "cpu", "CPU time", 1, BERT.crossover)


def test_the_crossover_lies_between_the_lengths_where_the_ratio_passes_one() -> None:
    assert made_up({100: 0.5, 400: 2.0}).crossover("sdpa") == pytest.approx(200)  # half-way on log axes
    assert made_up({100: 0.5, 400: 0.9}).crossover("sdpa") is None
    assert made_up({100: 1.5, 400: 2.0}).crossover("sdpa") == 100
    assert made_up({50: 2.0, 100: 0.5, 400: 2.0}).crossover("sdpa") == pytest.approx(200)  # the last time it passes


def test_the_counted_crossover_is_the_published_one() -> None:
    assert BERT.crossover == 1536
    llama = LayerShape(width=4096, heads=32, kv_heads=32, head_width=128, ffn_width=11008, gated=True)
    assert llama.crossover == 8320
    assert LayerShape(width=8192, heads=64, kv_heads=8, head_width=128, ffn_width=28672, gated=True).crossover == 33792


def test_a_run_times_every_part_and_its_flops_are_torchs(minilm: LoadedModel) -> None:
    seen: list[tuple[int, int]] = []
    found = measure(minilm, [4, 9], repeats=2, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (36, 36)
    turns: list[LayerTimes] = []
    last = measure_shape(found.shape, [4], repeats=3, on_turn=turns.append)
    assert [(one.repeats, len(one.table)) for one in turns] == [(1, 6), (2, 6), (3, 6)]
    assert last.table.equals(turns[-1].table)
    assert found.table.groupby("tokens").size().to_dict() == {4: 6, 9: 6}
    assert (found.table["seconds"] >= 0).all()
    assert found.counted == 768
    with FlopCounterMode(display=False) as counter:
        measure_shape(found.shape, [9], repeats=1)
    rows = found.table[found.table["tokens"] == 9].set_index("part")["flops"]
    per_turn = rows[["projections", "scores", "mix", "ffn"]].sum()  # the CPU's fused kernel counts nothing
    assert counter.get_total_flops() == 2 * per_turn


def test_what_cannot_be_timed_is_said(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match="each must be at least 1"):
        measure(minilm, [0])
    with pytest.raises(ValueError, match="over 1,000,000,000; choose shorter texts"):
        measure(minilm, [10**5])
    with pytest.raises(ValueError, match=r"weights of one layer take 3,422,552,064 bytes, over 1,000,000,000, so"):
        measure_shape(layer_shape(SHELF["llama-2-70b"].config()), [4])
    with pytest.raises(ValueError, match="stopped"):
        measure(minilm, [4], stop=lambda: True)
    with pytest.raises(ValueError, match="latents first"):
        layer_shape(DeepseekV3Config())
    assert torch.is_grad_enabled()
