"""T5 (Raffel et al. 2020) in the own Transformer's terms."""

from __future__ import annotations

from torch import Tensor
from transformers import PretrainedConfig

from models.convert.weights import Weights, activation
from models.transformer.config import TransformerConfig


def t5_config(config: PretrainedConfig) -> TransformerConfig:
    """RMSNorm, relative buckets, no scale (it is in the initialisation), no biases."""
    if config.is_gated_act and config.dense_act_fn not in ("gelu_new", "gelu_pytorch_tanh"):
        raise ValueError(
            f"feed_forward_proj {config.feed_forward_proj!r} is not supported; only 'relu' and 'gated-gelu' are"
        )
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.num_layers,
        decoder_layers=config.num_decoder_layers,
        width=config.d_model,
        heads=config.num_heads,
        head_size=config.d_kv,
        ffn_width=config.d_ff,
        max_positions=getattr(config, "n_positions", 512),  # what it was trained on; buckets have no limit
        shape="encoder-decoder",
        tied_embeddings="three-way",
        output_head=False,
        norm="rms",
        norm_placement="pre",
        final_norm=True,
        norm_epsilon=config.layer_norm_epsilon,
        activation="geglu_tanh" if config.is_gated_act else activation(config.dense_act_fn),
        positions="t5",
        relative_buckets=config.relative_attention_num_buckets,
        relative_distance=config.relative_attention_max_distance,
        scale="none",
        bias=False,
    )


def t5_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """Rename T5's weights; both embeddings are one matrix, and the first layer's table is its stack's."""
    token = weights.take("shared.weight")
    state: dict[str, Tensor] = {}
    for stack, layers in (("encoder", config.layers), ("decoder", config.decoder_depth)):
        weights.take(f"{stack}.embed_tokens.weight")  # the shared matrix under another name
        state[f"{stack}.embedding.token.weight"] = token
        table = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        state[f"{stack}.position_bias.table"] = weights.take(table)
        for index in range(layers):
            theirs, ours = f"{stack}.block.{index}.layer.", f"{stack}.layers.{index}."
            state |= _attention(weights, f"{theirs}0.SelfAttention.", f"{ours}attention.")
            state |= weights.norm(f"{theirs}0.layer_norm", f"{ours}attention_norm", beta=False)
            if stack == "decoder":
                state |= _attention(weights, f"{theirs}1.EncDecAttention.", f"{ours}cross_attention.")
                state |= weights.norm(f"{theirs}1.layer_norm", f"{ours}cross_norm", beta=False)
            state |= _ffn(weights, theirs + ("2" if stack == "decoder" else "1"), ours, config)
        state |= weights.norm(f"{stack}.final_layer_norm", f"{stack}.final_norm", beta=False)
    return state


def _attention(weights: Weights, theirs: str, prefix: str) -> dict[str, Tensor]:
    names = {"q": "query", "k": "key", "v": "value", "o": "out"}
    return {f"{prefix}{ours}.weight": weights.take(f"{theirs}{name}.weight") for name, ours in names.items()}


def _ffn(weights: Weights, theirs: str, prefix: str, config: TransformerConfig) -> dict[str, Tensor]:
    gated = config.activation == "geglu_tanh"
    names = {"wi_0": "gate", "wi_1": "up", "wo": "down"} if gated else {"wi": "up", "wo": "down"}
    taken = weights.norm(f"{theirs}.layer_norm", f"{prefix}ffn_norm", beta=False)
    for name, ours in names.items():
        taken[f"{prefix}ffn.{ours}.weight"] = weights.take(f"{theirs}.DenseReluDense.{name}.weight")
    return taken
