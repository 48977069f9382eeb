"""The costs of a model on a text: parameters, FLOPs and bytes of each component, from its configuration alone.

The formulas and their conventions are in `inspector.costs.formulas`, what stands where in `inspector.costs.stacks`;
nothing is run. `tokens` may exceed what the model can read: the counts say what a longer text would cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from inspector.costs import stacks
from inspector.costs.formulas import ACTIVATION_FLOPS, activation_flops
from inspector.costs.stacks import OutputHead
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from transformers import PretrainedConfig

GROUPS = {
    **dict.fromkeys(("q", "k", "v", "scores", "mix", "out"), "attention"),
    **dict.fromkeys(("up", "gate", "down"), "ffn"),
}
"""The matrix products of a layer, and the part each belongs to."""

# One family of code: same names in the configuration, same layers. The prefix is that of its classes.
_BERT_FAMILY = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "XLMRoberta", "camembert": "Camembert"}
_DECODERS = {
    "gpt2": "GPT2LMHeadModel",
    "llama": "LlamaForCausalLM",
    "bloom": "BloomForCausalLM",
    "t5": "T5ForConditionalGeneration",
}
"""The class with an output matrix, by model type."""

PREFIXES = {**_BERT_FAMILY, "albert": "Albert", "gpt2": "GPT2", "llama": "Llama", "bloom": "Bloom", "t5": "T5"}
"""The prefix of a model type's classes."""


@dataclass(frozen=True)
class Crossovers:
    """Text lengths, in tokens, at which attention costs as many FLOPs as the FFN (matrix products; biases apart).

    core: scores and mix alone; sublayer: with the four projections, None where attention is dearer at any length.
    plain: whether the textbook's formulas hold: core is the FFN width, and sublayer is that less 2d. They do not where
    the FFN is gated, heads share keys, or heads are wider or narrower together than the model.
    """

    core: float
    sublayer: float | None
    plain: bool = True


def breakdown(
    config: PretrainedConfig | TransformerConfig,
    *,
    tokens: int = 128,
    target_tokens: int | None = None,
    batch: int = 1,
    element_bytes: int = 4,
) -> pd.DataFrame:
    """Cost of one forward pass, a row per stream, layer and component.

    config: the configuration of an own Transformer, of the BERT family (BERT, RoBERTa, XLM-RoBERTa, CamemBERT), or of
    an ALBERT, GPT-2, Llama, BLOOM or T5 that models.convert knows. The model of a configuration of transformers is its
    `architectures[0]`, or the bare model, with a pooler where the family has one, where it names none.
    tokens: n, of each of the `batch` texts; target_tokens: what an encoder-decoder's decoder reads, None for as many;
    element_bytes: 4 for float32, 2 for half precision.

    Columns: stream (encoder | decoder | cross), layer (nullable; <NA> below and above the layers), part, component,
    kind (matmul | elementwise | lookup), parameters, flops (1 multiply-add = 2), activation_bytes, cache_bytes. Norms
    and residual sums of a layer share a row. Rows of kind matmul equal torch.utils.flop_counter exactly.
    activation_bytes: of the tensors that the component writes in a textbook forward, the maps [B, H, n, n] whole;
    cache_bytes: keys and values that stay for the next token (models/transformer/kv_cache.py), 0 in an encoder.

    Raises ValueError for another kind of model, or a number below 1.
    """
    target_tokens = tokens if target_tokens is None else target_tokens
    numbers = {"tokens": tokens, "target_tokens": target_tokens, "batch": batch, "element_bytes": element_bytes}
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1")
    model, head = _model(config)
    table = pd.DataFrame(
        {
            "stream": placed.stream,
            "layer": placed.layer,
            "part": placed.cost.part,
            "component": placed.cost.component,
            "kind": placed.cost.kind,
            "parameters": placed.cost.parameters,
            "flops": placed.cost.flops,
            "activation_bytes": element_bytes * placed.cost.outputs,
            "cache_bytes": element_bytes * placed.cost.cached,
        }
        for placed in stacks.model(model, head, tokens, target_tokens, batch)
    )
    return table.astype({"layer": "Int64"})


def crossovers(config: PretrainedConfig | TransformerConfig) -> Crossovers:
    """Find the text lengths, in tokens, at which attention costs as much as the FFN (encoder-decoder: in the encoder).

    Attention costs a n + b n^2 FLOPs and the FFN c n, so they meet at n = (c - a) / b. With d the width and f the FFN
    width, plain attention is 8 n d^2 + 4 n^2 d and the FFN 4 n d f: scores and mix equal the FFN at n = f, the whole
    attention sublayer at n = f - 2d. With the usual f = 4d that is 4d and 2d (BERT-base: 3072 and 1536).
    """
    model, _ = _model(config)
    of_one, of_two = _layer_flops(model, 1), _layer_flops(model, 2)
    ffn = sum(flops for group, flops in of_one.items() if GROUPS[group] == "ffn")

    def meets(groups: Iterable[str]) -> float:
        at_one, at_two = (sum(flops.get(group, 0) for group in groups) for flops in (of_one, of_two))
        quadratic = (at_two - 2 * at_one) / 2
        return (ffn - (at_one - quadratic)) / quadratic

    sublayer = meets([group for group, part in GROUPS.items() if part == "attention"])
    core = max(0.0, meets(["scores", "mix"]))
    plain = core == model.ffn_width and (sublayer <= 0 or sublayer == model.ffn_width - 2 * model.width)
    return Crossovers(core=core, sublayer=sublayer if sublayer > 0 else None, plain=plain)


