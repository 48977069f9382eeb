"""Every component that a model can have: the closed list, by kind and by part."""

from __future__ import annotations

COMPONENTS = {
    "matmul": (
        *("q", "k", "v", "scores", "mix", "out", "up", "gate", "down"),
        *("router", "mixer", "adapter", "index", "pooler", "lm_head", "classifier", "patch", "projection"),
    ),
    "elementwise": ("softmax", "sigmoid", "activation", "norm", "residual", "bias", "scale", "positions", "other"),
    "lookup": ("token_embedding", "position_embedding", "segment_embedding"),
}
"""The components by kind; `positions` and `bias` may be products too, in models whose code multiplies them.

mixer: all products of what mixes tokens without a softmax (a state space, a convolution, linear attention). index: of
what chooses the keys before attention. projection: a learned product beside attention and FFN, such as a narrow
embedding's. router: what chooses experts. other: parameters of no product, norm or table (sinks, decays).
"""

KINDS = {component: kind for kind, components in COMPONENTS.items() for component in components}

PARTS = {
    **dict.fromkeys(("q", "k", "v", "scores", "mix", "out", "positions", "index"), "attention"),
    **dict.fromkeys(("up", "gate", "down"), "ffn"),
    **{name: name for name in ("router", "mixer", "adapter", "pooler", "norm")},
    **dict.fromkeys(("lm_head", "classifier"), "head"),
    **dict.fromkeys(("projection", "token_embedding", "position_embedding", "segment_embedding"), "embedding"),
}
"""The part that a counted component belongs to, where its place does not say otherwise; chosen FFNs are `experts`."""
