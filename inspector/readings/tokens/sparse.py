"""Readings of the section Sparse masks: what a rule shows, how far it reaches, and when it pays off."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.costs.clock import LayerShape
from inspector.long_texts import Causal, Pattern, layers_to_reach, pays_off, saving, seen

HALF, TENTH = 0.5, 0.1


@dataclass(frozen=True)
class Masked:
    """A rule on a text of `tokens` tokens.

    cells: that it shows; causal: those of them that a causal mask shows too. fewest, most: keys that a query sees.
    layers: until every token can reach every token, None for never.
    """

    tokens: int
    cells: int
    causal: int
    fewest: int
    most: int
    layers: int | None

    @property
    def share(self) -> float:
        """Share of all pairs."""
        return self.cells / self.tokens**2


@dataclass(frozen=True)
class Worth:
    """A rule in a model's layers: what it saves at this length, and the lengths from which it saves a tenth and half.

    None for a length that there is not.
    """

    saved: float
    tenth: int | None
    half: int | None


def masked(pattern: Pattern, tokens: int) -> Masked:
    """Read a rule on so many tokens."""
    shown = seen(pattern, tokens)
    by_query = shown.sum(axis=1)
    return Masked(
        tokens=tokens,
        cells=pattern.cells(tokens),
        causal=int((shown & seen(Causal(), tokens)).sum()),
        fewest=int(by_query.min()),
        most=int(by_query.max()),
        layers=layers_to_reach(shown),
    )


def worth(pattern: Pattern, shape: LayerShape, *, tokens: int) -> Worth:
    """Read what a rule saves of a layer's FLOPs."""
    return Worth(
        saving(shape, pattern, tokens),
        pays_off(shape, pattern, share=TENTH),
        pays_off(shape, pattern, share=HALF),
    )
