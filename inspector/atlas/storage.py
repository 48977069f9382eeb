"""Files of an atlas and of its corpus, on a disk or in an object store that speaks S3, by the same few functions.

A place is a pathlib.Path, or an `ObjectPath` such as s3://bucket/my-atlas. On a disk a folder is written beside and
renamed. An object store has no rename (its `move` is copy and delete) but shows an object only once it is whole: there
a folder's files are written one by one, and the file that says what they are comes last.

An object store is found as all programs of AWS find it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION,
and AWS_ENDPOINT_URL for a store of another house.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import fs

from inspector.atlas.beside import beside
from models.files import write_bytes

RETRIES = 8
"""Calls of an object store that fails before it is given up; each waits longer than the one before."""
_SCHEME = "s3://"
_BUFFER_BYTES = 2**20


class StorageError(ValueError):
    """An object store that did not do what it was asked; names the object."""


@dataclass(frozen=True, order=True)
class ObjectPath(os.PathLike[str]):
    """A file or a folder of an object store, with those of pathlib's methods that an atlas needs.

    key: bucket and key, without the scheme. retries: how often a call that failed is made again.
    """

    key: str
    retries: int = RETRIES

    def __fspath__(self) -> str:
        return _SCHEME + self.key

    __str__ = __fspath__

    def __truediv__(self, name: str) -> ObjectPath:
        return replace(self, key=f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> ObjectPath:
        """The folder that it lies in."""
        return replace(self, key=self.key.rpartition("/")[0])

    def resolve(self) -> ObjectPath:
        """The place itself: it names a whole way already."""
        return self

    def is_file(self) -> bool:
        """Return True if there is such an object."""
        return bool(self._info().type == fs.FileType.File)

    def is_dir(self) -> bool:
        """Return True if there are objects below it."""
        return bool(self._info().type == fs.FileType.Directory)

    def state(self) -> tuple[int, int]:
        """Size in bytes and time of the last change in nanoseconds; FileNotFoundError where there is none."""
        info = self._info()
        if info.type != fs.FileType.File:
            raise FileNotFoundError(f"{self} is not there")
        return info.size, info.mtime_ns

    def _info(self) -> Any:
        try:
            return filesystem(self).get_file_info(self.key)
        except OSError as error:
            raise _failed(self, "cannot be looked at", error) from error


Place = Path | ObjectPath


def place(name: str | os.PathLike[str], *, retries: int | None = None) -> Place:
    """Make a place of a name: s3://bucket/key, or a path. retries: of an object store; None leaves a place's own."""
    if isinstance(name, ObjectPath):
        return name if retries is None else replace(name, retries=retries)
    text = os.fspath(name)
    if not text.startswith(_SCHEME):
        return Path(name)
    key = text.removeprefix(_SCHEME).strip("/")
    if not key or "//" in key or any(part in (".", "..") for part in key.split("/")):
        raise ValueError(f"{text[:200]} names no object; write s3://bucket/folder")
    return ObjectPath(key, RETRIES if retries is None else retries)


def filesystem(path: ObjectPath) -> fs.FileSystem:
    """The object store that a place lies in; one connection a process."""
    return _filesystem(path.retries, os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"))


@lru_cache(maxsize=8)
def _filesystem(retries: int, endpoint: str | None) -> fs.FileSystem:
    strategy = fs.AwsStandardS3RetryStrategy(max_attempts=retries + 1)
    return fs.S3FileSystem(endpoint_override=endpoint, retry_strategy=strategy, allow_delayed_open=True)


def state(path: Place) -> tuple[int, int]:
    """Size in bytes and time of the last change in nanoseconds, of a file; FileNotFoundError where there is none."""
    if isinstance(path, ObjectPath):
        return path.state()
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def read(path: Place, *, most: int) -> bytes:
    """Read a whole file; FileNotFoundError where there is none, ValueError for more than `most` bytes."""
    if isinstance(path, Path):
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing")
        _check_size(path, path.stat().st_size, most)
        return path.read_bytes()
    try:
        with filesystem(path).open_input_file(path.key) as file:
            _check_size(path, file.size(), most)
            content: bytes = file.read()
            return content
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} is missing") from error
    except OSError as error:
        raise _failed(path, "cannot be read", error) from error


