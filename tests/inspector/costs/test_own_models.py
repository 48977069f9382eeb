"""Every switch of the own Transformer is counted: parameters as the modules have them, FLOPs as torch counts them."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector import costs
from inspector.plots import costs as draw
from models.transformer import Decoder, Encoder, EncoderDecoder, build
from models.transformer.config import TransformerConfig
from models.transformer.kv_cache import KVCache

SIZES = {"vocabulary": 50, "layers": 2, "width": 24, "heads": 4, "ffn_width": 40, "max_positions": 40}
SHAPES = ("encoder", "decoder", "encoder-decoder")
CHANGES = [
    {},
    {"kv_heads": 2},
    {"kv_heads": 1, "head_size": 5, "bias": False},
    {"head_size": "full"},
    {"merge": "sum"},
    {"projections": False},
    {"shared_query_key": True},
    {"shared_key_value": True, "kv_heads": 2},
    {"shared_query_key": True, "shared_key_value": True},
    {"shared_layers": True, "layers": 3},
    {"embedding_width": 10},
    {"embedding_scale": True, "embedding_norm": True},
    {"residual": False, "norm": "none"},
    {"norm": "rms", "norm_placement": "pre", "final_norm": True},
    {"norm": "batch"},
    {"norm": "masked_batch", "embedding_norm": True},
    {"activation": "swiglu", "bias": False},
    {"activation": "geglu_tanh"},
    {"positions": "learned"},
    {"positions": "none"},
    {"positions": "rope"},
    {"positions": "alibi"},
    {"positions": "t5", "relative_buckets": 8, "relative_distance": 20},
    {"positions": "shaw", "relative_distance": 3},
    {"positions": "xl"},
    {"score": "general"},
    {"score": "cosine", "scale": "none"},
    {"score": "additive", "kv_heads": 2},
    {"score": "additive_naive"},
    {"weighting": "sigmoid", "kv_heads": 2},
    {"weighting": "linear"},
]


def configurations():
    for shape in SHAPES:
        for change in CHANGES:
            yield TransformerConfig(**{**SIZES, **change}, shape=shape)
    for tied in ("none", "output", "three-way"):
        yield TransformerConfig(**SIZES, shape="encoder-decoder", tied_embeddings=tied)
    yield TransformerConfig(**SIZES, shape="decoder", tied_embeddings="output")
    yield TransformerConfig(**SIZES, shape="decoder", output_head=False)
    yield TransformerConfig(**SIZES, shape="encoder-decoder", decoder_layers=1, target_vocabulary=30)
    yield TransformerConfig(**SIZES, segments=2)


def name_of(config: TransformerConfig) -> str:
    plain = TransformerConfig(**SIZES)
    changed = [f"{name}={value}" for name, value in vars(config).items() if value != getattr(plain, name)]
    return ",".join(changed) or "plain"


CONFIGS = list(configurations())


def forward(model: torch.nn.Module, tokens: int, target_tokens: int, batch: int) -> None:
    ids = torch.zeros(batch, tokens, dtype=torch.long)
    if isinstance(model, EncoderDecoder):
        hidden = model(ids, torch.zeros(batch, target_tokens, dtype=torch.long))
    else:
        hidden = model(ids)
    if not isinstance(model, Encoder) and model.config.output_head:
        model.logits(hidden)


def matmul_flops(table: pd.DataFrame) -> int:
    return int(table.flops[table.kind == "matmul"].sum())


@pytest.mark.parametrize("config", CONFIGS, ids=name_of)
def test_parameters_and_flops_are_those_of_the_model(config: TransformerConfig) -> None:
    model = build(config).eval().requires_grad_(False)
    table = costs.breakdown(config, tokens=9, target_tokens=7, batch=2)
    assert table.parameters.sum() == sum(p.numel() for p in model.parameters())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        forward(model, 9, 7, 2)
    assert matmul_flops(table) == counter.get_total_flops()
    assert (table.parameters >= 0).all()
    assert not table[table.layer.notna()].duplicated(["stream", "layer", "part", "component"]).any()


@pytest.mark.parametrize(
    "module",
    ["encoder.layers.1.attention", "decoder.layers.0.attention", "decoder.layers.1.cross_attention", "decoder.head"],
)
def test_each_stream_owns_what_is_in_its_modules(module: str) -> None:
    config = TransformerConfig(**SIZES, shape="encoder-decoder", kv_heads=2)
    model = EncoderDecoder(config).eval()
    table = costs.breakdown(config, tokens=9, target_tokens=7)
    stack, _, rest = module.partition(".")
    stream = "cross" if "cross" in module else stack
    layer = next((int(part) for part in rest.split(".") if part.isdigit()), None)
    part = "head" if layer is None else "attention"
    rows = table[(table.stream == stream) & (table.part == part)]
    rows = rows[rows.layer.isna()] if layer is None else rows[rows.layer == layer]
    assert rows.parameters.sum() == sum(p.numel() for p in model.get_submodule(module).parameters())
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        forward(model, 9, 7, 1)
    counted = sum(counter.get_flop_counts()[f"EncoderDecoder.{module}"].values())
    assert matmul_flops(rows) == counted


def test_a_decoder_layer_has_as_much_attention_as_ffn() -> None:
    """d_ff = 4d and two attentions: 8 d^2 + biases against 8 d^2 + biases."""
    config = TransformerConfig(**{**SIZES, "width": 512, "heads": 8, "ffn_width": 2048}, shape="encoder-decoder")
    table = costs.breakdown(config)
    layer = table[(table.layer == 0) & (table.stream != "encoder")].groupby("part").parameters.sum()
    assert layer["attention"] / layer["ffn"] == pytest.approx(1.0, abs=0.001)


def test_nn_transformer_has_the_published_number() -> None:
    """44,140,544 parameters (d 512, 6 + 6 layers), two of its norms being those after the stacks."""
    config = TransformerConfig(
        vocabulary=1, layers=6, width=512, heads=8, ffn_width=2048, max_positions=1, shape="encoder-decoder",
        norm_placement="pre", final_norm=True, output_head=False, tied_embeddings="three-way",
    )  # fmt: skip
    assert costs.breakdown(config).parameters.sum() - 512 == 44_140_544


@pytest.mark.parametrize("change", [{}, {"kv_heads": 2}, {"positions": "rope"}, {"shared_key_value": True}])
@torch.no_grad()
def test_cache_bytes_are_those_of_the_cache(change: dict[str, object]) -> None:
    config = TransformerConfig(**SIZES, shape="decoder", **change)
    cache = KVCache(2)
    Decoder(config).eval()(torch.zeros(3, 11, dtype=torch.long), cache=cache)
    table = costs.breakdown(config, tokens=11, batch=3)
    assert table.cache_bytes.sum() == cache.nbytes
    config = TransformerConfig(**SIZES, shape="encoder-decoder", **change)
    model, cache = EncoderDecoder(config).eval(), KVCache(2)
    memory = model.encoder(torch.zeros(3, 9, dtype=torch.long))
    model.decoder(torch.zeros(3, 11, dtype=torch.long), source=memory, cache=cache)
    assert costs.breakdown(config, tokens=9, target_tokens=11, batch=3).cache_bytes.sum() == cache.nbytes


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_at_the_crossovers_attention_costs_what_the_ffn_costs(change: dict[str, object]) -> None:
    """Compare the breakdown's sums at the lengths beside the crossover, for every kind of score and FFN."""
    config = TransformerConfig(**{**SIZES, **change})
    crossovers = costs.crossovers(config)
    for where, components in (
        (crossovers.core, ("scores", "mix")),
        (crossovers.sublayer, ("q", "k", "v", "scores", "mix", "out")),
    ):
        below, above = max(1, int(where or 0)), int(where or 0) + 1
        for tokens, dearer in ((below, where is None or below > where), (above, True)):
            table = costs.breakdown(config, tokens=tokens)
            flops = table[table.layer == 0].groupby("component").flops.sum()
            attention = sum(flops.get(component, 0) for component in components)
            ffn = sum(flops.get(component, 0) for component in ("up", "gate", "down"))
            assert (attention > ffn) == dearer or attention == ffn


