"""Calls of experts, read and made again: which expert and weight each token was given, and one expert alone.

transformers hands the router's logits out in some families only, but every family gives its experts the choices. Three
ways are known: tokens, chosen experts and weights as arguments (all families but two); tokens multiplied by their
weights, once for each expert (Llama 4); tokens sorted by expert (JetMoE). A part of the probe.

Shapes: Q tokens, C chosen experts a token, N experts, D width, n tokens of one expert.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

OTHER_ARGUMENTS = "its experts are not given tokens, chosen experts and weights"
OF_ATTENTION = "its attention chooses experts too, each with queries of its own, which are not shown"
Way = Literal["arguments", "scaled", "sorted", "attention", "unknown"]

_instead: ContextVar[Mapping[int, Any] | None] = ContextVar("outputs_instead", default=None)


@dataclass(frozen=True, eq=False)
class ExpertsPlace:
    """A mixture of experts in a network. path, block: the module that gives what tokens get of its experts.

    way: how its experts are called. chooser: the module whose call tells the choices: the experts, or the router where
    these are not told. experts: None where the block itself runs its experts. beside: modules of the layer that all
    tokens go through, and whose output is added to the block's (Granite).
    """

    path: str
    block: nn.Module
    way: Way
    chooser: nn.Module
    experts: nn.Module | None
    beside: tuple[nn.Module, ...]


def places_of_experts(network: nn.Module) -> list[ExpertsPlace]:
    """Find every mixture of experts of a network, by the names of its classes and the arguments of their functions."""
    modules = dict(network.named_modules())
    places = []
    for path, module in modules.items():
        name = type(module).__name__
        owner, _, attribute = path.rpartition(".")
        block = modules[owner]
        if name.endswith("Experts") and not attribute.startswith("shared") and not name.endswith("ParallelExperts"):
            router = getattr(block, "router", None)
            takes = len(inspect.signature(type(module).forward).parameters) - 1
            scaled = takes == 1 and isinstance(router, nn.Module)
            way: Way = "arguments" if takes == 3 and _count(module) else "scaled" if scaled else "unknown"
            chooser = router if scaled and isinstance(router, nn.Module) else module
            places.append(ExpertsPlace(owner, block, way, chooser, module, _beside(modules, owner)))
        elif name.endswith("TopKGating") and hasattr(block, "output_linear"):
            way = "attention" if hasattr(block, "reduce") else "sorted"
            places.append(ExpertsPlace(owner, block, way, module, None, ()))
    return places


def _count(experts: nn.Module) -> int:
    """Return how many experts a module has, those that hand a token on as it is among them; 0 where it does not say."""
    counts = (getattr(experts, name, None) for name in ("total_experts", "num_experts", "n_routed_experts"))
    return next((count for count in counts if isinstance(count, int)), 0)


def _beside(modules: Mapping[str, nn.Module], block: str) -> tuple[nn.Module, ...]:
    """List the modules beside a block that are named as shared."""
    owner, _, name = block.rpartition(".")
    children = modules[owner].named_children() if block else ()
    return tuple(module for other, module in children if other.startswith("shared") and other != name)


@contextmanager
def instead(module: nn.Module, output: Any) -> Iterator[None]:
    """Let a module give `output` inside the block, in this thread alone; `replaced` and `shortened` are its hooks."""
    token = _instead.set({id(module): output})
    try:
        yield
    finally:
        _instead.reset(token)


def replaced(module: nn.Module, output: Any) -> Any:
    """Return what stands in the place of a module's output."""
    return (_instead.get() or {}).get(id(module), output)


def shortened(module: nn.Module, given: Sequence[Any]) -> Sequence[Any]:
    """Leave a token or two of the arguments of experts whose output is replaced, so that they cost nothing."""
    if id(module) not in (_instead.get() or {}):
        return given
    if len(given) == 1:  # as many as there are experts
        (count,) = {len(parameter) for parameter in module.parameters()}
        return (given[0].reshape(count, -1, given[0].shape[-1])[:, 0],)
    tokens, *others = given
    return (tokens[:1] if tokens.dim() == 2 else tokens[:1, :1], *(part[:1] for part in others))


