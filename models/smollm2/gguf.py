"""The file format GGUF, version 3, as far as a small Llama with weights of four bits uses it.

```python
file = parse(data)                          # bytes, such as a memory-mapped file's
file.fields["llama.block_count"]            # 30
file.tensors["blk.0.attn_q.weight"].read()  # float32, [rows, columns]
```

A header (fields, then the name, shape, kind and place of each tensor), then the tensors. Every count is held to a
limit, and to what is left of the file, before anything of that size is read. The layout of the blocks is ggml's:
weights of four and eight bits stand in blocks of 32 with numbers in half precision that all of a block share.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Kind = Literal["text", "number", "flag", "texts", "numbers"]

_MOST_FIELDS, _MOST_TENSORS, _MOST_ITEMS, _MOST_AXES, _MOST_TEXT = 64, 1000, 100_000, 2, 4096
_ALIGNMENT = 32  # of each tensor in the file

_GENERAL = ("architecture", "type", "name", "organization", "finetune", "basename", "size_label", "license")
_SIZES = ("block_count", "context_length", "embedding_length", "feed_forward_length", "vocab_size")
_OF_LAYERS = ("attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon")
_ROPE = ("rope.freq_base", "rope.dimension_count")
_NAMES: Mapping[Kind, tuple[str, ...]] = {
    "text": (
        *(f"general.{name}" for name in _GENERAL),
        *("tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.chat_template"),
    ),
    "number": (
        *("general.file_type", "general.quantization_version"),
        *(f"llama.{name}" for name in (*_SIZES, *_OF_LAYERS, *_ROPE)),
        *(f"tokenizer.ggml.{name}_token_id" for name in ("bos", "eos", "unknown", "padding")),
    ),
    "flag": ("tokenizer.ggml.add_space_prefix", "tokenizer.ggml.add_bos_token"),
    "texts": ("general.languages", "tokenizer.ggml.tokens", "tokenizer.ggml.merges"),
    "numbers": ("tokenizer.ggml.token_type",),
}
FIELDS: Mapping[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names}
"""The fields that are read, each with its kind; a file with any other is refused."""


@dataclass(frozen=True)
class _Encoding:
    """The layout of a tensor's numbers: blocks of `numbers` in `block`, and how blocks become float32."""

    numbers: int
    block: np.dtype[Any]
    decode: Callable[[NDArray[Any]], NDArray[np.float32]]


def _four_bits(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Q4_1: x = d q + m; a byte's low half is a number of the block's first 16, its high half 16 places later."""
    numbers = np.empty((len(blocks), 2, 16), dtype=np.float32)
    numbers[:, 0], numbers[:, 1] = blocks["pairs"] & 15, blocks["pairs"] >> 4
    numbers *= blocks["scale"].astype(np.float32)[:, None, None]
    numbers += blocks["least"].astype(np.float32)[:, None, None]
    return numbers


def _eight_bits(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Q8_0: x = d q."""
    numbers = blocks["numbers"].astype(np.float32)
    numbers *= blocks["scale"].astype(np.float32)[:, None]
    return numbers


ENCODINGS: Mapping[int, _Encoding] = {
    0: _Encoding(1, np.dtype("<f4"), lambda numbers: numbers.astype(np.float32)),
    3: _Encoding(32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("pairs", "u1", 16)]), _four_bits),
    8: _Encoding(32, np.dtype([("scale", "<f2"), ("numbers", "i1", 32)]), _eight_bits),
}
"""F32, Q4_1 and Q8_0 by ggml's numbers of them."""


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor as it stands in the file; shape: as NumPy says it, rows first."""

    shape: tuple[int, ...]
    encoding: _Encoding
    stored: Bytes

    def read(self) -> NDArray[np.float32]:
        """Decode the numbers into float32, in memory of their own."""
        return self.encoding.decode(self.stored.view(self.encoding.block)).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class GgufFile:
    """The fields of a file by their names, and its tensors by theirs."""

    fields: Mapping[str, Any]
    tensors: Mapping[str, StoredTensor]


def parse(data: Bytes) -> GgufFile:
    """Read the header and find the tensors, none of which is decoded.

    Raises ValueError for anything that this project's one file does not have.
    """
    header = _Header(data)
    if (begins := header.take(8).tobytes()) != b"GGUF\x03\0\0\0":
        raise ValueError(f"the file begins with {begins!a}, which is no GGUF of version 3")
    tensors = header.count("Q", "tensors", most=_MOST_TENSORS)
    fields = dict(header.field() for _ in range(header.count("Q", "fields", most=_MOST_FIELDS)))
    described = [header.tensor() for _ in range(tensors)]
    located = {name: _located(data, header.ends, name, shape, kind, offset) for name, shape, kind, offset in described}
    return GgufFile(fields, located)


def _located(data: Bytes, first: int, name: str, shape: tuple[int, ...], kind: int, offset: int) -> StoredTensor:
    """Find a tensor's bytes; first: where the tensors begin."""
    if kind not in ENCODINGS:
        raise ValueError(f"tensor {name[:60]!a} is of kind {kind}; only {', '.join(map(str, ENCODINGS))} are read")
    encoding = ENCODINGS[kind]
    if shape[-1] % encoding.numbers:
        raise ValueError(f"tensor {name[:60]!a} has rows of {shape[-1]:,}, no whole blocks of {encoding.numbers}")
    begins, size = first + offset, prod(shape) // encoding.numbers * encoding.block.itemsize
    if offset % _ALIGNMENT or size > len(data) - begins:
        raise ValueError(f"tensor {name[:60]!a} of {size:,} bytes at {begins:,} is not within the file")
    return StoredTensor(shape, encoding, data[begins : begins + size])


