"""The layout of the file, held to a second decoder that is written out number by number, and to files made by hand."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from models.smollm2 import gguf, package

F32, Q4_1, Q8_0 = 0, 3, 8


def single(number: float) -> float:
    """Round to single precision, as every product and every sum is."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def written_out(stored: bytes, kind: int) -> list[float]:
    """Decode block by block, each number by itself."""
    numbers: list[float] = []
    if kind == F32:
        return list(struct.unpack(f"<{len(stored) // 4}f", stored))
    if kind == Q8_0:
        for at in range(0, len(stored), 34):
            scale = struct.unpack_from("<e", stored, at)[0]
            numbers += [single(scale * number) for number in struct.unpack_from("<32b", stored, at + 2)]
        return numbers
    for at in range(0, len(stored), 20):
        scale, least = struct.unpack_from("<2e", stored, at)
        pairs = stored[at + 4 : at + 20]
        numbers += [single(single(scale * (byte % 16)) + least) for byte in pairs]
        numbers += [single(single(scale * (byte // 16)) + least) for byte in pairs]
    return numbers


def decoded(stored: bytes, kind: int) -> list[float]:
    encoding = gguf.ENCODINGS[kind]
    tensor = gguf.StoredTensor((-1,), encoding, np.frombuffer(stored, dtype=np.uint8))
    read = tensor.read()
    assert read.dtype == np.float32
    return read.tolist()


def random_blocks(kind: int, *, blocks: int = 50) -> bytes:
    """Blocks of random bytes with scales and minima that are finite."""
    draw = np.random.default_rng(0)
    halves, bytes_of = {Q4_1: (2, 16), Q8_0: (1, 32), F32: (0, 0)}[kind]
    if kind == F32:
        return draw.standard_normal(blocks).astype("<f4").tobytes()
    return b"".join(draw.standard_normal(halves).astype("<f2").tobytes() + draw.bytes(bytes_of) for _ in range(blocks))


@pytest.mark.parametrize("kind", [F32, Q4_1, Q8_0])
def test_random_blocks(kind: int) -> None:
    stored = random_blocks(kind)
    assert decoded(stored, kind) == written_out(stored, kind)


def test_a_block_by_hand() -> None:
    """d = 0.5, m = -2: byte 0x31 holds 1 at its own place and 3 sixteen places later."""
    stored = struct.pack("<2e", 0.5, -2.0) + bytes([0x31] + [0xF0] * 15)
    assert decoded(stored, Q4_1) == [-1.5] + [-2.0] * 15 + [-0.5] + [5.5] * 15


def test_a_swapped_nibble_would_be_seen() -> None:
    stored = random_blocks(Q4_1)
    at = 20 * 7 + 4 + 3  # a byte of the eighth block
    swapped = stored[:at] + bytes([stored[at] % 16 * 16 + stored[at] // 16]) + stored[at + 1 :]
    assert swapped != stored
    wrong = [
        place
        for place, pair in enumerate(zip(decoded(swapped, Q4_1), written_out(stored, Q4_1), strict=True))
        if pair[0] != pair[1]
    ]
    assert wrong == [32 * 7 + 3, 32 * 7 + 3 + 16]


def test_every_tensor_of_the_file_at_both_ends(smollm2_installed: None) -> None:
    """The first and the last eight blocks of each of the 272, number by number."""
    file = gguf.parse(package.checked(package.weights_file()))
    kinds = {id(encoding): kind for kind, encoding in gguf.ENCODINGS.items()}
    counted = dict.fromkeys(gguf.ENCODINGS, 0)
    for name, tensor in file.tensors.items():
        kind, size = kinds[id(tensor.encoding)], 8 * tensor.encoding.block.itemsize
        numbers = tensor.read()
        assert numbers.shape == tensor.shape, name
        first, last = (
            written_out(tensor.stored[:size].tobytes(), kind),
            written_out(tensor.stored[-size:].tobytes(), kind),
        )
        assert numbers.flat[: len(first)].tolist() == first, name
        assert numbers.flat[-len(last) :].tolist() == last, name
        counted[kind] += 1
    assert counted == {F32: 61, Q4_1: 210, Q8_0: 1}
    assert sum(tensor.shape[0] * (tensor.shape[1:] or (1,))[0] for tensor in file.tensors.values()) == 134_515_008


# --- the header ------------------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def field(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, bool):
        return text(name) + struct.pack("<I?", 7, value)
    if isinstance(value, list):
        return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return text(name) + struct.pack("<II", 4, value)


FIELDS = [field("llama.block_count", 30), field("general.name", "Ω"), field("tokenizer.ggml.tokens", ["a", "b"])]


def made(
    fields: list[bytes] = FIELDS,
    *,
    kind: int = Q4_1,
    shape: tuple[int, ...] = (64, 3),
    offset: int = 0,
    begins: bytes = b"GGUF\x03\0\0\0",
    tensors: int = 1,
) -> np.ndarray:
    """A file with a tensor of 3 rows of 64, columns named first, as the format does."""
    header = begins + struct.pack("<QQ", tensors, len(fields)) + b"".join(fields)
    header += text("a") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    header += bytes(-len(header) % 32)
    return np.frombuffer(header + random_blocks(Q4_1, blocks=6), dtype=np.uint8)


def test_a_file_made_by_hand() -> None:
    file = gguf.parse(made())
    assert dict(file.fields) == {
        "llama.block_count": 30,
        "general.name": "Ω",
        "tokenizer.ggml.tokens": ("a", "b"),
    }
    assert (
        file.tensors["a"].read().tolist()
        == np.reshape(written_out(random_blocks(Q4_1, blocks=6), Q4_1), (3, 64)).tolist()
    )


LONG = struct.pack("<Q", 2**62)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (made(begins=b"GGUF\x02\0\0\0"), "begins with b'GGUF.x02"),
        (made(begins=b"PK\x03\x04\0\0\0\0"), "no GGUF of version 3"),
        (made(tensors=2**40), "1,099,511,627,776 tensors, over 1,000"),
        (made([*FIELDS, field("general.url", "a")]), "the field 'general.url', which is not known"),
        (made([field("llama.block_count", "thirty")]), "llama.block_count is of another kind than number"),
        (made([field("tokenizer.ggml.add_bos_token", 1)]), "add_bos_token is of another kind than flag"),
        (made([text("general.name") + struct.pack("<I", 8) + LONG]), "bytes of a text, over"),
        (made([text("general.languages") + struct.pack("<II", 9, 8) + LONG]), "items of a list, over"),
        (made([text("general.languages") + struct.pack("<IIQ", 9, 9, 1)]), "a value of kind 9, which is not known"),
        (made([text("general.file_type") + struct.pack("<I", 12)]), "a value of kind 12, which is not known"),
        (made(kind=2), "is of kind 2; only 0, 3, 8 are read"),
        (made(shape=(48, 4)), "rows of 48, no whole blocks of 32"),
        (made(shape=(64, 4)), "is not within the file"),
        (made(offset=16), "is not within the file"),
        (made(offset=2**60), "is not within the file"),
        (made(shape=(2**40, 3)), "numbers along an axis, over"),
        (made(shape=(32, 2, 3)), "3 axes of a tensor, over 2"),
        (made(shape=()), "has no axis"),
        (made()[:90], "the file ends within its header"),
        (made()[:-1], "is not within the file"),
    ],
)
def test_anything_else_is_refused_before_it_is_read(data: np.ndarray, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        gguf.parse(data)
