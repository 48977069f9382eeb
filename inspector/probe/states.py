"""The residual stream of one run, as its layers took it and left it; a part of the probe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from inspector.probe.norm_hooks import WatchedForward
from inspector.probe.norm_places import LayerCall, NormCall, is_same, stream_of
from inspector.trace import Refusal
from models.loaded import Shape


@dataclass(frozen=True)
class State:
    """The residual stream after a layer, [B, T, D]: `tensor`, or a norm call's input or output."""

    stream: str
    layer: int
    norm: int | None
    side: Literal["input", "output"]
    tensor: Tensor | None


def states_of(seen: WatchedForward, *, shape: Shape, hidden: Tensor) -> tuple[list[State], list[Refusal]]:
    """The residual stream before the first layer and after each, of every stream; and what of it is not known, and why.

    Layer -1 is there where layer 0 begins with a norm. hidden: the last hidden state, which is what the last layer left
    where no module is a whole layer and no norm stands behind the last (XLM).
    """
    names = ("encoder", "decoder") if shape == "encoder-decoder" else (shape,)
    states: list[State] = []
    refused: list[Refusal] = []
    for stream in names:
        calls = [call for call in seen.layers if stream_of(call.path, shape) == stream]
        last = calls[-1] if calls and stream == names[-1] else None
        if last is not None and last.left is None and last.left_norm is None and re.search(r"\.\d+", _last(seen.norms)):
            last.left = hidden
        problem = _problem(calls)
        if problem:
            refused.append(Refusal("residual stream", stream, problem))
        else:
            states += _states(stream, calls, seen.norms)
    return states, refused


def _last(norms: Sequence[NormCall]) -> str:
    """The path of the norm that ran last, "" where there is none."""
    return norms[-1].name if norms else ""


def _problem(calls: Sequence[LayerCall]) -> str:
    """Say why these layers do not give the residual stream; "" where they do."""
    if not calls:
        return "none of its modules was seen to be a layer, so what stands between its layers is not known"
    paths = list(dict.fromkeys(call.path for call in calls))
    if len(paths) > 1:
        return f"its layers stand in {len(paths)} stacks ({', '.join(paths)}), so there is no one stream through them"
    shapes = {tuple(call.entered.shape) for call in calls}
    odd = next((shape for shape in shapes if len(shape) != 3), None)
    if odd is not None:
        return f"its layers hand on several streams at once, as a tensor of shape {list(odd)}, not one state a token"
    if len(shapes) > 1:
        return f"its layers take states of {len(shapes)} shapes"
    if [call.number for call in calls] != list(range(len(calls))):
        return "its layers do not run once each, in their order"
    if any(call.left is None and call.left_norm is None for call in calls):
        return "what its last layer gives could not be seen"
    return ""


def _states(stream: str, calls: Sequence[LayerCall], norms: Sequence[NormCall]) -> list[State]:
    enters = _input_of(calls[0].entered, norms)
    states = [State(stream, -1, enters, "input", None)] if enters is not None else []
    for call in calls:
        if call.left_norm is not None:
            states.append(State(stream, call.number, call.left_norm, "output", None))
            continue
        assert call.left is not None
        taken = _input_of(call.left, norms)
        states.append(State(stream, call.number, taken, "input", None if taken is not None else call.left))
    return states


def _input_of(state: Tensor, norms: Sequence[NormCall]) -> int | None:
    """The first norm that takes the state, so that it need not be kept twice."""
    return next((number for number, norm in enumerate(norms) if is_same(norm.input, state)), None)
