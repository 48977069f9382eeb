"""GPT-2 (Radford et al. 2019), Llama (Touvron et al. 2023) and BLOOM (Le Scao et al. 2022) in the own terms."""

from __future__ import annotations

from torch import Tensor
from transformers import PretrainedConfig

from models.convert.weights import Weights, activation
from models.transformer.config import TransformerConfig

# --- GPT-2 ---------------------------------------------------------------------------------------------------------


def gpt2_config(config: PretrainedConfig) -> TransformerConfig:
    """Pre-norm, learned positions."""
    if config.add_cross_attention or config.scale_attn_by_inverse_layer_idx or not config.scale_attn_weights:
        raise ValueError(
            f"add_cross_attention={config.add_cross_attention}, scale_attn_by_inverse_layer_idx="
            f"{config.scale_attn_by_inverse_layer_idx}, scale_attn_weights={config.scale_attn_weights}: only the plain "
            "GPT-2 has an own Transformer; set them to False, False, True"
        )
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.n_layer,
        width=config.n_embd,
        heads=config.n_head,
        ffn_width=config.n_inner or 4 * config.n_embd,
        max_positions=config.n_positions,
        shape="decoder",
        norm_placement="pre",
        final_norm=True,
        norm_epsilon=config.layer_norm_epsilon,
        activation=activation(config.activation_function),
        positions="learned",
    )


def gpt2_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """GPT-2 keeps its matrices as [in, out], and W_Q, W_K, W_V side by side in one."""
    state = {
        "embedding.token.weight": weights.take("wte.weight"),
        "embedding.positions.table": weights.take("wpe.weight"),
    }
    for index in range(config.layers):
        theirs, ours = f"h.{index}.", f"layers.{index}."
        matrix, bias = weights.take(f"{theirs}attn.c_attn.weight").T, weights.take(f"{theirs}attn.c_attn.bias")
        for name, part, offset in zip(("query", "key", "value"), matrix.chunk(3), bias.chunk(3), strict=True):
            state |= {
                f"{ours}attention.{name}.weight": part.contiguous(),
                f"{ours}attention.{name}.bias": offset.clone(),
            }
        for name, where in {"attn.c_proj": "attention.out", "mlp.c_fc": "ffn.up", "mlp.c_proj": "ffn.down"}.items():
            state[f"{ours}{where}.weight"] = weights.take(f"{theirs}{name}.weight").T.contiguous()
            state[f"{ours}{where}.bias"] = weights.take(f"{theirs}{name}.bias")
        state |= weights.norm(f"{theirs}ln_1", f"{ours}attention_norm")
        state |= weights.norm(f"{theirs}ln_2", f"{ours}ffn_norm")
    return state | weights.norm("ln_f", "final_norm")


# --- Llama ---------------------------------------------------------------------------------------------------------


def llama_config(config: PretrainedConfig) -> TransformerConfig:
    """RMSNorm, SwiGLU, RoPE, grouped queries."""
    if config.rope_parameters["rope_type"] != "default":
        raise ValueError(
            f"rope_type {config.rope_parameters['rope_type']!r} is not supported; only 'default' is, whose angles do "
            "not depend on the length of the text"
        )
    if config.hidden_act != "silu":
        raise ValueError(f"hidden_act {config.hidden_act!r} is not supported in Llama; only 'silu' is (SwiGLU)")
    if config.attention_bias != config.mlp_bias:
        raise ValueError(
            f"attention_bias={config.attention_bias} and mlp_bias={config.mlp_bias}: the own Transformer has biases "
            "everywhere or nowhere; both must be equal"
        )
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_size=config.head_dim,
        ffn_width=config.intermediate_size,
        max_positions=config.max_position_embeddings,
        shape="decoder",
        norm="rms",
        norm_placement="pre",
        final_norm=True,
        norm_epsilon=config.rms_norm_eps,
        activation="swiglu",
        positions="rope",
        rope_base=config.rope_parameters["rope_theta"],
        bias=config.attention_bias,
    )


