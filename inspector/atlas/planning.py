"""Plans an atlas: cuts a corpus into blocks of texts, hashes each, and fixes the manifest.

Files are planned by ranges: the plan keeps where each block begins, and nothing is copied. A block's texts are hashed
again when they are read to be measured, so a corpus that changed meanwhile is named and never measured. Texts from a
generator are copied into the folder; so are files where that is asked for.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from inspector.atlas import corpus as corpora
from inspector.atlas import manifest as manifests
from inspector.atlas import measuring, sources, storage
from inspector.atlas.beside import beside
from inspector.atlas.corpus import Corpus, Start
from inspector.atlas.manifest import Manifest, Site
from inspector.atlas.measures import NAMES
from inspector.atlas.sources import FileState, Sources
from inspector.atlas.storage import Place
from inspector.atlas.tables import parquet_bytes, read_table
from inspector.atlas.texts import Text, Tree
from models import LoadedModel
from models.output_projection import find

TEXTS = "texts"
BLOCK_TEXTS = 512
BLOCK_BYTES = 2**17
BATCH_TOKENS = 4096
BATCH_TEXTS = 256
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("target", pa.string()),
        ("starts", pa.list_(pa.int32())),
        ("stops", pa.list_(pa.int32())),
        ("governors", pa.list_(pa.int32())),
        ("relations", pa.list_(pa.string())),
    ]
)


def plan(
    loaded: LoadedModel,
    texts: Corpus,
    *,
    folder: Place,
    corpus: str,
    attribution: str = "",
    column: str = "text",
    block_texts: int = BLOCK_TEXTS,
    block_bytes: int = BLOCK_BYTES,
    keep: str = "all",
    copy: bool = False,
    planned: Place | None = None,
) -> Manifest:
    """Cut the texts into blocks and write the plan into the folder; a folder with the same plan stays as it is.

    corpus: its name, for people. column: of tables, with the text. block_texts, block_bytes: a block ends before either
    is exceeded; what is measured of a block is kept or lost as a whole. keep: of `manifest.KEEP`. copy: copy the texts
    of files, too. planned: a folder whose plan is taken over where this one has none, so that shards in folders of
    their own read the corpus once.

    Where the folder's plan is of these files, and none has another size or time, the corpus is not read. Raises
    ValueError where the folder holds the plan of another model, corpus or setting, something that is no atlas, or
    cannot be written to; nothing in it is changed then.
    """
    if keep not in manifests.KEEP:
        raise ValueError(f"keep is {keep[:20]!a}; choose one of {', '.join(manifests.KEEP)}")
    check_folder(folder)
    blank = _blank(
        loaded, corpus=corpus, attribution=attribution, block_texts=block_texts, block_bytes=block_bytes, keep=keep
    )
    files = corpora.files_of(texts)
    try:
        if planned is not None and not (folder / manifests.NAME).is_file():
            take_over(planned, folder)
        there = manifests.read(folder) if (folder / manifests.NAME).is_file() else None
        known = None if there is None or files is None else sources.read(folder)
        if there is not None and files is not None and known is not None:
            for path in files:
                corpora.check_file(path)
            if sources.are_these(known, files, column=column):
                return _same(there, _filled(blank, there), folder)
        with beside(folder / "planning") if isinstance(folder, Path) else nullcontext(folder) as hidden:
            copies = None if there is not None or (files is not None and not copy) else hidden / TEXTS
            cut = _cut(texts, files, column=column, block_texts=block_texts, block_bytes=block_bytes, copies=copies)
            made = _filled(blank, cut)
            if there is not None:
                if known is not None:
                    _check_files(known, cut, folder)
                _same(there, made, folder)
            elif copies is not None and isinstance(copies, Path):
                _keep(copies, Path(folder) / TEXTS)
            if files is not None:
                copied = copies is not None or (known is not None and not known.starts)
                Sources(cut.files, column, () if copied else cut.starts).save(folder)
            if there is None:
                made.save(folder)
            return there or made
    except OSError as error:
        raise ValueError(f"{folder} cannot be written ({error.strerror}); make room, and build again") from error


def read_texts(folder: Place, manifest: Manifest, number: int) -> dict[int, Text]:
    """Read the texts of a block by their ids.

    Raises ValueError where they are not those of the plan: with the name of the file that changed.
    """
    first, count = manifest.firsts[number], manifest.count(number)
    known = sources.read(folder)
    if known is None or not known.starts:
        return _copied(folder, manifest, number)
    try:
        texts = sources.read_block(known, number, first=first, count=count)
    except ValueError as error:
        if isinstance(error, storage.StorageError) or not sources.changed(known):
            raise
        raise _changed(known, number) from error
    if corpus_hash(texts) != manifest.blocks[number]:
        raise _changed(known, number)
    return dict(enumerate(texts, start=first))


def _changed(known: Sources, number: int) -> ValueError:
    names = sources.changed(known) or [known.files[known.starts[number].file].path]
    return ValueError(
        f"{', '.join(names)[:300]} has changed since the atlas was planned: the texts of block {number} are others, "
        "and are not measured; bring the file back as it was, or plan a new atlas in another folder"
    )


def _copied(folder: Place, manifest: Manifest, number: int) -> dict[int, Text]:
    path = folder / TEXTS / f"{number:06d}.parquet"
    if manifest.format == manifests.FIRST_FORMAT:
        table = read_table(path, SCHEMA, sha256=manifest.blocks[number])
        return {row["id"]: _text(row) for row in table.to_pylist()}
    texts = {row["id"]: _text(row) for row in read_table(path, SCHEMA).to_pylist()}
    if corpus_hash(texts.values()) != manifest.blocks[number] or min(texts) != manifest.firsts[number]:
        raise ValueError(f"{path} is damaged, or of another atlas: it is not the file that was written")
    return texts


def _text(row: dict[str, object]) -> Text:
    tree = None
    if row["governors"] is not None:
        tree = Tree(*(tuple(row[name]) for name in ("starts", "stops", "governors", "relations")))  # type: ignore[arg-type]
    return Text(row["text"], row["target"], tree)  # type: ignore[arg-type]


def check_folder(folder: Place) -> None:
    """Make the folder; ValueError where it holds something that is no atlas, or cannot be written to."""
    if isinstance(folder, Path):
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; choose a folder for the atlas")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"{folder} cannot be written to ({error.strerror}); choose another folder") from error
    try:
        names = {name for name in storage.names(folder) if not name.startswith(".")}
    except OSError as error:
        raise ValueError(f"{folder} cannot be read ({error.strerror}); choose another folder") from error
    if names and not names & {manifests.NAME, sources.NAME, TEXTS}:
        raise ValueError(f"{folder} is not empty and holds no atlas ({min(names)}); choose another folder")


def take_over(planned: Place, folder: Place) -> None:
    """Copy a plan; the manifest, which says that a folder is planned, comes last."""
    manifest, known = manifests.read(planned), sources.read(planned)
    if known is None or not known.starts:
        storage.copy_folder(planned / TEXTS, folder / TEXTS, last=f"{len(manifest.blocks) - 1:06d}.parquet")
    if known is not None:
        known.save(folder)
    manifest.save(folder)


@dataclass(frozen=True)
class _Cut:
    """A corpus as it was cut: what the manifest has of it, and where its blocks begin."""

    corpus_hash: str
    texts: int
    trees: bool
    blocks: tuple[str, ...]
    firsts: tuple[int, ...]
    starts: tuple[Start, ...]
    files: tuple[FileState, ...]


def _blank(loaded: LoadedModel, **settings: Any) -> Manifest:
    """A manifest of a model that has no text yet."""
    try:
        find(loaded)
        reason = ""
    except ValueError as error:
        reason = str(error)
    return Manifest(
        model=loaded.card.id,
        model_hash=manifests.model_hash(loaded),
        shape=loaded.shape,
        sites=tuple(
            Site(site.stream, site.layer, site.call, site.heads.stop - site.heads.start)
            for site in measuring.sites(loaded)
        ),
        norm_weighted=reason,
        batch_tokens=BATCH_TOKENS,
        batch_texts=BATCH_TEXTS,
        measures=NAMES,
        versions=manifests.versions(),
        capability=manifests.capability(loaded),
        corpus_hash="",
        texts=0,
        trees=False,
        blocks=(),
        firsts=(),
        **settings,
    )


def _filled(blank: Manifest, cut: _Cut | Manifest) -> Manifest:
    """A manifest with the texts of a corpus that was cut, or of another manifest's."""
    return replace(
        blank,
        corpus_hash=cut.corpus_hash,
        texts=cut.texts,
        trees=cut.trees,
        blocks=cut.blocks,
        firsts=cut.firsts,
    )


