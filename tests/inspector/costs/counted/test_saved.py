"""The activations of a training step, against autograd on real tensors and a published formula."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, get_args

import pytest
import torch
from transformers import GPT2Config, MambaConfig

from inspector import costs
from inspector.costs.clock import Kernel
from models.attention import watch
from models.huggingface.skeleton import architecture_of
from models.transformer import TransformerConfig
from models.transformer.stacks import Encoder, build
from tests.inspector.costs.counted.torch_counts import FAMILIES
from tests.inspector.probe.families import named

NOT_FUSED = {
    **dict.fromkeys(("gemma2", "bloom"), "has no code for torch's fused kernel"),
    "t5": "a bias that is learned is added to its scores",
}
Run = Callable[[], torch.Tensor]


def kept_by_autograd(network: torch.nn.Module, run: Run) -> int:
    """Run a real model and sum the storages that autograd saves, beside the model's own tensors."""
    there = {tensor.untyped_storage().data_ptr() for tensor in (*network.parameters(), *network.buffers())}
    kept: dict[int, Any] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in there:
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = run()
    assert out.requires_grad
    return sum(storage.nbytes() for storage in kept.values())


@pytest.mark.parametrize("kernel", get_args(Kernel))
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "gemma2", "bloom", "t5", "bart", "mistral"])
def test_it_is_what_autograd_keeps_of_a_real_model(name: str, kernel: Kernel) -> None:
    config = named(FAMILIES[name])
    lengths: dict[str, Any] = {"tokens": 9, "target_tokens": 7, "kernel": kernel}
    if refused := NOT_FUSED.get(name if kernel == "sdpa" else ""):
        with pytest.raises(ValueError, match=refused):
            costs.saved_bytes(config, **lengths)
        return
    network = architecture_of(config)._from_config(config, attn_implementation=kernel).eval()
    ids = torch.arange(4, 13)[None]
    reads = {"input_ids": ids} | ({"decoder_input_ids": ids[:, :7].clone()} if config.is_encoder_decoder else {})
    assert costs.saved_bytes(config, **lengths) == kept_by_autograd(network, lambda: network(**reads).logits)


@pytest.mark.parametrize("kernel", get_args(Kernel))
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_it_is_what_autograd_keeps_of_the_own_transformer(shape: Any, kernel: Kernel) -> None:
    """Over 128 tokens the eager code goes by blocks, and leaves out the keys that are masked for a whole one."""
    config = TransformerConfig(
        vocabulary=9, layers=2, width=8, heads=2, ffn_width=8, max_positions=300, shape=shape, kv_heads=1
    )
    network = build(config).eval()
    ids = torch.arange(300)[None] % 9
    reads = (ids[:, :150].clone(), ids) if shape == "encoder-decoder" else (ids,)

    def run() -> torch.Tensor:
        with watch(lambda call: None) if kernel == "eager" else nullcontext():
            hidden: torch.Tensor = network(*reads)
        return hidden if isinstance(network, Encoder) else network.logits(hidden)

    lengths = {"tokens": reads[0].shape[1], "target_tokens": 300}
    assert costs.saved_bytes(config, **lengths, kernel=kernel) == kept_by_autograd(network, run)


def test_the_fused_kernel_keeps_a_number_a_query_in_place_of_the_maps() -> None:
    """Keep none of a layer's H n² weights, 2 bytes each, and a float32 number for each query and head."""
    sizes: dict[str, Any] = {"n_embd": 24, "n_head": 4, "vocab_size": 40, "bos_token_id": 1, "eos_token_id": 2}
    layer = {}
    for kernel in get_args(Kernel):
        two, three = (
            costs.saved_bytes(GPT2Config(**sizes, n_layer=layers), tokens=50, precision="bfloat16", kernel=kernel)
            for layers in (2, 3)
        )
        layer[kernel] = three - two
    assert layer["eager"] - layer["sdpa"] == 2 * 4 * 50**2 - 4 * 4 * 50


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


def test_the_own_transformer_is_counted_within_limits() -> None:
    config = TransformerConfig(vocabulary=9, layers=1, width=8, heads=2, ffn_width=8, max_positions=9)
    with pytest.raises(ValueError, match=r"tokens is 8,193; it must be from 1 to 8,192"):
        costs.saved_bytes(config, tokens=8193)
    with pytest.raises(ValueError, match="float32 is known"):
        costs.saved_bytes(config, tokens=5, precision="bfloat16")


@pytest.mark.parametrize("tokens", [0, -3, 10**12])
def test_impossible_lengths_are_refused(tokens: int) -> None:
    with pytest.raises(ValueError, match=f"tokens is {tokens:,}"):
        costs.saved_bytes(GPT2Config(), tokens=tokens)
