"""Builds an atlas: plans it, measures what is missing on processes or on any executor, and merges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import cast

from inspector.atlas import corpus as corpora
from inspector.atlas import manifest as manifests
from inspector.atlas import merging, planning, running, sources, storage
from inspector.atlas.aside import Search, Unit
from inspector.atlas.beside import sweep
from inspector.atlas.block import BLOCKS, MeasureBlock, check
from inspector.atlas.corpus import Corpus
from inspector.atlas.manifest import Manifest
from inspector.atlas.opened import Atlas, open_atlas
from inspector.atlas.sources import Sources
from models import LoadedModel, load
from models.placement import DtypeName

_FEWER = 8  # a shard gives up or takes an eighth at either end, so that row groups are read once
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
    block_bytes: int = planning.BLOCK_BYTES,
    keep: str = "all",
    copy: bool = False,
    planned: str | os.PathLike[str] | None = None,
    on_planned: Callable[[Manifest], object] | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    slots: int | Callable[[], int] | None = None,
    on_progress: OnProgress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Atlas | None:
    """Measure every head of a model on every text of a corpus, and open the atlas.

    corpus: a file (text lines, .tsv, .conllu, .parquet, .jsonl), a list of pathlib.Path, or any iterable of texts.
    out: the atlas's folder; what is there already is not measured again. Files and folder may be s3://bucket/key
    (`storage.place` makes one for a list). workers: processes, one torch thread each.
    executor: runs the blocks in the place of workers (threads, Ray, Dask, executorlib); slots: how many it runs at
    once, a number or a function that is asked again and again, where the executor does not say (`running.run`). dtype,
    device: of a model that is loaded by its id, here and by every worker, as in `models.load`.
    resume: False refuses a folder that holds an atlas. shard: (number from 1, of how many): measure this part alone,
    and merge later with `merging.gather`. name, attribution: of the corpus, for people. column: of Parquet and JSONL
    files, with the text.
    block_texts, block_bytes: the most texts of a block, and bytes of their words. keep: the numbers of single texts
    that are kept: "all", a "sample", or "none". copy: copy the texts of files into the folder, as is done with those of
    any iterable. planned: a folder with the same plan, which is taken over: then the corpus is not read for another.
    on_planned: told the manifest before the first block is measured.
    stop: asked between blocks; True ends the building.

    The bytes do not depend on workers, executor, order or interruptions (see `manifest`). A text that cannot be
    measured, twice, is set aside and named in the atlas (`Atlas.aside`). Returns None where blocks are left: stopped,
    or another shard's. Raises ValueError for a corpus without a text or one that cannot be read, a folder that cannot
    be written, and an atlas that was planned otherwise.
    """
    folder = storage.place(out)
    if not resume and (folder / manifests.NAME).is_file():
        raise ValueError(f"{folder} holds an atlas already; choose another folder, or resume it")
    if isinstance(folder, Path):
        sweep(folder, folder / BLOCKS)
    loaded = _loaded(model, dtype, device)
    manifest = planning.plan(
        loaded,
        corpus,
        folder=folder,
        corpus=name or _named(corpus),
        attribution=attribution,
        column=column,
        block_texts=block_texts,
        block_bytes=block_bytes,
        keep=keep,
        copy=copy,
        planned=None if planned is None else storage.place(planned),
    )
    check(manifest, loaded, allow_mixed=allow_mixed)
    if on_planned is not None:
        on_planned(manifest)
    left = merging.missing(folder, manifest)
    part = range(len(manifest.blocks)) if shard is None else of_shard(manifest, shard, sources.read(folder))
    numbers = [number for number in left if number in part]
    total = sum(map(manifest.count, part))
    done = total - sum(map(manifest.count, numbers))

    search = Search(manifest.ids)

    def tell(unit: Unit, texts: int) -> Iterable[Unit]:
        nonlocal done
        done += texts
        if on_progress is not None and texts:
            on_progress(done, total)
        return search.done(unit)

    # In this process the loaded model is at hand; elsewhere each worker loads it by its id and holds it to the plan.
    here = workers == 1 if executor is None else isinstance(executor, ThreadPoolExecutor)
    task = MeasureBlock(folder.resolve(), loaded if here else loaded.card.id, allow_mixed, dtype, device)
    running.run(
        task,
        list[Unit](numbers),
        workers=workers,
        executor=executor,
        slots=slots,
        on_done=tell,
        instead=search.failed,
        stop=stop,
    )
    if isinstance(folder, Path):
        sweep(folder / BLOCKS)  # what workers have left that were killed meanwhile, and whose blocks others made
    if merging.missing(folder, manifest):
        return None
    merging.merge(folder, allow_mixed=allow_mixed)
    return open_atlas(folder)


def of_shard(manifest: Manifest, shard: tuple[int, int], known: Sources | None) -> range:
    """The blocks of a shard (number from 1, of how many): one after the other, so that each part is read once.

    known: the plan's files. Of tables a shard begins with a row group, where that makes it at most a quarter longer.
    """
    number, count = shard
    blocks = len(manifest.blocks)
    return range(
        _edge(known, blocks * (number - 1) // count, blocks, count),
        _edge(known, blocks * number // count, blocks, count),
    )


def _edge(known: Sources | None, edge: int, blocks: int, shards: int) -> int:
    """The block nearest to an even cut that can be read without those before it; the cut itself where none is near."""
    if known is None or not known.starts or edge in (0, blocks):
        return edge
    reach = blocks // (_FEWER * shards)
    near = (block for block in range(max(1, edge - reach), min(blocks, edge + reach + 1)) if known.stands_alone(block))
    return min(near, key=lambda block: abs(block - edge), default=edge)


def _loaded(model: str | os.PathLike[str] | LoadedModel, dtype: str, device: str) -> LoadedModel:
    if isinstance(model, LoadedModel):
        if (dtype, device) != ("float32", "cpu"):
            raise ValueError(f"dtype and device are of a model that is loaded by its id, and {model.card.id} is loaded")
        return model
    if device == "mps":
        raise ValueError("an atlas adds up in float64, which mps does not have; choose device='cpu' or 'cuda'")
    return load(model, dtype=cast("DtypeName", dtype), device=device)


def _named(corpus: Corpus) -> str:
    """The names of a corpus's files; "texts" for texts that are no files."""
    if isinstance(corpus, Sequence) and not isinstance(corpus, str):
        corpus = [item for item in corpus if isinstance(item, os.PathLike)]
    return ", ".join(path.name for path in corpora.files_of(corpus) or ()) or "texts"
