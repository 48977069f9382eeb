"""Checks that the numbers and choices of a TransformerConfig fit each other: one small function for each part."""

from __future__ import annotations

from dataclasses import fields
from math import inf, isfinite
from numbers import Real
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeGuard, get_args, get_type_hints

if TYPE_CHECKING:
    from models.transformer.config import TransformerConfig

SIZES = ("vocabulary", "layers", "width", "heads", "ffn_width", "max_positions")
OPTIONAL_SIZES = ("decoder_layers", "target_vocabulary", "embedding_width", "kv_heads", "window")
MORE_SIZES = ("relative_buckets", "relative_distance")
NUMBERS = ("rope_base", "norm_epsilon", "dropout", "attention_dropout")
LARGEST_SIZE = 10**9 - 1
LOWEST_FILL = -3.4e38  # float32, in which scores are filled, holds no lower number
_SHOWN = 60  # characters of a value that a sentence quotes, at most
DISTANCE_SCORES = {
    "rope": ("dot", "cosine"),
    "shaw": ("dot",),
    "xl": ("dot",),
}  # scores they act on
OF_PAIRS = ("t5", "alibi", "shaw", "xl")  # positions that give each pair of tokens a number


def check(config: TransformerConfig) -> None:
    """Raise ValueError, with the offending numbers and the way out, unless such a Transformer can be built."""
    for part in (check_types, check_shape, check_embedding, check_positions, check_heads, check_scores, check_sublayer):
        part(config)


def check_types(config: TransformerConfig) -> None:
    """Check the types: whole numbers for sizes, True or False for switches, a known name for every choice."""
    for name in SIZES + MORE_SIZES + OPTIONAL_SIZES:
        size = getattr(config, name)
        if (size is not None or name not in OPTIONAL_SIZES) and not _is_size(size):
            raise ValueError(f"{name} is {_shown(size)}; it must be a whole number, at least 1, below a billion")
    if not _is_whole(config.segments) or not 0 <= config.segments <= LARGEST_SIZE:
        raise ValueError(
            f"segments is {_shown(config.segments)}; it must be a whole number, 0 for no segment embeddings"
        )
    for name in NUMBERS:
        if not _is_number(getattr(config, name)):
            raise ValueError(f"{name} is {_shown(getattr(config, name))}; it must be a number")
    for name, kind in _kinds(type(config)).items():
        value = getattr(config, name)
        choices = tuple(choice for choice in get_args(kind) if isinstance(choice, str))
        if choices and value not in choices:
            raise ValueError(f"{name} {_shown(value)} is unknown; choose one of {', '.join(choices)}")
        unset = value is None and NoneType in get_args(kind)
        if bool in (kind, *get_args(kind)) and not (unset or isinstance(value, bool)):
            raise ValueError(f"{name} is {_shown(value)}; it is a switch, True or False")


def check_shape(config: TransformerConfig) -> None:
    """Check the stacks, their vocabularies and the embeddings that they share."""
    if config.shape != "encoder" and config.causal is False:
        raise ValueError(
            f"shape {config.shape!r} with causal=False: each token would see the one it has to predict; "
            "leave causal out or choose shape='encoder'"
        )
    if config.shape == "encoder-decoder" and config.causal:
        raise ValueError("causal=True in an encoder-decoder: its decoder is causal anyway; leave causal out")
    if config.shape != "encoder-decoder":
        for name in ("decoder_layers", "target_vocabulary"):
            if getattr(config, name) is not None:
                raise ValueError(
                    f"{name}={getattr(config, name)} with shape {config.shape!r}, which has one stack; "
                    f"leave {name} out or choose shape='encoder-decoder'"
                )
    if config.shape == "decoder" and config.segments:
        raise ValueError(f"segments={config.segments} in a decoder, which reads one text; leave segments out")
    tied = config.tied_embeddings
    if tied == "output" and (config.shape == "encoder" or not config.output_head):
        raise ValueError(
            f"tied_embeddings='output' with shape {config.shape!r} and output_head={config.output_head}: there is no "
            "output matrix to tie; choose a shape that decodes, with output_head=True"
        )
    if tied == "three-way" and config.shape != "encoder-decoder":
        raise ValueError(
            f"tied_embeddings='three-way' with shape {config.shape!r}, which has one embedding; choose 'output'"
        )
    if tied == "three-way" and config.decoder_vocabulary != config.vocabulary:
        raise ValueError(
            f"tied_embeddings='three-way' with vocabularies of {config.vocabulary} and {config.decoder_vocabulary} "
            "tokens; use one joint vocabulary, or choose 'output'"
        )


def check_embedding(config: TransformerConfig) -> None:
    """Narrow embeddings, and what they rule out."""
    if config.embedding_width not in (None, config.width) and config.tied_embeddings != "none":
        raise ValueError(
            f"tied_embeddings={config.tied_embeddings!r} with embedding_width={config.embedding_width} and width "
            f"{config.width}: the output matrix is as wide as the model; leave one of the two out"
        )


def check_positions(config: TransformerConfig) -> None:
    """Check that heads and scores suit the positions."""
    if config.positions == "rope" and config.head_width % 2:
        raise ValueError(
            f"positions 'rope' turns pairs of features, and a head has {config.head_width}; choose width and heads "
            "so that the head width is even"
        )
    if not (isfinite(config.rope_base) and config.rope_base > 1):
        raise ValueError(f"rope_base is {config.rope_base}; it must be a number above 1, such as 10000")
    if config.score not in DISTANCE_SCORES.get(config.positions, (config.score,)):
        raise ValueError(
            f"positions {config.positions!r} with score {config.score!r}: it makes a dot product depend on distance, "
            f"not a {config.score!r} score; choose score='dot', or other positions"
        )
    if config.positions == "t5":
        exact = config.relative_buckets // (2 if config.is_causal and config.shape == "decoder" else 4)
        if exact < 1 or config.relative_buckets % 2:
            raise ValueError(
                f"relative_buckets is {config.relative_buckets}; it must be even and at least 4, half for each side"
            )
        if config.relative_distance <= config.relative_buckets // 2:
            raise ValueError(
                f"relative_distance {config.relative_distance} with {config.relative_buckets} buckets: distances below "
                f"{config.relative_buckets // 2} have a bucket each; choose a larger relative_distance"
            )


