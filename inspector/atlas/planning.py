"""Plans an atlas: cuts a corpus into blocks of texts, writes each to a file, and fixes the manifest.

The plan lies in the folder, so workers, machines and later runs read the same texts, and the corpus may be a generator.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from inspector.atlas import manifest as manifests
from inspector.atlas import measuring
from inspector.atlas.beside import beside
from inspector.atlas.manifest import Manifest, Site
from inspector.atlas.measures import NAMES
from inspector.atlas.tables import parquet_bytes, read_table
from inspector.atlas.texts import Text, Tree
from models import LoadedModel
from models.files import write_bytes
from models.output_projection import find

TEXTS = "texts"
BLOCK_TEXTS = 512
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
    texts: Iterable[Text],
    *,
    folder: Path,
    corpus: str,
    attribution: str = "",
    block_texts: int = BLOCK_TEXTS,
) -> Manifest:
    """Write the texts' blocks and the manifest into the folder; a folder with the same plan stays as it is.

    corpus: its name, for people. Raises ValueError where the folder holds the plan of another model, corpus or setting,
    something that is no atlas, or cannot be written to; nothing in it is changed then.
    """
    check_folder(folder)
    try:
        with beside(folder / "planning") as hidden:
            made = _write(loaded, texts, hidden, corpus=corpus, attribution=attribution, block_texts=block_texts)
            if (folder / manifests.NAME).is_file():
                return _same(manifests.read(folder), made, folder)
            _keep(hidden / TEXTS, folder / TEXTS)
            made.save(hidden)  # two shards may plan at once: each renames its own
            os.replace(hidden / manifests.NAME, folder / manifests.NAME)
            return made
    except OSError as error:
        raise ValueError(f"{folder} cannot be written ({error.strerror}); make room, and build again") from error


def read_texts(folder: Path, number: int, *, expected: str) -> dict[int, Text]:
    """Read the texts of a block by their ids; ValueError where the file is not the one of the plan."""
    path = folder / TEXTS / f"{number:06d}.parquet"
    table = read_table(path, SCHEMA, sha256=expected)
    return {row["id"]: _text(row) for row in table.to_pylist()}


def _text(row: dict[str, object]) -> Text:
    tree = None
    if row["governors"] is not None:
        tree = Tree(*(tuple(row[name]) for name in ("starts", "stops", "governors", "relations")))  # type: ignore[arg-type]
    return Text(row["text"], row["target"], tree)  # type: ignore[arg-type]


def check_folder(folder: Path) -> None:
    """Make the folder; ValueError where it holds something that is no atlas, or cannot be written to."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; choose a folder for the atlas")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    except OSError as error:
        raise ValueError(f"{folder} cannot be written to ({error.strerror}); choose another folder") from error
    if names and not names & {manifests.NAME, TEXTS}:
        raise ValueError(f"{folder} is not empty and holds no atlas ({min(names)}); choose another folder")


def _write(
    loaded: LoadedModel, texts: Iterable[Text], hidden: Path, *, corpus: str, attribution: str, block_texts: int
) -> Manifest:
    whole, blocks, count, trees = hashlib.sha256(), [], 0, False
    coming = iter(texts)
    for number, block in enumerate(iter(lambda: list(islice(coming, block_texts)), [])):
        table = pa.Table.from_pylist([_row(count + place, text) for place, text in enumerate(block)], schema=SCHEMA)
        content = parquet_bytes(table)
        write_bytes(hidden / TEXTS / f"{number:06d}.parquet", content)
        blocks.append(hashlib.sha256(content).hexdigest())
        _add(whole, block)
        count += len(block)
        trees = trees or any(text.tree is not None for text in block)
    if not count:
        raise ValueError("the corpus has no text; give at least one")
    sites = measuring.sites(loaded)
    try:
        find(loaded)
        reason = ""
    except ValueError as error:
        reason = str(error)
    return Manifest(
        model=loaded.card.id,
        model_hash=manifests.model_hash(loaded),
        shape=loaded.shape,
        sites=tuple(Site(site.stream, site.layer, site.call, site.heads.stop - site.heads.start) for site in sites),
        norm_weighted=reason,
        corpus=corpus,
        corpus_hash=whole.hexdigest(),
        attribution=attribution,
        texts=count,
        trees=trees,
        block_texts=block_texts,
        batch_tokens=BATCH_TOKENS,
        batch_texts=BATCH_TEXTS,
        measures=NAMES,
        blocks=tuple(blocks),
        versions=manifests.versions(),
        capability=manifests.capability(loaded),
    )


def corpus_hash(texts: Iterable[Text]) -> str:
    """Compute SHA-256 of all texts in their order, as the manifest has it."""
    whole = hashlib.sha256()
    _add(whole, texts)
    return whole.hexdigest()


def _add(whole: hashlib._Hash, texts: Iterable[Text]) -> None:
    for text in texts:
        whole.update(repr(text).encode("utf-8", "surrogatepass"))


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


def _same(there: Manifest, made: Manifest, folder: Path) -> Manifest:
    for name, value in _differences(there, made):
        raise ValueError(
            f"{folder} holds an atlas with another {name} ({value}); choose another folder, or remove this one"
        )
    return there


def _differences(there: Manifest, made: Manifest) -> Iterator[tuple[str, str]]:
    names = {"model": "model", "model_hash": "model under this name", "corpus_hash": "corpus"}
    names |= {"block_texts": "number of texts in a block", "measures": "set of measures", "attribution": "attribution"}
    for field, name in names.items():
        if getattr(there, field) != getattr(made, field):
            yield name, f"{str(getattr(there, field))[:40]}, not {str(getattr(made, field))[:40]}"
    if there.key != made.key:
        yield "plan", there.key[:12]
