"""Messages read back with struct, json and numpy alone."""

from __future__ import annotations

import hashlib
import json
import math
import struct

import numpy as np

COLOURS = {"light": ("#ffffff", "#8888ff", "#000044"), "dark": ("#101018", "#7070c0", "#f0f0ff")}


def unpack(message: bytes, dtype: str) -> tuple[dict, np.ndarray]:
    (length,) = struct.unpack_from("<I", message)
    start = 4 * math.ceil((4 + length) / 4)
    return json.loads(message[4 : 4 + length].decode("utf-8")), np.frombuffer(message, dtype, offset=start)


def attention(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    weights = np.random.default_rng(queries).dirichlet(np.full(keys, 0.05), (layers, heads, queries))
    return weights.astype(np.float32)


def digest(message: bytes) -> str:
    return hashlib.sha256(message).hexdigest()[:16]