def _cut(
    corpus: Corpus,
    files: Sequence[Place] | None,
    *,
    column: str,
    block_texts: int,
    block_bytes: int,
    copies: Place | None,
) -> _Cut:
    """Read a corpus once, hash its texts as a whole, by file and by block, and copy them where that is asked for."""
    whole, of_files = hashlib.sha256(), [hashlib.sha256() for _ in files or ()]
    before = sources.states(files) if files is not None and all(path.is_file() for path in files) else []
    blocks: list[str] = []
    firsts: list[int] = []
    starts: list[Start] = []
    count, trees = 0, False
    placed = corpora.read_placed(files if files is not None else corpus, column=column)
    for block in _blocks(placed, block_texts=block_texts, block_bytes=block_bytes):
        of_block = hashlib.sha256()
        for start, text in block:
            for digest in (whole, of_block, *of_files[start.file : start.file + 1]):
                digest.update(content(text))
        if copies is not None:
            rows = [_row(count + place, text) for place, (_, text) in enumerate(block)]
            table = pa.Table.from_pylist(rows, schema=SCHEMA)
            storage.write(copies / f"{len(blocks):06d}.parquet", parquet_bytes(table))
        blocks.append(of_block.hexdigest())
        firsts.append(count)
        starts.append(block[0][0])
        count += len(block)
        trees = trees or any(text.tree is not None for _, text in block)
    if files is not None and sources.states(files) != before:
        raise ValueError("the corpus changed while it was read; build again once it is written to its end")
    states = tuple(
        FileState(*state, digest.hexdigest()) for state, digest in zip(before, of_files, strict=files is not None)
    )
    return _Cut(whole.hexdigest(), count, trees, tuple(blocks), tuple(firsts), tuple(starts), states)


