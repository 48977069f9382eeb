"""A field of a record that is computed when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OnDemand(Generic[T]):
    """A dataclass field that may be given as a function of its record: called once, when the field is first read.

    ```python
    @dataclass(frozen=True)
    class Text:
        words: str
        length: OnDemand[int] = OnDemand()


    Text("a cat", length=lambda text: len(text.words)).length  # 5
    ```
    default: what the field is where nothing is given; without a default the field must be given.
    """

    def __init__(self, *default: T) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: object | None, owner: type) -> T:
        """Return the value; called on the class itself, dataclasses ask for the default."""
        if record is None:
            if not self._default:
                raise AttributeError(f"{self._name} has no default")
            return self._default[0]
        held = vars(record)  # the descriptor goes before it, so the name is free
        if callable(held[self._name]):
            held[self._name] = held[self._name](record)
        value: T = held[self._name]
        return value

    def __set__(self, record: object, value: T | Callable[[Any], T]) -> None:
        """Keep the value, or the function that computes it; a frozen dataclass alone sets it, once."""
        vars(record)[self._name] = value
