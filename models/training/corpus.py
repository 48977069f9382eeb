"""Training texts: read from files and checked line by line, or generated (the toy's)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

PAIRS = {split: f"tatoeba-en-zh.{split}.tsv" for split in ("train", "valid", "test")}
BOOKS = {split: f"books-{split}.txt" for split in ("train", "valid")}
CHINESE_BOOKS = {split: f"books-zh-{split}.txt" for split in ("train", "valid")}


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read (source, target) from a file with one pair a line: source, target, attribution, separated by tabs.

    Raises ValueError with the file, the line and the expected content.
    """
    expected = "source, target and attribution, separated by tabs"
    pairs = []
    for number, line in _lines(path, expected):
        cells = line.split("\t")
        if len(cells) != 3:
            raise ValueError(f"{path}, line {number}: {len(cells)} columns; expected 3: {expected}")
        if not cells[0].strip() or not cells[1].strip():
            side = "source" if not cells[0].strip() else "target"
            raise ValueError(f"{path}, line {number}: the {side} is empty; expected {expected}")
        pairs.append((cells[0], cells[1]))
    return pairs


def read_paragraphs(path: Path) -> list[str]:
    """Read the paragraphs of a file with one paragraph a line.

    Raises ValueError with the file, the line and the expected content.
    """
    expected = "one paragraph of text a line"
    paragraphs = []
    for number, line in _lines(path, expected):
        if not line.strip():
            raise ValueError(f"{path}, line {number}: the line is empty; expected {expected}")
        paragraphs.append(line)
    return paragraphs


def chinese_sentences(data: Path) -> tuple[list[str], list[str]]:
    """Read the Chinese side of the pairs, for training and for validation.

    The pairs are split by their English side, so a Chinese sentence may stand in several splits: what stands in valid
    or test is left out of training.
    """
    sides = {split: [target for _, target in read_pairs(data / PAIRS[split])] for split in PAIRS}
    held_out = {*sides["valid"], *sides["test"]}
    return [text for text in sides["train"] if text not in held_out], sides["valid"]


def _lines(path: Path, expected: str) -> Iterator[tuple[int, str]]:
    if not path.is_file():
        raise ValueError(f"There is no file {path}; expected {expected}. Name the folder that holds it with --data.")
    number = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                yield number, raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path}, line {number}: byte {error.start} is not UTF-8; expected {expected}, in UTF-8"
                ) from error
    if number == 0:
        raise ValueError(f"{path}, line 1: the file is empty; expected {expected}")


def toy_pairs(count: int, *, seed: int) -> list[tuple[str, str]]:
    """Generate letters and the same letters backwards: ("a c b", "b c a"), 3 to 8 letters each."""
    random = Random(seed)
    sources = [random.choices("abcdefghij", k=random.randint(3, 8)) for _ in range(count)]
    return [(" ".join(letters), " ".join(reversed(letters))) for letters in sources]