def arguments(module: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a module's call in the order of its function."""
    return tuple(inspect.signature(module.forward).bind(*args, **named).arguments.values())


def rows_of(output: Any) -> Tensor:
    """Bring the states of one sequence to [Q, D]; a block may give others beside them (the router's logits)."""
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states.reshape(-1, states.shape[-1])


@dataclass(frozen=True, eq=False)
class GivenChoices:
    """A call with tokens, chosen experts and weights; Switch gives the choices as 0 and 1 for each expert."""

    experts: nn.Module
    tokens: Tensor
    count: int
    chosen: Tensor
    weights: Tensor
    one_hot: bool
    idle: int
    again: Callable[[], Any]
    shape: torch.Size
    weighs: Literal["output", "input"] = "output"

    @classmethod
    def read(cls, place: ExpertsPlace, given: Sequence[Any], output: Tensor, again: Callable[[], Any]) -> GivenChoices:
        """Read the arguments of the experts' module: tokens, chosen experts and weights."""
        assert place.experts is not None
        tokens, index, weights = given
        count = _count(place.experts)
        one_hot = index.dim() == 3
        chosen = index.argmax(dim=-1) if one_hot else index
        if one_hot:
            weights = weights * index.sum(dim=-1)  # an expert that is full takes no more tokens
        idle = getattr(place.experts, "num_routed_experts", count)
        return cls(place.experts, tokens, count, chosen, weights, one_hot, idle, again, output.shape)

    def alone(self, expert: int, rows: Tensor, weights: Tensor) -> Tensor:
        """Give the expert its tokens at weight 1."""
        tokens = rows_of(self.tokens)[rows]
        slots = 1 if self.idle == self.count else 2  # LongCat's code loses the axis of a single one
        index = self.chosen.new_full((len(rows), slots), expert)
        if self.one_hot:
            index = functional.one_hot(index, self.count)
        ones = self.weights.new_zeros(len(rows), slots)
        ones[:, 0] = 1
        return rows_of(self.experts(tokens, index, ones))

    def block(self, total: Tensor) -> Tensor:
        """Run the block with another output of its experts."""
        with instead(self.experts, total.to(self.tokens).reshape(self.shape)):
            return rows_of(self.again())


@dataclass(frozen=True, eq=False)
class ScaledTokens:
    """A call with every token once for each expert, multiplied by its weight, which is 0 where it is not chosen."""

    experts: nn.Module
    tokens: Tensor
    count: int
    chosen: Tensor
    weights: Tensor
    idle: int
    again: Callable[[], Any]
    weighs: Literal["output", "input"] = "input"

    @classmethod
    def read(cls, place: ExpertsPlace, given: Sequence[Any], scores: Tensor, again: Callable[[], Any]) -> ScaledTokens:
        """Read the router's scores [Q, N], and what it was given: the tokens."""
        assert place.experts is not None
        count = scores.shape[-1]
        weights, chosen = scores.topk(int((scores > 0).sum(dim=-1).max()), dim=-1)
        return cls(place.experts, rows_of(given[0]), count, chosen, weights, count, again)

    def alone(self, expert: int, rows: Tensor, weights: Tensor) -> Tensor:
        """Give the expert its multiplied tokens, and zeros to the others."""
        tokens = self.tokens.new_zeros(self.count, len(rows), self.tokens.shape[-1])
        tokens[expert] = self.tokens[rows] * weights[:, None]
        output: Tensor = self.experts(tokens.flatten(0, 1)).reshape(tokens.shape)[expert]
        return output

    def block(self, total: Tensor) -> Tensor:
        """Run the block with the whole sum as the first expert's output."""
        outputs = self.tokens.new_zeros(self.count, *total.shape)
        outputs[0] = total
        with instead(self.experts, outputs.flatten(0, 1)):
            return rows_of(self.again())


@dataclass(frozen=True, eq=False)
class SortedTokens:
    """A call with tokens sorted by expert: the block is run with a router that chooses one expert for some tokens."""

    router: nn.Module
    count: int
    chosen: Tensor
    weights: Tensor
    idle: int
    again: Callable[[], Any]
    logits: Tensor
    weighs: Literal["output", "input"] = "output"

    @classmethod
    def read(cls, place: ExpertsPlace, output: Any, again: Callable[[], Any]) -> SortedTokens:
        """Read what the router gave: each sorted token's number and weight, and how many tokens each expert has."""
        _, numbers, gates, sizes, logits = output
        experts = torch.repeat_interleave(torch.tensor(sizes, device=numbers.device))
        order = numbers.argsort(stable=True)
        chosen, weights = (part[order].reshape(len(logits), -1) for part in (experts, gates))
        return cls(place.chooser, len(sizes), chosen, weights, len(sizes), again, logits)

    def alone(self, expert: int, rows: Tensor, weights: Tensor) -> Tensor:
        """Run the block on one expert's tokens, and take away what it adds without experts."""
        return self._run(expert, rows)[rows] - self._nothing()[rows]

    def block(self, total: Tensor) -> Tensor:
        """Add the sum to what the block adds without experts."""
        return self._nothing() + total

    def _nothing(self) -> Tensor:
        return self._run(0, self.chosen.new_zeros(0))

    def _run(self, expert: int, rows: Tensor) -> Tensor:
        sizes = [len(rows) if number == expert else 0 for number in range(self.count)]
        gates = self.weights.new_ones(len(rows))
        with instead(self.router, (torch.arange(len(rows)), rows, gates, sizes, self.logits)):
            return rows_of(self.again())


ExpertsCall = GivenChoices | ScaledTokens | SortedTokens
"""One run of a mixture of experts: its choices, and the ways to run its experts again.

count: N. chosen [Q, C], weights [Q, C]; a choice of weight 0 is none. weighs: the side of an expert that its weight
stands on. idle: the first of the experts that hand a token on as it is, N where there is none. alone: runs one expert
on the tokens `rows` [n] at weight 1, [n, D]; `weights` [n] are for inputs that are multiplied. block: runs the block
with `total` [Q, D] in the place of what its experts add together.
"""
