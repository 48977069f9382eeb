"""What each component of an encoder costs, in closed form.

Conventions, the same everywhere:
- a multiply-add is 2 FLOPs, so a matrix [a, b] applied to n rows costs 2 n a b;
- a text of n tokens attends to all n keys in full;
- matrix products are exact (they equal torch.utils.flop_counter); element-wise work is counted by a constant per
  element, those of the ELECTRA authors' counter (Clark et al. 2020): softmax 5, normalisation 5, GELU 8;
- an embedding is looked up, which costs no FLOPs, once for each token of each text;
- parameters sit on the component that owns them: a bias with its matrix, gamma and beta with their norm.

Letters: n tokens of a text, B batch, H heads, d width (that of all heads together), f FFN width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

COMPONENTS = {
    "matmul": (
        *("q", "k", "v", "scores", "mix", "out", "up", "gate", "down"),
        *("router", "pooler", "lm_head", "classifier", "patch"),
    ),
    "elementwise": ("softmax", "activation", "norm", "residual", "bias", "scale", "positions"),
    "lookup": ("token_embedding", "position_embedding", "segment_embedding"),
}
"""Every component that a model can have, by kind: the closed list."""

KINDS = {component: kind for kind, components in COMPONENTS.items() for component in components}

SOFTMAX_FLOPS = 5  # maximum, subtract, exponential, sum, divide
NORM_FLOPS = 5  # mean, variance (square and sum), subtract, scale by gamma over sigma, add beta
ACTIVATION_FLOPS = {  # a power, an exponential or a hyperbolic tangent is one
    **dict.fromkeys(("gelu", "gelu_new", "gelu_python", "gelu_pytorch_tanh", "gelu_tanh"), 8),
    **dict.fromkeys(("relu", "tanh"), 1),
}


@dataclass(frozen=True)
class Head:
    """What stands on an encoder.

    words: predicts a token of the vocabulary at each position. token_classes, text_classes: outputs of a linear
    classifier on each token, or on the pooled first token.
    """

    pooler: bool = False
    words: bool = False
    token_classes: int = 0
    text_classes: int = 0


@dataclass(frozen=True)
class EncoderSizes:
    """All that the cost of an encoder depends on.

    positions: rows of a learned position table, 0 where positions are computed; segments: 0 where there are none.
    tied: the word head reuses the embedding matrix.
    """

    layers: int
    width: int
    heads: int
    ffn_width: int
    vocabulary: int
    positions: int
    segments: int
    activation: str
    bias: bool = True
    embedding_norm: bool = True
    final_norm: bool = False
    head: Head = Head()
    head_activation: str = "gelu"
    tied: bool = True


@dataclass(frozen=True)
class Cost:
    """One component: parameters, FLOPs, and the elements of the tensors that it writes."""

    part: str
    component: str
    parameters: int
    flops: int
    outputs: int

    @property
    def kind(self) -> str:
        """matmul, elementwise or lookup."""
        return KINDS[self.component]


def activation_flops(name: str) -> int:
    """FLOPs per element; ValueError for a function without a convention here."""
    if name not in ACTIVATION_FLOPS:
        raise ValueError(f"no FLOP count for the activation {name!r}; there are some for {', '.join(ACTIVATION_FLOPS)}")
    return ACTIVATION_FLOPS[name]


def embedding(sizes: EncoderSizes, tokens: int, batch: int) -> Iterator[Cost]:
    """Token + position + segment vectors, summed, then normalised where the model does so."""
    out = batch * tokens * sizes.width
    yield Cost("embedding", "token_embedding", sizes.vocabulary * sizes.width, 0, out)
    yield Cost("embedding", "position_embedding", sizes.positions * sizes.width, 0, out)
    if sizes.segments:
        yield Cost("embedding", "segment_embedding", sizes.segments * sizes.width, 0, out)
    sums = 2 if sizes.segments else 1
    yield Cost("embedding", "residual", 0, sums * out, sums * out)
    if sizes.embedding_norm:
        yield _norms("norm", sizes, tokens, batch, count=1)


def layer(sizes: EncoderSizes, tokens: int, batch: int) -> Iterator[Cost]:
    """One layer: four projections of 2 n d^2 each, scores and mix of 2 n^2 d each, FFN 2 n d f up and 2 n d f down.

    The biases are added inside their products and write no tensor of their own.
    """
    d, f, n = sizes.width, sizes.ffn_width, tokens
    rows, pairs = batch * n, batch * sizes.heads * n * n
    for name in ("q", "k", "v"):
        yield _product("attention", name, rows, d, d, bias=sizes.bias)
    yield Cost("attention", "scores", 0, 2 * batch * n * n * d, pairs)
    yield Cost("attention", "scale", 0, pairs, pairs)
    yield Cost("attention", "softmax", 0, SOFTMAX_FLOPS * pairs, pairs)
    yield Cost("attention", "mix", 0, 2 * batch * n * n * d, rows * d)
    yield _product("attention", "out", rows, d, d, bias=sizes.bias)
    if sizes.bias:
        yield Cost("attention", "bias", 0, rows * 4 * d, 0)
    yield _product("ffn", "up", rows, d, f, bias=sizes.bias)
    yield Cost("ffn", "activation", 0, activation_flops(sizes.activation) * rows * f, rows * f)
    yield _product("ffn", "down", rows, f, d, bias=sizes.bias)
    if sizes.bias:
        yield Cost("ffn", "bias", 0, rows * (f + d), 0)
    yield Cost("residual", "residual", 0, 2 * rows * d, 2 * rows * d)
    yield _norms("norm", sizes, n, batch, count=2)


def top(sizes: EncoderSizes, tokens: int, batch: int) -> Iterator[Cost]:
    """The final norm, the pooler (tanh(x_0 W + b) on the first token) and the head, where the model has them."""
    d, head, rows = sizes.width, sizes.head, batch * tokens
    if sizes.final_norm:
        yield _norms("norm", sizes, tokens, batch, count=1)
    if head.pooler:
        yield _product("pooler", "pooler", batch, d, d, bias=True)
        yield Cost("pooler", "bias", 0, batch * d, 0)
        yield Cost("pooler", "activation", 0, ACTIVATION_FLOPS["tanh"] * batch * d, batch * d)
    if head.words:
        yield from _word_head(sizes, tokens, batch)
    for classes, inputs in ((head.token_classes, rows), (head.text_classes, batch)):
        if classes:
            yield _product("head", "classifier", inputs, d, classes, bias=True)
            yield Cost("head", "bias", 0, inputs * classes, 0)


def _word_head(sizes: EncoderSizes, tokens: int, batch: int) -> Iterator[Cost]:
    """Transform d x d, activation, norm, then the vocabulary: 2 n d^2 + 2 n d V. A tied matrix is the embedding's."""
    d, vocabulary, rows = sizes.width, sizes.vocabulary, batch * tokens
    # Untied, transformers keeps an output bias of its own beside the matrix's.
    decoder = vocabulary if sizes.tied else vocabulary * (d + 2)
    flops = 2 * rows * d * (d + vocabulary)
    yield Cost("head", "lm_head", d * (d + 1) + decoder, flops, rows * (d + vocabulary))
    yield Cost("head", "bias", 0, rows * (d + vocabulary), 0)
    yield Cost("head", "activation", 0, activation_flops(sizes.head_activation) * rows * d, rows * d)
    yield _norms("head", sizes, tokens, batch, count=1)


def _product(part: str, component: str, rows: int, inputs: int, outputs: int, *, bias: bool) -> Cost:
    parameters = inputs * outputs + (outputs if bias else 0)
    return Cost(part, component, parameters, 2 * rows * inputs * outputs, rows * outputs)


def _norms(part: str, sizes: EncoderSizes, tokens: int, batch: int, *, count: int) -> Cost:
    elements = count * batch * tokens * sizes.width
    return Cost(part, "norm", count * 2 * sizes.width, NORM_FLOPS * elements, elements)
