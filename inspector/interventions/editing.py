"""A reader's function at a named place of a model: zero, a mean, another text's numbers, a direction added.

```python
at = {"at": "residual", "layer": 1}
other = interventions.read_at(loaded, "The dog sat.", **at)  # [Q, D]
edited = interventions.edit(loaded, "The cat sat.", function=lambda x: other, **at)
edited.after  # the Trace of the changed run
```

Shapes: H heads, Q query positions, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from inspector.interventions.change import Change, again, inputs_of, recorded, truths_of
from inspector.probe import record_blocks
from inspector.probe.layer_edits import LayerInputs, NoEdit, editing_layers
from inspector.probe.module_edits import editing_module
from inspector.probe.norm_places import stream_of
from inspector.trace import Trace
from inspector.trace.counting import counted
from models import LoadedModel
from models.attention import AttentionCall, editing
from models.attention.running_layer import CallPlaces, running_place
from models.failures import is_failure
from models.formatting import one_line

EditedPlace = Literal["head", "ffn", "residual"]
EditFunction = Callable[[Tensor], Tensor]
"""Given the numbers at a place, a copy, gives those that the model reads on, of the same shape."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Edited(Change):
    """A text read as it is, and with a function at one place; layer and head count from 0, head None for all."""

    at: EditedPlace
    stream: str
    layer: int
    head: int | None = None


def edit(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    at: EditedPlace,
    layer: int,
    function: EditFunction,
    head: int | None = None,
    stream: str | None = None,
    call: int = 0,
    text_pair: str | None = None,
    target: str | None = None,
) -> Edited:
    """Record a text, or take its recording, and record it again with `function` at one place.

    at: "head", a head's mix A V before W_O, [Q, E], or of all heads of the layer [H, Q, E] where head is left out;
    "ffn", what the FFN's second matrix gives, [Q, D]; "residual", the residual stream that leaves the layer, [Q, D].
    function: takes the numbers there, a copy, and returns those that the model reads on. layer, head: from 0, or from
    the end. stream: may be left out where there is one. call: which attention, or FFN, of a layer with several.

    Raises ValueError for a place that there is not or that is not seen, for an exception in the function, and where it
    returns no tensor of that shape, or numbers that are not finite.
    """
    if not callable(function):
        raise ValueError(f"function is {type(function).__name__}: give a function that takes a tensor and returns one")
    before = recorded(loaded, text, text_pair=text_pair, target=target)
    place = _place(loaded, before, at=at, layer=layer, head=head, stream=stream, call=call)
    with place.edited(function):
        after = again(loaded, before, inputs_of(before))
    place.check_seen()
    return Edited(
        before=before,
        after=after,
        truths=truths_of(loaded, before),
        at=at,
        stream=place.stream,
        layer=place.layer,
        head=place.head,
    )


def read_at(
    loaded: LoadedModel,
    text: str | Trace,
    *,
    at: EditedPlace,
    layer: int,
    head: int | None = None,
    stream: str | None = None,
    call: int = 0,
    text_pair: str | None = None,
    target: str | None = None,
) -> Tensor:
    """Read the numbers at a place, for a mean or to put them into another text; the arguments are those of `edit`."""
    kept: list[Tensor] = []

    def keep(x: Tensor) -> Tensor:
        kept.append(x)
        return x

    edit(
        loaded,
        text,
        at=at,
        layer=layer,
        function=keep,
        head=head,
        stream=stream,
        call=call,
        text_pair=text_pair,
        target=target,
    )
    return kept[0].clone()


