"""Adds the blocks of an atlas up, in their order, to the small files that a page reads: OUT/merged.

Every block is held to the plan and to its own hashes first: a damaged or foreign one is named and never added.

Sums of float64 change with their grouping, so one process adds all blocks in their order; what stands beside the sums
(hashes, the strongest examples, the sample) is read ahead by threads. After each thousand blocks the sums are kept in
OUT/merging, so a merge that was killed goes on from there, with the same bytes.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inspector.atlas import block, planning, relation_scores, statistics, storage, tables
from inspector.atlas import manifest as manifests
from inspector.atlas.manifest import Manifest
from inspector.atlas.measures import NAMES
from inspector.atlas.relations import RelationCounts
from inspector.atlas.statistics import EXAMPLE, PAIR, STATISTICS, WITH_EXAMPLES, Statistics, Strongest
from inspector.atlas.storage import Place
from inspector.atlas.tables import parquet_bytes, read_table

MERGED = "merged"
MERGING = "merging"
ABOUT = "atlas.json"
SAMPLE = "sample.parquet"
CHECKPOINT = 1000  # blocks
_FOLD = "fold.json"
_MOST_ABOUT = 2**20  # bytes of a block.json
_MOST_FOLD = 16 * 2**20
_MOST_DIGITS = 18  # of an id
_DISK_READERS, _STORE_READERS = 2, 16  # an object store answers slowly, and many at once


@dataclass(frozen=True)
class TextCounts:
    """Texts of an atlas: read, without anything to read, and cut to the model's longest text; tokens of all.

    Texts that were set aside, because they could not be measured, are none of these.
    """

    read: int
    unread: int
    cut: int
    tokens: int

    def added(self, other: TextCounts) -> TextCounts:
        """Add the texts of a block."""
        return TextCounts(
            self.read + other.read, self.unread + other.unread, self.cut + other.cut, self.tokens + other.tokens
        )


def merge(folder: Place, *, allow_mixed: bool = False, checkpoint: int = CHECKPOINT) -> Place:
    """Add up all blocks of a folder's plan and write the merged atlas; returns its folder.

    allow_mixed: add blocks of other processors or library versions too, equal to 1e-5 only; the merged atlas says so.
    checkpoint: blocks after which the sums are kept. Raises ValueError where a block is missing, damaged, foreign or of
    another processor: with its name.
    """
    manifest = manifests.read(folder)
    if manifest.format == manifests.FIRST_FORMAT:
        raise ValueError(f"{folder} was planned by Headlight 0.1, whose blocks are not added up now; build it anew")
    if left := missing(folder, manifest):
        more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
        raise ValueError(f"block {left[0]}{more} of {len(manifest.blocks):,} is not measured yet; build it first")
    fold = _begun(folder, manifest, allow_mixed=allow_mixed)
    for part in _read_ahead(folder, manifest, first=fold.next, allow_mixed=allow_mixed):
        fold.add(part)
        if fold.next % checkpoint == 0 and fold.next < len(manifest.blocks):
            _save(fold, folder, manifest)
    return _write(folder, _merged(folder, manifest, fold))


def gather(folders: Sequence[Path | str], *, out: Path | str, allow_mixed: bool = False) -> Place:
    """Bring the blocks of shards in several folders together in `out`, and merge them.

    Raises ValueError as `merge` does, and where the folders hold different plans.
    """
    parts, whole = [storage.place(folder) for folder in folders], storage.place(out)
    plans = [manifests.read(folder) for folder in parts]
    for folder, manifest in zip(parts, plans, strict=True):
        if manifest.key != plans[0].key:
            raise ValueError(f"{folder} holds a block plan of another atlas than {parts[0]}; merge shards of one plan")
    planning.check_folder(whole)
    try:
        for folder in parts:
            for name in sorted(storage.whole(folder / block.BLOCKS, last=block.ABOUT)):
                storage.copy_folder(folder / block.BLOCKS / name, whole / block.BLOCKS / name, last=block.ABOUT)
        planning.take_over(parts[0], whole)
    except OSError as error:
        raise ValueError(f"{whole} cannot be written ({error.strerror}); make room, and merge again") from error
    return merge(whole, allow_mixed=allow_mixed)


def missing(folder: Place, manifest: Manifest) -> list[int]:
    """The numbers of the blocks that are not there yet."""
    there = storage.whole(folder / block.BLOCKS, last=block.ABOUT)
    return [number for number in range(len(manifest.blocks)) if block.path(folder, number).name not in there]


# --- one block --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Part:
    """A block as it is added. about: SHA-256 of its block.json. mixed: what made it, where the plan names another.

    drawn: ids of its texts that the sample may hold. aside: reasons of those that could not be measured, by their ids.
    """

    about: str
    mixed: str
    counted: TextCounts
    statistics: Statistics
    examples: pa.Table
    pairs: pa.Table
    relations: RelationCounts | None
    drawn: NDArray[np.int64]
    aside: dict[str, str]


def _read_ahead(folder: Place, manifest: Manifest, *, first: int, allow_mixed: bool) -> Iterator[_Part]:
    """Read and hold the blocks from `first` on by threads, and yield them in their order; few are held at once."""
    readers = _readers(folder)
    coming = iter(range(first, len(manifest.blocks)))
    with ThreadPoolExecutor(readers) as pool:
        ahead: deque[Future[_Part]] = deque()
        try:
            while True:
                while len(ahead) < 2 * readers and (number := next(coming, None)) is not None:
                    ahead.append(pool.submit(_part, folder, manifest, number, allow_mixed=allow_mixed))
                if not ahead:
                    return
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def _readers(folder: Place) -> int:
    return _DISK_READERS if isinstance(folder, Path) else _STORE_READERS


def _part(folder: Place, manifest: Manifest, number: int, *, allow_mixed: bool) -> _Part:
    """Read a block; ValueError where it is damaged, foreign, or, without allow_mixed, of another processor."""
    there, heads = block.path(folder, number), len(manifest.heads)
    content, about = _about(there)
    if (about["plan"], about["block"]) != (manifest.key, number):
        raise ValueError(f"{there} belongs to another atlas, or another place in it; remove it, and build again")
    here = block.describe(manifest.capability, manifest.versions)
    made = block.describe(about["capability"], about["versions"])
    if made != here and not allow_mixed:
        raise ValueError(
            f"{there} was measured on {made}, and the atlas was planned on {here}: "
            f"{block.apart(manifest.capability, about['capability'])}"
        )
    contents = {name: _whole(there, name, hash) for name, hash in about["files"].items()}

    def table(name: str, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
        if name not in contents:
            raise _damaged(there, there / block.ABOUT)
        return tables.parsed(contents[name], there / name, schema, columns=columns)

    drawn = np.zeros(0, np.int64)
    if block.NUMBERS in contents:
        texts = table(block.NUMBERS, block.numbers_schema(heads), ["text", "tokens"])
        drawn = statistics.sampled(texts["text"].to_numpy()[texts["tokens"].to_numpy() > 0])
    relations = None
    if manifest.trees:
        relations = RelationCounts.from_table(table(block.RELATIONS, RelationCounts.SCHEMA), heads=heads)
    return _Part(
        about=sha256(content).hexdigest(),
        mixed=made if made != here else "",
        counted=TextCounts(**about["counted"]),
        statistics=Statistics.from_table(table(block.STATISTICS, STATISTICS), heads=heads),
        examples=table(block.EXAMPLES, EXAMPLE),
        pairs=table(block.PAIRS, PAIR),
        relations=relations,
        drawn=drawn,
        aside=about[block.ASIDE],
    )


def _whole(there: Place, name: str, hash: str) -> bytes:
    try:
        return tables.read(there / name, sha256=hash)
    except ValueError as error:
        if isinstance(error, storage.StorageError):
            raise
        raise _damaged(there, there / name) from error


def _damaged(there: Place, path: Place) -> ValueError:
    return ValueError(f"{path} is damaged; remove the folder {there}, and build again")


def _about(there: Place) -> tuple[bytes, dict[str, Any]]:
    """Read a block.json of a stranger, as bytes and as fields: known fields only."""
    path = there / block.ABOUT
    try:
        content = storage.read(path, most=_MOST_ABOUT)
        fields = json.loads(content)
    except (ValueError, RecursionError, FileNotFoundError) as error:
        if isinstance(error, storage.StorageError):
            raise
        raise _damaged(there, path) from error
    kinds = {"plan": str, "block": int, "counted": dict, "capability": str, "versions": dict, "files": dict}
    if not isinstance(fields, dict) or not is_aside(fields.setdefault(block.ASIDE, {})):
        raise _damaged(there, path)
    if {name: type(value) for name, value in fields.items() if name != block.ASIDE} != kinds:
        raise _damaged(there, path)
    counted = {name: type(value) for name, value in fields["counted"].items()}
    if counted != dict.fromkeys(("read", "unread", "cut", "tokens"), int):
        raise _damaged(there, path)
    names = {block.STATISTICS, block.EXAMPLES, block.PAIRS}
    if fields["files"].keys() - {block.NUMBERS, block.RELATIONS} != names:
        raise _damaged(there, path)
    return content, fields


def is_aside(value: object) -> bool:
    """Return True if a value of a stranger's JSON is texts that were set aside: reasons by their ids."""
    return isinstance(value, dict) and all(
        isinstance(reason, str) and id.isdecimal() and len(id) <= _MOST_DIGITS for id, reason in value.items()
    )


