"""Adds the blocks of an atlas up, in their order, to the small files that a page reads: OUT/merged.

Every block is held to the plan and to its own hashes first: a damaged or foreign one is named and never added.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from inspector.atlas import block, planning, statistics, tables
from inspector.atlas import manifest as manifests
from inspector.atlas.beside import beside
from inspector.atlas.manifest import Manifest
from inspector.atlas.relations import RelationCounts
from inspector.atlas.statistics import EXAMPLE, PAIR, STATISTICS, WITH_EXAMPLES, Statistics
from inspector.atlas.tables import parquet_bytes, read_table
from models.files import write_bytes

MERGED = "merged"
ABOUT = "atlas.json"
SAMPLE = "sample.parquet"
_MOST_ABOUT = 64 * 2**10  # bytes of a block.json


@dataclass(frozen=True)
class TextCounts:
    """Texts of an atlas: read, without anything to read, and cut to the model's longest text; tokens of all."""

    read: int
    unread: int
    cut: int
    tokens: int


def merge(folder: Path, *, allow_mixed: bool = False) -> Path:
    """Add up all blocks of a folder's plan and write the merged atlas; returns its folder.

    allow_mixed: add blocks of other processors or library versions too, equal to 1e-5 only; the merged atlas says so.
    Raises ValueError where a block is missing, damaged, foreign or of another processor: with its name.
    """
    manifest = manifests.read(folder)
    mixed = check_blocks(folder, manifest, allow_mixed=allow_mixed)
    files = _merged(folder, manifest, mixed)
    return _write(folder, files)


def gather(folders: Sequence[Path], *, out: Path, allow_mixed: bool = False) -> Path:
    """Bring the blocks of shards in several folders together in `out`, and merge them.

    Raises ValueError as `merge` does, and where the folders hold different plans.
    """
    plans = [manifests.read(folder) for folder in folders]
    for folder, manifest in zip(folders, plans, strict=True):
        if manifest.key != plans[0].key:
            raise ValueError(
                f"{folder} holds a block plan of another atlas than {folders[0]}; merge shards of one plan"
            )
    planning.check_folder(out)
    try:
        for folder in folders:
            _bring(folder / planning.TEXTS, out / planning.TEXTS)
            for number in range(len(plans[0].blocks)):
                if (there := block.path(folder, number)).is_dir():
                    _bring(there, block.path(out, number))
    except OSError as error:
        raise ValueError(f"{out} cannot be written ({error.strerror}); make room, and merge again") from error
    plans[0].save(out)
    return merge(out, allow_mixed=allow_mixed)


def _bring(there: Path, here: Path) -> None:
    if here.is_dir():
        return
    with beside(here) as hidden:
        shutil.copytree(there, hidden)
        os.rename(hidden, here)


def missing(folder: Path, manifest: Manifest) -> list[int]:
    """The numbers of the blocks that are not there yet."""
    return [number for number in range(len(manifest.blocks)) if not block.path(folder, number).is_dir()]


def check_blocks(folder: Path, manifest: Manifest, *, allow_mixed: bool) -> list[str]:
    """Hold every block to the plan, and return the other processors and versions that made some.

    Raises ValueError where one is missing, damaged, foreign, or, without allow_mixed, of another processor.
    """
    if left := missing(folder, manifest):
        more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
        raise ValueError(f"block {left[0]}{more} of {len(manifest.blocks):,} is not measured yet; build it first")
    here = block.describe(manifest.capability, manifest.versions)
    mixed = set()
    for number in range(len(manifest.blocks)):
        about = _about(block.path(folder, number))
        block_folder = block.path(folder, number)
        if (about["plan"], about["block"]) != (manifest.key, number):
            raise ValueError(
                f"{block_folder} belongs to another atlas, or another place in it; remove it, and build again"
            )
        for name, hash in about["files"].items():
            if not (block_folder / name).is_file() or tables.sha256(block_folder / name) != hash:
                raise ValueError(f"{block_folder / name} is damaged; remove the folder {block_folder}, and build again")
        made = block.describe(about["capability"], about["versions"])
        if made != here:
            mixed.add(made)
            if not allow_mixed:
                raise ValueError(
                    f"{block_folder} was measured on {made}, and the atlas was planned on {here}: they differ in the "
                    "last bits; allow_mixed (--allow-mixed) takes them as equal to 1e-5"
                )
    return sorted(mixed)


def _about(block_folder: Path) -> dict[str, Any]:
    """Read a block.json of a stranger: known fields only."""
    path = block_folder / block.ABOUT
    wrong = f"{path} is damaged; remove the folder {block_folder}, and build again"
    if not path.is_file() or path.stat().st_size > _MOST_ABOUT:
        raise ValueError(wrong)
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(wrong) from error
    kinds = {"plan": str, "block": int, "capability": str, "versions": dict, "files": dict}
    if not isinstance(fields, dict) or {name: type(value) for name, value in fields.items()} != kinds:
        raise ValueError(wrong)
    names = {block.NUMBERS, block.STATISTICS, block.EXAMPLES, block.PAIRS}
    if fields["files"].keys() not in (names, names | {block.RELATIONS}):
        raise ValueError(wrong)
    return fields


