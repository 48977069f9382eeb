"""The count of published shapes, of models that have formulas, and of what cannot be counted."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from transformers import (
    BertConfig,
    BigBirdConfig,
    DeepseekV3Config,
    DiffLlamaConfig,
    GPT2Config,
    LlamaConfig,
    PreTrainedConfig,
    T5Config,
    WhisperConfig,
)

from inspector import costs
from inspector.costs.counted.tracing import Network
from inspector.costs.decoding import by_step
from models.huggingface import skeleton
from models.transformer.config import TransformerConfig
from tests.inspector.costs.counted.torch_counts import FAMILIES
from tests.inspector.probe.families import named

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


@pytest.mark.parametrize("kind", [BertConfig, BigBirdConfig, DiffLlamaConfig, LlamaConfig])
def test_equal_layers_run_once_whatever_number_they_carry(kind: Any) -> None:
    """BigBird's layers have a seed each and DiffLlama's a scale: 128 of them would take minutes, run one by one."""
    network = Network(skeleton.build(kind(num_hidden_layers=5)))
    layers = [path for path in network.layers if path.endswith((".3", ".4"))]
    assert len({network.signature(path, network.network.get_submodule(path)) for path in layers}) == 1
    with network.traced(roles=False) as trace:
        network.network(torch.zeros(1, 6, dtype=torch.long, device="meta"), use_cache=False)
    assert len(trace._ran) <= 2  # the first of BigBird turns the others to full attention
    assert {product.layer for product in trace.products if product.layer} == {(layers[0][:-2], n) for n in range(5)}


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


@pytest.fixture
def _nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.Module, "__init__", lambda *args, **kwargs: pytest.fail("a module is built"))


def _nested(depth: int) -> dict[str, Any]:
    return {"type": _nested(depth - 1) if depth else 1}


@pytest.mark.parametrize("name", ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size"])
@pytest.mark.parametrize("number", [10**9, 10**4000, -4, 0])
@pytest.mark.usefixtures("_nothing_is_built")
def test_impossible_numbers_are_refused_with_the_number(name: str, number: int) -> None:
    config = LlamaConfig()
    vars(config)[name] = number
    with pytest.raises(ValueError, match=f"{number:,}" if number < 10**10 else "4001 digits"):
        costs.count(config)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("hidden_size", "x", "'x'"),
        ("hidden_size", 1.5, "1.5"),
        ("num_hidden_layers", True, "True"),
        ("rope_parameters", _nested(40), "nests more than 16 deep"),
        ("rope_parameters", {"layers": {"layers": 10**9}}, "1,000,000,000"),
        ("layer_types", ["full_attention"] * 10**5, "a list layer_types of 100,000 values"),
        ("layer_types", [10**9], "1,000,000,000"),
    ],
)
@pytest.mark.usefixtures("_nothing_is_built")
def test_what_no_model_has_is_refused_before_anything_is_built(name: str, value: Any, said: str) -> None:
    config = LlamaConfig()
    vars(config)[name] = value
    with pytest.raises(ValueError, match=said):
        costs.count(config)


@pytest.mark.usefixtures("_nothing_is_built")
def test_an_unknown_architecture_is_refused_by_its_name() -> None:
    unknown = PreTrainedConfig(architectures=["NoSuchModel"])
    with pytest.raises(ValueError, match="transformers has no model 'NoSuchModel'"):
        costs.count(unknown)
    vast = TransformerConfig(vocabulary=9, layers=10**9 - 1, width=4, heads=2, ffn_width=8, max_positions=9)
    with pytest.raises(ValueError, match="999,999,999"):
        costs.count(vast)


def test_a_model_of_sound_says_so_and_its_decoder_is_counted_alone() -> None:
    sizes = {f"{stack}_{name}": 2 for stack in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    config = WhisperConfig(vocab_size=50, d_model=16, encoder_ffn_dim=20, decoder_ffn_dim=20, pad_token_id=0, **sizes)
    with pytest.raises(ValueError, match="WhisperModel reads input_features, no tokens"):
        costs.count(config)
    config.architectures = ["WhisperForCausalLM"]
    counted = costs.count(config)
    step = counted.step(tokens=9)
    assert (counted.shape, counted.terms) == ("decoder", ("1", "n", "n²"))
    assert step is not None
    assert step.query("component == 'scores'").flops.tolist() == [2 * 16 * 10] * 2


@pytest.mark.parametrize("tokens", [0, -1, 10**12])
def test_impossible_lengths_are_refused(tokens: int) -> None:
    counted = costs.count(GPT2Config(n_layer=1, n_embd=8, n_head=2, vocab_size=40))
    for count in (
        lambda: counted.table(tokens=tokens),
        lambda: counted.step(tokens=tokens),
        lambda: counted.total([tokens]),
        lambda: counted.needed(tokens=tokens),
        lambda: counted.by_length([tokens]),
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


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("shape", ["decoder", pytest.param("encoder-decoder", marks=pytest.mark.heavy)])
def test_a_step_of_the_own_transformer_is_counted_as_its_formula_says(shape: Any, window: int | None) -> None:
    config = TransformerConfig(
        vocabulary=50, layers=2, width=24, heads=4, ffn_width=40, max_positions=40, shape=shape, window=window
    )
    counted, source = costs.count(config), 7 if shape == "encoder-decoder" else None
    for past in (1, 2, 3, 4, 5, 9, 20):
        step = counted.step(tokens=source or past, target_tokens=past)
        assert step is not None
        assert step.flops.sum() == by_step(config, steps=2, begun=past, source=source).flops_cached[1]


@pytest.mark.parametrize("name", ["gpt2", "llama", "bloom", "t5", "albert", "roberta"])
def test_the_count_gives_every_row_of_the_formulas(name: str) -> None:
    config, names = named(FAMILIES[name]), ["stream", "layer", "part", "component"]
    counted = costs.count(config).table(tokens=9, target_tokens=7)
    formulas = costs.breakdown(config, tokens=9, target_tokens=7)
    expected, found = (
        table[table.kind == "matmul"].groupby(names, dropna=False).flops.sum().to_dict()
        for table in (formulas, counted)
    )
    assert found == expected
    assert counted.parameters.sum() == formulas.parameters.sum()


def test_a_norm_outside_the_layers_is_the_heads_where_it_stands_in_the_head_alone() -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    table = costs.count(BertConfig(**sizes, architectures=["BertForMaskedLM"])).table(tokens=8)
    norms = table[table.component == "norm"].groupby("part").parameters.sum()
    assert norms[norms > 0].to_dict() == {"norm": (1 + 2 * 2) * 2 * 16, "head": 2 * 16}  # gamma and beta of each


def test_a_count_says_how_far_it_is_and_can_be_ended() -> None:
    config = GPT2Config(n_layer=2, n_embd=16, n_head=2, vocab_size=20, architectures=["GPT2LMHeadModel"])
    said: list[tuple[int, int]] = []
    costs.count(config, on_progress=lambda done, total: said.append((done, total)))
    assert [done for done, _ in said] == list(range(len(said)))
    assert said[-1] == (len(said) - 1, len(said))

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        costs.count(config, on_progress=stop)
