"""Dropped heads: at the seam, where every model's attention passes, the output of chosen heads is set to zero.

MHAtt(x) = sum_h xi_h Att_h(x): a dropped head has xi_h = 0, every other 1 (Michel, Levy & Neubig 2019, section 2.3).
Att_h(x) here is the head's mix A V before W_O, so that what a layer without heads gives is the bias of its W_O.

Shapes: B batch, H heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from models.attention.running_layer import CallPlaces, Stream, following, running_layer


class ModelHead(NamedTuple):
    """A head of a model: layer and call as in a recording; call is 0 but in a layer that attends more than once."""

    stream: str
    layer: int
    head: int
    call: int = 0


HeadLike = ModelHead | tuple[str, int, int]
"""A head, or (stream, layer, head) for short."""
NamedHead = HeadLike | tuple[int, int]
"""A head as a reader names it: (layer, head) where the model has one stream."""


@dataclass
class _Forward:
    """A forward with dropped heads. places: numbers the attention calls."""

    heads: frozenset[ModelHead]
    places: CallPlaces = field(default_factory=CallPlaces)


# A context variable, not a global: two visitors share one loaded model, each thread sees its own.
_forward: ContextVar[_Forward | None] = ContextVar("dropped_heads", default=None)


@contextmanager
def dropping(heads: Iterable[HeadLike]) -> Iterator[None]:
    """Drop these heads in one forward inside the block, in this thread alone."""
    token = _forward.set(_Forward(frozenset(ModelHead(*head) for head in heads)))
    try:
        with following():
            yield
    finally:
        _forward.reset(token)


def without_dropped(x: Tensor, stream: Stream) -> Tensor:
    """Set the dropped heads of the stream's next attention call to 0: x [B, H, ...] -> [B, H, ...].

    x is a head's output A V, or its weights A where a model mixes by itself: of weights that are 0 the mix is 0.
    """
    forward = _forward.get()
    if forward is None:
        return x
    place = stream, *forward.places.next(stream, running_layer())
    here = sorted(head.head for head in forward.heads if (head.stream, head.layer, head.call) == place)
    return x.index_fill(1, x.new_tensor(here).long(), 0.0) if here else x
