"""The derived KV cache against the one that transformers' models fill, number for number."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers import (
    BartConfig,
    BertConfig,
    DeepseekV3Config,
    FalconConfig,
    Gemma2Config,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    T5Config,
)

from inspector.costs import SHELF, kv_cache
from inspector.costs.kv_cache import shared
from models.transformer.config import TransformerConfig

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 40,
}
ENDS: dict[str, Any] = {"vocab_size": 50, "bos_token_id": 1, "eos_token_id": 2}
LATENT: dict[str, Any] = {
    "moe_intermediate_size": 8,
    "n_routed_experts": 4,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "q_lora_rank": 8,
    "kv_lora_rank": 6,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4,
    "v_head_dim": 5,
}
BART = {
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
}
MODELS: dict[str, tuple[Any, str]] = {
    "MHA": (GPT2Config(**ENDS, n_embd=24, n_layer=3, n_head=4), "GPT2LMHeadModel"),
    "GQA": (LlamaConfig(**SIZES, num_key_value_heads=2), "LlamaForCausalLM"),
    "MQA, a window": (MistralConfig(**SIZES, num_key_value_heads=1, sliding_window=5), "MistralForCausalLM"),
    "windows in turn": (
        Gemma2Config(**SIZES, num_key_value_heads=2, head_dim=8, sliding_window=5),
        "Gemma2ForCausalLM",
    ),
    "MQA by another name": (
        FalconConfig(**ENDS, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, multi_query=True, alibi=False),
        "FalconForCausalLM",
    ),
    "MLA": (DeepseekV3Config(**SIZES, **LATENT, num_key_value_heads=4), "DeepseekV3ForCausalLM"),
    "encoder-decoder": (
        T5Config(vocab_size=50, d_model=24, d_kv=5, num_heads=3, d_ff=20, num_layers=2, num_decoder_layers=3),
        "T5ForConditionalGeneration",
    ),
    "encoder-decoder with stacks of their own": (
        BartConfig(**ENDS, **BART, pad_token_id=0, decoder_start_token_id=2, forced_eos_token_id=2),
        "BartForConditionalGeneration",
    ),
}


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_it_is_what_transformers_keeps(name: str) -> None:
    config, architecture = MODELS[name]
    network = getattr(transformers, architecture)._from_config(config, attn_implementation="eager").eval()
    cache = kv_cache(config)
    for tokens in (3, 9):
        ids = torch.ones(1, tokens, dtype=torch.long)
        if config.is_encoder_decoder:
            source = torch.ones(1, 7, dtype=torch.long)
            kept = network(input_ids=source, decoder_input_ids=ids, use_cache=True).past_key_values
            layers = [*kept.self_attention_cache.layers, *kept.cross_attention_cache.layers]
        else:
            layers = network(input_ids=ids, use_cache=True).past_key_values.layers
        numbers = sum(layer.keys.numel() + layer.values.numel() for layer in layers)
        # A step in a full window needs window - 1 tokens before it: its own key and value come with it.
        own = sum(layer.numbers for layer in cache.layers if layer.window is not None and layer.window <= tokens)
        source_tokens = 7 if config.is_encoder_decoder else 0
        assert cache.bytes(tokens, source=source_tokens, element_bytes=1) - own == numbers


def test_sharing_heads_divides_it() -> None:
    cache = kv_cache(SHELF["llama-2-70b"].config())
    assert (cache.sharing, cache.heads, cache.kv_heads) == ("GQA", 64, 8)
    every, one = cache.shared_by(64), cache.shared_by(1)
    assert (every.sharing, one.sharing) == ("MHA", "MQA")
    assert every.token_bytes() == 8 * cache.token_bytes() == 64 * one.token_bytes()
    assert kv_cache(SHELF["llama-2-7b"].config()).bytes(4096) == 2 * 2**30  # 2.000 GiB at 4096 tokens
    mistral = kv_cache(SHELF["mistral-7b"].config())
    assert mistral.bytes(10**6) == mistral.bytes(4096) == 4096 * mistral.token_bytes()
    alone = kv_cache(MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=1))  # each token sees itself
    assert alone.bytes(10**6) == alone.bytes(1) == alone.token_bytes()
    with pytest.raises(ValueError, match="64 heads cannot share 5"):
        cache.shared_by(5)
    with pytest.raises(ValueError, match="no heads share keys"):
        kv_cache(SHELF["deepseek-v3"].config()).shared_by(1)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "ways"), [(12, 12, [12, 3, 1]), (12, 4, [12, 4, 1]), (8, 1, [8, 2, 1]), (7, 7, [7, 1])]
)
def test_the_ways_to_share_stand_beside_what_the_model_has(heads: int, kv_heads: int, ways: list[int]) -> None:
    """Without groups of its own a model is shown with the divisor nearest to a quarter of its heads, if it has one."""
    cache = kv_cache(LlamaConfig(num_attention_heads=heads, num_key_value_heads=kv_heads, hidden_size=8 * heads))
    table = shared(cache, tokens=10, element_bytes=2)
    assert list(table["kv_heads"]) == ways
    assert list(table["own"]) == [way == kv_heads for way in ways]
    layers, width, keys_and_values = LlamaConfig().num_hidden_layers, 8, 2
    assert list(table["bytes"]) == [keys_and_values * 2 * 10 * layers * width * way for way in ways]


def test_an_encoder_keeps_nothing() -> None:
    for config in (
        BertConfig(),
        TransformerConfig(vocabulary=9, layers=1, width=4, heads=2, ffn_width=8, max_positions=9),
    ):
        with pytest.raises(ValueError, match="keeps no keys"):
            kv_cache(config)
    with pytest.raises(ValueError, match="neither can be negative"):
        kv_cache(GPT2Config()).bytes(-1)
