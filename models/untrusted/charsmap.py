"""A bound on how much longer SentencePiece's table of replacements (Precompiled) can make a text.

The table is a double-array trie of keys (Aoe 1989, as Darts-clone stores it): little-endian uint32, the trie's bytes
first, then the replacements, each ended by a zero byte. A key's leaf holds the offset at which its replacement begins.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.untrusted.weight import weight

Units = NDArray[np.uint32]

_LONGEST_KEY = 64  # bytes; published keys have up to 20
_MOST_KEYS = 1_000_000  # keys and beginnings of keys together; published tables have some 500,000
_AT_ONCE = 4096  # nodes that are expanded in one numpy call
_LETTERS = np.arange(1, 256, dtype=np.uint32)


@lru_cache(maxsize=8)  # measuring a table takes a second, and many models share a table
def growth(charsmap: str) -> float:
    """Return the largest weight ratio of a replacement to its key, at least 1.

    charsmap: the table in base64, as tokenizer.json has it. Weights are defined in models/untrusted/weight.py. Raises
    ValueError where the table is damaged or too large.
    """
    try:
        blob = base64.b64decode(charsmap, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("its table of replacements is no base64") from error
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 8 or size % 4 or not 4 <= size <= len(blob) - 4:
        raise ValueError(f"its table of replacements has {len(blob):,} bytes and says that {size:,} of them are a trie")
    texts = blob[4 + size :]
    weights: dict[int, int] = {}
    most = 1.0
    for key, begin in _entries(np.frombuffer(blob, "<u4", size // 4, 4)):
        if begin not in weights:
            end = texts.find(b"\0", begin)
            weights[begin] = weight(texts[begin : end if end >= 0 else len(texts)].decode("utf-8", "replace"))
        if weights[begin] > most:
            most = max(most, weights[begin] / weight(key.decode("utf-8", "replace")))
    return most


def _entries(units: Units) -> Iterator[tuple[bytes, int]]:
    """Walk the trie level by level and yield every key with the offset of its replacement.

    Keys may share their ends (the trie is stored as a graph), so the number of beginnings of keys is bounded.
    """
    nodes, keys, seen = _children_of(units, np.zeros(1, np.uint32)), np.zeros((1, 0), np.uint8), 0
    for length in range(1, _LONGEST_KEY + 1):
        levels = [
            _next(units, nodes[begin : begin + _AT_ONCE], keys[begin : begin + _AT_ONCE])
            for begin in range(0, len(nodes), _AT_ONCE)
        ]
        reached, keys = (np.concatenate(parts) for parts in zip(*levels, strict=True))
        seen += len(reached)
        if seen > _MOST_KEYS:
            raise ValueError(f"its table of replacements has over {_MOST_KEYS:,} keys")
        if not len(reached):
            return
        nodes = _children_of(units, reached)
        ends = (units[reached] >> 8 & 1).astype(bool)
        if (nodes[ends] >= len(units)).any():
            raise ValueError("its table of replacements points outside itself")
        texts, spelled = units[nodes[ends]] & 0x7FFFFFFF, keys[ends].tobytes()
        for number, text in enumerate(texts.tolist()):
            yield spelled[number * length : (number + 1) * length], text
    raise ValueError(f"its table of replacements has keys of more than {_LONGEST_KEY} bytes")


def _next(units: Units, nodes: Units, keys: NDArray[np.uint8]) -> tuple[Units, NDArray[np.uint8]]:
    """Find the children of nodes: the index of each child [child], and the key that leads to it [child, letter]."""
    places = nodes[:, None] ^ _LETTERS
    inside = places < len(units)
    labels = np.where(inside, units[np.where(inside, places, 0)] & 0x800000FF, 0)
    parents, letters = np.nonzero(labels == _LETTERS)
    longer = np.concatenate([keys[parents], (letters[:, None] + 1).astype(np.uint8)], axis=1)
    return places[parents, letters], longer


def _children_of(units: Units, places: Units) -> Units:
    """Return the index at which each node's children begin: the node's index xor its unit's offset."""
    unit = units[places]
    children: Units = places ^ ((unit >> np.uint32(10)) << ((unit & np.uint32(0x200)) >> np.uint32(6)))
    return children