def _merged(folder: Path, manifest: Manifest, mixed: Sequence[str]) -> dict[str, bytes]:
    heads = len(manifest.heads)
    numbers = block.numbers_schema(heads)
    whole: Statistics | None = None
    relations: RelationCounts | None = None
    counted = TextCounts(0, 0, 0, 0)
    drawn = np.zeros(0, np.int64)
    for block_folder in _blocks(folder, manifest):
        of_block = Statistics.from_table(read_table(block_folder / block.STATISTICS, STATISTICS), heads=heads)
        whole = of_block if whole is None else whole.added(of_block)
        texts = read_table(block_folder / block.NUMBERS, numbers, columns=["text", "tokens", "cut"])
        counted = _count(counted, texts)
        ids = texts["text"].to_numpy()
        drawn = statistics.sampled(np.concatenate([drawn, ids[texts["tokens"].to_numpy() > 0]]))
        if manifest.trees:
            counts = RelationCounts.from_table(
                read_table(block_folder / block.RELATIONS, RelationCounts.SCHEMA), heads=heads
            )
            relations = counts if relations is None else relations.merged(counts)
    assert whole is not None  # a plan has a block
    blocks = list(_blocks(folder, manifest))
    examples = statistics.strongest(
        (read_table(block_folder / block.EXAMPLES, EXAMPLE) for block_folder in blocks), EXAMPLE
    )
    pairs = statistics.strongest((read_table(block_folder / block.PAIRS, PAIR) for block_folder in blocks), PAIR)
    sample = _sample(folder, manifest, drawn)
    needed = {*examples["text"].to_pylist(), *pairs["text"].to_pylist(), *drawn.tolist()}
    files = {
        block.STATISTICS: whole.table(),
        block.EXAMPLES: examples,
        block.PAIRS: pairs,
        SAMPLE: sample,
        f"{planning.TEXTS}.parquet": _texts(folder, manifest, needed),
    }
    if relations is not None:
        files[block.RELATIONS] = relations.table()
    about = {"manifest": {**asdict(manifest), "blocks": []}, "counted": asdict(counted), "mixed": list(mixed)}
    contents = {name: parquet_bytes(table) for name, table in files.items()}
    hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
    text = json.dumps({**about, "files": hashes}, ensure_ascii=False, sort_keys=True, indent=1)
    return {**contents, ABOUT: (text + "\n").encode()}


def _blocks(folder: Path, manifest: Manifest) -> Iterator[Path]:
    return (block.path(folder, number) for number in range(len(manifest.blocks)))


def _count(counted: TextCounts, texts: pa.Table) -> TextCounts:
    tokens = texts["tokens"].to_numpy()
    read = int((tokens > 0).sum())
    return TextCounts(
        counted.read + read,
        counted.unread + len(tokens) - read,
        counted.cut + int(texts["cut"].to_numpy().sum()),
        counted.tokens + int(tokens.sum()),
    )


def sample_schema(heads: int) -> pa.Schema:
    """The columns of sample.parquet: a text's id and length, and the measures that have examples, of all heads."""
    about = [("text", pa.int64()), ("tokens", pa.int32())]
    return pa.schema([*about, *((name, pa.list_(pa.float32(), heads)) for name in WITH_EXAMPLES)])


def _sample(folder: Path, manifest: Manifest, drawn: np.ndarray) -> pa.Table:
    """The numbers of the texts that were drawn."""
    schema = sample_schema(len(manifest.heads))
    parts = [schema.empty_table()]
    for number in sorted({int(id) // manifest.block_texts for id in drawn}):
        path = block.path(folder, number) / block.NUMBERS
        table = read_table(path, block.numbers_schema(len(manifest.heads)), columns=schema.names)
        parts.append(table.filter(pa.array(np.isin(table["text"].to_numpy(), drawn))).cast(schema))
    return pa.concat_tables(parts).combine_chunks()


def _texts(folder: Path, manifest: Manifest, ids: set[int]) -> pa.Table:
    """The texts of all examples."""
    schema = pa.schema([planning.SCHEMA.field(name) for name in ("id", "text", "target")])
    rows = []
    for number in sorted({id // manifest.block_texts for id in ids}):
        texts = planning.read_texts(folder, number, expected=manifest.blocks[number])
        rows += [{"id": id, "text": text.text, "target": text.target} for id, text in texts.items() if id in ids]
    return pa.Table.from_pylist(rows, schema=schema)


def _write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the merged atlas beside, then put it in the place of an older one."""
    merged = folder / MERGED
    try:
        with beside(merged) as hidden:
            for name, content in files.items():
                write_bytes(hidden / name, content)
            shutil.rmtree(merged, ignore_errors=True)
            os.rename(hidden, merged)
    except OSError as error:
        raise ValueError(f"{merged} cannot be written ({error.strerror}); make room, and merge again") from error
    return merged