def _check_size(path: Place, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{path} has {size:,} bytes, and such a file at most {most:,}")


def open_file(path: Place, *, offset: int = 0, stop: int | None = None) -> BinaryIO:
    """Open a file to read on from a byte, whatever its size; of an object nothing from the byte `stop` on is asked."""
    file = path.open("rb") if isinstance(path, Path) else _Stream(path, stop).buffered()
    file.seek(offset)
    return file


def open_table(path: Place) -> str | pa.NativeFile:
    """Give pyarrow.parquet a file to read: its path, or the open object."""
    if isinstance(path, Path):
        return str(path)
    try:
        return filesystem(path).open_input_file(path.key)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _failed(path, "cannot be read", error) from error


class _Stream(io.RawIOBase):
    """An object as a file of Python, up to the byte `stop`; a call that fails names the object."""

    def __init__(self, path: ObjectPath, stop: int | None) -> None:
        self._path, self._stop = path, stop
        try:
            self._file = filesystem(path).open_input_file(path.key)
        except OSError as error:
            raise _failed(path, "cannot be read", error) from error

    def buffered(self) -> BinaryIO:
        """Read in large pieces: each is a call."""
        return io.BufferedReader(self, _BUFFER_BYTES)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer) if self._stop is None else memoryview(buffer)[: max(0, self._stop - self.tell())]
        try:
            return int(self._file.readinto(room)) if room.nbytes else 0
        except OSError as error:
            raise _failed(self._path, "cannot be read", error) from error


def write(path: Place, content: bytes) -> None:
    """Write a file that is whole or not there, whoever writes it at the same time."""
    if isinstance(path, Path):
        with beside(path) as hidden:
            write_bytes(hidden / path.name, content)
            os.replace(hidden / path.name, path)
        return
    try:
        with filesystem(path).open_output_stream(path.key) as file:
            file.write(content)
    except OSError as error:
        raise _failed(path, "cannot be written", error) from error


def write_folder(folder: Place, files: Mapping[str, bytes]) -> None:
    """Write a folder that is whole or not there, by its last file; where there is one already, it stays.

    Two that write it at once write the same.
    """
    if isinstance(folder, ObjectPath):
        for name, content in files.items():
            write(folder / name, content)
        return
    with beside(folder) as hidden:
        for name, content in files.items():
            write_bytes(hidden / name, content)
        if folder.is_dir() and not (folder / list(files)[-1]).is_file():
            shutil.rmtree(folder)  # a part of a copy
        try:
            os.rename(hidden, folder)
        except OSError:
            if not folder.is_dir():
                raise


def replace_folder(folder: Place, files: Mapping[str, bytes]) -> None:
    """Write a folder in the place of an older one. In an object store its last file is missing meanwhile."""
    if isinstance(folder, ObjectPath):
        remove(folder / list(files)[-1])
        write_folder(folder, files)
        return
    with beside(folder) as hidden:
        for name, content in files.items():
            write_bytes(hidden / name, content)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(hidden, folder)


def names(folder: Place) -> list[str]:
    """Names of all that lies in a folder, sorted; none where there is no folder."""
    if isinstance(folder, Path):
        return sorted(os.listdir(folder)) if folder.is_dir() else []
    return sorted(PurePosixPath(info.path).name for info in _listed(folder, recursive=False))


def whole(folder: Place, *, last: str) -> set[str]:
    """Names of those folders in a folder that hold the file that is written last."""
    if isinstance(folder, Path):
        return {name for name in names(folder) if not name.startswith(".") and (folder / name / last).is_file()}
    found = (PurePosixPath(info.path) for info in _listed(folder, recursive=True))
    return {path.parent.name for path in found if path.name == last}


def _listed(folder: ObjectPath, *, recursive: bool) -> list[Any]:
    selector = fs.FileSelector(folder.key, recursive=recursive, allow_not_found=True)
    try:
        return list(filesystem(folder).get_file_info(selector))
    except OSError as error:
        raise _failed(folder, "cannot be listed", error) from error


def remove(path: Place) -> None:
    """Delete a file or a folder; it may be gone already."""
    if isinstance(path, Path):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        return
    try:
        info = path._info()
        if info.type == fs.FileType.File:
            filesystem(path).delete_file(path.key)
        elif info.type == fs.FileType.Directory:
            filesystem(path).delete_dir(path.key)
    except OSError as error:
        raise _failed(path, "cannot be removed", error) from error


def copy_folder(there: Place, here: Place, *, last: str) -> None:
    """Copy a folder's files, the last one at the end; a folder that is whole already stays."""
    if (here / last).is_file():
        return
    files = [name for name in names(there) if name != last]
    if isinstance(here, ObjectPath):
        for name in [*files, last]:
            write(here / name, read(there / name, most=2**40))
        return
    with beside(here) as hidden:
        for name in [*files, last]:
            _copy(there / name, hidden / name)
        os.rename(hidden, here)


def _copy(there: Place, here: Path) -> None:
    here.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(there, Path):
        shutil.copyfile(there, here)
    else:
        write_bytes(here, read(there, most=2**40))


def _failed(path: ObjectPath, what: str, error: OSError) -> StorageError:
    reason = " ".join(str(error).split())[:300]
    return StorageError(f"{path} {what} ({reason}); what is done is kept: run the same again")
