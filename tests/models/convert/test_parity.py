"""Tiny random models of transformers, of six architectures, against the own Transformer with their weights."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    AlbertModel,
    BloomConfig,
    BloomForCausalLM,
    BloomModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaModel,
    T5Config,
    T5Model,
)

from models.attention import watch
from models.convert import from_transformers
from models.convert.families import config_from_transformers
from models.transformer.generation import NextToken, greedy
from tests.closeness import assert_close

PRECISIONS = [(torch.float32, 3e-5), (torch.float64, 1e-10)]
EAGER = {"attn_implementation": "eager"}
GPT2 = {"vocab_size": 70, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 64, "eos_token_id": 1, **EAGER}
LLAMA = {
    "vocab_size": 70,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    **EAGER,
}
BLOOM = {"vocab_size": 70, "hidden_size": 24, "n_layer": 3, "n_head": 4, **EAGER}
ALBERT = {
    "vocab_size": 70,
    "embedding_size": 10,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 64,
    **EAGER,
}
T5 = {"vocab_size": 70, "d_model": 24, "d_kv": 5, "d_ff": 40, "num_layers": 3, "num_heads": 4, **EAGER}
ONE_TEXT = {
    "gpt2": (GPT2Model, GPT2Config(**GPT2)),
    "gpt2, wide ffn, relu": (GPT2Model, GPT2Config(**GPT2, n_inner=100, activation_function="relu")),
    "llama": (LlamaModel, LlamaConfig(**LLAMA)),
    "llama, one kv head, biases": (
        LlamaModel,
        LlamaConfig(**{**LLAMA, "num_key_value_heads": 1}, head_dim=8, attention_bias=True, mlp_bias=True),
    ),
    "llama, other base": (
        LlamaModel,
        LlamaConfig(**LLAMA, rope_parameters={"rope_type": "default", "rope_theta": 500.0}),
    ),
    "bloom": (BloomModel, BloomConfig(**BLOOM)),
    "bloom, six heads": (BloomModel, BloomConfig(**{**BLOOM, "n_head": 6})),
    "albert": (AlbertModel, AlbertConfig(**ALBERT)),
    "albert, wide embeddings": (AlbertModel, AlbertConfig(**{**ALBERT, "embedding_size": 24}, hidden_act="gelu")),
}
KEEP = {
    "unpadded": torch.ones(2, 40, dtype=torch.bool),
    "right": torch.arange(40) < torch.tensor([[40], [23]]),
    "left": torch.arange(40) >= torch.tensor([[0], [17]]),
}


class WithoutRounding(TorchFunctionMode):
    """transformers computes norms, softmax and angles in float32 whatever the model's precision; in here it does not,
    so that a model in float64 can be a reference to ten digits."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func is Tensor.float:
            return args[0].double()
        if func is Tensor.to and torch.float32 in (*args, *kwargs.values()):
            return args[0]
        if kwargs.get("dtype") is torch.float32:
            kwargs["dtype"] = torch.float64
        return func(*args, **kwargs)


def random_model(kind, config, dtype):
    """Norms and biases are random too: at 1 and 0 a swap would go unseen."""
    torch.manual_seed(0)
    network = kind(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return network.to(dtype)


def in_float64(network):
    """The same network, with the constants that transformers keeps in less."""
    network = deepcopy(network)
    for module in network.modules():
        if hasattr(module, "inv_freq"):  # RoPE's angles
            base, width = network.config.rope_parameters["rope_theta"], 2 * len(module.inv_freq)
            module.inv_freq = base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)
        if hasattr(module, "gelu_impl"):  # BLOOM writes sqrt(2 / pi) with eight digits
            module.gelu_impl = nn.GELU(approximate="tanh")
    return network


@torch.no_grad()
def run_theirs(network, dtype, **inputs):
    if dtype is torch.float32:
        return network(**inputs, output_attentions=True, output_hidden_states=True)
    with WithoutRounding():
        return in_float64(network)(**inputs, output_attentions=True, output_hidden_states=True)


@torch.no_grad()
def run_own(model, *inputs, **named):
    """Last hidden state, and the maps of each stream."""
    calls, maps = [], {}
    with watch(calls.append):
        hidden = model(*inputs, **named)
    for call in calls:
        length = call.query.shape[2]
        mask = None if call.mask is None else call.mask.rows(0, length)
        weights = call.function(call.query, call.key, call.value, mask, rows=slice(0, length))[1]
        maps.setdefault(call.stream, []).append(weights)
    return hidden, maps


def assert_maps(ours, theirs, keep, tolerance):
    """Equal on the queries that are real tokens."""
    assert len(ours) == len(theirs) == 3
    for own, reference in zip(ours, theirs, strict=True):
        rows = keep[:, None, :, None].expand_as(own)
        assert_close(own[rows], reference[rows], relative=tolerance)


