from __future__ import annotations

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AlbertConfig,
    BertConfig,
    BertModel,
    BloomConfig,
    CamembertConfig,
    DistilBertConfig,
    GPT2Config,
    LlamaConfig,
    RobertaConfig,
    T5Config,
    XLMRobertaConfig,
)

from inspector import costs
from inspector.costs.counted.components import KINDS
from models import fetch
from models.transformer import Encoder
from models.transformer.config import TransformerConfig

TINY = {
    "vocab_size": 50,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 40,
}
BASE = BertConfig()
LARGE = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)

FAMILY = [
    (config, name)
    for config, prefix in ((BertConfig, "Bert"), (RobertaConfig, "Roberta"))
    for name in (
        f"{prefix}Model",
        f"{prefix}ForMaskedLM",
        f"{prefix}ForTokenClassification",
        f"{prefix}ForQuestionAnswering",
        f"{prefix}ForSequenceClassification",
    )
] + [
    (BertConfig, "BertForPreTraining"),
    (BertConfig, "BertForNextSentencePrediction"),
    (XLMRobertaConfig, "XLMRobertaForMaskedLM"),
    (CamembertConfig, "CamembertForSequenceClassification"),
]

OWN = {
    "post-norm, sinusoidal": TransformerConfig(
        vocabulary=50, layers=2, width=12, heads=3, ffn_width=20, max_positions=40
    ),
    "pre-norm, learned": TransformerConfig(
        vocabulary=31,
        layers=3,
        width=8,
        heads=2,
        ffn_width=40,
        max_positions=25,
        norm_placement="pre",
        final_norm=True,
        activation="gelu",
        positions="learned",
        bias=False,
    ),
    "like BERT": TransformerConfig(
        vocabulary=50,
        layers=2,
        width=12,
        heads=3,
        ffn_width=20,
        max_positions=40,
        embedding_norm=True,
        activation="gelu_tanh",
        positions="learned",
        segments=2,
    ),
}


def on_meta(config: transformers.PretrainedConfig) -> torch.nn.Module:
    """transformers' own model of the configuration, without weights."""
    name = (config.architectures or [type(config).__name__.replace("Config", "Model")])[0]
    with torch.device("meta"):
        return getattr(transformers, name)._from_config(config, attn_implementation="eager").eval()