def check_heads(config: TransformerConfig) -> None:
    """Check that the width divides into heads, and that heads can share what they are told to share."""
    if config.head_size == "split" and config.width % config.heads:
        fitting = config.heads * -(-config.width // config.heads)
        raise ValueError(
            f"width {config.width} does not divide into {config.heads} heads; "
            f"choose a width that is a multiple of {config.heads}, such as {fitting}"
        )
    if config.head_size not in ("split", "full") and not _is_size(config.head_size):
        raise ValueError(
            f"head_size is {_shown(config.head_size)}; choose 'split' (D / H), 'full' (D) or a whole number of features"
        )
    if config.heads % config.key_heads:
        raise ValueError(
            f"{config.heads} heads cannot share {config.key_heads} kv heads evenly; choose a divisor of {config.heads}"
        )
    if config.shared_query_key and config.key_heads != config.heads:
        raise ValueError(
            f"shared_query_key with {config.heads} heads and {config.key_heads} kv heads: W_Q and W_K differ in size; "
            "leave kv_heads out"
        )
    if config.projections:
        return
    if config.shared_query_key or config.shared_key_value:
        raise ValueError("projections=False leaves no W_Q, W_K, W_V to share; leave the shared_... switches out")
    if config.key_heads != config.heads or config.head_size != "split":
        raise ValueError(
            f"projections=False with {config.key_heads} kv heads and head_size {config.head_size!r}: without matrices "
            f"each of the {config.heads} heads is a slice of the width {config.width}; leave both out"
        )
    if config.merge == "sum" and config.heads > 1:
        raise ValueError(
            f"projections=False with merge='sum' of {config.heads} heads gives {config.head_width} features, "
            f"the width is {config.width}; choose merge='concat' or one head"
        )


def check_scores(config: TransformerConfig) -> None:
    """Check the fill of masked scores, and what goes with another weighting than the softmax."""
    fill = config.mask_fill
    if fill != "zero" and not (_is_number(fill) and (fill == -inf or LOWEST_FILL <= fill <= 0)):
        raise ValueError(
            f"mask_fill is {_shown(fill)}; choose a number below 0, -inf for a true mask, or 'zero'; the lowest number "
            f"is {LOWEST_FILL:g}"
        )
    for name in ("dropout", "attention_dropout"):
        share = getattr(config, name)
        if not 0 <= share < 1:
            raise ValueError(f"{name} is {share}; it is the share that is dropped, from 0 to below 1")
    if config.weighting != "softmax" and fill != -inf:
        raise ValueError(
            f"weighting {config.weighting!r} with mask_fill {fill!r}: how much such a fill leaks is defined for the "
            "softmax alone; choose mask_fill=-inf"
        )
    if config.weighting == "linear" and config.score != "dot":
        raise ValueError(
            f"weighting 'linear' with score {config.score!r}: linear attention has a score of its own, "
            "ln(phi(q) . phi(k)); leave score out"
        )
    if config.weighting == "linear" and config.positions in OF_PAIRS:  # RoPE turns q and k before phi
        raise ValueError(
            f"weighting 'linear' with positions {config.positions!r}, which give each pair of tokens a number: linear "
            "attention sums over the keys once for all queries; choose 'rope', 'learned', 'sinusoidal' or 'none'"
        )


def check_sublayer(config: TransformerConfig) -> None:
    """Norms, and where they stand."""
    if not (isfinite(config.norm_epsilon) and config.norm_epsilon > 0):
        raise ValueError(
            f"norm_epsilon is {config.norm_epsilon}; it must be above 0, or the norm of equal features divides by 0"
        )
    if config.final_norm and config.norm_placement == "post":
        raise ValueError(
            f"final_norm=True with norm_placement='post': each of the {config.layers} layers ends in a norm already; "
            "leave final_norm out or choose norm_placement='pre'"
        )
    if config.norm == "none" and (config.final_norm or config.embedding_norm):
        raise ValueError(
            f"norm 'none' with final_norm={config.final_norm} and embedding_norm={config.embedding_norm}; "
            "leave both out or choose a norm"
        )


def _is_whole(size: object) -> TypeGuard[int]:
    return isinstance(size, int) and not isinstance(size, bool)


def _is_size(value: object) -> bool:
    return _is_whole(value) and 1 <= value <= LARGEST_SIZE


def _is_number(value: object) -> TypeGuard[float]:
    """Return True for a number of one part that a float can hold, NaN and infinity among them."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= LARGEST_SIZE**2
    return isinstance(value, Real)


def _shown(value: object) -> str:
    """Quote a value, cut where it is long: it may be a stranger's."""
    if isinstance(value, int) and abs(value) > LARGEST_SIZE**2:  # Python writes no whole number of thousands of digits
        return "a whole number of more than 18 digits"
    written = ascii(value[: _SHOWN + 1] if isinstance(value, str) else value)
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."


def _kinds(config: type[TransformerConfig]) -> dict[str, Any]:
    """The type of each field, but for the fields with rules of their own."""
    hints = get_type_hints(config)
    return {field.name: hints[field.name] for field in fields(config) if field.name not in ("head_size", "mask_fill")}
