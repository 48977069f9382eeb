"""Places of a plan's texts: the files of the corpus with a fingerprint each, and where each block begins in them.

A plan reads the corpus once and copies nothing of it. A later run compares fingerprints and reads nothing; a worker
reads its block's texts from the files. Where the plan copied the texts, no block begins anywhere.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from inspector.atlas import corpus as corpora
from inspector.atlas import storage
from inspector.atlas.corpus import Start
from inspector.atlas.storage import Place
from inspector.atlas.texts import Text

NAME = "sources.json"
TABLE = ".parquet"
_MOST_BYTES = 64 * 2**20  # of such a file: the beginnings of some two million blocks
_FEW = 2**15  # texts that are passed over in a table rather than its row group read again from its beginning


@dataclass(frozen=True)
class FileState:
    """Fingerprint of a file: its size, the time of its last change in nanoseconds, and SHA-256 of all its texts."""

    path: str
    size: int
    changed: int
    sha256: str


@dataclass(frozen=True)
class Sources:
    """Files of a corpus, in their order. column: of tables, with the text. starts: of each block; none where copied."""

    files: tuple[FileState, ...]
    column: str
    starts: tuple[Start, ...]

    @cached_property
    def paths(self) -> list[Place]:
        """The files' places."""
        return [storage.place(file.path) for file in self.files]

    def stands_alone(self, block: int) -> bool:
        """Return True if nothing before the block is read with it: it begins no table, or a row group."""
        start = self.starts[block]
        return self.paths[start.file].suffix.lower() != TABLE or start.offset == start.group

    def save(self, folder: Place) -> None:
        """Write them into the atlas's folder."""
        storage.write(folder / NAME, (json.dumps(asdict(self), ensure_ascii=False) + "\n").encode())


def states(paths: Sequence[Place]) -> list[tuple[str, int, int]]:
    """Path, size and time of the last change of each file, as they are now."""
    return [(str(path.resolve()), *storage.state(path)) for path in paths]


def read(folder: Place) -> Sources | None:
    """Read an atlas's sources; None where it has none. ValueError where the file is damaged."""
    path = folder / NAME
    try:
        return _read(path, storage.state(path))
    except FileNotFoundError:
        return None


@lru_cache(maxsize=4)
def _read(path: Place, state: tuple[int, int]) -> Sources:
    try:
        raw = json.loads(storage.read(path, most=_MOST_BYTES))
        return _parsed(raw)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        if isinstance(error, storage.StorageError):
            raise
        raise ValueError(f"{path} is damaged ({str(error)[:100]}); remove it, and build again") from error


def _parsed(raw: Any) -> Sources:
    if not isinstance(raw, dict) or raw.keys() != {"files", "column", "starts"}:
        raise ValueError("fields are missing or unknown")
    files = tuple(FileState(**file) for file in raw["files"])
    kinds = {(str, int, int, str)}
    if {tuple(map(type, asdict(file).values())) for file in files} != kinds or type(raw["column"]) is not str:
        raise ValueError("a file has a path, a size, a time and a hash")
    starts = tuple(Start(*start) for start in raw["starts"])
    if any(type(part) is not int or part < 0 for start in starts for part in start):
        raise ValueError("a block begins at whole numbers")
    if any(start.file >= len(files) for start in starts):
        raise ValueError("a block begins in a file that there is not")
    return Sources(files, raw["column"], starts)


def are_these(sources: Sources, paths: Sequence[Place], *, column: str) -> bool:
    """Return True if the files are those of the plan by path, size and time, and read by the same column."""
    known = [(file.path, file.size, file.changed) for file in sources.files]
    return column == sources.column and known == states(paths)


def changed(sources: Sources) -> list[str]:
    """The files whose size or time is not as it was planned, and those that are gone."""
    return [file.path for file, path in zip(sources.files, sources.paths, strict=True) if not _is(file, path)]


def _is(file: FileState, path: Place) -> bool:
    try:
        return (file.size, file.changed) == storage.state(path)
    except OSError:
        return False


@dataclass
class _Reader:
    """Texts of a plan as far as a thread has read them. next: the number of the text that comes."""

    sources: Sources
    texts: Iterator[Text]
    next: int


class _Open(threading.local):
    reader: _Reader | None = None


_open = _Open()


def read_block(sources: Sources, block: int, *, first: int, count: int) -> list[Text]:
    """Read a block's texts: `count` from the number `first` on.

    Of lines the block's own bytes are read. Of a table a thread that has read a block before reads on, so a row group
    of many blocks is read once.
    """
    start, stop = sources.starts[block], (*sources.starts[block + 1 : block + 2], None)[0]
    if sources.paths[start.file].suffix.lower() != TABLE:
        return list(islice(corpora.read_on(sources.paths, start, column=sources.column, stop=stop), count))
    reader = _open.reader
    if reader is None or reader.sources is not sources or not 0 <= first - reader.next <= _FEW:
        reader = _Reader(sources, corpora.read_on(sources.paths, start, column=sources.column), first)
    _open.reader = None  # where the reading fails, it begins anew
    skipped = first - reader.next
    texts = list(islice(reader.texts, skipped, skipped + count))
    reader.next = first + count
    _open.reader = None if stop is None else reader
    return texts
