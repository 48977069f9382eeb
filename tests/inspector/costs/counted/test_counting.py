"""The count of published shapes, of models that have formulas, and of what cannot be counted."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import BertConfig, GPT2Config, LlamaConfig, T5Config

from inspector import costs

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
