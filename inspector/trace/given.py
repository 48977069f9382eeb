"""A Trace of attention that was computed elsewhere: its weights are kept as they were given, and nothing else is known.

```python
out = model(**tokenizer(text, return_tensors="pt"), output_attentions=True)  # any model of transformers
trace = inspector.from_attention(out.attentions, tokenizer.convert_ids_to_tokens(ids))
trace.attention(layer=3, head=7)  # what was given, bit for bit
```

Shapes: B batch, H heads, Q query positions, T key positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector.trace.file_check import HEADS, LAYERS, check_all_heads, text
from inspector.trace.recompute import AttentionRecord, AttentionSite
from inspector.trace.trace import GIVEN, Refusal, Trace
from models.attention import row_blocks
from models.attention.given import ONLY_GIVEN, GivenWeights
from models.attention.masks import CausalMask, Mask
from models.formatting import format_bytes
from models.tokenizers import MAX_CHARACTERS, Encoding

Numbers = NDArray[np.floating[Any]]
MOST_BYTES = 2**30
"""The most that weights may take: a trace's file holds no more."""
ROUNDING = 1e-5 + 2**-8
"""The most that rounding moves a row's sum from 1: in bfloat16, which weights that are float32 now may have been."""
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_SPECIAL = {
    *("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>", "<bos>", "<eos>"),
    *("<|endoftext|>", "<|begin_of_text|>", "<|end_of_text|>"),
}


def from_attention(
    weights: Any, tokens: Sequence[str] | None = None, *, key_tokens: Sequence[str] | None = None
) -> Trace:
    """Make a Trace of attention weights that were computed elsewhere, for the page, `show`, `save` and the measures.

    weights: as transformers gives them under output_attentions=True, a tuple over layers of [1, H, Q, T]; a list over
    layers of [H, Q, T]; or an array [L, H, Q, T], or [H, Q, T] of one layer. Tensors, numpy arrays or nested lists;
    layers may differ in heads, and None stands for a layer without attention. They are copied, float64 as float32.
    tokens: the queries, which are the keys too; the numbers of the positions where left out. key_tokens: the keys,
    where they are another text's (cross-attention): `tokens` are then the decoder's.

    The stream is "cross" with key_tokens, "decoder" where no query gives weight to a later key, and else "encoder".
    Rows may sum to less than 1: the rest is said to go to sinks. Each token is a word of its own. Whatever is not a
    weight (scores, queries, keys, norms, costs) is not known, and asking for it raises ValueError.

    Raises ValueError for other types and sizes, for more than MOST_BYTES, and for weights that are not finite, are
    negative, or sum to more than 1.
    """
    layers = [(number, _checked(layer, number)) for number, layer in _layers(weights) if layer is not None]
    if not layers:
        raise ValueError(
            "weights holds no layer's attention: a model of transformers gives it with output_attentions=True when it "
            'is loaded with attn_implementation="eager"'
        )
    first = layers[0][1].shape
    asked = _names(tokens, "tokens", count=first[1])
    keys = asked if key_tokens is None else _names(key_tokens, "key_tokens", count=first[2])
    for number, layer in layers:
        if tuple(layer.shape[1:]) != (len(asked), len(keys)):
            of = f"{len(asked)} tokens" if key_tokens is None else f"{len(asked)} tokens and {len(keys)} key_tokens"
            raise ValueError(
                f"layer {number} has weights of {layer.shape[1]} queries to {layer.shape[2]} keys, and there are {of}: "
                "give a token for each query, and key_tokens where the keys are another text's"
            )
    check_all_heads(len(layer) for _, layer in layers)
    size = sum(layer.nbytes for _, layer in layers)
    if size > MOST_BYTES:
        raise ValueError(
            f"the weights take {format_bytes(size)}, more than the {format_bytes(MOST_BYTES)} that a trace may hold: "
            "give fewer layers, a shorter text, or float16"
        )
    functions = [(number, given_weights(_tensor(layer), f"layer {number}")) for number, layer in layers]
    causal = key_tokens is None and len(asked) > 1 and not any(_sees_ahead(function) for _, function in functions)
    stream = "cross" if key_tokens is not None else "decoder" if causal else "encoder"
    predicts = (*asked[1:], None) if stream != "encoder" else None
    mask = CausalMask(len(asked)) if stream == "decoder" else None
    records = [
        _record(function, AttentionSite(stream, number, function.weights.shape[1], asked, keys, predicts), mask)
        for number, function in functions
    ]
    coarsest = max((function.weights.dtype for _, function in functions), key=lambda dtype: torch.finfo(dtype).eps)
    return Trace(
        GIVEN,
        " ".join(keys),
        None,
        _encoding(keys),
        tuple(records),
        (),
        torch.zeros(len(asked), 0, dtype=coarsest),
        target_text=" ".join(asked) if stream == "cross" else None,
        target=_encoding(asked) if stream == "cross" else None,
        refused=(Refusal("residual stream", "decoder" if stream != "encoder" else "encoder", ONLY_GIVEN),),
    )


