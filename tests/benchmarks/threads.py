"""Ten threads, five models, 500 recordings, with evictions in between: are all equal to those taken alone?

    python tests/benchmarks/threads.py [--recordings 500]

Models and traces live in caches with a byte budget that holds about half of either; maps in the trace's own. Every
recording is reduced to a hash of all its numbers (what was kept, every map of one layer, a picture of another) and held
against the same one taken alone. A thread samples the resident memory of the process. It must stay under: what the
process held with nothing in its caches, the caches' budgets, and the work in hand, which is the most that one thread
took alone (a load and a recording) times ten.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import os
import random
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

import inspector.trace
import models
from inspector import Trace, record
from inspector.memory.cache import ByteBudgetCache
from models import LoadedModel

IDS = ("minilm", "minilm-own", "translator", "own-encoder", "own-decoder")
WORDS = (
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "wanted",
    "milk",
    "from",
    "some",
    "big",
    "river",
    "bank",
    "unseen",
)
LENGTHS = (3, 12, 40, 90, 200)
MB = 2**20
MODELS, TRACES, MAPS = 150 * MB, 48 * MB, 64 * MB  # budgets; the five models together are larger


def text(length: int) -> str:
    chance = random.Random(length)
    return " ".join(chance.choice(WORDS) for _ in range(length))


def take(loaded: LoadedModel, words: str) -> Trace:
    return record(loaded, words, target="我喜欢猫。" if loaded.shape == "encoder-decoder" else None)


def digest(trace: Trace) -> str:
    first, last = trace.sites[0], trace.sites[-1]
    numbers = hashlib.sha256(trace.output.tobytes())
    for call in trace.attentions:
        for tensor in (call.query, call.key, call.value):
            numbers.update(tensor.numpy().tobytes())
    for norm in trace.norms:
        numbers.update(norm.input.tobytes())
    numbers.update(trace.attention(layer=last.layer, stream=last.stream).tobytes())
    numbers.update(trace.pooled(layer=first.layer, stream=first.stream, side=24).tobytes())
    return numbers.hexdigest()


def size_of(loaded: LoadedModel) -> int:
    return sum(parameter.nbytes for parameter in loaded.network.parameters())


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def high_water() -> int:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(lines["VmHWM"].split()[0])


def settle() -> int:
    """Resident bytes after what is free went back to the system; the high-water mark starts again."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return resident()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=int, default=500)
    parser.add_argument("--threads", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    inspector.trace._maps = ByteBudgetCache(MAPS)
    take(models.load("own-encoder"), "warm up")
    base = settle()

    alone: dict[tuple[str, int], str] = {}
    sizes = {}
    most = 0
    for id in IDS:
        before = settle()
        loaded = models.load(id)
        sizes[id] = size_of(loaded)
        for length in LENGTHS:
            inspector.trace._maps = ByteBudgetCache(MAPS)
            alone[id, length] = digest(take(loaded, text(length)))
        most = max(most, high_water() - before)
        del loaded
    inspector.trace._maps = ByteBudgetCache(MAPS)
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("models: " + ", ".join(f"{id} {size / MB:.0f} MB" for id, size in sizes.items()))

    shared: ByteBudgetCache[LoadedModel] = ByteBudgetCache(MODELS)
    traces: ByteBudgetCache[Trace] = ByteBudgetCache(TRACES)
    made: Counter[str] = Counter()

    def load(id: str) -> LoadedModel:
        made["models loaded"] += 1
        return models.load(id)

    def work(number: int) -> bool:
        chance = random.Random(number)
        id, length = chance.choice(IDS), chance.choice(LENGTHS)

        def make() -> Trace:
            made["texts recorded"] += 1
            return take(shared.get(id, lambda: load(id), size=size_of), text(length))

        # A number of its own in the key: each of the recordings is made, and pushes others out.
        trace = traces.get((id, length, number), make, size=lambda trace: trace.nbytes)
        return digest(trace) == alone[id, length]

    allowed = settle() + MODELS + TRACES + MAPS + arguments.threads * most
    done, over, sampled = Event(), 0, []

    def sample() -> None:
        nonlocal over
        while not done.wait(0.02):
            sampled.append(resident())
            over += shared.used > shared.budget or traces.used > traces.budget

    watcher = Thread(target=sample)
    watcher.start()
    start = time.monotonic()
    with ThreadPoolExecutor(arguments.threads) as pool:
        equal = sum(pool.map(work, range(arguments.recordings)))
    done.set()
    watcher.join()
    took = time.monotonic() - start
    print(f"{arguments.recordings} recordings in {arguments.threads} threads, {took:.0f} s: {equal} equal")
    print(f"{made['models loaded']} loads of {len(IDS)} models, {made['texts recorded']} recordings made")
    print(f"caches over their budget in {over} of {len(sampled)} samples")
    print(
        f"resident: at first {base / MB:.0f} MB, half of the time under {statistics.median(sampled) / MB:.0f}, at most "
        f"{high_water() / MB:.0f}; allowed {allowed / MB:.0f} MB = "
        f"caches {(MODELS + TRACES + MAPS) / MB:.0f} + {arguments.threads} x {most / MB:.0f} in hand + the rest: "
        f"{'met' if high_water() <= allowed else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
