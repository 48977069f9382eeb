"""Made worlds: a model with other weights, or networks that do not learn, in which a question is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn

from inspector import examples
from inspector.questions.index import BY_NUMBER
from inspector.questions.record.subject import Subject
from models import LoadedModel
from models.training import lab

Numbers = dict[str, float]


@contextmanager
def other_weights(network: nn.Module, change: Callable[[str, Tensor], Tensor | None]) -> Iterator[None]:
    """Give parameters other values for a while: `change` takes a name and a value and returns a value or None."""
    before = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    try:
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if (value := change(name, before[name])) is not None:
                    parameter.copy_(value)
        yield
    finally:
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(before[name])


def measured(number: int, loaded: LoadedModel, text: str = examples.FIRST) -> tuple[Numbers, list[bool]]:
    """Measure a question anew -> its numbers, and for each part whether it holds."""
    question = BY_NUMBER[number]
    assert question.measure is not None
    numbers = dict(question.measure(Subject(loaded, text)).numbers)
    return numbers, [part.holds(numbers) for part in question.parts]


def nothing_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every training of the Lab go on with a learning rate of 0."""
    monkeypatch.setattr(lab, "learning_rate", lambda step, **_: 0.0)
