"""The pairs that masks leave of attention, against the maps of real models of random weights under eager attention."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from inspector import costs
from inspector.costs.counted.masks import MaskRule, recognise
from inspector.costs.counted.shown import KnownValues
from models.huggingface.skeleton import architecture_of
from models.transformer.config import TransformerConfig
from tests.inspector.costs.counted.torch_counts import FAMILIES
from tests.inspector.probe.families import named

SOURCE, TARGET = 11, 9
RULES = [
    *(MaskRule("all"), MaskRule("causal"), MaskRule("window", 4), MaskRule("window", 30), MaskRule("band", 2)),
    *(MaskRule("band", 4), MaskRule("band", 30), MaskRule("chunk", 4), MaskRule("chunk", 30)),
]
KINDS = {  # windows of 4; ModernBERT's is 2 on either side
    "bert": {("encoder", "all", 0)},
    "modernbert": {("encoder", "all", 0), ("encoder", "band", 5)},
    "gpt2": {("decoder", "causal", 0)},
    "mistral": {("decoder", "window", 4)},
    "gemma2": {("decoder", "window", 4), ("decoder", "causal", 0)},
    "gpt_oss": {("decoder", "window", 4), ("decoder", "causal", 0)},
    "bloom": {("decoder", "causal", 0)},
    "t5": {("encoder", "all", 0), ("decoder", "causal", 0), ("cross", "all", 0)},
    "bart": {("encoder", "all", 0), ("decoder", "causal", 0), ("cross", "all", 0)},
}


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_counts_the_cells_that_it_draws(rule: MaskRule) -> None:
    for tokens in (1, 3, 4, 5, 12, 23):
        assert rule.pairs(tokens, tokens) == int(rule.cells(tokens, tokens).sum())
    again = recognise(rule.cells(20, 20))
    assert again == rule if rule.width < 20 else again is not None
    assert recognise(torch.eye(5, dtype=torch.bool).flip(0)) is None


@pytest.mark.parametrize("name", KINDS)
@torch.no_grad()
def test_what_is_needed_are_the_weights_that_are_not_0(name: str) -> None:
    config = named(FAMILIES[name])
    counted = costs.count(config)
    table = counted.needed(tokens=SOURCE, target_tokens=TARGET)
    found = {tuple(row) for row in table[["stream", "mask", "width"]].itertuples(index=False)}
    assert found == KINDS[name]
    flops = counted.table(tokens=SOURCE, target_tokens=TARGET).query("component in ('scores', 'mix')").flops
    assert table.flops.tolist() == flops.tolist()
    maps = eager_maps(config, counted.shape)
    for stream, given in maps.items():
        own = table[(table.stream == stream) & (table.component == "mix")]
        assert len(own) == len(given)
        for row, weights in zip(own.itertuples(), given, strict=True):
            assert row.needed * weights.numel() == row.flops * int((weights > 0).sum())
    scores, mix = (table[table.component == component].needed.sum() for component in ("scores", "mix"))
    assert scores == mix


def eager_maps(config: Any, shape: str) -> dict[str, Any]:
    """Run a model of random weights, and give the maps of each stream."""
    torch.manual_seed(0)
    network = architecture_of(config)._from_config(config, attn_implementation="eager").eval()
    ids = torch.arange(4, 4 + SOURCE)[None]
    if shape != "encoder-decoder":
        return {shape: network(input_ids=ids, output_attentions=True).attentions}
    out = network(input_ids=ids, decoder_input_ids=ids[:, :TARGET], output_attentions=True)
    return {stream: out[f"{stream}_attentions"] for stream in ("encoder", "decoder", "cross")}


def test_what_is_filled_with_a_very_low_number_is_hidden() -> None:
    mask = torch.ones(4, 4, dtype=torch.bool).triu(1)
    for operation, low, high in (
        (torch.ops.aten.masked_fill.Scalar, -float("inf"), -1.0),
        (torch.ops.aten.masked_fill.Tensor, torch.tensor(-1e9), torch.tensor(0.0)),
    ):
        for value, seen in ((low, ~mask), (high, torch.ones(4, 4, dtype=torch.bool))):
            known, scores, filled = KnownValues(), *(torch.empty(2, 4, 4, device="meta") for _ in range(2))
            known.learned(scores)
            known.follow(operation, (scores, mask, value), {}, filled)
            cells = known.cells(filled)
            assert cells is not None
            assert torch.equal(cells, seen.expand(2, 4, 4))
    known.follow(operation, (scores, torch.empty(4, 4, dtype=torch.bool, device="meta"), low), {}, filled)
    assert known.cells(filled) is None  # a mask without values hides nobody knows what


def test_a_mask_of_no_known_rule_leaves_no_figure() -> None:
    table = costs.count(named(FAMILIES["gpt_neo"])).needed(tokens=9)  # its masks are buffers, which have no values here
    assert table.needed.isna().all()
    assert table["mask"].isna().all()


def test_long_windows_keep_their_width() -> None:
    """Half of 128 on either side in ModernBERT; the last 4,096 tokens in Mistral, of more than 16,384."""
    mistral = costs.count(costs.SHELF["mistral-7b"].config()).needed(tokens=16384)
    assert set(mistral["mask"]) == {"window"}
    assert set(mistral.width) == {4096}
    pairs = 4096 * 16384 - 4096 * 4095 // 2
    assert (mistral.needed * 16384**2 == mistral.flops * pairs).all()


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_the_own_transformer_needs_what_its_masks_show(shape: Any, window: int | None) -> None:
    config = TransformerConfig(
        vocabulary=20, layers=1, width=8, heads=2, ffn_width=9, max_positions=30, shape=shape, window=window
    )
    table = costs.count(config).needed(tokens=SOURCE, target_tokens=TARGET)
    expected = {
        "encoder": MaskRule("band", 3) if window else MaskRule("all"),
        "decoder": MaskRule("window", 3) if window else MaskRule("causal"),
        "cross": MaskRule("all"),
    }
    for row in table.itertuples():
        queries = SOURCE if row.stream == "encoder" else TARGET if shape == "encoder-decoder" else SOURCE
        keys = SOURCE if row.stream != "decoder" else queries
        assert row.needed == 2 * 8 * expected[row.stream].cells(queries, keys).sum()