# --- the fold ---------------------------------------------------------------------------------------------------------


class _Fold:
    """Sums of the first blocks of an atlas. next: how many. chain: a hash of all their block.json."""

    def __init__(self, manifest: Manifest) -> None:
        heads = len(manifest.heads)
        self.next, self.chain = 0, ""
        self.mixed: set[str] = set()
        self.counted = TextCounts(0, 0, 0, 0)
        self.aside: dict[str, str] = {}
        self.statistics: Statistics | None = None
        self.relations = RelationCounts.none(heads) if manifest.trees else None
        self.examples, self.pairs = Strongest(EXAMPLE, heads=heads), Strongest(PAIR, heads=heads)
        self.drawn: NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, part: _Part) -> None:
        """Add the next block."""
        self.next, self.chain = self.next + 1, _chained(self.chain, part.about)
        self.mixed |= {part.mixed} - {""}
        self.counted = self.counted.added(part.counted)
        self.aside |= part.aside
        self.statistics = part.statistics if self.statistics is None else self.statistics.added(part.statistics)
        if self.relations is not None and part.relations is not None:
            self.relations = self.relations.merged(part.relations)
        self.examples.add(part.examples)
        self.pairs.add(part.pairs)
        self.drawn = statistics.sampled(np.concatenate([self.drawn, part.drawn]))

    def tables(self) -> dict[str, pa.Table]:
        """The sums as the tables of a merged atlas."""
        assert self.statistics is not None  # a plan has a block
        made = {
            block.STATISTICS: self.statistics.table(),
            block.EXAMPLES: self.examples.table(),
            block.PAIRS: self.pairs.table(),
        }
        return made if self.relations is None else {**made, block.RELATIONS: self.relations.table()}