@pytest.mark.parametrize("padding", list(KEEP))
@pytest.mark.parametrize("name", list(ONE_TEXT))
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_hidden_states_and_attention_equal_transformers(dtype, tolerance, name, padding):
    network, keep = random_model(*ONE_TEXT[name], dtype), KEEP[padding]
    ids = torch.randint(2, 70, (2, 40), generator=torch.Generator().manual_seed(1))
    theirs = run_theirs(network, dtype, input_ids=ids, attention_mask=keep.long())
    hidden, maps = run_own(from_transformers(network), ids, keep=keep)
    assert_close(hidden[keep], theirs.last_hidden_state[keep], relative=tolerance)
    (stream,) = maps
    assert stream == ("encoder" if name.startswith("albert") else "decoder")
    assert_maps(maps[stream], theirs.attentions, keep, tolerance)


@pytest.mark.parametrize("changes", [{}, {"feed_forward_proj": "gated-gelu", "num_decoder_layers": 3}])
@pytest.mark.parametrize("padding", ["unpadded", "right"])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_t5_equals_transformers_in_all_three_streams(dtype, tolerance, padding, changes):
    network, keep = random_model(T5Model, T5Config(**T5, **changes), dtype), KEEP[padding]
    ids, target = torch.randint(2, 70, (2, 40)), torch.randint(2, 70, (2, 11))
    theirs = run_theirs(network, dtype, input_ids=ids, attention_mask=keep.long(), decoder_input_ids=target)
    hidden, maps = run_own(from_transformers(network), ids, target, source_keep=keep)
    assert_close(hidden, theirs.last_hidden_state, relative=tolerance)
    everywhere = torch.ones(2, 11, dtype=torch.bool)
    assert_maps(maps["encoder"], theirs.encoder_attentions, keep, tolerance)
    assert_maps(maps["decoder"], theirs.decoder_attentions, everywhere, tolerance)
    assert_maps(maps["cross"], theirs.cross_attentions, everywhere, tolerance)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (GPT2LMHeadModel, GPT2Config(**GPT2)),
        (LlamaForCausalLM, LlamaConfig(**LLAMA)),
        (LlamaForCausalLM, LlamaConfig(**LLAMA, tie_word_embeddings=True)),
        (BloomForCausalLM, BloomConfig(**BLOOM)),
    ],
)
def test_the_output_matrix_comes_along_and_writes_the_same_text(kind, config):
    network = random_model(kind, config, torch.float64)
    model = from_transformers(network)
    assert (model.head.weight is model.embedding.token.weight) == config.tie_word_embeddings
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        expected = network(ids).logits
        assert_close(model.logits(model(ids)), expected, relative=1e-5)
    written = network.generate(ids, max_new_tokens=20, do_sample=False, eos_token_id=None, pad_token_id=0)
    assert torch.equal(greedy(NextToken(model), ids, new_tokens=20), written)


@pytest.mark.parametrize(("kind", "config"), [*ONE_TEXT.values(), (T5Model, T5Config(**T5))])
def test_every_weight_is_a_copy_and_none_is_left_out(kind, config):
    network = random_model(kind, config, torch.float32)
    model = from_transformers(network)
    theirs = {name: p for name, p in network.named_parameters() if not name.startswith("pooler.")}
    ours = list(model.parameters())
    assert sum(p.numel() for p in ours) == sum(p.numel() for p in theirs.values())
    assert not {p.data_ptr() for p in ours} & {p.data_ptr() for p in theirs.values()}
    assert all(p.is_contiguous() and not p.is_meta for p in ours)
    assert not any(module.training for module in model.modules())


def test_a_model_with_a_task_head_gives_the_same_encoder():
    network = random_model(AlbertForMaskedLM, AlbertConfig(**ALBERT), torch.float32)
    ids = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        assert torch.equal(from_transformers(network)(ids), from_transformers(network.albert)(ids))


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (AlbertConfig(**ALBERT, num_hidden_groups=2), "num_hidden_groups=2 and inner_group_num=1"),
        (GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True), "scale_attn_by_inverse_layer_idx=True"),
        (LlamaConfig(**LLAMA, attention_bias=True), "attention_bias=True and mlp_bias=False"),
        (LlamaConfig(**LLAMA, hidden_act="gelu"), "hidden_act 'gelu' is not supported in Llama"),
        (
            LlamaConfig(**LLAMA, rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}),
            "rope_type 'linear' is not supported",
        ),
        (BloomConfig(**BLOOM, apply_residual_connection_post_layernorm=True), "post_layernorm=True"),
        (T5Config(**T5, feed_forward_proj="gated-silu"), "feed_forward_proj 'gated-silu' is not supported"),
    ],
)
def test_variants_that_the_own_transformer_has_not_are_refused(config, sentence):
    with pytest.raises(ValueError, match=sentence):
        config_from_transformers(config)


def test_a_missing_weight_is_named():
    network = random_model(GPT2Model, GPT2Config(**GPT2), torch.float32)
    del network.ln_f
    network.ln_f = nn.Identity()
    with pytest.raises(ValueError, match=r"the model has no weight ln_f\.weight"):
        from_transformers(network)
