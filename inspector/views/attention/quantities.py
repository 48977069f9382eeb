"""The quantities of the open head: weights, scores before softmax, how much is moved, a token's way through layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector.views.shell import caching, controls
from inspector.wording import attention as said

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.trace import Array, AttentionSite, Trace, WeightBlock
    from inspector.views.shell.session import Inspected


@dataclass(frozen=True)
class Quantity:
    """A quantity that a map can show.

    name: in the switch and the link. quantity: what a cell is, in the singular. differs: what sets it apart. alone: why
    several heads have no mean of it, "" where they have.
    """

    name: str
    title: str
    quantity: str
    differs: str
    alone: str = ""
    signed: bool = False

    @property
    def suffix(self) -> str:
        """The end of a file's name; the weights have none."""
        return "" if self.name == "weights" else f"-{self.name}"


QUANTITIES = {
    kind.name: kind
    for kind in (
        Quantity("weights", "Weights", "weight", said.WEIGHTS),
        Quantity(
            "scores",
            "Scores",
            "score",
            said.SCORES,
            alone=said.SCORES_ALONE,
            signed=True,
        ),
        Quantity(
            "norm-weighted",
            "Norm-weighted",
            "norm",
            said.NORM_WEIGHTED,
            alone=said.NORMS_ALONE,
        ),
        Quantity(
            "rollout",
            "Rollout from a token",
            "share",
            said.ROLLOUT,
            alone=said.ROLLOUT_ALONE,
        ),
    )
}


OF_A_SIGMOID = {
    "weights": said.SIGMOID_WEIGHTS,
    "scores": said.SIGMOID_SCORES,
}
"""Quantities in other words, where a sigmoid makes the weights."""


def choose() -> Quantity:
    """Draw the switch and return the quantity that the reader chose."""
    return QUANTITIES[controls.bar("What is shown", list(QUANTITIES), "kind", default="weights")]


def reader(
    inspected: Inspected,
    kind: Quantity,
    *,
    site: AttentionSite,
    number: int,
    on_block: Callable[[WeightBlock], None] | None = None,
) -> Callable[[slice], Array]:
    """Return a function that reads any token rows of a map of that kind, all keys: slice -> float32 [rows, T].

    on_block: called with each block of weights or scores that is read, see `Trace.window`. Raises ValueError where
    the kind needs the model and the model is not at hand, or its projections are not found.
    """
    trace = inspected.trace
    if kind.name == "norm-weighted":
        from inspector import flow
        from models.output_projection import find

        loaded = inspected.loaded
        if loaded is None:
            raise ValueError(said.no_projection(model=trace.model))
        projections = find(loaded)
        return lambda rows: flow.norm_weighted(
            trace, projections, layer=site.layer, head=number, stream=site.stream, call=site.call, queries=rows
        )
    recorded: Literal["weights", "scores"] = "scores" if kind.name == "scores" else "weights"
    return lambda rows: trace.window(
        layer=site.layer,
        head=number,
        stream=site.stream,
        call=site.call,
        queries=rows,
        keys=slice(None),
        kind=recorded,
        on_block=on_block,
    )


def caption(kind: Quantity, trace: Trace, values: Array, *, site: AttentionSite) -> str:
    """Write the caption of scores or norms: formula, unit and range."""
    from inspector.explain import formula

    finite = values[np.isfinite(values)]
    if kind.name == "norm-weighted":
        return said.norms_read(top=finite.max())
    masked = "" if len(finite) == values.size else " Grey cells are masked."
    written = formula(trace.record_of(site.layer, site.stream, call=site.call))
    return said.scores_read(low=finite.min(), high=finite.max(), written=written, masked=masked)


def differs(kind: Quantity, trace: Trace, *, site: AttentionSite) -> str:
    """Say what sets a quantity apart in this attention: a sigmoid makes each weight by itself, of its score alone."""
    normalised = trace.record_of(site.layer, site.stream, call=site.call).function.normalised
    return kind.differs if normalised else OF_A_SIGMOID.get(kind.name, kind.differs)


def handed_over(inspected: Inspected, *, site: AttentionSite, number: int) -> NDArray[np.float64]:
    """||v_j W_O|| of each key of a head, [T]; after `reader` found the model and its projections."""
    from inspector import flow
    from models.output_projection import find

    trace, loaded = inspected.trace, inspected.loaded
    assert loaded is not None  # reader refused

    def make() -> NDArray[np.float64]:
        value_norms = flow.value_norms(trace, find(loaded), layer=site.layer, stream=site.stream, call=site.call)
        return value_norms.projected

    norms = caching.cached((trace.key, "value norms", site.stream, site.layer, site.call), make)
    of_head: NDArray[np.float64] = norms[number]
    return of_head
