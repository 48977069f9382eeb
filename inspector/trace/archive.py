"""A .npz file of a stranger, unpacked array by array as each is asked for, up to a limit; a part of the trace's file.

A small file can claim to hold terabytes, and carry gigabytes that nobody asks for: before an array is unpacked, the
bytes that the zip directory gives for it are held to its own shape and to what is left of the limit.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

MOST_HEADER = 2**26  # bytes; that of 4,096 tokens of 100 letters each has less than a tenth
_ENDING = ".npy"


class OverLimitError(ValueError):
    """A file that asks for more than the limits give."""


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an open zip file by name; each is unpacked when it is first asked for, and kept.

    most: bytes of all that are asked for together; `OverLimitError` where they are more.
    """

    def __init__(self, file: zipfile.ZipFile, *, most: int) -> None:
        self._file, self._most = file, most
        self._sizes = {
            entry.filename.removesuffix(_ENDING): entry.file_size
            for entry in file.infolist()
            if entry.filename.endswith(_ENDING)
        }
        self._unpacked: dict[str, np.ndarray] = {}

    def header(self) -> Any:
        """The JSON that describes the arrays."""
        if (size := self._sizes["header"]) > MOST_HEADER:
            raise OverLimitError(f"its header unpacks to {size:,} bytes, more than {MOST_HEADER:,}")
        return json.loads(str(self["header"]))

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._unpacked:
            self._check(name)
            with self._file.open(name + _ENDING) as packed:
                self._unpacked[name] = np.lib.format.read_array(packed, allow_pickle=False)
        return self._unpacked[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def _check(self, name: str) -> None:
        size, asked = self._sizes[name], sum(self._sizes[other] for other in self._unpacked)
        if asked + size > self._most:
            every = sum(self._sizes.values())
            raise OverLimitError(f"it unpacks to {every:,} bytes, more than {self._most:,}")
        with self._file.open(name + _ENDING) as packed:
            version = np.lib.format.read_magic(packed)
            described = (
                np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = described(packed)
            needed = packed.tell() + math.prod(shape) * dtype.itemsize
        if needed != size:
            raise ValueError(f"{name} has {size:,} bytes, and its shape {shape} takes {needed:,}")
