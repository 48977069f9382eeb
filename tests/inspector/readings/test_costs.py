"""Readings of costs against the textbook's formulas in plain integers, and the sentences made of them."""

from __future__ import annotations

import re

import pytest
from transformers import BertConfig

from inspector import costs
from inspector.readings import costs as read
from inspector.wording.english import costs as words
from models import LoadedModel


def found(config: BertConfig, tokens: int) -> read.Shares:
    return read.shares(costs.breakdown(config, tokens=tokens), costs.crossovers(config), tokens=tokens)


@pytest.mark.parametrize("tokens", [1, 13, 128, 767, 768, 769, 1536, 1537, 5000])
def test_shares_are_those_of_the_formulas(tokens: int) -> None:
    """8 n d^2 + 4 n^2 d against 4 n d f, with MiniLM's d = 384 and f = 1536."""
    d, f = 384, 1536
    config = BertConfig(hidden_size=d, intermediate_size=f, num_hidden_layers=6, num_attention_heads=12)
    pairs, attention = 4 * tokens**2 * d, 8 * tokens * d**2 + 4 * tokens**2 * d
    ffn = 4 * tokens * d * f
    shares = found(config, tokens)
    assert shares.attention == pytest.approx(attention / (attention + ffn))
    assert shares.ffn == pytest.approx(ffn / (attention + ffn))
    assert shares.pairs == pytest.approx(pairs / (attention + ffn))
    assert (shares.core, shares.sublayer) == (f, f - 2 * d)
    said = words.shares(shares)
    assert ("attention takes" in said) == (attention > ffn) == (tokens > 768)
    assert ("attention overtakes it at 768 tokens" in said) == (tokens < 768)
    assert ("both cost the same at 768 tokens" in said) == (tokens == 768)
    assert ("alone cost more than the FFN since 1,536 tokens" in said) == (pairs > ffn)
    told = re.search(r"the FFN (?:takes )?(\d+) %", said)
    assert told
    assert int(told[1]) == round(100 * ffn / (attention + ffn))


def test_attention_that_is_dearer_at_any_length_is_told_so() -> None:
    config = BertConfig(hidden_size=64, num_attention_heads=2, intermediate_size=96)
    said = words.shares(found(config, 4))
    assert "attention costs more at any length" in said
    assert said.startswith("At 4 tokens attention takes")


def test_parameters_are_counted_in_the_tensors(minilm: LoadedModel) -> None:
    table = costs.parameters(minilm.network)
    total = sum(tensor.numel() for tensor in minilm.network.parameters())
    assert table["parameters"].sum() == total
    assert table.loc[table["layer"].notna(), "layer"].drop_duplicates().tolist() == [0, 1, 2, 3, 4, 5]
    counted = read.counted(table)
    embeddings = minilm.network.embeddings
    assert counted.embeddings == sum(
        one.weight.numel()
        for one in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings)
    )
    assert words.counted(counted).startswith("This model has 22.7 M parameters in 6 layers; ")
    norm = minilm.network.encoder.layer[0].attention.output.LayerNorm
    of_norms = table[(table["layer"] == 0) & (table["part"] == "norm")]["parameters"].sum()
    assert of_norms == 4 * norm.weight.numel()