def test_lengths_have_a_gate_where_there_is_one() -> None:
    gated = costs.by_length(TransformerConfig(**SIZES, activation="swiglu"), [8])
    assert list(gated.group) == ["q", "k", "v", "scores", "mix", "out", "up", "gate", "down"]
    both = costs.by_length(TransformerConfig(**SIZES, shape="encoder-decoder"), [8]).set_index("group").flops
    one = costs.by_length(TransformerConfig(**SIZES), [8]).set_index("group").flops
    assert both["scores"] == 3 * one["scores"]  # of the encoder, of the decoder, across
    assert both["up"] == 2 * one["up"]


def test_a_target_of_no_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="target_tokens is 0"):
        costs.breakdown(TransformerConfig(**SIZES, shape="encoder-decoder"), target_tokens=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_own_model_can_be_drawn(shape: str) -> None:
    config = TransformerConfig(**SIZES, shape=shape, activation="swiglu", positions="rope")
    table = costs.breakdown(config)
    for stream in (None, *dict.fromkeys(table.stream)):
        assert draw.by_layer(table, stream=stream, value="flops")(mode="light").data
    crossovers = costs.crossovers(config)
    lengths = draw.lengths(crossovers, tokens=20)
    assert draw.by_length(costs.by_length(config, lengths), crossovers=crossovers, tokens=20).data
