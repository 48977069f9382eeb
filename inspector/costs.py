"""What a model costs on a text: parameters, FLOPs and bytes of each component, from its configuration alone.

The formulas and their conventions are in `inspector.cost_formulas`; nothing is run. `tokens` may exceed what the model
can read: the counts say what a longer text would cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from inspector.cost_formulas import Cost, EncoderSizes, Head, activation_flops, embedding, layer, top
from models.config import TransformerConfig

if TYPE_CHECKING:
    from transformers import PretrainedConfig

GROUPS = {
    **dict.fromkeys(("q", "k", "v", "scores", "mix", "out"), "attention"),
    **dict.fromkeys(("up", "down"), "ffn"),
}
"""The matrix products of a layer, and the part each belongs to."""

# One family of code: same names in the configuration, same layers. The prefix is that of its classes.
_BERT_FAMILY = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta", "camembert": "Camembert"}


@dataclass(frozen=True)
class Crossovers:
    """Text lengths, in tokens, at which attention costs as many FLOPs as the FFN (matrix products; biases apart).

    core: scores and mix alone; sublayer: with the four projections, None where attention is dearer at any length.
    """

    core: float
    sublayer: float | None


def breakdown(
    config: PretrainedConfig | TransformerConfig, *, tokens: int = 128, batch: int = 1, element_bytes: int = 4
) -> pd.DataFrame:
    """Cost of one forward pass, a row per layer and component.

    config: of an own Transformer (the encoder) or of the BERT family (BERT, RoBERTa, XLM-RoBERTa, CamemBERT); the
    model is its `architectures[0]`, or the bare one with its pooler where it names none.
    tokens: n, of each of the `batch` texts; element_bytes: 4 for float32, 2 for half precision.

    Columns: stream, layer (nullable; <NA> below and above the layers), part, component, kind (matmul | elementwise |
    lookup), parameters, flops (1 multiply-add = 2), activation_bytes, cache_bytes. Norms and residual sums of a layer
    share a row. Rows of kind matmul equal torch.utils.flop_counter exactly.
    activation_bytes: of the tensors that the component writes in a textbook forward, the maps [B, H, n, n] whole;
    cache_bytes: what stays for the next token, 0 in an encoder.

    Raises ValueError for another kind of model, or a number below 1.
    """
    for name, number in (("tokens", tokens), ("batch", batch), ("element_bytes", element_bytes)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1")
    sizes = _sizes(config)
    placed: list[tuple[int | None, Cost]] = [(None, cost) for cost in embedding(sizes, tokens, batch)]
    placed += [(index, cost) for index in range(sizes.layers) for cost in layer(sizes, tokens, batch)]
    placed += [(None, cost) for cost in top(sizes, tokens, batch)]
    table = pd.DataFrame(
        {
            "stream": "encoder",
            "layer": index,
            "part": cost.part,
            "component": cost.component,
            "kind": cost.kind,
            "parameters": cost.parameters,
            "flops": cost.flops,
            "activation_bytes": element_bytes * cost.outputs,
            "cache_bytes": 0,
        }
        for index, cost in placed
    )
    return table.astype({"layer": "Int64"})


def crossovers(config: PretrainedConfig | TransformerConfig) -> Crossovers:
    """Where attention catches up with the FFN, in tokens.

    With d the width and f the FFN width, a layer costs 8 n d^2 + 4 n^2 d FLOPs for attention and 4 n d f for the FFN:
    scores and mix equal the FFN at n = f, the whole attention sublayer at n = f - 2d. With the usual f = 4d that is
    4d and 2d (BERT-base: 3072 and 1536).
    """
    sizes = _sizes(config)
    sublayer = sizes.ffn_width - 2 * sizes.width
    return Crossovers(core=float(sizes.ffn_width), sublayer=float(sublayer) if sublayer > 0 else None)


def by_length(config: PretrainedConfig | TransformerConfig, lengths: Iterable[int]) -> pd.DataFrame:
    """FLOPs of the layers' matrix products for texts of different lengths, summed over layers.

    Columns: tokens, part (attention | ffn), group (q, k, v, scores, mix, out | up, down), flops, share (of the eight
    groups at that length, 0..1). Each group is linear in the tokens, but for scores and mix, which are quadratic.

    Raises ValueError for a length below 1 or another kind of model.
    """
    sizes = _sizes(config)
    rows = []
    for tokens in lengths:
        if tokens < 1:
            raise ValueError(f"a text of {tokens} tokens; lengths must be at least 1")
        flops = {c.component: sizes.layers * c.flops for c in layer(sizes, int(tokens), 1) if c.component in GROUPS}
        total = sum(flops.values())
        rows += [(tokens, part, group, flops[group], flops[group] / total) for group, part in GROUPS.items()]
    return pd.DataFrame(rows, columns=["tokens", "part", "group", "flops", "share"])


# --- from a configuration to its sizes ---------------------------------------------------------------------------


def _sizes(config: PretrainedConfig | TransformerConfig) -> EncoderSizes:
    sizes = _own(config) if isinstance(config, TransformerConfig) else _bert_like(config)
    activation_flops(sizes.activation)
    return sizes


def _own(config: TransformerConfig) -> EncoderSizes:
    return EncoderSizes(
        layers=config.layers,
        width=config.width,
        heads=config.heads,
        ffn_width=config.ffn_width,
        vocabulary=config.vocabulary,
        positions=config.max_positions if config.positions == "learned" else 0,
        segments=config.segments,
        activation=config.activation,
        bias=config.bias,
        embedding_norm=config.embedding_norm,
        final_norm=config.final_norm,
    )


def _bert_like(config: PretrainedConfig) -> EncoderSizes:
    if config.model_type not in _BERT_FAMILY:
        raise ValueError(
            f"no cost formulas for the model type {config.model_type!r}; there are some for "
            f"{', '.join(_BERT_FAMILY)} and the own Transformer"
        )
    if config.is_decoder or config.add_cross_attention:
        raise ValueError(
            f"is_decoder={config.is_decoder} and add_cross_attention={config.add_cross_attention}: costs are counted "
            "for encoders; set both to False"
        )
    # RoBERTa's kind of word head uses GELU whatever the layers use.
    head_activation = config.hidden_act if config.model_type == "bert" else "gelu"
    return EncoderSizes(
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        ffn_width=config.intermediate_size,
        vocabulary=config.vocab_size,
        positions=config.max_position_embeddings,
        segments=config.type_vocab_size,
        activation=config.hidden_act,
        head=_head(config),
        head_activation=head_activation,
        tied=config.tie_word_embeddings,
    )


def _head(config: PretrainedConfig) -> Head:
    prefix = _BERT_FAMILY[config.model_type]
    name = (config.architectures or [f"{prefix}Model"])[0]
    heads = {
        f"{prefix}Model": Head(pooler=True),
        f"{prefix}ForMaskedLM": Head(words=True),
        f"{prefix}ForTokenClassification": Head(token_classes=config.num_labels),
        f"{prefix}ForQuestionAnswering": Head(token_classes=config.num_labels),
        # RoBERTa has no pooler here but a dense layer with tanh on the first token: the same at the same cost.
        f"{prefix}ForSequenceClassification": Head(pooler=True, text_classes=config.num_labels),
    }
    if config.model_type == "bert":
        heads["BertForPreTraining"] = Head(pooler=True, words=True, text_classes=2)
        heads["BertForNextSentencePrediction"] = Head(pooler=True, text_classes=2)
    if name not in heads:
        raise ValueError(f"no cost formulas for the architecture {name!r}; there are some for {', '.join(heads)}")
    return heads[name]
