"""Exact patches: a part of one text's forward put in its place in the other's, and the model run on from there.

The patched answer says how much of the difference between the two texts runs through that part (Vig et al. 2020,
"Investigating gender bias in language models using causal mediation analysis"; Meng et al. 2022, section 2; Wang et al.
2023). Every cell is a true forward of the model: nothing is held and nothing is linear. What lies below the patch, and
in a decoder the tokens before the first difference, is the same and is not run again.

Shapes: B patched runs side by side, H heads, Q query positions, S positions that are run, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Any, Literal, TypeVar

import pandas as pd
import torch
from torch import Tensor

from inspector.patching.pair import Answer, Into, Pair
from inspector.patching.writes import additions_of
from inspector.probe.layer_runs import Compute, LayerRuns, Place
from inspector.probe.sublayer_sums import SumPlace, changing_sums, find_sum, operands
from models.attention import AttentionCall
from models.attention.dropping import ModelHead

T = TypeVar("T")
PatchedPart = Literal["stream", "attention", "cross", "ffn"]
PARTS: tuple[PatchedPart, ...] = ("stream", "attention", "cross", "ffn")
OnPatched = Callable[[int, int], None]
"""A function that is told how many patched runs are done, of how many. An exception in it ends the work."""
_TOKENS = 128  # of all rows run together: more rows share the reading of the weights, until the arithmetic takes longer


@dataclass(frozen=True)
class Estimate:
    """The number of patched runs that a grid takes, and about how many seconds."""

    runs: int
    seconds: float


def heads(pair: Pair, *, into: Into = "corrupted") -> list[ModelHead]:
    """All heads of the text that is run, in call order."""
    return [
        ModelHead(stream, layer, head, call)
        for (stream, layer, call), mixed in pair.runs(into)[0].mixed.items()
        for head in range(mixed.shape[1])
    ]


def patch_heads(
    pair: Pair,
    *,
    into: Into = "corrupted",
    stream: str | None = None,
    layers: Sequence[int] | None = None,
    on_progress: OnPatched | None = None,
) -> pd.DataFrame:
    """Put each head's output (its mix A V before W_O, at all tokens) of one text in its place in the other.

    into: the text that is run. stream, layers: which ones; all by default. on_progress: see OnPatched.

    Columns: stream, layer, call, head, value (the answer of the patched run), effect (less the answer of the text that
    is run), share (effect of the two texts' whole difference: 0 for none, 1 for all of it; NaN where they answer the
    same).
    """
    runs, other = pair.runs(into)
    chosen = [
        head
        for head in heads(pair, into=into)
        if stream in (None, head.stream) and (layers is None or head.layer in layers)
    ]
    rows: list[dict[str, Any]] = []
    for batch in batches(chosen, runs, alike=lambda head: (head.stream, head.layer, head.call)):
        place: Place = (batch[0].stream, batch[0].layer, batch[0].call)
        put = partial(_put_heads, heads=[head.head for head in batch], of=other.mixed[place][0, :, runs.rows])
        hidden = runs.attend(place, partial(_at, place=place, change=put), rows=len(batch))
        rows += [
            {**head._asdict(), "value": value} for head, value in zip(batch, _answers(pair, runs, hidden), strict=True)
        ]
        _tell(on_progress, len(rows), len(chosen))
    return _told(pair, rows, into, ["stream", "layer", "call", "head"])


def patch_head_tokens(
    pair: Pair,
    *,
    layer: int,
    stream: str | None = None,
    call: int = 0,
    into: Into = "corrupted",
    on_progress: OnPatched | None = None,
) -> pd.DataFrame:
    """Put a head's output at one token of one text in its place in the other, for each head of a layer and each token.

    stream: by default the answer's. Columns: stream, layer, call, head, position, token (of the text that is run), and
    value, effect, share as in `patch_heads`.

    Raises ValueError for a layer without attention.
    """
    runs, other = pair.runs(into)
    place: Place = (stream or runs.last, layer, call)
    if place not in runs.mixed:
        known = sorted({at[1] for at in runs.mixed if at[0] == place[0]})
        raise ValueError(f"layer {layer} of the {place[0]} has no attention; these have: {', '.join(map(str, known))}")
    tokens, count = _tokens(runs, place[0]), runs.mixed[place].shape[1]
    reached = _reached(pair, len(tokens))
    chosen = [(position, head) for position in reached for head in range(count)]
    rows: list[dict[str, Any]] = []
    for batch in batches(chosen, runs):
        part = runs.within(batch[0][0])
        put = partial(_put_tokens, at=batch, start=part.start, of=other.mixed[place][0])
        hidden = part.attend(place, partial(_at, place=place, change=put), rows=len(batch))
        rows += [
            {"head": head, "position": position, "value": value}
            for (position, head), value in zip(batch, _answers(pair, part, hidden), strict=True)
        ]
        _tell(on_progress, len(rows), len(chosen))
    rows += [
        {"head": head, "position": position, "value": None}
        for position in range(len(tokens))
        if position not in reached
        for head in range(count)
    ]
    rows = [{"stream": place[0], "layer": layer, "call": call, "token": tokens[row["position"]], **row} for row in rows]
    rows.sort(key=lambda row: (row["head"], row["position"]))
    return _told(pair, rows, into, ["stream", "layer", "call", "head", "position", "token"])


def patch_parts(
    pair: Pair,
    *,
    parts: Sequence[PatchedPart] | None = None,
    into: Into = "corrupted",
    stream: str | None = None,
    layers: Sequence[int] | None = None,
    on_progress: OnPatched | None = None,
) -> pd.DataFrame:
    """Put what a part of a layer gives one token in one text in its place in the other, for each layer and token.

    parts: "stream" (the residual stream that enters the layer), "attention", "cross" and "ffn" (what they add to it);
    by default all that are seen. stream, layers: all by default.

    Columns: stream, layer, part, position, token (of the text that is run), and value, effect, share as in
    `patch_heads`. Raises ValueError for a part that is none or is not seen to add to the stream.
    """
    runs, other = pair.runs(into)
    wanted = PARTS if parts is None else tuple(parts)
    if not set(wanted) <= set(PARTS):
        raise ValueError(f"parts are {', '.join(PARTS)}, not {', '.join(sorted(set(wanted) - set(PARTS)))}")
    places = [
        (name, number, part, sums)
        for name, calls in runs.layers.items()
        for number in range(len(calls))
        if stream in (None, name) and (layers is None or number in layers)
        for part, sums in _parts(pair, into, name, number, wanted).items()
    ]
    missing = set(wanted) - {part for _, _, part, _ in places}
    if parts is not None and missing:
        raise ValueError(f"no {', '.join(sorted(missing))} of {pair.loaded.card.id} was seen to add to the stream")
    rows: list[dict[str, Any]] = []
    total = sum(len(_reached(pair, len(_tokens(runs, name)))) for name, _, _, _ in places)
    done = 0
    for name, number, part, sums in places:
        tokens = _tokens(runs, name)
        reached = _reached(pair, len(tokens))
        values: dict[int, float | None] = dict.fromkeys(range(len(tokens)))
        for batch in batches(list(reached), runs):
            within = runs.within(batch[0])
            put = partial(_put_rows, at=batch, start=within.start)
            state = within.state(name, number).expand(len(batch), -1, -1).contiguous()
            if part == "stream":
                state = put(
                    within.state(name, number).expand(len(batch), -1, -1), of=other.whole().state(name, number)[0]
                )
                hidden = within.resume(name, number, state)
            else:
                state = within.state(name, number).expand(len(batch), -1, -1).contiguous()
                theirs = operands(other, name, number)
                changes = {place: partial(put, of=theirs[place][0]) for place in sums}
                with changing_sums(state, changes):
                    left = within.run_layer(name, number, state)
                hidden = within.leave(name, number, left)
            values |= dict(zip(batch, _answers(pair, within, hidden), strict=True))
            done += len(batch)
            _tell(on_progress, done, total)
        rows += [
            {
                "stream": name,
                "layer": number,
                "part": part,
                "position": position,
                "token": token,
                "value": values[position],
            }
            for position, token in enumerate(tokens)
        ]
    return _told(pair, rows, into, ["stream", "layer", "part", "position", "token"])


def estimate(
    pair: Pair,
    grid: Literal["heads", "part", "head tokens"],
    *,
    into: Into = "corrupted",
    stream: str | None = None,
) -> Estimate:
    """Estimate how long a grid takes, from a layer and a batch of rows: for "part" one part, for "head tokens" a
    middle layer. stream: of the heads; all by default."""
    runs, _ = pair.runs(into)
    heads_of = stream
    stream, layers = runs.last, len(runs.layers[runs.last])
    reached = len(_reached(pair, len(_tokens(runs, stream))))
    count = [mixed.shape[1] for place, mixed in runs.mixed.items() if heads_of in (None, place[0])]
    many, together = {  # and how many begin at one layer, so that they can run side by side
        "heads": (sum(count), count[-1]),
        "part": (reached * layers, reached),
        "head tokens": (reached * count[-1], reached * count[-1]),
    }[grid]
    if not runs.resumes:
        return Estimate(many, many * runs.seconds)
    rows = min(_rows(runs), together)
    state = runs.state(stream, layers // 2).expand(rows, -1, -1)
    begun = perf_counter()
    runs.run_layer(stream, layers // 2, state)
    return Estimate(many, many / rows * (perf_counter() - begun) * (layers + 1) / 2)


def answers_without(runs: LayerRuns, answer: Answer, place: Place, *, heads: Sequence[int]) -> list[float]:
    """The answers of as many runs as there are heads, each without one head of an attention."""
    put = partial(_put_heads, heads=heads, of=torch.zeros_like(runs.mixed[place][0, :, runs.rows]))
    hidden = runs.attend(place, partial(_at, place=place, change=put), rows=len(heads))
    values: list[float] = answer.of(runs.logits(hidden, position=answer.position)).tolist()
    return values


# --- parts -----------------------------------------------------------------------------------------------------------


def _at(
    at: Place, call: AttentionCall, compute: Compute, *, place: Place, change: Callable[[Tensor], Tensor]
) -> Tensor:
    return change(compute(call)) if at == place else compute(call)


def _put_heads(mixed: Tensor, *, heads: Sequence[int], of: Tensor) -> Tensor:
    """Row b of mixed [B, H, S, E] with one head's output of another text, [H, S, E]."""
    mixed = mixed.clone()
    for row, head in enumerate(heads):
        mixed[row, head] = of[head]
    return mixed