def _chained(chain: str, about: str) -> str:
    return sha256(f"{chain}{about}".encode()).hexdigest()


def _save(fold: _Fold, folder: Place, manifest: Manifest) -> None:
    """Keep the sums in a folder of their own, then remove the older ones."""
    contents = {name: parquet_bytes(table) for name, table in fold.tables().items()}
    about = {
        "plan": manifest.key,
        "next": fold.next,
        "chain": fold.chain,
        "mixed": sorted(fold.mixed),
        "counted": asdict(fold.counted),
        "aside": fold.aside,
        "drawn": fold.drawn.tolist(),
        "files": {name: sha256(content).hexdigest() for name, content in contents.items()},
    }
    kept, name = folder / MERGING, f"{fold.next:06d}"
    try:
        storage.write_folder(kept / name, {**contents, _FOLD: json.dumps(about).encode()})
    except OSError as error:
        raise ValueError(f"{kept} cannot be written ({error.strerror}); make room, and merge again") from error
    for older in storage.names(kept):
        if older != name:
            storage.remove(kept / older)


def _begun(folder: Place, manifest: Manifest, *, allow_mixed: bool) -> _Fold:
    """The sums that were kept last, where they are of this plan and of these very blocks; else none."""
    kept = folder / MERGING
    for name in sorted(storage.whole(kept, last=_FOLD), reverse=True):
        try:
            fold = _kept(kept / name, manifest)
        except storage.StorageError:
            raise
        except (ValueError, TypeError, KeyError):  # damaged, or of another plan: what it held is added up again
            continue
        if (allow_mixed or not fold.mixed) and fold.chain == _chain(folder, manifest, fold.next):
            return fold
    return _Fold(manifest)


def _kept(there: Place, manifest: Manifest) -> _Fold:
    about = json.loads(storage.read(there / _FOLD, most=_MOST_FOLD))
    if about["plan"] != manifest.key:
        raise ValueError("it is of another plan")
    heads, fold = len(manifest.heads), _Fold(manifest)

    def table(name: str, schema: pa.Schema) -> pa.Table:
        return read_table(there / name, schema, sha256=about["files"][name])

    fold.next, fold.chain, fold.mixed = int(about["next"]), str(about["chain"]), set(map(str, about["mixed"]))
    fold.counted, fold.drawn = TextCounts(**about["counted"]), np.array(about["drawn"], np.int64)
    fold.aside = {str(id): str(reason) for id, reason in about["aside"].items()}
    fold.statistics = Statistics.from_table(table(block.STATISTICS, STATISTICS), heads=heads)
    fold.examples.add(table(block.EXAMPLES, EXAMPLE))
    fold.pairs.add(table(block.PAIRS, PAIR))
    if manifest.trees:
        fold.relations = RelationCounts.from_table(table(block.RELATIONS, RelationCounts.SCHEMA), heads=heads)
    return fold


