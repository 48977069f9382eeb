"""Made worlds: a trained model with some of its weights changed, in which a sentence holds or fails by construction."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import nn

import models
from inspector import examples
from inspector.questions import asking
from inspector.questions.asking import Answer
from inspector.questions.record.subject import Subject
from models.transformer.runner import OwnRunner

Change = Callable[[nn.Module], None]


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