def _put_tokens(mixed: Tensor, *, at: Sequence[tuple[int, int]], start: int, of: Tensor) -> Tensor:
    """Row b of mixed [B, H, S, E] with the output of one (position, head) of another text, [H, Q, E]."""
    mixed = mixed.clone()
    for row, (position, head) in enumerate(at):
        mixed[row, head, position - start] = of[head, position]
    return mixed


def _put_rows(state: Tensor, *, at: Sequence[int], start: int, of: Tensor) -> Tensor:
    """Row b of state [B, S, D] with one position's vector of another text, [Q, D]."""
    state = state.clone()
    for row, position in enumerate(at):
        state[row, position - start] = of[position]
    return state


def _parts(
    pair: Pair, into: Into, stream: str, layer: int, wanted: Sequence[PatchedPart]
) -> dict[PatchedPart, tuple[SumPlace, ...]]:
    """The parts of a layer that can be patched, each with the operands that it is."""
    runs, _ = pair.runs(into)
    asked = set(wanted) - {"stream"}
    parts: dict[PatchedPart, tuple[SumPlace, ...]] = {}
    record = pair.layer_record(into, stream, layer) if asked and runs.resumes else None
    if record is not None:
        seen = operands(runs, stream, layer)
        trace = pair.corrupted if into == "corrupted" else pair.clean
        for addition in additions_of(record, trace):
            place = None if addition.added is None else find_sum(seen, addition.added)
            if place is not None:
                parts[addition.part] = (*parts.get(addition.part, ()), place)
    every: dict[PatchedPart, tuple[SumPlace, ...]] = {"stream": (), **parts}
    return {part: every[part] for part in PARTS if part in every and part in wanted}


