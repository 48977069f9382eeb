"""What a Transformer is made of, in one frozen record.

The axis letters, here and in every shape of the project: B batch, H heads, K kv heads, Q query positions,
T key positions, D width, E head width, F FFN width, L layers, V vocabulary.
In an encoder every token is query and key alike, so its length is T throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

NormPlacement = Literal["pre", "post"]
Activation = Literal["relu", "gelu", "gelu_tanh"]
Positions = Literal["sinusoidal", "learned"]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The sizes, which have no default, and the choices, whose defaults are those of Vaswani et al. (2017).

    Raises ValueError where the numbers do not fit each other or a choice is unknown.
    """

    vocabulary: int  # V
    layers: int  # L
    width: int  # D
    heads: int  # H, each of width E = D / H
    ffn_width: int  # F
    max_positions: int  # the longest text, in tokens
    norm_placement: NormPlacement = "post"  # norm(x + f(x)), or x + f(norm(x)) for "pre"
    final_norm: bool = False  # one more norm after the last layer; goes with pre-norm
    embedding_norm: bool = False  # a norm between embeddings and first layer, as in BERT
    norm_epsilon: float = 1e-5
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    segments: int = 0  # how many texts a token can belong to (BERT: 2); 0 for no segment embeddings
    bias: bool = True  # b in every x W + b; a norm's beta is always there

    def __post_init__(self) -> None:
        for name in ("vocabulary", "layers", "width", "heads", "ffn_width", "max_positions"):
            size = getattr(self, name)
            if not isinstance(size, int) or size < 1:
                raise ValueError(f"{name} is {size!r}; it must be a whole number, at least 1")
        if not isinstance(self.segments, int) or self.segments < 0:
            raise ValueError(f"segments is {self.segments!r}; it must be a whole number, 0 for no segment embeddings")
        if self.width % self.heads:
            fitting = self.heads * -(-self.width // self.heads)
            raise ValueError(
                f"width {self.width} does not divide into {self.heads} heads; "
                f"choose a width that is a multiple of {self.heads}, such as {fitting}"
            )
        if not (isfinite(self.norm_epsilon) and self.norm_epsilon > 0):
            raise ValueError(
                f"norm_epsilon is {self.norm_epsilon}; it must be above 0, or the norm of equal features divides by 0"
            )
        for name, choices in (("norm_placement", NormPlacement), ("activation", Activation), ("positions", Positions)):
            if getattr(self, name) not in get_args(choices):
                raise ValueError(
                    f"{name} {getattr(self, name)!r} is unknown; choose one of {', '.join(get_args(choices))}"
                )
        if self.final_norm and self.norm_placement == "post":
            raise ValueError(
                f"final_norm=True with norm_placement='post': each of the {self.layers} layers ends in a norm already; "
                "leave final_norm out or choose norm_placement='pre'"
            )

    @property
    def head_width(self) -> int:
        """E = D / H."""
        return self.width // self.heads
