"""Time of an atlas beside a plain forward, gain of a second worker, and memory over ten times the texts.

python -m tests.benchmarks.atlas FILE [--model minilm] [--texts 2000] [--seconds 60]

FILE holds a text a line. All figures are ratios measured in one run: (1) the same texts through transformers' own eager
model with output_attentions=True, in batches of like length, on one core, against the atlas with all its measures;
(2) one worker against two over at least so many seconds of work each, start-up apart; (3) the peak memory of a build of
N and of 10 N texts. From these it says what a million texts take on 64 cores.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import torch
from transformers import AutoModel

import models
from inspector.atlas import planning
from inspector.atlas.block import MeasureBlock
from inspector.atlas.planning import plan
from inspector.atlas.running import run
from inspector.atlas.texts import Text
from inspector.probe.inputs import ModelInputs, tokenize_inputs
from models import fetch

MILLION, CORES = 1_000_000, 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--texts", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.peak:
        build_once(chosen.file, chosen.model, chosen.peak)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    lines = list(islice(texts(chosen.file), chosen.texts))
    rate = throughput(lines, chosen.model)
    workers(lines, chosen.model, seconds=chosen.seconds, rate=rate)
    memory(chosen.file, chosen.model, count=len(lines) // 2)
    hours = MILLION / rate / CORES / 3600
    print(f"a million such texts on {CORES} cores, by these figures: {hours:.2f} hours (estimated, not run)")


def texts(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        yield from (line.strip() for line in lines if line.strip())


def throughput(lines: list[str], model: str) -> float:
    """Print the ratio to a plain eager forward, twice each in turn, and return the atlas's texts a second."""
    loaded = models.load(model)
    inputs = [tokenize_inputs(loaded, line) for line in lines]
    eager = AutoModel.from_pretrained(folder(model), attn_implementation="eager").eval()
    print(f"{len(lines):,} texts of {sum(len(one.encoding) for one in inputs) / len(inputs):.1f} tokens")
    best = 0.0
    for _ in range(2):
        padded = timed(partial(plain, eager, inputs, by_length=False))
        sorted_ = timed(partial(plain, eager, inputs, by_length=True))
        with tempfile.TemporaryDirectory() as out:
            manifest = plan(loaded, [Text(line) for line in lines], folder=Path(out), corpus="benchmark")
            own = timed(partial(run, MeasureBlock(Path(out), loaded), range(len(manifest.blocks))))
        print(
            f"plain eager forward {padded:.1f} s as the texts come, {sorted_:.1f} s sorted by length; atlas with all "
            f"measures, files included, {own:.1f} s: {sorted_ / own:.2f} x of sorted, {padded / own:.2f} x of unsorted"
        )
        best = max(best, len(lines) / own)
    return best


def folder(model: str) -> str:
    """The folder of the same model for transformers."""
    if model == "minilm":
        return str(fetch.folder("minilm"))
    return model


def plain(eager: torch.nn.Module, inputs: list[ModelInputs], *, by_length: bool) -> None:
    """Run the texts in padded batches of 32 with all maps handed out, as one would by hand."""
    ordered = sorted(inputs, key=lambda one: len(one.encoding)) if by_length else inputs
    for start in range(0, len(ordered), 32):
        batch = ordered[start : start + 32]
        longest = max(len(one.encoding) for one in batch)
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        keep = torch.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one.encoding)] = torch.tensor(one.encoding.ids)
            keep[row, : len(one.encoding)] = 1
        with torch.inference_mode():
            eager(input_ids=ids, attention_mask=keep, output_attentions=True)


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def workers(lines: list[str], model: str, *, seconds: float, rate: float) -> None:
    """Print how much faster two workers are than one, from the moment when all are ready."""
    count = int(rate * seconds)
    took = {}
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as out:
            manifest = plan(
                models.load(model),
                (Text(line) for line in islice(cycle(lines), count)),
                folder=Path(out),
                corpus="benchmark",
                block_texts=128,
            )
            took[number] = _ready_time(Path(out), model, len(manifest.blocks), number)
    print(f"{count:,} texts: one worker {took[1]:.1f} s, two {took[2]:.1f} s once ready: {took[1] / took[2]:.2f} x")


def _ready_time(out: Path, model: str, blocks: int, number: int) -> float:
    """Seconds of all but the first blocks, which wait for the workers to start and to load the model."""
    done: list[float] = []
    begun = time.perf_counter()
    first = 2 * number
    run(
        MeasureBlock(out, model),
        range(blocks),
        workers=number if number > 1 else 1,
        on_done=lambda block, texts: done.append(time.perf_counter()),
    )
    print(f"  {number} worker(s): ready and {first} blocks after {done[first - 1] - begun:.1f} s")
    return (done[-1] - done[first - 1]) / (len(done) - first) * blocks


def memory(file: Path, model: str, *, count: int) -> None:
    """Print the peak memory of a process that builds an atlas of some texts, and of one of ten times as many."""
    peaks = [_peak(file, model, number) for number in (count, 10 * count)]
    print(
        f"peak memory: {peaks[0] / 1024:.0f} MB for {count:,} texts, {peaks[1] / 1024:.0f} MB for {10 * count:,}: "
        f"{peaks[1] / peaks[0]:.3f} x"
    )


def _peak(file: Path, model: str, count: int) -> int:
    command = [sys.executable, "-m", "tests.benchmarks.atlas", str(file), "--model", model, "--peak", str(count)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout.split()[-1])


def build_once(file: Path, model: str, count: int) -> None:
    from inspector import atlas

    with tempfile.TemporaryDirectory() as out:
        atlas.build(model, islice(cycle(texts(file)), count), out=out, block_texts=planning.BLOCK_TEXTS)


if __name__ == "__main__":
    main()
