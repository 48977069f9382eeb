"""The costs of one training step, from the forward's FLOPs and the number of parameters.

A product C = A B has two gradients, dA = dC Bᵀ and dB = Aᵀ dC, of as many FLOPs each: the backward costs twice the
forward, and the step three times (Kaplan et al. 2020, section 2.1). Adam (Kingma & Ba 2015) keeps two running means of
every gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

_ADAM_BYTES = 8  # a parameter: the means of the gradient and of its square, in float32


@dataclass(frozen=True)
class TrainingStep:
    """FLOPs of the matrix products of one step, and the bytes that stay from step to step; activations apart.

    weights, gradients: in the training's dtype. optimizer: Adam's two float32 numbers a parameter.
    """

    forward: int
    backward: int
    weights: int
    gradients: int
    optimizer: int

    @property
    def flops(self) -> int:
        """The FLOPs of the whole step."""
        return self.forward + self.backward

    @property
    def bytes(self) -> int:
        """The bytes that stay, together."""
        return self.weights + self.gradients + self.optimizer


def training_step(forward: int, parameters: int, *, element_bytes: int = 4) -> TrainingStep:
    """Derive a step with Adam from the forward's FLOPs and the parameters; raises ValueError for negative numbers."""
    if min(forward, parameters) < 0 or element_bytes < 1:
        raise ValueError(f"forward {forward}, parameters {parameters}, element_bytes {element_bytes}: none is a count")
    size = element_bytes * parameters
    return TrainingStep(forward, 2 * forward, size, size, _ADAM_BYTES * parameters)
