"""The inside of every layer of one run: what went in, what each sublayer added, and the FFN's own input.

Linear in the text, and without the model: matrices are kept by their names, and what is FFN-wide is computed again
from the input and the network when it is asked for.

Shapes: Q query positions, D width, F FFN width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Array = NDArray[np.floating[Any]]
Part = Literal["attention", "cross", "ffn"]

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        "relu": functional.relu,  # max(0, x)
        "gelu": functional.gelu,  # x Phi(x), Hendrycks & Gimpel 2016
        "gelu_tanh": partial(functional.gelu, approximate="tanh"),
        "silu": functional.silu,  # x sigmoid(x)
        "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),  # of CLIP
        "relu2": lambda x: functional.relu(x).square(),  # So et al. 2021
        "tanh": torch.tanh,
        "mish": functional.mish,
    }
)
"""The activation functions that an FFN is held to, by name."""


@dataclass(frozen=True)
class Matrix:
    """A learned matrix of a network, by the paths of its parameters: y = x W + b.

    flipped: True where the parameter is [out, in], as nn.Linear keeps it; XLNet's are [D, H, E] both ways. columns:
    which outputs, where one parameter holds two matrices side by side; None for all.
    """

    name: str
    bias: str | None
    flipped: bool
    columns: tuple[int, int] | None = None

    def weight(self, network: nn.Module) -> Tensor:
        """Return W, [in, out]: a view of the network's own parameter."""
        parameter = network.get_parameter(self.name).detach().flatten(1)
        whole = parameter.T if self.flipped else parameter
        return whole if self.columns is None else whole[:, slice(*self.columns)]

    def offset(self, network: nn.Module) -> Tensor | None:
        """Return b, [out]; None where the matrix has none."""
        if self.bias is None:
            return None
        whole = network.get_parameter(self.bias).detach()
        return whole if self.columns is None else whole[slice(*self.columns)]

    def times(self, x: Tensor, network: nn.Module) -> Tensor:
        """x [..., in] -> x W + b [..., out], on the parameter's device and in its dtype."""
        weight = self.weight(network)
        return functional.linear(x.to(weight), weight.T, self.offset(network))


@dataclass(frozen=True, eq=False)
class FFNRecord:
    """One run of an FFN: its input [Q, D], its activation (a name of ACTIVATIONS) and its matrices.

    FFN(x) = act(x W_up + b) W_down + b, or with a gate (act(x W_gate + b) * (x W_up + b)) W_down + b (Shazeer 2020).
    call: which FFN of a layer that has several.
    """

    stream: str
    layer: int
    call: int
    input: Array
    activation: str
    up: Matrix
    gate: Matrix | None
    down: Matrix

    def pre_activations(self, network: nn.Module, *, rows: slice = slice(None)) -> Tensor:
        """Compute what goes into the activation function, float32 [rows, F]: of the gate where there is one."""
        return (self.gate or self.up).times(torch.tensor(self.input[rows]), network).float().cpu()

    def hidden(self, network: nn.Module, *, rows: slice = slice(None)) -> Tensor:
        """Compute what the second matrix is given, float32 [rows, F]: activated, and times the other half of a gate."""
        return self.activated(torch.tensor(self.input[rows]), network).float().cpu()

    def output(self, network: nn.Module, *, rows: slice = slice(None)) -> Tensor:
        """Compute what the FFN gives, float32 [rows, D]."""
        return self.applied(torch.tensor(self.input[rows]), network)

    def activated(self, x: Tensor, network: nn.Module) -> Tensor:
        """x [..., D] -> [..., F]: the units of the FFN for any input."""
        act = ACTIVATIONS[self.activation]
        if self.gate is None:
            return act(self.up.times(x, network))
        return act(self.gate.times(x, network)) * self.up.times(x, network)

    def applied(self, x: Tensor, network: nn.Module) -> Tensor:
        """x [..., D] -> FFN(x) [..., D], float32 on the CPU: the FFN for any input."""
        return self.down.times(self.activated(x, network), network).float().cpu()


@dataclass(frozen=True, eq=False)
class Addition:
    """The states that a sublayer added to the residual stream: [Q, D]; None where no sum took them.

    beside: True where the sublayer read the stream before the sublayer ahead of it had added to it (parallel blocks).
    """

    part: Part
    added: Array | None
    beside: bool = False


@dataclass(frozen=True, eq=False)
class LayerRecord:
    """One run of a layer: the residual stream that enters and leaves it [Q, D], and its sublayers in their order.

    matrices: the matrices that the layer multiplied by, in their order: what each is for (q, k, v, out, up, gate, down;
    several with "+" between them where one matrix makes them; "" where it is not known) and the matrix.
    """

    stream: str
    layer: int
    enters: Array
    leaves: Array
    additions: tuple[Addition, ...]
    matrices: tuple[tuple[str, Matrix], ...]

    def matrix(self, role: str) -> Matrix | None:
        """The matrix of a role of its own ("q", "out", ...); None where there is none, or one for several roles."""
        matrices = [matrix for name, matrix in self.matrices if name == role]
        return matrices[0] if len(matrices) == 1 else None


@dataclass(frozen=True, eq=False)
class Blocks:
    """The inside of all layers of one run.

    refused: for each layer whose FFN is not shown, (stream, layer, reason). head: the matrix that made the logits, and
    embedding: the table that the tokens' rows came from; "" where they are not known.
    """

    layers: tuple[LayerRecord, ...]
    ffns: tuple[FFNRecord, ...]
    refused: tuple[tuple[str, int, str], ...]
    embedding: str = ""

    def ffn(self, stream: str, layer: int) -> FFNRecord | None:
        """The first FFN of a layer; None where it is not shown."""
        return next((ffn for ffn in self.ffns if (ffn.stream, ffn.layer) == (stream, layer)), None)

    def of(self, stream: str) -> tuple[LayerRecord, ...]:
        """The layers of a stream, in their order."""
        return tuple(layer for layer in self.layers if layer.stream == stream)


@dataclass(frozen=True, eq=False)
class HeadRecord:
    """The product that made the logits of some positions: its matrix [D, V] and its input, [positions, D]."""

    matrix: Matrix
    input: Array
