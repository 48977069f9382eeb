"""An atlas measured on a device beside the same atlas on the processor, and both beside float64.

python -m tests.benchmarks.atlas_device FILE [--device cuda] [--models mini-bert,mini-gpt] [--texts 2048]

FILE holds a text a line; texts are taken evenly from all of its lines. Printed for each model: texts a second on one
thread of the processor and on the device, and how far the numbers of every text, head and measure, and the means of the
table, are from those of the same weights in float64 on the processor, relative to the largest of each measure. Then the
same on the device in bfloat16, and a build by two processes that share the device, whose bytes are held to those of
one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray

import models
from inspector import atlas
from inspector.atlas import block, measures
from inspector.atlas.opened import Atlas
from tests.benchmarks.atlas_memory import evenly

Array = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", default="mini-bert,mini-gpt")
    parser.add_argument("--texts", type=int, default=2048)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)  # a measure may be NaN on every text
    texts = evenly(chosen.file, chosen.texts)
    for model in chosen.models.split(","):
        compare(model, texts, device=chosen.device)


def compare(model: str, texts: list[str], *, device: str) -> None:
    """Print the speed and the distances of one model's atlases."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        corpus = out / "corpus.txt"
        corpus.write_text("\n".join(texts), encoding="utf-8")
        exact = models.load(model)
        exact.network.double()
        reference, _ = built(exact, corpus, out / "float64")
        build_on = {"processor": ("cpu", "float32"), device: (device, "float32")}
        build_on[f"{device}, bfloat16"] = (device, "bfloat16")
        for name, (place, dtype) in build_on.items():
            if place != "cpu":
                built(model, corpus, out / f"warm {name}", device=place, dtype=dtype)  # the device's first kernels
            made, seconds = built(model, corpus, out / name, device=place, dtype=dtype)
            numbers, means = distances(made, reference)
            rate = f"{len(texts) / seconds:,.0f} texts a second"
            print(f"{model}, {name} ({made.manifest.capability}): {rate}; from float64, in parts of each measure's")
            print(f"  largest: numbers {numbers:.1e}, means {means:.1e}", flush=True)
        built(model, corpus, out / "two", device=device, workers=2)
        same = all(
            (out / "two" / path.relative_to(out / device)).read_bytes() == path.read_bytes()
            for path in (out / device).rglob("*.parquet")
        )
        print(f"{model}, two processes on {device}: the same bytes as one: {same}", flush=True)


def built(
    model: str | models.LoadedModel,
    corpus: Path,
    out: Path,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    workers: int = 1,
) -> tuple[Atlas, float]:
    """Build an atlas in blocks of 256 texts; returns it, and the seconds after the first block."""
    begun: list[float] = []
    made = atlas.build(
        model,
        corpus,
        out=out,
        device=device,
        dtype=dtype,
        workers=workers,
        block_texts=256,
        on_planned=lambda manifest: begun.append(time.perf_counter()),
    )
    seconds = time.perf_counter() - begun[0]
    assert made is not None
    return made, seconds


def distances(made: Atlas, reference: Atlas) -> tuple[float, float]:
    """Return how far numbers of texts, and means, are from the reference's, in parts of each measure's largest."""
    assert made.manifest.heads.equals(reference.manifest.heads)
    return (
        apart(numbers_of(made), numbers_of(reference)),
        apart(made.table()[list(measures.NAMES)].to_numpy(), reference.table()[list(measures.NAMES)].to_numpy()),
    )


def apart(one: Array, other: Array) -> float:
    """Return the largest difference, relative to the largest entry of its measure; both are NaN at the same places."""
    assert (np.isnan(one) == np.isnan(other)).all()
    largest = np.nanmax(np.abs(other.reshape(-1, other.shape[-1])), axis=0)
    return float(np.nanmax(np.abs(one - other) / np.where(largest > 0, largest, 1)))


def numbers_of(made: Atlas) -> Array:
    """Every number of every text, float64 [texts, heads, measures]."""
    tables = [
        pq.read_table(path) for path in sorted(Path(made.folder).parent.glob(f"{block.BLOCKS}/*/{block.NUMBERS}"))
    ]
    columns = [np.concatenate([np.stack(table[name].to_numpy()) for table in tables]) for name in measures.NAMES]
    return np.stack(columns, axis=-1).astype(np.float64)


if __name__ == "__main__":
    main()
