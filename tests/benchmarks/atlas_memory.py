"""Memory of an atlas's workers from block to block, after freed memory was given back, and the peak within a block.

python -m tests.benchmarks.atlas_memory FILE [--model minilm] [--texts 20000] [--workers 2] [--first 4] [--last 30]

FILE holds a text a line; texts are taken evenly from all of its lines. Each worker notes its proportional memory (PSS
of /proc/self/smaps_rollup: a page that two processes share counts half in each) when a block is done, and the kernel's
high-water mark of resident memory within that block (VmHWM, reset before it). Printed: a line a block, and the slope of
the workers' sum over blocks first to last, by least squares, with the sum of the peaks. Where other programs map the
same libraries, a page's share changes as they come and go: so the slope is printed of the anonymous memory too, which
is the workers' own. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import models
from inspector.atlas.block import MeasureBlock
from inspector.atlas.planning import plan
from inspector.atlas.running import run
from inspector.atlas.texts import Text

MB = 2**20


@dataclass(frozen=True)
class Watched:
    """A unit of work that measures a block, and writes down what its process held then and at most."""

    task: MeasureBlock
    notes: Path

    def __call__(self, number: int) -> int:
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
        begun, cpu = time.time(), time.process_time()
        texts = self.task(number)
        note = {
            "block": number,
            "process": os.getpid(),
            "ended": time.time(),
            "seconds": time.time() - begun,
            "cpu": time.process_time() - cpu,
            "held": kilobytes("/proc/self/smaps_rollup", "Pss"),
            "own": kilobytes("/proc/self/smaps_rollup", "Pss_Anon"),
            "peak": kilobytes("/proc/self/status", "VmHWM"),
        }
        with self.notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")
        return texts


def kilobytes(path: str, name: str) -> int:
    """A number of a file under /proc, in bytes."""
    line = next(line for line in Path(path).read_text().splitlines() if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--first", type=int, default=4)
    parser.add_argument("--last", type=int, default=30)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        out, notes = Path(folder) / "atlas", Path(folder) / "notes"
        texts = evenly(chosen.file, chosen.texts)
        manifest = plan(models.load(chosen.model), map(Text, texts), folder=out, corpus="benchmark")
        blocks = range(min(len(manifest.blocks), chosen.last))
        words = sum(len(text.split()) for text in texts) / len(texts)
        print(f"{len(texts):,} texts of {words:.0f} words, {len(blocks)} blocks, {chosen.workers} workers", flush=True)
        last: dict[int, dict[str, int]] = {}  # what each process wrote down last
        sums: list[dict[str, int]] = []

        def tell(number: int, texts: int) -> None:
            note = next(one for line in notes.read_text().splitlines() if (one := json.loads(line))["block"] == number)
            last[note["process"]] = note
            sums.append({name: sum(each[name] for each in last.values()) for name in ("held", "own", "peak")})
            print(
                f"block {len(sums):3}: {note['seconds']:6.1f} s, {note['cpu']:5.1f} CPU s; its worker holds "
                f"{note['held'] / MB:4.0f} MB, at most {note['peak'] / MB:4.0f} MB within the block; "
                f"all workers {sums[-1]['held'] / MB:5.0f} MB, {sums[-1]['own'] / MB:.0f} of it their own",
                flush=True,
            )

        run(Watched(MeasureBlock(out, chosen.model), notes), blocks, workers=chosen.workers, on_done=tell)
    numbers = np.arange(chosen.first, len(sums) + 1)
    held, own, peak = (
        np.array([each[name] for each in sums[chosen.first - 1 :]]) / MB for name in ("held", "own", "peak")
    )
    slope, of_own = (np.polyfit(numbers, after, 1)[0] for after in (held, own))
    print(
        f"blocks {numbers[0]} to {numbers[-1]}: {slope:+.2f} MB a block, {of_own:+.2f} of their own; together workers "
        f"hold {held.min():.0f} to {held.max():.0f} MB after a block, and at most {peak.max():.0f} MB within one"
    )


def evenly(file: Path, count: int) -> list[str]:
    """Take so many lines with text from a file, at even distances."""
    with file.open(encoding="utf-8") as lines:
        every = [line.strip() for line in lines if line.strip()]
    return [every[place * len(every) // count] for place in range(min(count, len(every)))]


if __name__ == "__main__":
    main()