@dataclass(eq=False)
class _Place:
    """A place in one run. seen: how often the run came by it."""

    loaded: LoadedModel
    before: Trace
    at: EditedPlace
    stream: str
    layer: int
    head: int | None
    call: int
    seen: int = 0

    @property
    def name(self) -> str:
        """The place in words: "head of layer 1, head 2 (encoder)"."""
        head = "" if self.head is None else f", head {self.head}"
        return f"{self.at} of layer {self.layer}{head} ({self.stream})"

    @contextmanager
    def edited(self, function: EditFunction) -> Iterator[None]:
        """Put the function at the place, inside the block and in this thread alone."""
        network = self.loaded.network
        match self.at:
            case "head":
                with editing(_HeadEdit(self, function)):
                    yield
            case "residual":
                with editing_layers(network, _LayerEnd(self, function)):
                    yield
            case "ffn":
                with editing_module(network.get_submodule(self._second_matrix()), _FFNEnd(self, function)):
                    yield

    def is_running(self) -> bool:
        """Tell whether the layer that runs now is this one."""
        return self.is_layer(running_place())

    def is_layer(self, place: tuple[str, int] | None) -> bool:
        """Tell whether a layer, by the path of its stack and its number, is this one."""
        here = None if place is None else (stream_of(place[0], self.loaded.shape), place[1])
        return here == (self.stream, self.layer)

    def changed(self, x: Tensor, function: EditFunction) -> Tensor:
        """Call the function on a copy of x, and return what it gives, as x's dtype and device."""
        self.seen += 1
        try:
            made = Context().run(function, x.clone())  # so that the function may record another text
        except BaseException as error:
            if not is_failure(error):
                raise
            raise ValueError(
                f"the function failed at the {self.name} on a tensor {list(x.shape)}: {type(error).__name__}: "
                f"{one_line(error)}"
            ) from error
        if not isinstance(made, Tensor):
            raise ValueError(f"the function returned {type(made).__name__} at the {self.name}: return a tensor")
        if made.shape != x.shape or not made.is_floating_point():
            raise ValueError(
                f"the function returned a tensor {list(made.shape)} of {made.dtype} at the {self.name}, where "
                f"{list(x.shape)} of {x.dtype} is read on"
            )
        made = made.detach().to(x)
        if not bool(torch.isfinite(made).all()):
            raise ValueError(f"the function returned NaN or infinity at the {self.name}")
        return made

    def check_seen(self) -> None:
        """Raise ValueError unless the run came by the place once."""
        if self.seen != 1:
            raise ValueError(
                f"the {self.name} of {self.loaded.card.id} was seen {self.seen} times in a run, so nothing can be put "
                "there; choose another place, or a model whose attention goes through transformers' registry"
            )

    def _second_matrix(self) -> str:
        """Find the module of the FFN's second matrix."""
        blocks = record_blocks(self.loaded, self.before)
        asked = (self.stream, self.layer, self.call)
        of_layer = [ffn for ffn in blocks.ffns if (ffn.stream, ffn.layer, ffn.call) == asked]
        if not of_layer:
            places = {(stream, layer): reason for stream, layer, reason in blocks.refused}
            why = places.get((self.stream, self.layer), "it has none")
            raise ValueError(f"the {self.name} of {self.loaded.card.id} is not seen: {why}")
        down = of_layer[0].down
        if down.columns is not None:
            raise ValueError(f"the {self.name} of {self.loaded.card.id} is made by a matrix that makes more than it")
        return down.name.rpartition(".")[0]


@dataclass(eq=False)
class _HeadEdit:
    """Changes the mix of one head, or of all heads, of one attention."""

    place: _Place
    function: EditFunction

    def __post_init__(self) -> None:
        self._places = CallPlaces()

    def __call__(self, call: AttentionCall, compute: Callable[[AttentionCall], Tensor]) -> Tensor:
        mixed, place = compute(call), self.place
        if (call.stream, *self._places.next(call.stream, call.layer)) != (place.stream, place.layer, place.call):
            return mixed
        if place.head is None:
            return place.changed(mixed[0], self.function)[None]
        changed = mixed.clone()
        changed[0, place.head] = place.changed(mixed[0, place.head], self.function)
        return changed


@dataclass(eq=False)
class _LayerEnd(NoEdit):
    """Changes the residual stream that leaves one layer."""

    place: _Place
    function: EditFunction

    def leaves(self, inputs: LayerInputs, state: Tensor) -> Tensor:
        """Change the state [1, Q, D]."""
        if not self.place.is_layer(inputs.place):
            return state
        if state.ndim != 3 or len(state) != 1:
            raise ValueError(f"the layers of {self.place.loaded.card.id} hand on no one state for each token")
        return self.place.changed(state[0], self.function)[None]


@dataclass(eq=False)
class _FFNEnd:
    """Changes what the second matrix of one layer's FFN gives."""

    place: _Place
    function: EditFunction

    def __call__(self, output: Tensor) -> Tensor:
        if not self.place.is_running():
            return output
        return self.place.changed(output.reshape(-1, output.shape[-1]), self.function).reshape(output.shape)


def _place(
    loaded: LoadedModel, trace: Trace, *, at: EditedPlace, layer: int, head: int | None, stream: str | None, call: int
) -> _Place:
    if at not in get_args(EditedPlace):
        raise ValueError(f"at is {str(at)[:60]!a}: it can be {', '.join(get_args(EditedPlace))}")
    streams = trace.streams if at == "head" else tuple(name for name in trace.streams if name != "cross")
    if stream is None and len(streams) > 1:
        raise ValueError(f"this model has the streams {', '.join(streams)}: say which with stream=")
    stream = streams[0] if stream is None else stream
    if stream not in streams:
        raise ValueError(f"there is no {at} of a stream {str(stream)[:60]!a}: there is {', '.join(streams)}")
    count = 1 + max(site.layer for site in trace.mixing_sites_of(stream))
    number = counted(layer, "layer", count=count)
    if at == "head":
        site = trace.record_of(number, stream, call=call).site
        head = None if head is None else counted(head, "head", count=site.heads)
        if head is not None:
            trace.record_of_head(number, head, stream, call=call)
    elif head is not None:
        raise ValueError(f"the {at} of a layer has no heads: leave head out")
    if not 0 <= number < count:
        raise ValueError(f"layer {layer} is out of range: {stream} has layers 0 to {count - 1}")
    return _Place(loaded, trace, at, stream, number, head, call)
