"""transformers' own networks with plain hooks: what the tests of patches and cuts are held to; nothing of ours runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from inspector.patching import Answer, Uncut
from inspector.trace import Trace
from tests.closeness import assert_close

Change = Callable[[Tensor], Tensor]


def modules(network: nn.Module, pattern: str) -> list[nn.Module]:
    """The modules whose path ends so, in order."""
    return [module for name, module in network.named_modules() if re.search(pattern, name)]


@contextmanager
def given(module: nn.Module, change: Change) -> Iterator[None]:
    """Change what a module is given."""

    def hook(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if inputs:
            return (change(inputs[0]), *inputs[1:]), named
        name = next(name for name, value in named.items() if isinstance(value, Tensor))
        return inputs, {**named, name: change(named[name])}

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    yield
    handle.remove()


@contextmanager
def made(module: nn.Module, change: Change) -> Iterator[None]:
    """Change what a module gives."""

    def hook(module: nn.Module, inputs: Any, output: Any) -> Any:
        return change(output) if isinstance(output, Tensor) else (change(output[0]), *output[1:])

    handle = module.register_forward_hook(hook)
    yield
    handle.remove()


@torch.no_grad()
def logits_of(network: Any, trace: Trace, position: int, *changes: Any) -> Tensor:
    """Run a network with hooks and return its logits at a position in float64."""
    inputs = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        inputs["decoder_input_ids"] = torch.tensor([trace.target.ids])
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(change)
        return network(**inputs).logits[0, position].double()


def answered(network: Any, trace: Trace, answer: Answer, *changes: Any) -> float:
    """The answer of a run with hooks."""
    return difference(logits_of(network, trace, answer.position, *changes), answer)


def difference(logits: Tensor, answer: Answer) -> float:
    """The answer's logit, less that of the token that it is held against."""
    return float(logits[answer.token] - (0 if answer.against is None else logits[answer.against]))


def hold_answer(after: float, network: Any, of: Uncut, *changes: Any) -> None:
    """Hold a measured answer to the answer of a run with hooks, within 1e-5 of the largest logit."""
    logits = logits_of(network, of.trace, of.answer.position, *changes)
    assert_close(after, difference(logits, of.answer), relative=1e-5, scale=logits)


@torch.no_grad()
def seen(network: Any, trace: Trace, module: nn.Module, *, given_to: bool) -> Tensor:
    """Return what a module is given, or gives, in a run without changes."""
    kept: list[Tensor] = []

    def keep(x: Tensor) -> Tensor:
        kept.append(x.clone())
        return x

    answered(network, trace, Answer(position=0, token=0), (given if given_to else made)(module, keep))
    return kept[-1]
