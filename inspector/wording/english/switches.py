"""The switches of the own Transformer as the page names them, in the groups of the paper's sections.

A new field of TransformerConfig is one line in GROUPS: the name and the effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from typing import Any, NamedTuple

PANEL = "Switches"
NO_SWITCHES = "This model has no switches here, for the own Transformer cannot hold it:"
GROUP_LABEL = "Group of switches"
AS_IT_IS, RESET = "as it is", "Reset"
SIDES_READ = (
    "Change any choice of this Transformer. A is the model on every page, B stands beside it. Changed rows are bold."
)
NOT_SWITCHED = "What the tokenizer fixes, the model's shape and dropout are not switched here."


class Switch(NamedTuple):
    """The words of a switch: its name, and a line on its effect."""

    name: str
    does: str


GROUPS: Mapping[str, Mapping[str, Switch]] = {
    "Positions": {
        "positions": Switch("Positions", "In the embedding, in the scores, or turned into q and k."),
        "rope_base": Switch("RoPE base", "Wavelength of RoPE's slowest pair of features, over 2 pi."),
        "relative_buckets": Switch("T5 buckets", "How many distances T5 tells apart."),
        "relative_distance": Switch("Farthest distance", "T5 and Shaw: from here on all distances are one."),
        "max_positions": Switch("Longest text", "In tokens; the rows of a learned table."),
        "embedding_scale": Switch("Embedding times sqrt(D)", "So that the token outweighs its position."),
        "embedding_norm": Switch("Norm on the embedding", "Before the first layer, as in BERT and BLOOM."),
        "embedding_width": Switch("Embedding width", "Narrower than D, and projected up (ALBERT); empty for D."),
    },
    "Attention": {
        "score": Switch("Score", "How alike a query and a key are."),
        "weighting": Switch("Weighting", "How scores become weights; linear has its own score."),
        "scale": Switch("Scale", "Keeps the scores' variance near 1 whatever the head width."),
        "heads": Switch("Heads", "H. Another number draws W_Q, W_K, W_V and W_O anew."),
        "kv_heads": Switch("KV heads", "K: 1 is MQA, between 1 and H is GQA; empty for H."),
        "head_size": Switch("Head width", "E: D / H, D in every head, or a number that you type."),
        "projections": Switch("W_Q, W_K and W_V", "Off: q, k and v are the text itself, softmax(x x^T) x."),
        "shared_query_key": Switch("W_Q = W_K", "Scores are symmetric: i sees j as j sees i (Reformer)."),
        "shared_key_value": Switch("K = V", "What is matched is what is delivered."),
        "merge": Switch("Merge", "Side by side through W_O, or added up: who spoke is lost."),
    },
    "Mask": {
        "causal": Switch("Causal", "No token sees a later one."),
        "window": Switch("Window", "Only keys less than so many tokens away; empty for all."),
        "mask_fill": Switch("Fill", "A masked key's score. Finite ones and 0 leak; type any."),
        "mask_before_scale": Switch("Mask before the scale", "The same for −∞, a weaker mask for a finite fill."),
    },
    "Block": {
        "norm": Switch("Norm", "BatchNorm: each feature over all tokens of your text."),
        "norm_placement": Switch("Placement", "post: norm(x + f(x)); pre: x + f(norm(x))."),
        "final_norm": Switch("Final norm", "One more norm after the last layer; goes with pre-norm."),
        "norm_epsilon": Switch("Epsilon", "Added to the variance, against a division by 0."),
        "residual": Switch("Residual", "x + f(x). Without it rank and gradients collapse by depth."),
        "activation": Switch("Activation", "Of the FFN; SwiGLU and GeGLU are gated: three matrices."),
        "ffn_width": Switch("FFN width", "F: how many units the FFN has."),
        "bias": Switch("Bias", "b in every x W + b; a norm's beta is always there."),
    },
    "Sharing": {
        "shared_layers": Switch("Shared layers", "One layer, run L times: the same work (ALBERT)."),
        "tied_embeddings": Switch("Tied embeddings", "The output matrix is the embedding, or all three are."),
        "output_head": Switch("Output head", "A decoder predicts tokens; off for a bare decoder."),
    },
    "Size": {
        "layers": Switch("Layers", "L, of the encoder where there are two; fewer: the first."),
        "decoder_layers": Switch("Decoder layers", "Of an encoder-decoder; empty for as many as L."),
        "width": Switch("Width", "D: how many features a token has."),
        "initialisation": Switch("Initialisation", "How new weights are drawn."),
    },
}
"""Group -> field of TransformerConfig -> its words."""

SEED = Switch("Seed", "Draws what no trained weight fits.")

_WORDS: Mapping[str, Mapping[Any, str]] = {
    "positions": {
        "t5": "T5 buckets",
        "shaw": "Shaw vectors",
        "xl": "Transformer-XL",
        "rope": "RoPE",
        "alibi": "ALiBi",
    },
    "scale": {"1/sqrt(d_k)": "1/√d_k"},
    "score": {"additive_naive": "additive, pair by pair"},
    "head_size": {"split": "D / H", "full": "D"},
    "merge": {"concat": "side by side", "sum": "added up"},
    "norm": {
        "layer": "LayerNorm",
        "rms": "RMSNorm",
        "batch": "BatchNorm",
        "masked_batch": "BatchNorm without padding",
    },
    "activation": {
        "relu": "ReLU",
        "gelu": "GELU",
        "gelu_tanh": "GELU by tanh",
        "swiglu": "SwiGLU",
        "geglu_tanh": "GeGLU by tanh",
    },
    "mask_fill": {"zero": "0 × score"},
    "tied_embeddings": {"output": "input and output", "three-way": "all three"},
    "initialisation": {"torch": "torch's", "normal": "N(0, 0.02)", "xavier": "Glorot"},
    "causal": {None: "by shape"},
}
"""Values whose name in the page is not the one of Python."""
_WITHOUT = {
    "kv_heads": "as H",
    "window": "none",
    "decoder_layers": "as L",
    "embedding_width": "as D",
}
"""Names of numbers that are left out."""

WORDS = {field: words for group in GROUPS.values() for field, words in group.items()}
"""Field -> its words, of all groups."""


def value(field: str, of: Any) -> str:
    """Name a value of a switch: "1/√d_k", "off", "as H"."""
    if not isinstance(of, bool) and of in (known := _WORDS.get(field, {})):
        return known[of]
    if of is None:
        return _WITHOUT.get(field, "none")
    if isinstance(of, bool):
        return "on" if of else "off"
    if isinstance(of, float):
        return "−∞" if isinf(of) else f"{of:g}".replace("-", "−")
    return f"{of:,}" if isinstance(of, int) else str(of)


def changes(switches: Mapping[str, Any], *, seed: int = 0, most: int | None = None) -> str:
    """Name changed switches: "scale none, heads 3"; at most `most` of them, and the number of the others."""
    named = [f"{_inside(WORDS[field].name)} {value(field, of)}" for field, of in switches.items()]
    named += [f"seed {seed}"] if seed else []
    if most is not None and len(named) > most:
        named = [*named[: most - 1], f"{len(named) - most + 1} more"]
    return ", ".join(named)


def under(model: str, switches: Mapping[str, Any]) -> str:
    """Name a model under changed switches: "mini-BERT with scale none"."""
    return f"{model} with {changes(switches, most=3)}"


def weights(*, trained: bool, redrawn: float | None) -> str:
    """Say what the weights of a model are: "untrained", "trained, 15.7 % redrawn", or "trained"."""
    if not trained:
        return "untrained"
    if not redrawn:
        return "trained"
    return f"trained, {share(redrawn)} redrawn"


def share(redrawn: float) -> str:
    """Write a share of the weights in percent, never rounded to none and never to all: "15.7 %", "under 0.1 %"."""
    if redrawn == 1:
        return "100 %"
    if 0 < redrawn < 0.001:
        return "under 0.1 %"
    return "over 99.9 %" if redrawn > 0.999 else f"{100 * redrawn:.1f} %"


def variant(switches: Mapping[str, Any], *, seed: int, trained: bool, redrawn: float | None) -> str:
    """Say over a picture what a variant's weights are and what was changed in it."""
    changed = f"Changed: {changes(switches)}."
    if not trained:
        return f"{changed} The weights are random as before."
    if not redrawn:
        return f"{changed} Trained weights, none redrawn; they were learned without this change."
    return (
        f"{changed} Trained, {share(redrawn)} redrawn: so much of the weights is random, from seed {seed}, and has "
        "learned nothing."
    )


def reset_help(*, side: str) -> str:
    """Say what Reset does to a side."""
    return f"{side} as the model is"


def group(name: str) -> str:
    """Name a group of switches, a key of GROUPS."""
    return name


def field_of(*, name: str, side: str) -> str:
    """Name one side's field of a switch."""
    return f"{name} of {side}"


def seed_of(*, side: str) -> str:
    """Name the seed of a side."""
    return f"Seed of {side}"


def stays(*, side: str) -> str:
    """Say that a side is not changed."""
    return f"Side {side} stays as it was"


def changed_name(*, name: str, usual: str) -> str:
    """Write the name of a changed switch, with its usual value."""
    return f"**{name}** (was {usual})"


def _inside(name: str) -> str:
    """Begin a name with a small letter, unless its first word has capitals or marks inside: "scale", "KV heads"."""
    first = name.split(" ", 1)[0]
    return (
        name
        if any(letter.isupper() or letter in "_=" for letter in first[1:]) or len(first) == 1
        else (f"{name[0].lower()}{name[1:]}")
    )
