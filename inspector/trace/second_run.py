"""A trace compared with a second run of its model on the same tokens, as data; probe/second_run.py makes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from inspector.trace.trace import Refusal

Compared = Literal["queries", "keys", "values", "maps", "norms", "residual stream", "last hidden state"]
"""The kinds of numbers that are compared; maps by what they make of the values, A V."""


@dataclass(frozen=True)
class HeldDifference:
    """The largest difference of one kind of numbers in one place.

    relative: to the largest entry of what is compared there. tolerance: what rounding explains. stream, layer, head:
    where; None where there is no layer, or no head.
    """

    what: Compared
    relative: float
    tolerance: float
    stream: str
    layer: int | None = None
    head: int | None = None

    @property
    def holds(self) -> bool:
        """True where rounding explains the difference."""
        return self.relative <= self.tolerance

    @property
    def name(self) -> str:
        """The kind of numbers and their place, such as "maps of layer 3, head 1 (encoder)"."""
        layer = "" if self.layer is None else f" of layer {self.layer}"
        head = "" if self.head is None else f", head {self.head}"
        return f"{self.what}{layer}{head} ({self.stream})"

    def __str__(self) -> str:
        return f"{self.name} within {self.relative:.1e} ({self.tolerance:.1e} is rounding)"


@dataclass(frozen=True)
class SecondRun:
    """A trace held to a second run of its model on the same tokens.

    differences: of each kind of numbers the worst against its tolerance. mislabelled: a sentence for each label (a
    token, a layer, a norm's place) that the second run contradicts. calls: how many attentions ran; fused: how many of
    them in torch's fused kernel, which shares no code with the recorded path; the others ran in the model's own
    function. not_held: what of the recording is not shown, and so not held, with the reason.
    """

    differences: tuple[HeldDifference, ...]
    mislabelled: tuple[str, ...]
    calls: int
    fused: int
    not_held: tuple[Refusal, ...] = ()

    @property
    def worst(self) -> HeldDifference:
        """The difference that is the largest against what rounding explains."""
        return worst(self.differences)

    @property
    def largest(self) -> float:
        """The largest relative difference of all."""
        return max(difference.relative for difference in self.differences)

    @property
    def holds(self) -> bool:
        """True if rounding explains every difference, and every label is the second run's."""
        return not self.mislabelled and all(difference.holds for difference in self.differences)

    def __str__(self) -> str:
        kernel = "torch's fused attention" if self.fused == self.calls else "the model's own attention"
        if 0 < self.fused < self.calls:
            kernel = f"torch's fused attention in {self.fused} of {self.calls} calls, the model's own in the others"
        wrong = [str(difference) for difference in self.differences if not difference.holds]
        faults = [f"beyond rounding: {', '.join(wrong)}"] if wrong else []
        faults += [f"mislabelled: {'; '.join(self.mislabelled)}"] if self.mislabelled else []
        return f"run a second time in {kernel}: {'; '.join(faults or [f'{self.worst}, which is the worst'])}"


def worst(differences: Iterable[HeldDifference]) -> HeldDifference:
    """Find the difference that is the largest against what rounding explains."""
    return max(differences, key=lambda difference: difference.relative / difference.tolerance)
