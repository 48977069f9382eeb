"""Crossovers of counted models against the closed formulas and published numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from transformers import LlamaConfig, MixtralConfig, T5Config

from inspector import costs

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 100,
}


def test_gated_and_grouped_layers_cross_where_the_formula_says() -> None:
    """Both lengths follow from p d f of the FFN, q = H E and k = K E: p d f / 2q, d (p f - 2 (q + k)) / 2q."""
    d, f, q = 24, 100, 24
    for kv_heads in (1, 2, 4):
        counted = costs.count(LlamaConfig(**SIZES, num_key_value_heads=kv_heads))
        k = kv_heads * 6
        found = costs.crossings(counted)
        assert found is not None
        assert found.core == pytest.approx(3 * d * f / (2 * q))
        assert found.sublayer == pytest.approx(d * (3 * f - 2 * (q + k)) / (2 * q))
        table = costs.sweep(counted, [7, 50])
        assert (
            table["flops"][table["tokens"] == 7].sum() == counted.table(tokens=7).query("layer.notna()")["flops"].sum()
        )


def test_attention_that_grows_with_the_text_alone_never_meets_a_dearer_ffn() -> None:
    counted = costs.count(LlamaConfig(**SIZES))
    formula = counted.formula
    assert formula is not None
    straight = {row: (0, one + square, 0) for row, (_, one, square) in formula.rows.items()}
    assert costs.crossings(replace(counted, formula=replace(formula, rows=straight))) is None


def test_bert_and_llama_70b_cross_at_the_published_lengths() -> None:
    bert = costs.crossings(costs.count(costs.SHELF["bert-base"].config()))
    assert bert is not None
    assert (bert.core, bert.sublayer) == (3072, 1536)
    llama = costs.count(costs.SHELF["llama-2-70b"].config())
    found = costs.crossings(llama)
    assert found is not None
    assert (found.core, found.sublayer) == (43008, 33792)
    assert llama.total([128]) == [17_633_525_104_640]
    assert len(costs.sweep(llama, range(1000, 31_000, 1000))) == 30 * 9


def test_experts_count_as_a_token_chooses_them_and_a_source_adds_its_attention() -> None:
    mixed = costs.count(MixtralConfig(**SIZES, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2))
    found = costs.crossings(mixed)
    assert found is not None
    assert found.core == pytest.approx((2 * 3 * 24 * 100 + 24 * 4) / (2 * 24))  # two experts, and the router's product
    config = T5Config(vocab_size=50, d_model=12, d_kv=4, num_heads=3, d_ff=90, num_layers=2, num_decoder_layers=2)
    counted = costs.count(config)
    alone, across = (costs.crossings(counted, stream="decoder", across=both) for both in (False, True))
    assert alone is not None
    assert across is not None
    assert (alone.core, across.core) == (90, 45)  # twice the scores: half the length
    assert (alone.sublayer, across.sublayer) == (90 - 24, (90 - 48) / 2)
    with pytest.raises(ValueError, match="0 tokens"):
        costs.sweep(counted, [0])


def test_shares_of_a_length_are_of_its_sum() -> None:
    table = costs.sweep(costs.count(LlamaConfig(**SIZES)), [7, 50])
    whole = table.groupby("tokens")["flops"].transform("sum")
    assert table["share"].tolist() == pytest.approx((table["flops"] / whole).tolist())
    assert table.groupby("tokens")["share"].sum().tolist() == pytest.approx([1, 1])