def _blocks(
    placed: Iterable[tuple[Start, Text]], *, block_texts: int, block_bytes: int
) -> Iterator[list[tuple[Start, Text]]]:
    """Put texts together until a block has enough of them, or of their bytes.

    Half of either is enough where a file or a row group ends: whoever reads the next block need not read that one.
    """
    block: list[tuple[Start, Text]] = []
    held = 0
    for start, text in placed:
        size = len(text.text.encode()) + len((text.target or "").encode())
        full = len(block) == block_texts or held + size > block_bytes
        half = 2 * len(block) >= block_texts or 2 * held >= block_bytes
        if block and (full or (half and _part(start) != _part(block[-1][0]))):
            yield block
            block, held = [], 0
        block.append((start, text))
        held += size
    if block:
        yield block


def _part(start: Start) -> tuple[int, int]:
    """The file and the row group of a text: what is read as a whole."""
    return start.file, start.group


def corpus_hash(texts: Iterable[Text]) -> str:
    """Compute SHA-256 of texts in their order, as the manifest has it of all, and of each block's."""
    whole = hashlib.sha256()
    for text in texts:
        whole.update(content(text))
    return whole.hexdigest()


def content(text: Text) -> bytes:
    """The bytes of a text that are hashed: its words, its target and its tree."""
    return repr(text).encode("utf-8", "surrogatepass")


def _row(id: int, text: Text) -> dict[str, object]:
    tree = text.tree
    parts = dict.fromkeys(("starts", "stops", "governors", "relations"))
    of_tree = parts if tree is None else {name: list(getattr(tree, name)) for name in parts}
    return {"id": id, "text": text.text, "target": text.target, **of_tree}


def _keep(made: Path, folder: Path) -> None:
    """Rename the planned texts; another process may have been first, with the same bytes."""
    try:
        os.rename(made, folder)
    except OSError:
        if not folder.is_dir():
            raise


def _check_files(known: Sources, cut: _Cut, folder: Place) -> None:
    """Raise ValueError where a file of the plan, under the name that it had, has other texts now."""
    before = {file.path: file.sha256 for file in known.files}
    others = [file.path for file in cut.files if before.get(file.path, file.sha256) != file.sha256]
    if others:
        raise ValueError(
            f"{folder} holds an atlas of another corpus: {', '.join(others)[:300]} has changed since; choose another "
            "folder, or remove this one"
        )


def _same(there: Manifest, made: Manifest, folder: Place) -> Manifest:
    for name, value in _differences(there, made):
        raise ValueError(
            f"{folder} holds an atlas with another {name} ({value}); choose another folder, or remove this one"
        )
    return there


def _differences(there: Manifest, made: Manifest) -> Iterator[tuple[str, str]]:
    names = {"format": "format of an earlier Headlight", "model": "model", "model_hash": "model under this name"}
    names |= {"corpus_hash": "corpus", "block_texts": "number of texts in a block"}
    names |= {"block_bytes": "number of bytes in a block", "keep": "choice of what is kept of each text"}
    names |= {"measures": "set of measures", "attribution": "attribution"}
    for field, name in names.items():
        if getattr(there, field) != getattr(made, field):
            yield name, f"{str(getattr(there, field))[:40]}, not {str(getattr(made, field))[:40]}"
    if there.key != made.key:
        yield "plan", there.key[:12]