def by_length(config: PretrainedConfig | TransformerConfig, lengths: Iterable[int]) -> pd.DataFrame:
    """FLOPs of the layers' matrix products for texts of different lengths, summed over layers and streams.

    Columns: tokens, part (attention | ffn), group (q, k, v, scores, mix, out | up, gate, down), flops, share (of the
    groups at that length, 0..1). A gate is there in gated FFNs alone. Each group is linear in the tokens, but for
    scores and mix, which are quadratic. An encoder-decoder reads as many tokens on either side.

    Raises ValueError for a length below 1 or another kind of model.
    """
    model, _ = _model(config)
    rows = []
    for tokens in lengths:
        if tokens < 1:
            raise ValueError(f"a text of {tokens} tokens; lengths must be at least 1")
        flops = _all_flops(model, int(tokens))
        total = sum(flops.values())
        rows += [
            (tokens, part, group, flops[group], flops[group] / total)
            for group, part in GROUPS.items()
            if group in flops
        ]
    return pd.DataFrame(rows, columns=["tokens", "part", "group", "flops", "share"])


def _layer_flops(config: TransformerConfig, tokens: int) -> dict[str, int]:
    """Count the FLOPs of one layer's self-attention and FFN, by group."""
    placed = stacks.layer(config, 0, tokens, None, 1, stream="encoder")
    return {p.cost.component: p.cost.flops for p in placed if p.cost.component in GROUPS}


def _all_flops(config: TransformerConfig, tokens: int) -> dict[str, int]:
    """Count the FLOPs of all layers and streams, by group."""
    flops: dict[str, int] = {}
    for placed in stacks.model(config, OutputHead(), tokens, tokens, 1):
        if placed.layer is not None and placed.cost.component in GROUPS:
            flops[placed.cost.component] = flops.get(placed.cost.component, 0) + placed.cost.flops
    return flops


# --- from a configuration to the own Transformer's terms -----------------------------------------------------------


def _model(config: PretrainedConfig | TransformerConfig) -> tuple[TransformerConfig, OutputHead]:
    return (config, OutputHead()) if isinstance(config, TransformerConfig) else _from_transformers(config)


def _from_transformers(config: PretrainedConfig) -> tuple[TransformerConfig, OutputHead]:
    from transformers import BertConfig

    from models.convert import config_from_transformers

    family = config.model_type
    if family not in PREFIXES:
        raise ValueError(
            f"no cost formulas for the model type {family!r}; there are some for {', '.join(PREFIXES)} and the own "
            "Transformer"
        )
    head = _head(config)
    if family in _BERT_FAMILY:  # one family of code, under four names
        same = {"model_type": "bert", "hidden_act": _same_cost(config.hidden_act)}
        config = BertConfig.from_dict({**config.to_dict(), **same})
    converted = config_from_transformers(config)
    if converted.shape == "decoder":
        converted = replace(converted, output_head=False)  # `head` counts the output matrix
    return converted, head


def _same_cost(activation: str) -> str:
    """The name of an activation that the own Transformer has and that costs as much."""
    flops = activation_flops(activation)
    return "gelu" if flops == ACTIVATION_FLOPS["gelu"] else "relu"


def _head(config: PretrainedConfig) -> OutputHead:
    prefix = PREFIXES[config.model_type]
    name = (config.architectures or [f"{prefix}Model"])[0]
    heads = _decoder_heads(config) if config.model_type in _DECODERS else _encoder_heads(config)
    if name not in heads:
        raise ValueError(f"no cost formulas for the architecture {name!r}; there are some for {', '.join(heads)}")
    return heads[name]


def _decoder_heads(config: PretrainedConfig) -> dict[str, OutputHead]:
    prefix = PREFIXES[config.model_type]
    matrix = OutputHead(matrix="tied" if config.tie_word_embeddings else "own")
    if config.model_type != "t5":
        return {f"{prefix}Model": OutputHead(), _DECODERS[config.model_type]: matrix}
    matrix = replace(matrix, scaled=config.scale_decoder_outputs)
    return {"T5Model": OutputHead(), "T5ForConditionalGeneration": matrix}


def _encoder_heads(config: PretrainedConfig) -> dict[str, OutputHead]:
    prefix, family = PREFIXES[config.model_type], config.model_type
    # RoBERTa's kind of word head uses GELU whatever the layers use.
    activation = config.hidden_act if family in ("bert", "albert") else "gelu"
    words = OutputHead(words=True, activation=activation, tied=config.tie_word_embeddings)
    if family == "albert":
        words = replace(words, width=config.embedding_size)
    heads = {
        f"{prefix}Model": OutputHead(pooler=True),
        f"{prefix}ForMaskedLM": words,
        f"{prefix}ForTokenClassification": OutputHead(token_classes=config.num_labels),
        f"{prefix}ForQuestionAnswering": OutputHead(token_classes=config.num_labels),
        # RoBERTa has no pooler here but a dense layer with tanh on the first token: the same at the same cost.
        f"{prefix}ForSequenceClassification": OutputHead(pooler=True, text_classes=config.num_labels),
    }
    if family == "bert":
        heads["BertForPreTraining"] = replace(words, pooler=True, text_classes=2)
        heads["BertForNextSentencePrediction"] = OutputHead(pooler=True, text_classes=2)
    return heads