def given_weights(layer: Tensor, where: str) -> GivenWeights:
    """Copy weights [H, Q, T] once they are seen to be attention; ValueError that begins with `where` for others."""
    heads, queries, keys = layer.shape
    if heads > HEADS:
        raise ValueError(f"{where} has {heads:,} heads, and no attention has more than {HEADS:,}")
    least = 1.0
    for head, rows in product(range(heads), row_blocks(queries, keys)):
        block = layer[head, rows].double()
        if not bool(torch.isfinite(block).all()):
            raise ValueError(f"{where} has weights that are not finite (NaN or infinity): give what its softmax gave")
        if bool((block < 0).any()):
            raise ValueError(
                f"{where} has a weight of {float(block.min()):.3g}: weights are never negative. These may be scores; "
                "give what the softmax made of them"
            )
        sums = block.sum(dim=-1)
        if float(sums.max()) > 1 + ROUNDING:
            row = rows.start + int(sums.argmax())
            raise ValueError(
                f"{where}: the weights of head {head}, query {row} sum to {float(sums.max()):.4g}, more "
                "than 1. Call model.eval(), for dropout makes such rows; else divide each row by its sum"
            )
        least = min(least, float(sums.min()))
    kept = layer.to(torch.float32) if layer.dtype == torch.float64 else layer.clone()
    return GivenWeights(kept.contiguous()[None], sinks=least < 1 - ROUNDING)


def _layers(weights: Any) -> list[tuple[int, Any]]:
    """Number the layers of what was given."""
    if isinstance(weights, Tensor | np.ndarray):
        if weights.ndim not in (3, 4):
            raise ValueError(
                f"weights has the shape {list(weights.shape)}: give [layers, heads, queries, keys], or [heads, "
                "queries, keys] of one layer"
            )
        weights = list(weights) if weights.ndim == 4 else [weights]
    if not isinstance(weights, list | tuple):
        raise ValueError(
            f"weights is {type(weights).__name__}: give the attentions that a model hands out under "
            "output_attentions=True (out.attentions), or a list of arrays [heads, queries, keys], one a layer"
        )
    if len(weights) > LAYERS:
        raise ValueError(f"weights holds {len(weights):,} layers, and no model has more than {LAYERS:,}")
    return list(enumerate(weights))


def _checked(layer: Any, number: int) -> Tensor | Numbers:
    """Return a layer's weights as [H, Q, T], of floats and not yet copied; ValueError for what is none."""
    where = f"layer {number}"
    if isinstance(layer, list | tuple) and any(isinstance(part, Tensor) for part in layer):
        raise ValueError(
            f"{where} is a {type(layer).__name__} of tensors, as model.generate gives them, one for each step: run the "
            "model once on the whole text instead"
        )
    if isinstance(layer, list | tuple):
        try:
            layer = np.asarray(layer, dtype=np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{where} is no array of numbers: its rows differ in length, or hold text") from error
    if not isinstance(layer, Tensor | np.ndarray) or isinstance(layer, np.ma.MaskedArray):
        raise ValueError(f"{where} is {type(layer).__name__}: give a tensor or an array [heads, queries, keys]")
    if not _of_floats(layer):
        raise ValueError(f"{where} holds {layer.dtype}: give a dense tensor or array of float32, float64 or float16")
    shape = list(layer.shape)
    if layer.ndim == 4 and len(layer) > 1:
        raise ValueError(
            f"{where} has the shape {shape}, a batch of {len(layer)} texts: give one of them, as in [layer[0] for "
            "layer in attentions]"
        )
    if layer.ndim not in (3, 4) or 0 in shape:
        raise ValueError(f"{where} has the shape {shape}: give [heads, queries, keys], none of them 0")
    alone: Tensor | Numbers = layer[0] if layer.ndim == 4 else layer
    return alone


def _of_floats(layer: Tensor | NDArray[Any]) -> bool:
    """Tell whether a tensor is dense and of floats, or an array of floats that torch has too."""
    if isinstance(layer, Tensor):
        return layer.dtype in _FLOATS and layer.layout == torch.strided and not layer.is_meta
    return layer.dtype.newbyteorder("=") in (np.float16, np.float32, np.float64)


def _tensor(layer: Tensor | Numbers) -> Tensor:
    if isinstance(layer, Tensor):
        return layer.detach().cpu()
    return torch.from_numpy(np.array(layer, dtype=layer.dtype.newbyteorder("=")))


def _names(tokens: Any, what: str, *, count: int) -> tuple[str, ...]:
    if tokens is None:
        return tuple(map(str, range(count)))
    ids = "tokenizer.convert_ids_to_tokens(ids) gives them"
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence | np.ndarray):
        raise ValueError(f"{what} is {type(tokens).__name__}: give a list of strings, one a token; {ids}")
    names = list(tokens)
    for place, token in enumerate(names):
        if not text(token):
            raise ValueError(f"{what}[{place}] is {str(token)[:60]!a}, which is no text that can be shown; {ids}")
    if (letters := sum(map(len, names))) > MAX_CHARACTERS:
        raise ValueError(f"{what} has {letters:,} characters, more than {MAX_CHARACTERS:,}: shorten its tokens")
    return tuple(map(str, names))  # numpy's strings become plain ones


def _encoding(tokens: tuple[str, ...]) -> Encoding:
    numbers: dict[str, int] = {}
    ids = tuple(numbers.setdefault(token, len(numbers)) for token in tokens)
    special = tuple(token in _SPECIAL for token in tokens)
    words = tuple(None if is_special else place for place, is_special in enumerate(special))
    return Encoding(ids, tokens, words, (0,) * len(tokens), special, unknown=0)


def _sees_ahead(function: GivenWeights) -> bool:
    """Tell whether some query gives weight to a later key."""
    return bool(torch.triu(function.weights, diagonal=1).any())


def _record(function: GivenWeights, site: AttentionSite, mask: Mask | None) -> AttentionRecord:
    query, key = (function.weights.new_zeros(site.heads, len(side), 0) for side in (site.queries, site.keys))
    return AttentionRecord(site, function, query, key, key, mask)
