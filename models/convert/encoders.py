"""BERT (Devlin et al. 2019) and ALBERT (Lan et al. 2020) in the own Transformer's terms."""

from __future__ import annotations

from torch import Tensor
from transformers import PretrainedConfig

from models.convert.weights import Weights, activation
from models.transformer.config import TransformerConfig

BERT_LAYER = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.out",
    "intermediate.dense": "ffn.up",
    "output.dense": "ffn.down",
}
BERT_NORMS = {"attention.output.LayerNorm": "attention_norm", "output.LayerNorm": "ffn_norm"}

ALBERT_LAYER = {
    "attention.query": "attention.query",
    "attention.key": "attention.key",
    "attention.value": "attention.value",
    "attention.dense": "attention.out",
    "ffn": "ffn.up",
    "ffn_output": "ffn.down",
}
ALBERT_NORMS = {"attention.LayerNorm": "attention_norm", "full_layer_layer_norm": "ffn_norm"}


def bert_config(config: PretrainedConfig) -> TransformerConfig:
    """ValueError where the own Encoder has no such thing."""
    if config.is_decoder or config.add_cross_attention:
        raise ValueError(
            f"is_decoder={config.is_decoder} and add_cross_attention={config.add_cross_attention}: only BERT as an "
            "encoder has an own Transformer; load the model with both False"
        )
    position_type = getattr(config, "position_embedding_type", "absolute")
    if position_type != "absolute":
        raise ValueError(f"position embeddings {position_type!r} are not supported; only 'absolute' ones are")
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        ffn_width=config.intermediate_size,
        max_positions=config.max_position_embeddings,
        norm_placement="post",
        embedding_norm=True,
        norm_epsilon=config.layer_norm_eps,
        activation=activation(config.hidden_act),
        positions="learned",
        segments=config.type_vocab_size,
    )


def albert_config(config: PretrainedConfig) -> TransformerConfig:
    """Translate the configuration: one layer in all places, and narrow embeddings projected up."""
    if config.num_hidden_groups != 1 or config.inner_group_num != 1:
        raise ValueError(
            f"num_hidden_groups={config.num_hidden_groups} and inner_group_num={config.inner_group_num}: only ALBERT "
            "with one shared layer has an own Transformer; both must be 1"
        )
    return TransformerConfig(
        vocabulary=config.vocab_size,
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        ffn_width=config.intermediate_size,
        max_positions=config.max_position_embeddings,
        embedding_width=config.embedding_size,
        shared_layers=True,
        norm_placement="post",
        embedding_norm=True,
        norm_epsilon=config.layer_norm_eps,
        activation=activation(config.hidden_act),
        positions="learned",
        segments=config.type_vocab_size,
    )


def bert_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """Rename BERT's weights."""
    state = _embeddings(weights)
    for index in range(config.layers):
        state |= _layer(weights, f"encoder.layer.{index}.", f"layers.{index}.", BERT_LAYER, BERT_NORMS)
    return state


def albert_weights(weights: Weights, config: TransformerConfig) -> dict[str, Tensor]:
    """Rename ALBERT's weights; its one layer stands in every place."""
    state = _embeddings(weights)
    state |= weights.linear("encoder.embedding_hidden_mapping_in", "embedding.projection")
    layer = _layer(weights, "encoder.albert_layer_groups.0.albert_layers.0.", "", ALBERT_LAYER, ALBERT_NORMS)
    for index in range(config.layers):
        state |= {f"layers.{index}.{name}": weight for name, weight in layer.items()}
    return state


def _embeddings(weights: Weights) -> dict[str, Tensor]:
    return {
        "embedding.token.weight": weights.take("embeddings.word_embeddings.weight"),
        "embedding.positions.table": weights.take("embeddings.position_embeddings.weight"),
        "embedding.segment.weight": weights.take("embeddings.token_type_embeddings.weight"),
        **weights.norm("embeddings.LayerNorm", "embedding.embedding_norm"),
    }


def _layer(
    weights: Weights, theirs: str, prefix: str, linears: dict[str, str], norms: dict[str, str]
) -> dict[str, Tensor]:
    taken: dict[str, Tensor] = {}
    for name, ours in linears.items():
        taken |= weights.linear(theirs + name, prefix + ours)
    for name, ours in norms.items():
        taken |= weights.norm(theirs + name, prefix + ours)
    return taken
