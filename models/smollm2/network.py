"""SmolLM2 as transformers' LlamaForCausalLM, with the weights that the file's blocks stand for, in float32 or less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

from models.build_lock import LOADING
from models.huggingface.eager_attention import IMPLEMENTATION
from models.huggingface.loading import made_ready
from models.huggingface.runner import PretrainedRunner
from models.placement import Placement
from models.smollm2 import gguf, package
from models.smollm2.tokenizer import read_tokenizer
from models.untrusted.weights import UnfitWeights

WHOLE = {"token_embd": "embed_tokens", "output_norm": "norm"}
OF_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""The file's names of tensors, and transformers'."""


def load_runner(placement: Placement) -> PretrainedRunner:
    """Load the model from the package's file onto one device, ready to be watched.

    Raises ValueError where the package is not installed, or holds another file than the one that is known.
    """
    device = placement.torch_device()  # said before anything is read
    file = gguf.parse(package.checked(package.weights_file()))
    config = configuration(file.fields)
    with LOADING:
        network, info = LlamaForCausalLM.from_pretrained(
            None,
            config=config,
            state_dict=dict(named_weights(file.tensors, config)),
            attn_implementation=IMPLEMENTATION,
            dtype=placement.torch_dtype(None),
            generation_config=GenerationConfig(**ends(file.fields)),
            output_loading_info=True,
        )
    network.config.name_or_path = ""
    if odd := {*info["missing_keys"], *info["unexpected_keys"]} - {"lm_head.weight"}:  # the embedding's, tied
        raise UnfitWeights(f"SmolLM2 and its file differ in {len(odd)} weights, such as {min(odd)}")
    return made_ready(network.to(device), read_tokenizer(file.fields), shape="decoder")


def load_tokenizer() -> Any:
    """Load the tokenizer alone from the package's file. Raises ValueError as `load_runner` does."""
    return read_tokenizer(gguf.parse(package.checked(package.weights_file())).fields)


def configuration(fields: Mapping[str, Any]) -> LlamaConfig:
    """Say the file's sizes in transformers' words."""
    sizes = {name.removeprefix("llama."): value for name, value in fields.items() if name.startswith("llama.")}
    return LlamaConfig(
        architectures=["LlamaForCausalLM"],
        vocab_size=sizes["vocab_size"],
        hidden_size=sizes["embedding_length"],
        intermediate_size=sizes["feed_forward_length"],
        num_hidden_layers=sizes["block_count"],
        num_attention_heads=sizes["attention.head_count"],
        num_key_value_heads=sizes["attention.head_count_kv"],
        head_dim=sizes["rope.dimension_count"],
        max_position_embeddings=sizes["context_length"],
        rms_norm_eps=round(sizes["attention.layer_norm_rms_epsilon"], 12),  # the file has it in single precision
        rope_parameters={"rope_type": "default", "rope_theta": sizes["rope.freq_base"]},
        tie_word_embeddings=True,
        **ends(fields),
    )


def ends(fields: Mapping[str, Any]) -> dict[str, int]:
    """The ids that begin, end and pad a text, by transformers' names."""
    places = {"bos_token_id": "bos", "eos_token_id": "eos", "pad_token_id": "padding"}
    return {name: fields[f"tokenizer.ggml.{place}_token_id"] for name, place in places.items()}


def named_weights(tensors: Mapping[str, gguf.StoredTensor], config: LlamaConfig) -> Iterator[tuple[str, Tensor]]:
    """Decode the tensors one by one, under transformers' names and in its order of features."""
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for name, stored in tensors.items():
        *layer, part, _ = name.split(".")  # "blk.0.attn_q.weight" or "output_norm.weight"
        numbers = stored.read()
        if part in heads:
            numbers = halved(numbers, heads[part])
        where = f"layers.{layer[1]}.{OF_LAYER[part]}" if layer else WHOLE[part]
        yield f"model.{where}.weight", torch.from_numpy(numbers)


def halved(rows: NDArray[Any], heads: int) -> NDArray[Any]:
    """Undo ggml's order of features: its RoPE turns feature 2 i with 2 i + 1, transformers' i with i + E/2.

    Queries and keys are reordered alike, so their dot products stay: [H E, D] -> [H E, D].
    """
    pairs = rows.reshape(heads, -1, 2, rows.shape[-1])
    return pairs.swapaxes(1, 2).reshape(rows.shape)
