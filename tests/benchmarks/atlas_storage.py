"""Cost of an atlas beside its measuring: a plan, a resume, a merge, and bytes a text; each factor of docs/atlas.md.

python -m tests.benchmarks.atlas_storage FILE [--model minilm] [--texts 100000] [--blocks 2000]

FILE holds a text a line. (1) A plan of so many texts, the same again (a resume), and what eight shards read of the
corpus. (2) One real block of 512 texts: its bytes by file. (3) A merge of so many
blocks: that block's files, renumbered, each a folder of its own; killed twice and resumed, and undisturbed: the same
bytes; memory by block; milliseconds a block, those of a checkpoint too. (4) From these, with the milliseconds a text
that `--text-ms` names (the line of `tests.benchmarks.atlas`): hours and bytes for 10^5, 10^6 and 10^8 texts on 1, 64
and 1,024 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path

import torch

import models
from inspector.atlas import block, manifest, merging, planning, sources, storage
from inspector.atlas.block import MeasureBlock
from inspector.atlas.building import of_shard
from inspector.atlas.estimate import kept_bytes
from inspector.atlas.manifest import Manifest

SIZES, CORES = (10**5, 10**6, 10**8), (1, 64, 1024)
SHARDS = 8
ONE = "block"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--blocks", type=int, default=2000)
    parser.add_argument("--text-ms", type=float, default=40.0, help="measured by tests.benchmarks.atlas")
    parser.add_argument("--folder", type=Path, help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--merge", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    if chosen.merge:
        merge_once(chosen.merge)
        return
    with nullcontext(chosen.folder) if chosen.folder else tempfile.TemporaryDirectory() as folder:
        plan_seconds = plans(chosen.file, chosen.model, Path(folder), count=chosen.texts)
        sizes = of_block(chosen.file, chosen.model, Path(folder))
        merge_seconds = merges(Path(folder) / ONE, Path(folder) / "many", count=chosen.blocks)
    table(plan_seconds, chosen.text_ms / 1000, merge_seconds, sizes)


# --- plan and resume --------------------------------------------------------------------------------------------------


def plans(file: Path, model: str, folder: Path, *, count: int) -> float:
    """Print the seconds of a plan and of its resume, and the bytes that shards read; returns seconds a text."""
    with file.open(encoding="utf-8") as lines:
        texts = list(islice(cycle(line.strip() for line in lines.readlines() if line.strip()), count))
    corpus, out = folder / "corpus.txt", folder / "plan"
    corpus.write_text("\n".join(texts), encoding="utf-8")
    size, loaded = corpus.stat().st_size, models.load(model)
    used = time.process_time()
    planned = planning.plan(loaded, corpus, folder=out, corpus="benchmark")
    first = time.process_time() - used
    manifest._read.cache_clear()
    sources._read.cache_clear()
    begun, used = time.perf_counter(), time.process_time()
    planning.plan(loaded, corpus, folder=out, corpus="benchmark")
    left = merging.missing(out, planned)
    again, used = time.perf_counter() - begun, time.process_time() - used
    print(
        f"plan: {count:,} texts, {size / 1e6:.1f} MB, {len(left)} blocks in {first:.2f} s of CPU "
        f"({first / count * 1e6:.1f} us a text); resume {again:.2f} s ({used:.2f} s of CPU) to the first block"
    )
    counts = [0]
    opened = storage.open_file

    def counted(path: storage.Place, *, offset: int = 0, stop: int | None = None) -> object:
        file = opened(path, offset=offset)
        readline = file.readline

        class Lines:
            def __enter__(self) -> Lines:
                return self

            def __exit__(self, *error: object) -> None:
                file.close()

            def readline(self, most: int) -> bytes:
                line = readline(most)
                counts[0] += len(line)
                return line

        return Lines()

    storage.open_file = counted  # type: ignore[assignment]
    try:
        planning.plan(loaded, corpus, folder=folder / "counted", corpus="benchmark")
        for shard in range(1, SHARDS + 1):
            out = folder / f"shard-{shard}"
            plan = planning.plan(loaded, corpus, folder=out, corpus="benchmark", planned=folder / "counted")
            for number in of_shard(plan, (shard, SHARDS), sources.read(out)):
                planning.read_texts(out, plan, number)
    finally:
        storage.open_file = opened
    print(f"{SHARDS} shards read {counts[0] / size:.3f} x the corpus's bytes, the plan included")
    return first / count


# --- one block --------------------------------------------------------------------------------------------------------


def of_block(file: Path, model: str, folder: Path) -> dict[str, tuple[float, float]]:
    """Print a block's bytes by file; returns bytes a text and bytes a block by what is kept."""
    with file.open(encoding="utf-8") as lines:
        texts = list(islice((line.strip() for line in lines if line.strip()), planning.BLOCK_TEXTS))
    corpus, loaded, out = folder / "block.txt", models.load(model), folder / ONE
    corpus.write_text("\n".join(texts), encoding="utf-8")
    plan = planning.plan(loaded, corpus, folder=out, corpus="benchmark", block_bytes=10**9)
    begun = time.process_time()
    MeasureBlock(out, loaded)(0)
    took = time.process_time() - begun
    by_file = {path.name: path.stat().st_size for path in block.path(out, 0).iterdir()}
    rows, of_all = by_file[block.NUMBERS], plan.texts * len(plan.heads) * len(plan.measures)
    rest = sum(by_file.values()) - rows
    print(
        f"a block of {plan.texts} texts, {took:.1f} s of CPU ({1000 * took / plan.texts:.1f} ms a text): numbers "
        f"{rows / plan.texts:,.0f} bytes a text ({rows / of_all:.2f} a number), all else {rest:,} bytes: {by_file}"
    )
    print(f"estimated by kept_bytes: {', '.join(f'{keep} {kept_bytes(plan, keep=keep):,}' for keep in manifest.KEEP)}")
    return {"none": (0.0, rest), "sample": (0.0, rest), "all": (rows / plan.texts, rest)}


