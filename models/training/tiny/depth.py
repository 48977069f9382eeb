"""The layers of a network under training: gradients, sizes and means by depth, on the same texts each time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from models.attention import Stream
from models.training.tiny.puzzles import PuzzleTexts
from models.training.tiny.solvers import Solver, layers
from models.transformer.feedforward import GatedFeedForward


@dataclass(frozen=True)
class LayerState:
    """A layer at one moment of the training.

    mean and deviation describe the FFN's inner units before the activation, over all tokens and units: the inputs whose
    drift was named internal covariate shift (Ioffe & Szegedy 2015).
    """

    stream: Stream
    layer: int
    gradient: float  # length of the loss's gradient in all weights of the layer
    size: float  # root mean square of the residual stream after the layer
    mean: float
    deviation: float
    off: float  # share of the FFN's inner units that are below 0 for every token: with ReLU they give and learn nothing


def measure(network: Solver, texts: PuzzleTexts) -> tuple[LayerState, ...]:
    """Measure every layer on these texts, without dropout; the network and its gradients stay as they are.

    An RNN has no such layers, so nothing is measured.
    """
    if not layers(network):
        return ()
    after: list[Tensor] = []
    inner: list[Tensor] = []
    training = network.training
    network.eval()
    with ExitStack() as hooks:
        for layer in dict.fromkeys(layer for _, layer in layers(network)):  # a shared layer stands in many places
            hooks.callback(layer.register_forward_hook(_keep(after)).remove)
            up = layer.ffn.gate if isinstance(layer.ffn, GatedFeedForward) else layer.ffn.up
            hooks.callback(up.register_forward_hook(_keep(inner)).remove)
        loss = cross_entropy(network(texts), texts)
    count = len(layers(network))  # a text in segments goes through each layer once a segment
    after, inner = ([torch.cat(made[place::count], dim=1) for place in range(count)] for made in (after, inner))
    parameters = [list(layer.parameters()) for _, layer in layers(network)]
    flat = list(dict.fromkeys(parameter for some in parameters for parameter in some))
    gradients = torch.autograd.grad(loss, flat, allow_unused=True)
    network.train(training)
    squares = {
        parameter: 0.0 if gradient is None else float(gradient.double().square().sum())
        for parameter, gradient in zip(flat, gradients, strict=True)
    }
    states, places = [], {"encoder": 0, "decoder": 0, "cross": 0}
    for (stream, _), x, units, weights in zip(layers(network), after, inner, parameters, strict=True):
        states.append(
            LayerState(
                stream,
                places[stream],
                gradient=sum(squares[parameter] for parameter in weights) ** 0.5,
                size=float(x.square().mean().sqrt()),
                mean=float(units.mean()),
                deviation=float(units.std()),
                off=float((units.flatten(0, 1) <= 0).all(dim=0).float().mean()),
            )
        )
        places[stream] += 1
    return tuple(states)


def cross_entropy(scores: Tensor, texts: PuzzleTexts) -> Tensor:
    """Return the mean loss of the places that are asked for, in nats: scores [B, m, symbols] -> a number."""
    return nn.functional.cross_entropy(scores[texts.asked], texts.wanted[texts.asked])


def _keep(outputs: list[Tensor]) -> Callable[[nn.Module, Any, Tensor], None]:
    def hook(module: nn.Module, given: Any, made: Tensor) -> None:
        outputs.append(made.detach())

    return hook
