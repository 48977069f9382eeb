"""The costs of each component of a Transformer, in closed form, from its configuration.

Conventions, the same everywhere:
- a multiply-add is 2 FLOPs, so a matrix [a, b] applied to n rows costs 2 n a b;
- a text of n tokens attends to all n keys in full, whatever the mask hides;
- matrix products are exact (they equal torch.utils.flop_counter); element-wise work is counted by a constant per
  element, those of the ELECTRA authors' counter (Clark et al. 2020): softmax 5, normalisation 5, GELU 8;
- an embedding is looked up, which costs no FLOPs, once for each token of each text;
- parameters sit on the component that owns them: a bias with its matrix, gamma and beta with their norm; what is shared
  counts once, where it comes first.

Letters: n queries and m keys of a text, B batch, H heads, K kv heads, d width, e head width, f FFN width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.costs.counted.components import KINDS
from models.attention import Stream
from models.transformer.config import TransformerConfig
from models.transformer.learned_attention import is_plain

SOFTMAX_FLOPS = 5  # maximum, subtract, exponential, sum, divide
SIGMOID_FLOPS = 4  # subtract ln n, exponential, add, divide
FEATURE_FLOPS = 3  # elu(x) + 1: exponential, subtract, add
NORM_FLOPS = {  # mean, variance (square and sum), subtract, scale by gamma over sigma, add beta; RMSNorm has no mean
    **dict.fromkeys(("layer", "batch", "masked_batch"), 5),
    **{"rms": 3, "none": 0},
}
NORM_VECTORS = {**dict.fromkeys(("layer", "batch", "masked_batch"), 2), "rms": 1, "none": 0}  # gamma and beta
ACTIVATION_FLOPS = {  # a power, an exponential or a hyperbolic tangent is one; the last two multiply by the gate
    **dict.fromkeys(("gelu", "gelu_new", "gelu_python", "gelu_pytorch_tanh", "gelu_tanh"), 8),
    **dict.fromkeys(("relu", "tanh"), 1),
    **{"swiglu": 4 + 1, "geglu_tanh": 8 + 1},
}


@dataclass(frozen=True)
class Cost:
    """One component: its parameters, FLOPs, the elements that it writes, and how many of these a cache keeps."""

    part: str
    component: str
    parameters: int
    flops: int
    outputs: int
    cached: int = 0

    @property
    def kind(self) -> str:
        """matmul, elementwise or lookup."""
        return KINDS[self.component]


def activation_flops(name: str) -> int:
    """FLOPs per element; ValueError for a function without a convention here."""
    if name not in ACTIVATION_FLOPS:
        raise ValueError(f"no FLOP count for the activation {name!r}; there are some for {', '.join(ACTIVATION_FLOPS)}")
    return ACTIVATION_FLOPS[name]


def embedding(
    config: TransformerConfig, tokens: int, batch: int, *, vocabulary: int, segments: int, shared: bool = False
) -> Iterator[Cost]:
    """Token + position + segment vectors, summed, normalised and projected where the model does so.

    shared: the token matrix is counted elsewhere.
    """
    width = config.width if config.embedding_width is None else config.embedding_width
    out = batch * tokens * width
    yield Cost("embedding", "token_embedding", 0 if shared else vocabulary * width, 0, out)
    if config.embedding_scale:
        yield Cost("embedding", "scale", 0, out, out)
    table = config.positions in ("sinusoidal", "learned")
    if table:
        learned = config.max_positions * width if config.positions == "learned" else 0
        yield Cost("embedding", "position_embedding", learned, 0, out)
    if segments:
        yield Cost("embedding", "segment_embedding", segments * width, 0, out)
    if sums := table + bool(segments):
        yield Cost("embedding", "residual", 0, sums * out, sums * out)
    if config.embedding_norm:
        yield from norms("norm", config, batch * tokens, width=width)
    if config.embedding_width is not None:
        yield product("embedding", "projection", batch * tokens, width, config.width, bias=config.bias)
        if config.bias:
            yield Cost("embedding", "bias", 0, batch * tokens * config.width, 0)


def attention(
    config: TransformerConfig, queries: int, keys: int, batch: int, *, stream: Stream, new_keys: int | None = None
) -> Iterator[Cost]:
    """Projections 2 n d H e, twice 2 m d K e, and 2 n H e d; scores and mix 2 n m H e each.

    The biases are added inside their products and write no tensor of their own. Only a decoder keeps keys and values.
    new_keys: how many of the m are projected; the others come from a cache. All where None. One new query is not
    multiplied with cached keys outside its window.
    """
    d, heads, e = config.width, config.heads, config.head_width
    every, shared = heads * e, config.key_heads * e
    new_keys = keys if new_keys is None else new_keys
    seen = keys
    if config.window and queries == new_keys == 1 and is_plain(config, stream=stream):
        seen = min(keys, config.window)
    rows, key_rows, pairs = batch * queries, batch * new_keys, batch * heads * queries * seen
    cached = 0 if stream == "encoder" else batch * keys * shared
    if config.projections:
        yield product("attention", "q", rows, d, every, bias=config.bias)
        yield product(
            "attention", "k", key_rows, d, shared, bias=config.bias, owner=not config.shared_query_key, cached=cached
        )
        yield product(
            "attention", "v", key_rows, d, shared, bias=config.bias, owner=not config.shared_key_value, cached=cached
        )
    yield from _scores(config, queries, seen, batch, stream=stream, new_keys=new_keys)
    if config.weighting == "sigmoid":
        yield Cost("attention", "sigmoid", 0, SIGMOID_FLOPS * pairs, pairs)
    else:
        yield Cost("attention", "softmax", 0, SOFTMAX_FLOPS * pairs, pairs)
    met = 2 * config.relative_distance + 1 if config.positions == "shaw" and stream != "cross" else 0  # Shaw's values
    mixed = 0 if config.projections else 2 * cached  # without projections nothing else holds the keys and values
    yield Cost("attention", "mix", met * e, 2 * pairs * e + 2 * rows * heads * met * e, rows * every, mixed)
    if config.projections:
        merged = every if config.merge == "concat" else e
        yield product("attention", "out", rows, merged, d, bias=config.bias)
        if config.bias:
            yield Cost("attention", "bias", 0, rows * (every + d) + 2 * key_rows * shared, 0)


def _scores(
    config: TransformerConfig, queries: int, keys: int, batch: int, *, stream: Stream, new_keys: int
) -> Iterator[Cost]:
    """The score function with what it learns, then scale and positions; a cache keeps keys as RoPE turned them."""
    heads, e, pairs = config.heads, config.head_width, batch * config.heads * queries * keys
    rows, key_rows = batch * heads * queries, batch * heads * keys
    positions = "none" if stream == "cross" else config.positions
    dot = 2 * pairs * e
    match config.score:
        case "dot" if positions == "shaw":
            vectors = 2 * config.relative_distance + 1
            yield Cost("attention", "scores", vectors * e, dot + 2 * rows * vectors * e, pairs)
        case "dot" if positions == "xl":  # W_R, u and v; each query meets the vector of each distance
            distances = keys if stream == "decoder" or is_causal_encoder(config) else keys + queries
            flops = dot + 2 * rows * distances * e + 2 * distances * config.width * heads * e
            yield Cost("attention", "scores", (config.width + 2) * heads * e, flops, pairs)
        case "dot" | "cosine":
            yield Cost("attention", "scores", 0, dot, pairs)
        case "general":
            yield Cost("attention", "scores", heads * e * e, dot + 2 * rows * e * e, pairs)
        case "additive":
            flops = 2 * (rows + key_rows) * e * e + 2 * pairs * e
            yield Cost("attention", "scores", heads * (2 * e * e + 2 * e), flops, pairs)
        case "additive_naive":
            yield Cost("attention", "scores", heads * (2 * e * e + 2 * e), 2 * pairs * 2 * e * e, pairs)
    cosine = 3 * (rows + key_rows) * e if config.score == "cosine" else 0  # square, add, divide
    if config.weighting == "linear":  # phi of queries and keys, and the logarithm of each pair; no scale
        features = (rows + key_rows) * e
        yield Cost("attention", "scale", 0, FEATURE_FLOPS * features + pairs, features + pairs)
    elif config.scale != "none" or cosine:
        yield Cost("attention", "scale", 0, cosine + (pairs if config.scale != "none" else 0), pairs)
    if positions == "rope":  # two products and a sum for each feature of a query and a key
        turned = rows * e + batch * config.key_heads * new_keys * e
        yield Cost("attention", "positions", 0, 3 * turned, turned)
    elif positions == "xl":  # q + u, q + v, and the sum of the two products
        yield Cost("attention", "positions", 0, 2 * rows * e + pairs, 2 * rows * e + pairs)
    elif positions in ("t5", "alibi"):
        yield Cost("attention", "positions", 0, pairs, pairs)


def is_causal_encoder(config: TransformerConfig) -> bool:
    """Tell whether an encoder of this config hides later tokens; of an encoder-decoder none does."""
    return config.shape != "encoder-decoder" and config.is_causal


def stack_positions(config: TransformerConfig) -> Iterator[Cost]:
    """T5's table, one for all layers of a stack."""
    if config.positions == "t5":
        yield Cost("attention", "positions", config.relative_buckets * config.heads, 0, 0)