class _Header:
    """A place in the file that moves on as the header is read; numbers are little-endian."""

    _NUMBERS: Mapping[int, str] = {4: "I", 5: "i", 6: "f", 7: "?"}  # GGUF's numbers of the kinds
    _TEXT, _ARRAY = 8, 9

    def __init__(self, data: Bytes) -> None:
        self._data, self._at = data, 0

    @property
    def ends(self) -> int:
        """The place of the first tensor, behind the header."""
        return -(-self._at // _ALIGNMENT) * _ALIGNMENT

    def take(self, size: int) -> Bytes:
        """Take the next bytes."""
        if size > len(self._data) - self._at:
            raise ValueError(f"the file ends within its header, where {size:,} bytes more are named")
        taken, self._at = self._data[self._at : self._at + size], self._at + size
        return taken

    def number(self, kind: str) -> Any:
        """Read one number of a kind that `struct` names."""
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(kind)).data)[0]

    def count(self, kind: str, what: str, *, most: int) -> int:
        """Read how many of something follow; ValueError over `most`."""
        count = int(self.number(kind))
        if count > most:
            raise ValueError(f"the header names {count:,} {what}, over {most:,}")
        return count

    def text(self) -> str:
        """Read a text, its length before it."""
        return self.take(self.count("Q", "bytes of a text", most=_MOST_TEXT)).tobytes().decode("utf-8")

    def field(self) -> tuple[str, Any]:
        """Read a field's name and value; ValueError for one that is not of FIELDS."""
        name = self.text()
        kind = FIELDS.get(name)
        if kind is None:
            raise ValueError(f"the header has the field {name[:60]!a}, which is not known")
        value = self._value()
        if kind != _kind(value):
            raise ValueError(f"the field {name} is of another kind than {kind}")
        return name, value

    def _value(self) -> Any:
        kind = self.number("I")
        if kind == self._TEXT:
            return self.text()
        if kind != self._ARRAY:
            return self.number(self._known(kind))
        items = self.number("I")
        count = self.count("Q", "items of a list", most=_MOST_ITEMS)
        if items == self._TEXT:
            return tuple(self.text() for _ in range(count))
        code = f"<{self._known(items)}"
        return np.frombuffer(self.take(count * struct.calcsize(code)), dtype=code)

    def _known(self, kind: int) -> str:
        if kind not in self._NUMBERS:
            raise ValueError(f"the header has a value of kind {kind}, which is not known")
        return self._NUMBERS[kind]

    def tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """Read a tensor's name, shape (the file names columns before rows), kind and place."""
        name = self.text()
        axes = self.count("I", "axes of a tensor", most=_MOST_AXES)
        if not axes:
            raise ValueError(f"tensor {name[:60]!a} has no axis")
        sizes = [self.count("Q", "numbers along an axis", most=_MOST_ITEMS) for _ in range(axes)]
        return name, tuple(reversed(sizes)), self.number("I"), self.number("Q")


def _kind(value: Any) -> Kind:
    if isinstance(value, np.ndarray):
        return "numbers"
    if isinstance(value, tuple):
        return "texts"
    return "text" if isinstance(value, str) else "flag" if isinstance(value, bool) else "number"
