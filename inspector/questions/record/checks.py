"""Checks: relations that must hold of measured numbers, each with its tolerance in sight.

```python
check = near("variance_by_width", 1, within=0.05)
check.holds({"variance_by_width": 0.111})  # False
check.needs  # "1 ± 5 %"
```

A number that is not finite fulfils no check but `above` and `below`, which infinity can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inspector.questions.record.both import Both

Relation = Literal["<", "≤", ">", "≥", "=", "±", "± %"]
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class NumberCheck:
    """A relation of a measured number to a bound: a constant, or another measured number times a factor.

    number: the name of the measured number. bound: a constant, or the name of the other number. times: the factor of
    the other number. within: the tolerance, absolute for "±" and a share of the bound for "± %". why: the name of a
    reason for the bound, or a reason of its own; see reasons.py.
    """

    number: str
    relation: Relation
    bound: float | str
    within: float = 0.0
    times: float = 1.0
    why: str | Both = ""

    def holds(self, numbers: Numbers) -> bool:
        """Return True if the relation holds; KeyError for a number that was not measured."""
        value, bound = numbers[self.number], self._bound(numbers)
        if math.isnan(value) or math.isnan(bound):
            return False
        match self.relation:
            case "<":
                return value < bound
            case "≤":
                return value <= bound
            case ">":
                return value > bound
            case "≥":
                return value >= bound
            case "=":
                return value == bound
            case "±":
                return abs(value - bound) <= self.within
            case "± %":
                return abs(value - bound) <= self.within * abs(bound)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the numbers that the check reads."""
        return (self.number, self.bound) if isinstance(self.bound, str) else (self.number,)

    @property
    def needs(self) -> str:
        """The bound in signs alone, with the name of another number: "< 1e-6", "1 ± 5 %", "> 10 × median"."""
        if isinstance(self.bound, str):
            bound = self.bound if self.times == 1 else f"{self.times:.3g} × {self.bound}"
        else:
            bound = f"{self.bound:,.3g}" if abs(self.bound) < 1000 else f"{self.bound:,.10g}"
        if self.relation == "±":
            return f"{bound} ± {self.within:.3g}"
        if self.relation == "± %":
            return f"{bound} ± {100 * self.within:.3g} %"
        return f"{self.relation} {bound}"

    def _bound(self, numbers: Numbers) -> float:
        return self.times * numbers[self.bound] if isinstance(self.bound, str) else self.bound


def below(number: str, bound: float | str, *, times: float = 1.0) -> NumberCheck:
    """The number is less than the bound, or than `times` another number."""
    return NumberCheck(number, "<", bound, times=times)


def above(number: str, bound: float | str, *, times: float = 1.0) -> NumberCheck:
    """The number is more than the bound, or than `times` another number."""
    return NumberCheck(number, ">", bound, times=times)


def at_most(number: str, bound: float | str, *, times: float = 1.0) -> NumberCheck:
    """The number is the bound at most."""
    return NumberCheck(number, "≤", bound, times=times)


def at_least(number: str, bound: float | str, *, times: float = 1.0) -> NumberCheck:
    """The number is the bound at least."""
    return NumberCheck(number, "≥", bound, times=times)


def equal(number: str, bound: float | str) -> NumberCheck:
    """The number is exactly the bound: for what is counted."""
    return NumberCheck(number, "=", bound)


def near(number: str, bound: float | str, *, within: float, times: float = 1.0) -> NumberCheck:
    """The number differs from the bound by a share of it, `within`, at most: 0.05 is 5 %."""
    return NumberCheck(number, "± %", bound, within=within, times=times)


def around(number: str, bound: float | str, *, within: float, times: float = 1.0) -> NumberCheck:
    """The number differs from the bound by `within` at most, in its own unit."""
    return NumberCheck(number, "±", bound, within=within, times=times)