# --- merge ------------------------------------------------------------------------------------------------------------


def merges(one: Path, out: Path, *, count: int) -> float:
    """Merge a block's files under `count` numbers, undisturbed and killed twice; returns seconds a block."""
    renumbered(one, out, count=count)
    seconds, used, whole = merged(out)
    print(f"merge of {count:,} blocks: {seconds:.1f} s")
    for wait in (0.0, seconds / 8):  # at once after the first sums were kept, and a while after it went on from them
        print(f"  {killed(out, wait=wait)}; kept: the sums of {', '.join(storage.names(out / merging.MERGING))} blocks")
    again, _, resumed = merged(out)
    print(f"  resumed: {again:.1f} s; the same bytes as undisturbed: {resumed == whole}")
    return used / count


def killed(out: Path, *, wait: float) -> str:
    """Begin a merge, and kill it so many seconds after sums were kept."""
    process, begun = subprocess.Popen(command(out), env=environment(), stdout=subprocess.DEVNULL), time.monotonic()
    while process.poll() is None and not storage.whole(out / merging.MERGING, last="fold.json"):
        time.sleep(0.05)
    time.sleep(wait)
    ended = process.poll() is not None
    process.kill()
    process.wait()
    return f"{'ended before it was' if ended else 'killed'} by SIGKILL after {time.monotonic() - begun:.1f} s"


def renumbered(one: Path, out: Path, *, count: int) -> None:
    """Make a plan of `count` blocks of the texts of one, and give each the block's files under its own number."""
    plan, known = manifest.read(one), sources.read(one)
    assert known is not None
    many = Manifest(
        **{
            **{name: getattr(plan, name) for name in plan.__dataclass_fields__},
            "texts": plan.texts * count,
            "blocks": plan.blocks * count,
            "firsts": tuple(range(0, plan.texts * count, plan.texts)),
        }
    )
    many.save(out)
    sources.Sources(known.files, known.column, known.starts * count).save(out)
    about = json.loads((block.path(one, 0) / block.ABOUT).read_text(encoding="utf-8"))
    for number in range(count):
        there = block.path(out, number)
        there.mkdir(parents=True)
        for name in about["files"]:
            os.link(block.path(one, 0) / name, there / name)
        made = json.dumps({**about, "plan": many.key, "block": number}, sort_keys=True, indent=1)
        (there / block.ABOUT).write_text(made + "\n", encoding="utf-8")


def command(out: Path) -> list[str]:
    return [sys.executable, "-m", "tests.benchmarks.atlas_storage", "-", "--merge", str(out)]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def merged(out: Path) -> tuple[float, float, dict[str, str]]:
    """Merge in a process of its own, print its memory; returns seconds, those of CPU, and the merged files' hashes."""
    done = subprocess.run(command(out), env=environment(), capture_output=True, text=True, check=True)
    print("  " + "\n  ".join(done.stdout.splitlines()[:-1]))
    hashes = {path.name: sha256(path.read_bytes()).hexdigest() for path in (out / merging.MERGED).iterdir()}
    took, used = map(float, done.stdout.splitlines()[-1].split())
    return took, used, hashes


def merge_once(out: Path) -> None:
    """Merge, and print resident memory at some blocks, the time of a checkpoint, and the seconds of all."""
    add, save, saved = merging._Fold.add, merging._save, []
    total, every = len(manifest.read(out).blocks), max(1, len(manifest.read(out).blocks) // 8)

    def told(fold: merging._Fold, part: merging._Part) -> None:
        add(fold, part)
        if fold.next % every == 0:
            print(f"block {fold.next:,} of {total:,}: {resident():.0f} MB", flush=True)

    def timed(fold: merging._Fold, folder: storage.Place, plan: Manifest) -> None:
        begun = time.perf_counter()
        save(fold, folder, plan)
        saved.append(time.perf_counter() - begun)

    merging._Fold.add, merging._save = told, timed  # type: ignore[method-assign]
    begun, used = time.perf_counter(), time.process_time()
    merging.merge(out)
    took, used = time.perf_counter() - begun, time.process_time() - used
    print(f"{1000 * took / total:.1f} ms a block by the clock, {1000 * used / total:.1f} ms of CPU")
    print(f"checkpoints: {', '.join(f'{1000 * seconds:.0f} ms' for seconds in saved) or 'none'}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(took, used)


def resident() -> float:
    """Resident memory of this process in MB, on Linux."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# --- what it comes to -------------------------------------------------------------------------------------------------


def table(plan_s: float, text_s: float, merge_s: float, sizes: dict[str, tuple[float, float]]) -> None:
    """Print hours and bytes by number of texts and cores; computed from the lines above, not run."""
    print(f"by {plan_s * 1e6:.1f} us a text to plan, {text_s * 1e3:.1f} ms to measure, {merge_s * 1e3:.1f} ms a block:")
    for texts in SIZES:
        blocks = -(-texts // planning.BLOCK_TEXTS)
        work = [f"{texts * text_s / cores / 3600:,.2f} h on {cores:,}" for cores in CORES]
        kept = [
            f"{keep} {(texts * a_text + blocks * a_block) / 1e9:,.2f} GB" for keep, (a_text, a_block) in sizes.items()
        ]
        print(
            f"{texts:,} texts, {blocks:,} blocks: plan {texts * plan_s / 60:,.1f} min; work {', '.join(work)}; "
            f"merge {blocks * merge_s / 60:,.1f} min; {', '.join(kept)}"
        )


if __name__ == "__main__":
    main()
