"""Time to load a shipped model in a process that has torch; most of it is the import of transformers.

    python tests/benchmarks/load.py

Prints CPU seconds and seconds on the clock, the least of five processes, beside the import of transformers alone.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMED = """
import time, torch
begun = time.process_time(), time.perf_counter()
{what}
print(time.process_time() - begun[0], time.perf_counter() - begun[1])
"""
LOADED = {
    "import transformers": "import transformers",
    "translator": "import models; models.load('translator')",
    "mini-bert": "import models; models.load('mini-bert')",
}


def seconds(what: str) -> tuple[float, float]:
    """CPU seconds, and seconds on the clock, of a process of its own."""
    command = [sys.executable, "-c", TIMED.format(what=what)]
    cpu, wall = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return float(cpu), float(wall)


def main() -> None:
    for name, what in LOADED.items():
        every = [seconds(what) for _ in range(5)]
        cpu, wall = (min(column) for column in zip(*every, strict=True))
        print(f"{name}: {cpu:.2f} s of CPU, {wall:.2f} s on the clock")


if __name__ == "__main__":
    main()
