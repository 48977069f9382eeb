"""Made worlds: a model with other weights, or networks that do not learn, in which a question is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import pytest
import torch
from torch import Tensor, nn

import models
from inspector import examples
from inspector.questions import asking
from inspector.questions.asking import Answer
from inspector.questions.index import BY_NUMBER
from inspector.questions.record.subject import Subject
from models import LoadedModel
from models.training import lab
from models.transformer.runner import OwnRunner

Numbers = dict[str, float]
Change = Callable[[nn.Module], None]


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


@cache
def _loaded(model: str) -> models.LoadedModel:
    return models.load(model)


def made(model: str, change: Change) -> models.LoadedModel:
    """One of the project's own networks, loaded for this and changed."""
    loaded = models.load(model)
    assert isinstance(loaded.runner, OwnRunner)
    with torch.no_grad():
        change(loaded.runner.whole)
    return loaded


def ask(number: int, loaded: models.LoadedModel | str, text: str = "") -> Answer:
    """Ask a question of a model, on the model's example where there is no text; it must be answered."""
    loaded = _loaded(loaded) if isinstance(loaded, str) else loaded
    found = asking.ask(asking.find(number), Subject(loaded, text or examples.of(loaded.card.id)))
    assert not found.problem, found.problem
    return found


def scaled(*parts: str, by: float) -> Change:
    """Change every weight and bias whose name ends a part of it with one of these, such as "query"."""

    def change(network: nn.Module) -> None:
        named = network.named_parameters()
        found = [parameter for name, parameter in named if set(parts) & set(name.split("."))]
        assert found, parts
        for parameter in found:
            parameter.mul_(by)

    return change
