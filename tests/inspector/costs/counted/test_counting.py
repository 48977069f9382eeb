"""The count of published shapes, of models that have formulas, and of what cannot be counted."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import BertConfig, DeepseekV3Config, GPT2Config, LlamaConfig, T5Config

from inspector import costs
from models.transformer.config import TransformerConfig

LLAMA_70B = {
    **{"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64},
    **{"num_key_value_heads": 8, "vocab_size": 32000, "architectures": ["LlamaForCausalLM"]},
}


def test_llama_2_70b_has_its_published_numbers() -> None:
    counted = costs.count(LlamaConfig(**LLAMA_70B))
    assert counted.parameters == 68_976_648_192
    assert counted.total([128]) == [17_633_525_104_640]
    assert counted.polynomial() == (0, 137_426_370_560, 2_621_440)
    assert counted.terms == ("1", "n", "n²")


def test_llama_2_7b_has_its_published_numbers() -> None:
    counted = costs.count(LlamaConfig(vocab_size=32000, architectures=["LlamaForCausalLM"]))
    assert counted.parameters == 6_738_415_616
    assert counted.total([128, 4096]) == [1_700_001_742_848, 62_921_270_886_400]
    step = counted.step(tokens=128)
    assert step is not None
    assert step.flops.sum() == 13_281_787_904


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (BertConfig(), 109_482_240),
        (GPT2Config(architectures=["GPT2LMHeadModel"]), 124_439_808),
        (T5Config(architectures=["T5ForConditionalGeneration"]), 60_506_624),
    ],
    ids=lambda value: getattr(value, "model_type", None),
)
def test_parameters_are_the_published_numbers(config: Any, parameters: int) -> None:
    counted = costs.count(config)
    assert counted.parameters == counted.table(tokens=128).parameters.sum() == parameters


def test_bert_base_is_counted_as_its_formulas_say() -> None:
    counted = costs.count(BertConfig())
    table = counted.table(tokens=128)
    assert table.flops[table.part != "pooler"].sum() == 22_347_251_712
    assert counted.polynomial("scores") == (0, 0, 12 * 2 * 768)
    formulas = costs.breakdown(BertConfig(), tokens=128)
    names = ["stream", "part", "component"]
    expected = formulas[formulas.kind == "matmul"].groupby(names).flops.sum()
    assert table[table.kind == "matmul"].groupby(names).flops.sum().to_dict() == expected.to_dict()


@pytest.mark.parametrize("name", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"])
@pytest.mark.parametrize("number", [10**12, -4, 0])
def test_impossible_numbers_are_refused_with_the_number(name: str, number: int) -> None:
    config = LlamaConfig()
    vars(config)[name] = number
    with pytest.raises(ValueError, match=f"{number:,}"):
        costs.count(config)


def test_what_is_no_number_is_refused() -> None:
    config = LlamaConfig()
    vars(config)["hidden_size"] = "x"
    with pytest.raises(ValueError, match="'x'"):
        costs.count(config)


@pytest.mark.parametrize("tokens", [0, -1, 10**12])
def test_impossible_lengths_are_refused(tokens: int) -> None:
    counted = costs.count(GPT2Config(n_layer=1, n_embd=8, n_head=2, vocab_size=40))
    for count in (
        lambda: counted.table(tokens=tokens),
        lambda: counted.step(tokens=tokens),
        lambda: counted.total([tokens]),
    ):
        with pytest.raises(ValueError, match=f"{tokens:,}"):
            count()


def test_deepseek_v3_has_its_numbers() -> None:
    counted = costs.count(DeepseekV3Config(architectures=["DeepseekV3ForCausalLM"]))
    assert counted.parameters == 671_026_404_352
    assert counted.polynomial() == (0, 73_249_193_984, 4_997_120)


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("change", [{}, {"kv_heads": 2, "positions": "rope", "activation": "swiglu"}])
def test_the_own_transformer_is_counted_as_its_formulas_say(shape: Any, change: dict[str, Any]) -> None:
    config = TransformerConfig(
        vocabulary=50, layers=2, width=24, heads=4, ffn_width=40, max_positions=40, shape=shape, **change
    )
    counted, names = costs.count(config).table(tokens=9, target_tokens=7), ["stream", "layer", "part", "component"]
    formulas = costs.breakdown(config, tokens=9, target_tokens=7)
    expected, found = (
        table[table.kind == "matmul"].groupby(names, dropna=False).flops.sum().to_dict()
        for table in (formulas, counted)
    )
    assert found == expected
    assert counted.parameters.sum() == formulas.parameters.sum()
