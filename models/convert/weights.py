"""The weights of another implementation, taken over one by one until none is left."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from models.transformer.config import Activation

ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}


def activation(name: str) -> Activation:
    """transformers' name of an activation -> the own one; ValueError where there is none."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation {name!r} is not supported; only {', '.join(ACTIVATIONS)} are")
    return ACTIVATIONS[name]


class Weights:
    """A state dict to take from: every weight once, as a copy.

    ignored: prefixes of what the own Transformer does not have (a pooler).
    """

    def __init__(self, state: Mapping[str, Tensor], *, ignored: tuple[str, ...] = ()) -> None:
        self._left = {name: weight for name, weight in state.items() if not name.startswith(ignored)}

    def take(self, name: str) -> Tensor:
        """The weight of that name, as a copy; ValueError where it is missing."""
        if name not in self._left:
            raise ValueError(
                f"the model has no weight {name}; merge adapters and undo changes to its modules before converting"
            )
        return self._left.pop(name).clone()

    def linear(self, theirs: str, ours: str, *, bias: bool = True) -> dict[str, Tensor]:
        """A matrix and its bias under their own names."""
        names = ("weight", "bias") if bias else ("weight",)
        return {f"{ours}.{name}": self.take(f"{theirs}.{name}") for name in names}

    def norm(self, theirs: str, prefix: str, *, beta: bool = True) -> dict[str, Tensor]:
        """gamma and beta under their own names."""
        names = {"weight": "gamma", "bias": "beta"} if beta else {"weight": "gamma"}
        return {f"{prefix}.{ours}": self.take(f"{theirs}.{name}") for name, ours in names.items()}

    def finish(self) -> None:
        """Raise ValueError where something was not taken."""
        if odd := sorted(self._left):
            raise ValueError(
                f"{len(odd)} of the model's weights are not those of the plain architecture, the first is {odd[0]}; "
                "merge adapters and undo changes to its modules before converting"
            )