def counted_flops(network: torch.nn.Module, *, tokens: int, batch: int = 1) -> FlopCounterMode:
    ids = torch.zeros(batch, tokens, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(ids)
    return counter


def matmul_flops(table: pd.DataFrame) -> int:
    return int(table.flops[table.kind == "matmul"].sum())


@pytest.mark.parametrize(("tokens", "flops"), [(128, 22_347_251_712), (512, 96_636_764_160)])
def test_bert_base_encoder_flops_are_those_that_torch_counts(tokens: int, flops: int):
    table = costs.breakdown(BASE, tokens=tokens)
    counter = counted_flops(on_meta(BASE), tokens=tokens)

    assert matmul_flops(table[table.part != "pooler"]) == flops
    assert sum(counter.get_flop_counts()["BertModel.encoder"].values()) == flops
    assert matmul_flops(table) == counter.get_total_flops()


def test_bert_base_with_elementwise_work_is_the_published_figure():
    # 22.42 GFLOP at 128 tokens, embeddings and pooler apart; the TinyBERT and MobileBERT papers round to 22.5.
    table = costs.breakdown(BASE, tokens=128)
    encoder = table.flops[table.layer.notna()].sum()
    assert encoder / 1e9 == pytest.approx(22.42, abs=0.005)


@pytest.mark.parametrize(("config", "parameters"), [(BASE, 109_482_240), (LARGE, 335_141_888)])
def test_published_parameter_counts(config: BertConfig, parameters: int):
    assert costs.breakdown(config).parameters.sum() == parameters
    assert sum(p.numel() for p in on_meta(config).parameters()) == parameters


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(("config_class", "name"), FAMILY, ids=[name for _, name in FAMILY])
def test_every_architecture_has_the_parameters_and_flops_of_transformers(config_class: type, name: str, tied: bool):
    labels = 2 if "QuestionAnswering" in name else 5
    config = config_class(**TINY, architectures=[name], num_labels=labels, tie_word_embeddings=tied)
    network = on_meta(config)
    table = costs.breakdown(config, tokens=11, batch=3)

    assert table.parameters.sum() == sum(p.numel() for p in network.parameters())
    assert matmul_flops(table) == counted_flops(network, tokens=11, batch=3).get_total_flops()


SMALL = {"vocab_size": 50, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
OTHERS = {
    "albert": AlbertConfig(**SMALL, intermediate_size=20, embedding_size=8, max_position_embeddings=40),
    "gpt2": GPT2Config(vocab_size=50, n_embd=12, n_layer=2, n_head=3, n_positions=40),
    "llama": LlamaConfig(**SMALL, intermediate_size=20, num_key_value_heads=1, head_dim=6),
    "bloom": BloomConfig(vocab_size=50, hidden_size=12, n_layer=2, n_head=3),
    "t5": T5Config(vocab_size=50, d_model=12, d_kv=4, num_heads=3, d_ff=20, num_layers=2, num_decoder_layers=3),
    "t5 v1.1": T5Config(
        vocab_size=50, d_model=12, d_kv=5, num_heads=3, d_ff=20, num_layers=2, feed_forward_proj="gated-gelu"
    ),
}
CLASSES = [
    *[("albert", f"Albert{name}") for name in ("Model", "ForMaskedLM", "ForTokenClassification")],
    *[("albert", f"AlbertFor{name}") for name in ("QuestionAnswering", "SequenceClassification")],
    *[("gpt2", "GPT2Model"), ("gpt2", "GPT2LMHeadModel"), ("llama", "LlamaModel"), ("llama", "LlamaForCausalLM")],
    *[("bloom", "BloomModel"), ("bloom", "BloomForCausalLM"), ("t5", "T5Model")],
    *[("t5", "T5ForConditionalGeneration"), ("t5 v1.1", "T5ForConditionalGeneration")],
]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize(("family", "name"), CLASSES, ids=[f"{family}: {name}" for family, name in CLASSES])
def test_every_family_that_converts_has_the_parameters_and_flops_of_transformers(family: str, name: str, tied: bool):
    config = deepcopy(OTHERS[family])
    config.architectures = [name]
    if family not in ("t5", "t5 v1.1"):  # T5's embeddings are always shared
        config.tie_word_embeddings = tied
    network = getattr(transformers, name)._from_config(config, attn_implementation="eager").eval()
    ids = torch.ones(3, 11, dtype=torch.long)
    reads = {"input_ids": ids} | ({"decoder_input_ids": ids[:, :7]} if family.startswith("t5") else {})
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(**reads, **({} if family == "albert" else {"use_cache": False}))
    table = costs.breakdown(config, tokens=11, target_tokens=7, batch=3)

    assert table.parameters.sum() == sum(p.numel() for p in network.parameters())
    assert matmul_flops(table) == counter.get_total_flops()


def test_the_textbooks_crossovers_are_named_where_they_hold():
    assert costs.crossovers(OTHERS["gpt2"]) == costs.Crossovers(core=48.0, sublayer=24.0, plain=True)
    assert not costs.crossovers(OTHERS["llama"]).plain
    assert not costs.crossovers(OTHERS["t5 v1.1"]).plain


def test_a_configuration_without_architectures_is_the_bare_model_with_its_pooler():
    config = BertConfig(**TINY)
    assert config.architectures is None
    table = costs.breakdown(config)
    assert table.parameters.sum() == sum(p.numel() for p in on_meta(config).parameters())
    assert set(table.part) == {"embedding", "attention", "ffn", "residual", "norm", "pooler"}


def test_the_bundled_model():
    config = BertConfig(**json.loads((fetch.folder("minilm") / "config.json").read_text()))
    table = costs.breakdown(config, tokens=64)
    assert table.parameters.sum() == 22_713_216 == sum(p.numel() for p in on_meta(config).parameters())
    assert matmul_flops(table) == counted_flops(on_meta(config), tokens=64).get_total_flops()


@pytest.mark.parametrize("config", OWN.values(), ids=OWN.keys())
def test_own_encoder(config: TransformerConfig):
    network = Encoder(config).requires_grad_(False)
    assert costs.breakdown(config).parameters.sum() == sum(p.numel() for p in network.parameters())
    ids = torch.zeros(2, 9, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(ids)
    assert matmul_flops(costs.breakdown(config, tokens=9, batch=2)) == counter.get_total_flops()


def test_each_part_of_a_layer_is_what_torch_counts_for_its_modules():
    config = BertConfig(**TINY)
    counts = counted_flops(on_meta(config), tokens=7).get_flop_counts()
    table = costs.breakdown(config, tokens=7)
    table = table[(table.kind == "matmul") & (table.layer == 1)].set_index("component").flops

    def torch_counts(module: str) -> int:
        return sum(counts[f"BertModel.encoder.layer.1.{module}"].values())

    assert table["q"] == torch_counts("attention.self.query")
    assert table["k"] == torch_counts("attention.self.key")
    assert table["v"] == torch_counts("attention.self.value")
    assert table[["q", "k", "v", "scores", "mix"]].sum() == torch_counts("attention.self")
    assert table["out"] == torch_counts("attention.output.dense")
    assert table["up"] == torch_counts("intermediate.dense")
    assert table["down"] == torch_counts("output.dense")


def test_parameters_and_bytes_of_each_component_are_those_of_its_modules():
    config = BertConfig(**TINY)
    network = BertModel(config).eval()
    written: dict[str, int] = {}
    for name, module in network.named_modules():
        module.register_forward_hook(lambda _m, _i, out, name=name: written.update({name: getattr(out, "nbytes", 0)}))
    with torch.no_grad():
        network(torch.zeros(1, 7, dtype=torch.long))
    modules = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "out": "attention.output.dense",
        "up": "intermediate.dense",
        "activation": "intermediate.intermediate_act_fn",
        "down": "output.dense",
    }
    table = costs.breakdown(config, tokens=7)
    layer = table[table.layer == 0].set_index("component")
    for component, module in modules.items():
        path = f"encoder.layer.0.{module}"
        parameters = sum(p.numel() for p in network.get_submodule(path).parameters())
        assert (layer.parameters[component], layer.activation_bytes[component]) == (parameters, written[path]), (
            component
        )
    norms = [f"encoder.layer.0.{module}.LayerNorm" for module in ("attention.output", "output")]
    assert layer.activation_bytes["norm"] == sum(written[path] for path in norms)
    assert layer.activation_bytes["scores"] == layer.activation_bytes["softmax"] == 4 * 3 * 7 * 7

    base = table[table.layer.isna()].set_index("component")
    for component, module in {
        "token_embedding": "word_embeddings",
        "position_embedding": "position_embeddings",
        "segment_embedding": "token_type_embeddings",
    }.items():
        assert base.parameters[component] == network.get_submodule(f"embeddings.{module}").weight.numel()
        assert base.activation_bytes[component] == written[f"embeddings.{module}"]
    pooler = table[table.part == "pooler"].set_index("component")
    assert pooler.activation_bytes["pooler"] == written["pooler.dense"]
    assert pooler.parameters["pooler"] == sum(p.numel() for p in network.pooler.parameters())


def test_elementwise_flops_are_a_constant_per_element_that_a_layer_writes():
    n, d, f, heads = 7, 12, 20, 3
    table = costs.breakdown(BertConfig(**TINY), tokens=n)
    table = table[(table.layer == 0) & (table.kind == "elementwise")].set_index(["part", "component"])
    assert dict(table.flops) == {
        ("attention", "scale"): heads * n * n,
        ("attention", "softmax"): 5 * heads * n * n,
        ("attention", "bias"): 4 * n * d,
        ("ffn", "activation"): 8 * n * f,
        ("ffn", "bias"): n * f + n * d,
        ("residual", "residual"): 2 * n * d,
        ("norm", "norm"): 2 * 5 * n * d,
    }
    assert (table.activation_bytes.xs("bias", level="component") == 0).all()  # added inside the product
    assert "bias" not in set(costs.breakdown(OWN["pre-norm, learned"]).component)


def test_half_precision_halves_the_bytes_and_nothing_else():
    whole, half = (costs.breakdown(BASE, element_bytes=size) for size in (4, 2))
    assert (whole.activation_bytes == 2 * half.activation_bytes).all()
    pd.testing.assert_frame_equal(
        whole.drop(columns="activation_bytes"), half.drop(columns="activation_bytes"), check_exact=True
    )


def test_table_layout():
    table = costs.breakdown(BertConfig(**TINY, architectures=["BertForPreTraining"]), tokens=5)
    assert list(table.columns) == [
        "stream", "layer", "part", "component", "kind", "parameters", "flops", "activation_bytes", "cache_bytes"
    ]  # fmt: skip
    assert table.layer.dtype == "Int64"
    assert set(table.layer.dropna()) == {0, 1}
    assert table.layer.isna().sum() > 0
    assert all(table[name].dtype == np.int64 for name in ("parameters", "flops", "activation_bytes", "cache_bytes"))
    assert (table.cache_bytes == 0).all()
    assert (table.kind == table.component.map(KINDS)).all()
    assert (table.flops[table.kind == "lookup"] == 0).all()
    assert not table[table.layer.notna()].duplicated(["layer", "part", "component"]).any()


def test_bert_base_crossovers_are_4d_and_2d():
    assert costs.crossovers(BASE) == costs.Crossovers(core=3072.0, sublayer=1536.0)


@pytest.mark.parametrize("config", [BASE, BertConfig(**{**TINY, "intermediate_size": 37}), OWN["pre-norm, learned"]])
def test_at_the_crossovers_attention_costs_what_the_ffn_costs(config: BertConfig | TransformerConfig):
    crossovers = costs.crossovers(config)

    def flops(tokens: float, *components: str) -> int:
        table = costs.breakdown(config, tokens=int(tokens))
        return int(table.flops[(table.kind == "matmul") & table.component.isin(components)].sum())

    assert flops(crossovers.core, "scores", "mix") == flops(crossovers.core, "up", "down")
    whole = ("q", "k", "v", "scores", "mix", "out")
    assert crossovers.sublayer is not None
    assert flops(crossovers.sublayer, *whole) == flops(crossovers.sublayer, "up", "down")


def test_no_sublayer_crossover_where_attention_is_always_dearer():
    config = BertConfig(**{**TINY, "intermediate_size": 24})  # f = 2d
    assert costs.crossovers(config).sublayer is None
    by_part = costs.by_length(config, [1]).groupby("part").flops.sum()
    assert by_part["attention"] > by_part["ffn"]


def test_by_length_agrees_with_the_breakdown():
    table = costs.by_length(BASE, [16, 512])
    assert list(table.columns) == ["tokens", "part", "group", "flops", "share"]
    assert list(table.group[:8]) == ["q", "k", "v", "scores", "mix", "out", "up", "down"]
    breakdown = costs.breakdown(BASE, tokens=512)
    expected = breakdown[breakdown.layer.notna()].groupby("component").flops.sum()
    for row in table[table.tokens == 512].itertuples():
        assert row.flops == expected[row.group]
    assert table.groupby("tokens").share.sum().to_numpy() == pytest.approx(1.0)


def test_two_lengths_predict_a_third():
    table = costs.by_length(BASE, [100, 700, 3001]).pivot(index="group", columns="tokens", values="flops")
    lengths = np.array([100, 700])
    terms = np.stack([lengths, lengths**2], axis=1)  # flops = a n + b n^2
    for group, (first, second, third) in zip(table.index, table.to_numpy().tolist(), strict=True):
        a, b = np.linalg.solve(terms, [first, second])
        assert a * 3001 + b * 3001**2 == pytest.approx(third, rel=1e-9), group
        assert (abs(b * 3001**2) > 0.99 * third) == (group in ("scores", "mix"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (DistilBertConfig(), ["'distilbert'", "llama"]),
        (BertConfig(architectures=["BertForMultipleChoice"]), ["'BertForMultipleChoice'", "BertForMaskedLM"]),
        (BertConfig(is_decoder=True), ["is_decoder=True", "encoder"]),
        (BertConfig(hidden_act="silu"), ["'silu'", "gelu"]),
    ],
)
def test_what_cannot_be_counted_is_said(config: transformers.PretrainedConfig, words: list[str]):
    for count in (costs.breakdown, costs.crossovers):
        with pytest.raises(ValueError, match=words[0]) as error:
            count(config)
        assert words[1] in str(error.value)


@pytest.mark.parametrize("name", ["tokens", "batch", "element_bytes"])
def test_numbers_below_one_are_refused(name: str):
    with pytest.raises(ValueError, match=f"{name} is 0"):
        costs.breakdown(BASE, **{name: 0})
    with pytest.raises(ValueError, match="0 tokens"):
        costs.by_length(BASE, [0])
