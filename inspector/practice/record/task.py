"""A task as a record: what is asked, the inputs that it is held to, and the mistakes that are known by their results.

A task's computation has stages, each a keyword argument with the right function as its default. A mistake names
stages and puts another function in their place, so that two mistakes at once are a computation too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from inspector.questions.record.both import Both

Level = Literal["first steps", "inside a layer", "writing", "beyond"]
Arguments = tuple[Any, ...]
"""A case's arguments: numpy arrays, numbers, and a dict of words."""
Stages = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Mistake:
    """A way to get a task wrong. said: its name, a clause, by which wording/chinese/practice_names.toml knows it.

    ways: stages that make the mistake, each a computation of its own; the first is the usual one.
    remark: the result is right but for numbers that the task does not ask for, so that it is said and not blamed.
    made_only: recorded tensors do not show it: it takes scores that lie hundreds apart.
    """

    said: str
    ways: tuple[Stages, ...]
    remark: bool = False
    made_only: bool = False


@dataclass(frozen=True)
class Case:
    """Arguments that a solution is held to. name: follows "on", and names the input in practice_names.toml too.

    square: lengths are equal, so that a product with the wrong axes goes through and shows which; it tells nothing that
    the others do not.
    """

    name: str
    arguments: Arguments
    square: bool = False


@dataclass(frozen=True)
class Task:
    """Something to write. function, parameters: the name and the parameters of what the reader defines.

    hints: the formula, a smaller case, the cause that is most often behind a wrong result. compute: the right result
    of a case's arguments in float64, and with stages the wrong one. result: the name of each part of what is returned,
    more than one where a tuple is. made, recorded: the inputs; recorded loads a model. kept: the places of arguments
    that must not be changed. exact: the result is a count, so that nothing is rounded.
    """

    number: int
    id: str
    level: Level
    function: str
    parameters: tuple[str, ...]
    title: Both
    asked: Both
    hints: tuple[Both, Both, Both]
    compute: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    made: Callable[[], tuple[Case, ...]]
    recorded: Callable[[], tuple[Case, ...]]
    result: tuple[str, ...] = ("result",)
    kept: tuple[int, ...] = ()
    exact: bool = False

    @property
    def signature(self) -> str:
        """The call as it is written: softmax(scores)."""
        return f"{self.function}({', '.join(self.parameters)})"
