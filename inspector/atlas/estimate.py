"""Cost of an atlas before it is built, measured on some of its texts: seconds on this machine, bytes on its disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from inspector.atlas import statistics
from inspector.atlas.building import build
from inspector.atlas.manifest import Manifest
from inspector.atlas.texts import Text
from models import LoadedModel

TRIED = 24  # texts that are measured, spread over the corpus


_NUMBER = 2.9  # bytes of a number of a text (tests/benchmarks/atlas_storage.py)
_OF_A_BLOCK = 74  # bytes of a head's measure in all files of a block but that of its texts


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes that an atlas will take; tried: how many texts were measured for it."""

    seconds: float
    nbytes: int
    tried: int


def estimate(loaded: LoadedModel, texts: Sequence[Text]) -> Estimate:
    """Measure some of the texts, and multiply by their number.

    Raises ValueError where the model cannot be measured, or there is no text.
    """
    tried = texts[:: max(1, -(-len(texts) // TRIED))]
    with TemporaryDirectory() as folder:
        build(loaded, tried[:1], out=Path(folder) / "first")  # what is found once for a model is no part of it
        begun = perf_counter()
        build(loaded, tried, out=Path(folder) / "tried")
        seconds = perf_counter() - begun
        nbytes = sum(path.stat().st_size for path in (Path(folder) / "tried").rglob("*") if path.is_file())
    times = len(texts) / len(tried)
    return Estimate(seconds * times, round(nbytes * times), len(tried))


def kept_bytes(manifest: Manifest, *, keep: str | None = None) -> int:
    """Estimate the bytes of an atlas's blocks: the numbers of the texts that are kept, and what every block has.

    keep: in the place of the plan's. What is added up at the end is a few megabytes more.
    """
    heads, measures = len(manifest.heads), len(manifest.measures)
    texts = {"none": 0, "sample": min(manifest.texts, statistics.CANDIDATES), "all": manifest.texts}
    of_texts = texts[keep or manifest.keep] * heads * measures * _NUMBER
    return round(of_texts + len(manifest.blocks) * heads * measures * _OF_A_BLOCK)
