"""Put the weights of a transformers model into the project's own Transformer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import BertModel, PretrainedConfig

from models.config import Activation, TransformerConfig
from models.transformer import Encoder

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}

# BERT's name of each module -> its own name here; those of a layer follow its number.
EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "embedding.token.weight",
    "embeddings.position_embeddings.weight": "embedding.positions.table",
    "embeddings.token_type_embeddings.weight": "embedding.segment.weight",
    "embeddings.LayerNorm.weight": "embedding.embedding_norm.gamma",
    "embeddings.LayerNorm.bias": "embedding.embedding_norm.beta",
}
LAYER_LINEARS = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.out",
    "intermediate.dense": "ffn.up",
    "output.dense": "ffn.down",
}
LAYER_NORMS = {
    "attention.output.LayerNorm": "attention_norm",
    "output.LayerNorm": "ffn_norm",
}


def from_transformers(network: nn.Module) -> Encoder:
    """The project's own Encoder with a copy of the weights of a BertModel, or of the `.bert` of a BertForX.

    dtype and device stay, the pooler and the task's head are left out, and the result is in eval mode.

    Raises ValueError for another architecture, or for a variant of BERT that the own Encoder does not have.
    """
    bert = getattr(network, "bert", network)
    if not isinstance(bert, BertModel):
        raise ValueError(
            f"{type(network).__name__} cannot become the own Transformer; only BertModel and the BertFor... classes can"
        )
    config = config_from_transformers(bert.config)
    with torch.device("meta"):  # allocates nothing and draws no random numbers: every weight is replaced below
        encoder = Encoder(config)
    encoder.load_state_dict(renamed(bert.state_dict(), layers=config.layers), assign=True)
    return encoder.eval()


def config_from_transformers(config: PretrainedConfig) -> TransformerConfig:
    """BERT's configuration in the project's own terms; ValueError where the own Encoder has no such thing."""
    if config.model_type != "bert":
        raise ValueError(f"model type {config.model_type!r} has no own Transformer; only 'bert' has")
    if config.is_decoder or config.add_cross_attention:
        raise ValueError(
            f"is_decoder={config.is_decoder} and add_cross_attention={config.add_cross_attention}: the own Transformer "
            "is an encoder; load the model with both False"
        )
    position_type = getattr(config, "position_embedding_type", "absolute")
    if position_type != "absolute":
        raise ValueError(f"position embeddings {position_type!r} are not supported; only 'absolute' ones are")
    if config.hidden_act not in ACTIVATIONS:
        raise ValueError(f"activation {config.hidden_act!r} is not supported; only {', '.join(ACTIVATIONS)} are")
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
        activation=ACTIVATIONS[config.hidden_act],
        positions="learned",
        segments=config.type_vocab_size,
    )


def renamed(weights: dict[str, Tensor], *, layers: int) -> dict[str, Tensor]:
    """BERT's weights, copied, under their own names; ValueError where BERT has one too many or one too few."""
    names = dict(EMBEDDINGS)
    for layer in range(layers):
        for theirs, own in LAYER_LINEARS.items():
            names[f"encoder.layer.{layer}.{theirs}.weight"] = f"layers.{layer}.{own}.weight"
            names[f"encoder.layer.{layer}.{theirs}.bias"] = f"layers.{layer}.{own}.bias"
        for theirs, own in LAYER_NORMS.items():
            names[f"encoder.layer.{layer}.{theirs}.weight"] = f"layers.{layer}.{own}.gamma"
            names[f"encoder.layer.{layer}.{theirs}.bias"] = f"layers.{layer}.{own}.beta"
    weights = {name: weight for name, weight in weights.items() if not name.startswith("pooler.")}
    if odd := sorted(weights.keys() ^ names.keys()):
        raise ValueError(
            f"{len(odd)} of the model's weights are not those of a plain BERT with {layers} layers, the first is "
            f"{odd[0]}; merge adapters and undo changes to its modules before converting"
        )
    return {own: weights[theirs].clone() for theirs, own in names.items()}
