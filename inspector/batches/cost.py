"""Costs of a layout: the cells that it computes, the share that is padding, FLOPs by formula, and time by the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import pandas as pd
import torch

from inspector.batches.layouts import LAYOUTS, Layout, packer, padded_rows
from inspector.costs import clock
from inspector.probe import tokenize_inputs
from models import LoadedModel
from models.transformer.runner import OwnRunner

REPEATS = 7
Run = Callable[[], object]


@dataclass(frozen=True)
class LayoutTimes:
    """Times of whole forwards.

    table: a row per layout with seconds, the median of `repeats` runs that take turns. clock: "CPU time" of one thread,
    or "wall time". problems: why a layout was not timed, by layout.
    """

    table: pd.DataFrame
    clock: str
    repeats: int
    problems: dict[Layout, str]


def work(shape: clock.LayerShape, lengths: Sequence[int], *, layers: int = 1) -> pd.DataFrame:
    """Count what each layout computes of texts of these lengths, a row per layout.

    rows, columns: of the batch; cells: tokens that projections and FFN compute; padding: the share of them that is
    padding; pairs: scores of one head, 'needed' those between tokens of one text; flops: of the matrix products of
    `layers` layers, where every row attends to all of its columns, as a plain kernel computes it whatever the mask
    hides; score_bytes: the scores of one layer in float32, where all of its heads are held at once.
    """
    texts, longest, total = len(lengths), max(lengths), sum(lengths)
    needed = sum(length**2 for length in lengths)
    shapes: dict[Layout, list[int]] = {
        "right": [longest] * texts,
        "left": [longest] * texts,
        "packed": [total],
        "alone": list(lengths),
    }
    rows_of_table = []
    for layout in LAYOUTS:
        rows = shapes[layout]
        cells, pairs = sum(rows), sum(row**2 for row in rows)
        at_once = max(pairs if layout != "alone" else max(row**2 for row in rows), 1)
        flops = layers * sum(_flops(shape, row) for row in rows)
        share = 1 - total / cells
        rows_of_table.append(
            (layout, len(rows), max(rows), cells, share, pairs, needed, flops, 4 * shape.heads * at_once)
        )
    names = ["layout", "rows", "columns", "cells", "padding", "pairs", "needed", "flops", "score_bytes"]
    return pd.DataFrame(rows_of_table, columns=names)


def measure(
    loaded: LoadedModel,
    texts: Sequence[str],
    *,
    repeats: int = REPEATS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_turn: Callable[[LayoutTimes], object] = lambda so_far: None,
) -> LayoutTimes:
    """Time the whole forward of each layout; they take turns, so that a busy moment falls on all alike.

    on_progress: called with the runs that are done and the runs that there will be; what it raises ends the clock.
    on_turn: called with what is measured so far. A packed row runs in the own Transformer; where the model is another,
    its layouts run there too, for a comparison of layouts and not of code. Raises ValueError for no text and as
    `tokenize_inputs`, and for an encoder-decoder, which writes beside what it reads.
    """
    if loaded.shape == "encoder-decoder":
        raise ValueError("an encoder-decoder writes a target for each text, so its layouts are not timed")
    problems: dict[Layout, str] = {}
    try:
        loaded = packer(loaded)
    except ValueError as error:
        problems["packed"] = str(error)
    runs = _runs(loaded, texts, with_packed="packed" not in problems, problems=problems)
    now = time.thread_time if torch.get_num_threads() == 1 and _on_cpu(loaded) else time.perf_counter
    times: dict[str, list[float]] = {name: [] for name in runs}
    total, done = (repeats + 1) * len(runs), 0

    def so_far() -> LayoutTimes:
        rows = [(name, median(seconds)) for name, seconds in times.items()]
        table = pd.DataFrame(rows, columns=["layout", "seconds"])
        done_turns = len(next(iter(times.values())))
        return LayoutTimes(table, "CPU time" if now is time.thread_time else "wall time", done_turns, problems)

    with torch.inference_mode():
        for turn in range(repeats + 1):
            for name, run in runs.items():
                began = now()
                run()
                if turn:  # the first turn warms up
                    times[name].append(now() - began)
                done += 1
                on_progress(done, total)
            if turn:
                on_turn(so_far())
    return so_far()


def _runs(
    loaded: LoadedModel, texts: Sequence[str], *, with_packed: bool, problems: dict[Layout, str]
) -> dict[str, Run]:
    encodings = [tokenize_inputs(loaded, text).encoding for text in texts]
    runs: dict[str, Run] = {}
    for layout in ("right", "left"):
        rows, keep = padded_rows(encodings, loaded.tokenizer, left=layout == "left")
        ids, segments = (torch.tensor([getattr(row, name) for row in rows]) for name in ("ids", "segments"))
        runs[layout] = partial(loaded.run, ids, keep, segments)
    total = sum(map(len, encodings))
    if with_packed and total > loaded.max_tokens:
        problems["packed"] = f"{total:,} tokens in one row are more than the {loaded.max_tokens:,} that it reads"
    elif with_packed:
        assert isinstance(loaded.runner, OwnRunner)
        owner = torch.repeat_interleave(torch.arange(len(texts)), torch.tensor(list(map(len, encodings))))[None]
        ids, segments = (
            torch.tensor([[value for encoding in encodings for value in getattr(encoding, name)]])
            for name in ("ids", "segments")
        )
        runs["packed"] = partial(loaded.runner.read_packed, ids, owner, segments)
    singles = []
    for encoding in encodings:
        ids, segments = torch.tensor([encoding.ids]), torch.tensor([encoding.segments])
        singles.append(partial(loaded.run, ids, torch.ones_like(ids, dtype=torch.bool), segments))
    runs["alone"] = lambda: [run() for run in singles]
    return runs


def _flops(shape: clock.LayerShape, tokens: int) -> int:
    """The FLOPs of one row's matrix products in one layer."""
    table = clock.work(shape, tokens).set_index("part")["flops"]
    return int(table[["projections", "scores", "mix", "ffn"]].sum())


def _on_cpu(loaded: LoadedModel) -> bool:
    return bool(next(loaded.network.parameters()).device.type == "cpu")
