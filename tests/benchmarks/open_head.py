"""The open head: passes over its map and time, with the row statistics in the map's pass and in passes of their own.

    python tests/benchmarks/open_head.py

A pass is a softmax of every row that is shown. "Before" computes the map, the weights and the scores in a pass each, as
the page did when rows had statistics of their own; "after" is what the page does. Both run in turn in one process,
the fastest of 25, so that the ratio holds on a busy machine. The results are compared bit by bit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

import inspector
import models
from inspector import maps, row_statistics
from inspector.trace import Trace, recompute
from models.attention import row_blocks

WORDS = "the cat sat on a mat and wanted milk from some big river bank "
SOFTMAX = (torch.softmax, torch.nn.functional.softmax, torch.Tensor.softmax)
Opened = tuple[np.ndarray, row_statistics.RowStatistics | None]
Open = Callable[[Trace, maps.Arrangement, int, int], Opened]


def after(trace: Trace, shown: maps.Arrangement, layer: int, head: int) -> Opened:
    """Read the map, with the row statistics from the same blocks."""
    rows = row_statistics.reader(trace.record_of(layer, None), shown)

    def read(queries: slice) -> np.ndarray:
        on_block = None if rows is None else rows.see
        return trace.window(layer=layer, head=head, queries=queries, keys=slice(None), on_block=on_block)

    values = maps.rows(shown, read, queries=slice(None))[1]
    return values, None if rows is None else rows.result()


def before(trace: Trace, shown: maps.Arrangement, layer: int, head: int) -> Opened:
    """Read the map, then the weights, then the scores."""

    def read(queries: slice) -> np.ndarray:
        return trace.window(layer=layer, head=head, queries=queries, keys=slice(None))

    values = maps.rows(shown, read, queries=slice(None))[1]
    record = trace.record_of_head(layer, head, None)
    rows = row_statistics.reader(record, shown)
    if rows is None:
        return values, None
    queries = slice(int(rows.positions[0]), int(rows.positions[-1]) + 1)
    passes = (recompute.bands(record, queries=queries) for _ in range(2))
    for weights, scores in zip(*passes, strict=True):
        read_scores = lambda scores=scores: scores.scores  # noqa: E731
        rows.see(
            recompute.WeightBlock(
                weights.queries, weights.keys, weights.weights, weights.normalised, read_scores, weights._read_sink
            )
        )
    return values, rows.result()


class Softmaxes(TorchFunctionMode):
    """Counts the softmaxes that run inside the block."""

    count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.count += func in SOFTMAX
        return func(*args, **(kwargs or {}))


def passes(opened: Open, trace: Trace, shown: maps.Arrangement) -> float:
    """Softmaxes for each block of the rows that are shown."""
    positions = shown.queries.positions
    rows = slice(int(positions[0]), int(positions[-1]) + 1)
    with Softmaxes() as counted:
        opened(trace, shown, 1, 1)
    return counted.count / len(list(row_blocks(len(trace.tokens), len(trace.tokens), among=rows)))


def main() -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {torch.get_num_threads()} threads")
    print("| text | passes before | after | ms before | after | ratio |\n| --- | --- | --- | --- | --- | --- |")
    loaded = models.load("minilm")
    for name, tokens, window in (
        ("64 tokens", 64, None),
        ("512 tokens", 512, None),
        ("window of 256 queries in 512 tokens", 512, slice(128, 384)),
    ):
        trace = inspector.record(replace(loaded, max_tokens=tokens), WORDS * (tokens // 13 + 2))
        shown = maps.arrange(trace)
        shown = shown if window is None else maps.part(shown, queries=window, keys=slice(None))
        report(name, trace, shown)


def report(name: str, trace: Trace, shown: maps.Arrangement) -> None:
    """Print a line of the table; the results of both ways are the same bits."""
    heads = trace.sites[0].heads
    (old, old_rows), (new, new_rows) = (way(trace, shown, 1, 1) for way in (before, after))
    assert np.array_equal(old, new), "maps differ"
    assert old_rows == new_rows, "row statistics differ"
    times: dict[Open, list[float]] = {before: [], after: []}
    for turn in range(25):
        for way, taken in times.items():
            start = perf_counter()
            way(trace, shown, 1, turn % heads)
            taken.append(perf_counter() - start)
    was, now = (min(taken) for taken in times.values())
    counts = " | ".join(f"{passes(way, trace, shown):.0f}" for way in times)
    print(f"| {name} | {counts} | {1000 * was:.1f} | {1000 * now:.1f} | {now / was:.2f} |")


if __name__ == "__main__":
    main()