def _tokens(runs: LayerRuns, stream: str) -> tuple[str, ...]:
    inputs = runs.inputs
    return (inputs.encoding if inputs.target is None or stream == "encoder" else inputs.target).tokens


def _reached(pair: Pair, tokens: int) -> range:
    return pair.reached if pair.loaded.shape == "decoder" else range(tokens)


def batches(chosen: Sequence[T], runs: LayerRuns, *, alike: Callable[[T], Any] = lambda _: None) -> Iterator[list[T]]:
    """Cut into batches of what is alike, of as many rows as make up _TOKENS tokens."""
    most = _rows(runs)
    for _, group in groupby(chosen, key=alike):
        every = list(group)
        yield from (every[start : start + most] for start in range(0, len(every), most))


def _rows(runs: LayerRuns) -> int:
    """Count the rows that run side by side."""
    return max(_TOKENS // len(range(*runs.rows.indices(runs.hidden.shape[1]))), 1)


def _answers(pair: Pair, runs: LayerRuns, hidden: Tensor) -> list[float]:
    return pair.answer.of(runs.logits(hidden, position=pair.answer.position)).tolist()


def _tell(on_progress: OnPatched | None, done: int, total: int) -> None:
    if on_progress is not None:
        on_progress(done, total)


def _told(pair: Pair, rows: list[dict[str, Any]], into: Into, columns: list[str]) -> pd.DataFrame:
    """The table of a grid; a value of None is that of the text that is run, for nothing changes it."""
    run, other = (pair.measured(runs) for runs in pair.runs(into))
    table = pd.DataFrame(rows, columns=[*columns, "value"])
    table["value"] = table["value"].astype(float).fillna(run)
    table["effect"] = table["value"] - run
    table["share"] = table["effect"] / (other - run) if other != run else float("nan")
    return table
