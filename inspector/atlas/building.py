"""Builds an atlas: plans it, measures what is missing on processes or on any executor, and merges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from inspector.atlas import corpus as corpora
from inspector.atlas import manifest as manifests
from inspector.atlas import merging, planning, running
from inspector.atlas.beside import sweep
from inspector.atlas.block import BLOCKS, MeasureBlock, check
from inspector.atlas.opened import Atlas, open_atlas
from inspector.atlas.texts import Text
from models import LoadedModel, load

Corpus = str | os.PathLike[str] | Sequence[os.PathLike[str]] | Iterable[str | Text]
OnProgress = Callable[[int, int], object]
"""A function that is told how many texts are measured, of how many."""


def build(
    model: str | os.PathLike[str] | LoadedModel,
    corpus: Corpus,
    *,
    out: str | os.PathLike[str],
    workers: int = 1,
    executor: Executor | None = None,
    resume: bool = True,
    shard: tuple[int, int] | None = None,
    allow_mixed: bool = False,
    name: str = "",
    attribution: str = "",
    column: str = "text",
    block_texts: int = planning.BLOCK_TEXTS,
    on_progress: OnProgress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Atlas | None:
    """Measure every head of a model on every text of a corpus, and open the atlas.

    corpus: a file (text lines, .tsv, .conllu, .parquet, .jsonl), a list of pathlib.Path, or any iterable of texts.
    out: the atlas's folder; what is there already is not measured again. workers: processes, one torch thread each.
    executor: runs the blocks in the place of workers (threads, Ray, Dask, executorlib). resume: False refuses a folder
    that holds an atlas. shard: (number from 1, of how many): measure this part alone, and merge later with
    `merging.gather`. name, attribution: of the corpus, for people. column: of Parquet and JSONL files, with the text.
    stop: asked between blocks; True ends the building.

    The bytes do not depend on workers, executor, order or interruptions (see `manifest`). Returns None where blocks are
    left: stopped, or another shard's. Raises ValueError for a corpus without a text or one that cannot be read, a
    folder that cannot be written, and an atlas that was planned otherwise.
    """
    folder = Path(out)
    if not resume and (folder / manifests.NAME).is_file():
        raise ValueError(f"{folder} holds an atlas already; choose another folder, or resume it")
    sweep(folder, folder / BLOCKS)
    loaded = model if isinstance(model, LoadedModel) else load(model)
    manifest = planning.plan(
        loaded,
        corpora.read(corpus, column=column),
        folder=folder,
        corpus=name or _named(corpus),
        attribution=attribution,
        block_texts=block_texts,
    )
    check(manifest, loaded, allow_mixed=allow_mixed)
    left = merging.missing(folder, manifest)
    numbers = [number for number in left if shard is None or number % shard[1] == shard[0] - 1]
    total = manifest.texts if shard is None else len(numbers) * block_texts
    done = manifest.texts - sum(_texts_of(manifest, number) for number in left) if shard is None else 0

    def tell(number: int, texts: int) -> None:
        nonlocal done
        done += texts
        if on_progress is not None:
            on_progress(min(done, total), total)

    # In this process the loaded model is at hand; elsewhere each worker loads it by its id and holds it to the plan.
    here = workers == 1 if executor is None else isinstance(executor, ThreadPoolExecutor)
    task = MeasureBlock(folder.resolve(), loaded if here else loaded.card.id, allow_mixed)
    running.run(task, numbers, workers=workers, executor=executor, on_done=tell, stop=stop)
    sweep(folder / BLOCKS)  # what workers have left that were killed meanwhile, and whose blocks others made
    if merging.missing(folder, manifest):
        return None
    merging.merge(folder, allow_mixed=allow_mixed)
    return open_atlas(folder)


def _texts_of(manifest: manifests.Manifest, number: int) -> int:
    return min(manifest.block_texts, manifest.texts - number * manifest.block_texts)


def _named(corpus: Corpus) -> str:
    """The names of a corpus's files; "texts" for texts that are no files."""
    if isinstance(corpus, str | os.PathLike):
        return Path(corpus).name
    paths = [path for path in corpus if isinstance(path, os.PathLike)] if isinstance(corpus, Sequence) else []
    return ", ".join(Path(path).name for path in paths) or "texts"