def ffn(config: TransformerConfig, rows: int) -> Iterator[Cost]:
    """2 n d f up and 2 n f d down; gated, 2 n d f more."""
    d, f, gated = config.width, config.ffn_width, config.gated
    yield product("ffn", "up", rows, d, f, bias=config.bias)
    if gated:
        yield product("ffn", "gate", rows, d, f, bias=config.bias)
    yield Cost("ffn", "activation", 0, activation_flops(config.activation) * rows * f, rows * f)
    yield product("ffn", "down", rows, f, d, bias=config.bias)
    if config.bias:
        yield Cost("ffn", "bias", 0, rows * ((1 + gated) * f + d), 0)


def around(config: TransformerConfig, rows: int, *, sublayers: int) -> Iterator[Cost]:
    """The residual sum and the norm of each sublayer."""
    elements = sublayers * rows * config.width
    if config.residual:
        yield Cost("residual", "residual", 0, elements, elements)
    yield from norms("norm", config, rows, width=config.width, count=sublayers)


def product(
    part: str, component: str, rows: int, inputs: int, outputs: int, *, bias: bool, owner: bool = True, cached: int = 0
) -> Cost:
    """A matrix [inputs, outputs] applied to rows; without parameters where another component owns the matrix."""
    parameters = (inputs * outputs + (outputs if bias else 0)) if owner else 0
    return Cost(part, component, parameters, 2 * rows * inputs * outputs, rows * outputs, cached)


def norms(part: str, config: TransformerConfig, rows: int, *, width: int, count: int = 1) -> Iterator[Cost]:
    """`count` norms over `width` features of `rows` tokens."""
    if config.norm != "none":
        elements = count * rows * width
        parameters = count * NORM_VECTORS[config.norm] * width
        yield Cost(part, "norm", parameters, NORM_FLOPS[config.norm] * elements, elements)