LLAMA_LINEARS = {
    "self_attn.v_proj": "attention.value",
    "self_attn.o_proj": "attention.out",
    "mlp.gate_proj": "ffn.gate",
    "mlp.up_proj": "ffn.up",
    "mlp.down_proj": "ffn.down",
}


def llama_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """Rename Llama's weights; the features of queries and keys come in the order of the RoPE paper."""
    state = {"embedding.token.weight": weights.take("embed_tokens.weight")}
    for index in range(config.layers):
        theirs, ours = f"layers.{index}.", f"layers.{index}."
        for name in ("query", "key"):
            taken = weights.linear(f"{theirs}self_attn.{name[0]}_proj", f"{ours}attention.{name}", bias=config.bias)
            state |= {path: paired(weight, config.head_width) for path, weight in taken.items()}
        for name, where in LLAMA_LINEARS.items():
            state |= weights.linear(theirs + name, ours + where, bias=config.bias)
        state |= weights.norm(f"{theirs}input_layernorm", f"{ours}attention_norm", beta=False)
        state |= weights.norm(f"{theirs}post_attention_layernorm", f"{ours}ffn_norm", beta=False)
    return state | weights.norm("norm", "final_norm", beta=False)


def paired(rows: Tensor, head_width: int) -> Tensor:
    """transformers turns feature i with feature i + E/2, the paper its neighbour: [H E, ..] -> [H E, ..], reordered.

    Queries and keys are reordered alike, so their dot products stay.
    """
    halves = rows.view(-1, 2, head_width // 2, *rows.shape[1:])
    return halves.transpose(1, 2).reshape(rows.shape)


# --- BLOOM ---------------------------------------------------------------------------------------------------------


def bloom_config(config: PretrainedConfig) -> TransformerConfig:
    """ALiBi, and a norm on the embeddings."""
    if config.apply_residual_connection_post_layernorm:
        raise ValueError(
            "apply_residual_connection_post_layernorm=True: the own Transformer's residual runs past the norm; "
            "only BLOOM with False has an own Transformer"
        )
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.n_layer,
        width=config.hidden_size,
        heads=config.n_head,
        ffn_width=4 * config.hidden_size,
        max_positions=getattr(config, "seq_length", 2048),  # what it was trained on; ALiBi itself has no limit
        shape="decoder",
        norm_placement="pre",
        embedding_norm=True,
        final_norm=True,
        norm_epsilon=config.layer_norm_epsilon,
        activation="gelu_tanh",
        positions="alibi",
    )


BLOOM_LINEARS = {
    "self_attention.dense": "attention.out",
    "mlp.dense_h_to_4h": "ffn.up",
    "mlp.dense_4h_to_h": "ffn.down",
}


def bloom_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """BLOOM keeps q, k and v of each head together: [H, 3, E, D]."""
    state = {"embedding.token.weight": weights.take("word_embeddings.weight")}
    state |= weights.norm("word_embeddings_layernorm", "embedding.embedding_norm")
    for index in range(config.layers):
        theirs, ours = f"h.{index}.", f"layers.{index}."
        for kind in ("weight", "bias"):
            rows = weights.take(f"{theirs}self_attention.query_key_value.{kind}")
            parts = rows.view(config.heads, 3, config.head_width, *rows.shape[1:])
            for place, name in enumerate(("query", "key", "value")):
                state[f"{ours}attention.{name}.{kind}"] = parts[:, place].flatten(0, 1).contiguous()
        for name, where in BLOOM_LINEARS.items():
            state |= weights.linear(theirs + name, ours + where)
        state |= weights.norm(f"{theirs}input_layernorm", f"{ours}attention_norm")
        state |= weights.norm(f"{theirs}post_attention_layernorm", f"{ours}ffn_norm")
    return state | weights.norm("ln_f", "final_norm")
