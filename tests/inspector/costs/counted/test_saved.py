"""The activations of a training step, against autograd on real tensors and a published formula."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers import GPT2Config, MambaConfig

from inspector import costs
from models.huggingface.skeleton import architecture_of
from models.transformer import TransformerConfig
from tests.inspector.costs.counted.torch_counts import FAMILIES
from tests.inspector.probe.families import named


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "gemma2", "bloom", "t5"])
def test_it_is_what_autograd_keeps_of_a_real_model(name: str) -> None:
    config = named(FAMILIES[name])
    network = architecture_of(config)._from_config(config, attn_implementation="eager").eval()
    there = {tensor.untyped_storage().data_ptr() for tensor in (*network.parameters(), *network.buffers())}
    kept: dict[int, Any] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in there:
            kept[storage.data_ptr()] = storage
        return tensor

    ids = torch.arange(4, 13)[None]
    reads = {"input_ids": ids} | ({"decoder_input_ids": ids[:, :7].clone()} if config.is_encoder_decoder else {})
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = network(**reads)
    assert out.logits.requires_grad
    expected = sum(storage.nbytes() for storage in kept.values())
    assert costs.saved_bytes(config, tokens=9, target_tokens=7) == expected


def test_a_layer_keeps_what_the_published_formula_says() -> None:
    """Keep s b h (34 + 5 a s / h) bytes a layer in half precision (Korthikanti et al. 2022), dropout's masks apart.

    Its masks are 2 s b h and 3 a s² b of these: 32 n d + 2 H n² stay. Beside them lie the two norms' means and
    deviations, 16 n, and the queries and values that eager torch copies for its products, 4 n d.
    """
    sizes: dict[str, Any] = {"n_embd": 24, "n_head": 4, "vocab_size": 40, "n_positions": 60, "bos_token_id": 1}
    sizes |= {"activation_function": "gelu", "eos_token_id": 2}
    two, three = (
        costs.saved_bytes(GPT2Config(**sizes, n_layer=layers), tokens=50, precision="bfloat16") for layers in (2, 3)
    )
    assert three - two == 32 * 50 * 24 + 2 * 4 * 50**2 + 16 * 50 + 4 * 50 * 24


def test_a_model_that_goes_token_by_token_is_not_followed_without_end() -> None:
    config = MambaConfig(num_hidden_layers=2, hidden_size=8, vocab_size=30)
    assert costs.saved_bytes(config, tokens=20) > 0
    with pytest.raises(ValueError, match=r"1,000,000 tokens make it keep over 20,000 tensors; ask for fewer"):
        costs.saved_bytes(config, tokens=10**6)


def test_the_own_transformer_is_sent_to_its_breakdown() -> None:
    with pytest.raises(ValueError, match="activation_bytes of breakdown"):
        costs.saved_bytes(TransformerConfig(vocabulary=9, layers=1, width=8, heads=2, ffn_width=8, max_positions=9))


@pytest.mark.parametrize("tokens", [0, -3, 10**12])
def test_impossible_lengths_are_refused(tokens: int) -> None:
    with pytest.raises(ValueError, match=f"tokens is {tokens:,}"):
        costs.saved_bytes(GPT2Config(), tokens=tokens)