def _chain(folder: Place, manifest: Manifest, blocks: int) -> str:
    """Hash the block.json of the first blocks, as they are now."""
    with ThreadPoolExecutor(_readers(folder)) as pool:
        chain = ""
        for content, _ in pool.map(lambda number: _about(block.path(folder, number)), range(blocks)):
            chain = _chained(chain, sha256(content).hexdigest())
        return chain


# --- the merged files -------------------------------------------------------------------------------------------------


def _merged(folder: Place, manifest: Manifest, fold: _Fold) -> dict[str, bytes]:
    made = fold.tables()
    if fold.relations is not None:  # of a relation that is rare there is no score
        kept = pa.array([*NAMES, *(" ".join(pair) for pair in relation_scores.scored(fold.relations))])
        made[block.EXAMPLES] = made[block.EXAMPLES].filter(pc.is_in(made[block.EXAMPLES]["measure"], kept))
    ids = (made[name]["text"].to_pylist() for name in (block.EXAMPLES, block.PAIRS))
    needed = {*fold.drawn.tolist(), *(id for of_table in ids for id in of_table)}
    sample, words = _sample(folder, manifest, fold.drawn), _words(folder, manifest, needed)
    files = {**made, SAMPLE: sample, f"{planning.TEXTS}.parquet": words}
    about = {
        "manifest": {**asdict(manifest), "blocks": [], "firsts": []},
        "counted": asdict(fold.counted),
        "mixed": sorted(fold.mixed),
    }
    if fold.aside:
        about[block.ASIDE] = fold.aside
    contents = {name: parquet_bytes(table) for name, table in files.items()}
    hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
    text = json.dumps({**about, "files": hashes}, ensure_ascii=False, sort_keys=True, indent=1)
    return {**contents, ABOUT: (text + "\n").encode()}


def sample_schema(heads: int) -> pa.Schema:
    """The columns of sample.parquet: a text's id and length, and the measures that have examples, of all heads."""
    about = [("text", pa.int64()), ("tokens", pa.int32())]
    return pa.schema([*about, *((name, pa.list_(pa.float32(), heads)) for name in WITH_EXAMPLES)])


def _sample(folder: Place, manifest: Manifest, drawn: NDArray[np.int64]) -> pa.Table:
    """The numbers of the texts that were drawn."""
    schema = sample_schema(len(manifest.heads))
    parts = _rows_of(folder, manifest, drawn.tolist(), schema.names)
    return pa.concat_tables([schema.empty_table(), *(part.cast(schema) for part in parts)]).combine_chunks()


def _words(folder: Place, manifest: Manifest, needed: set[int]) -> pa.Table:
    """The words of all examples: beside their numbers where those of all texts are kept, else in the corpus."""
    schema = pa.schema([planning.SCHEMA.field(name) for name in ("id", "text", "target")])
    if manifest.keep == "all":
        parts = _rows_of(folder, manifest, needed, ["text", "words", "target"])
        return pa.concat_tables(part.rename_columns(schema.names) for part in parts).combine_chunks()
    rows = []
    for number, ids in _by_block(manifest, needed):
        texts = planning.read_texts(folder, manifest, number)
        rows += [{"id": id, "text": texts[id].text, "target": texts[id].target} for id in ids]
    return pa.Table.from_pylist(rows, schema=schema)


def _rows_of(folder: Place, manifest: Manifest, ids: Iterable[int], columns: Sequence[str]) -> list[pa.Table]:
    """Rows of the texts in the order of their ids, read by several threads."""
    with ThreadPoolExecutor(_readers(folder)) as pool:
        found = _by_block(manifest, ids)
        return list(pool.map(lambda of_block: _rows(folder, manifest, *of_block, columns=columns), found))


def _by_block(manifest: Manifest, ids: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    """Texts by the number of their block, both in order."""
    return ((number, list(of_block)) for number, of_block in groupby(sorted({*ids}), key=manifest.block_of))


def _rows(folder: Place, manifest: Manifest, number: int, ids: Sequence[int], *, columns: Sequence[str]) -> pa.Table:
    """Some rows and columns of a block's texts, of a block that was held to its hashes when it was added."""
    path = block.path(folder, number) / block.NUMBERS
    table = tables.read_columns(path, block.numbers_schema(len(manifest.heads)), columns=columns)
    chosen = table.filter(pa.array(np.isin(table["text"].to_numpy(), list(ids))))
    if chosen.num_rows != len(ids):
        raise _damaged(path.parent, path)
    return chosen.replace_schema_metadata(None)


def _write(folder: Place, files: Mapping[str, bytes]) -> Place:
    """Write the merged atlas in the place of an older one, and take away what was kept on the way."""
    merged = folder / MERGED
    try:
        storage.replace_folder(merged, files)
        storage.remove(folder / MERGING)
    except OSError as error:
        raise ValueError(f"{merged} cannot be written ({error.strerror}); make room, and merge again") from error
    return merged
