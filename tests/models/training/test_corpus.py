"""Data files that are missing, empty or malformed: the error names the file, the line and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from models.training.corpus import PAIRS, chinese_sentences, read_pairs, read_paragraphs, toy_pairs

CASES: list[tuple[Callable[[Path], object], bytes, str]] = [
    (read_pairs, b"", "line 1: the file is empty; expected source, target and attribution, separated by tabs"),
    (read_pairs, b"a\tb\tc\nno tab\n", "line 2: 1 columns; expected 3: source, target and attribution"),
    (read_pairs, b"a\tb\tc\n\n", "line 2: 1 columns; expected 3"),
    (read_pairs, b"a\t \tc\n", "line 1: the target is empty; expected source, target"),
    (read_pairs, b"\tb\tc\n", "line 1: the source is empty"),
    (read_pairs, b"a\tb\tc\na\t\xff\tc\n", "line 2: byte 2 is not UTF-8; expected source"),
    (read_paragraphs, b"", "line 1: the file is empty; expected one paragraph of text a line"),
    (read_paragraphs, b"one\n\nthree\n", "line 2: the line is empty; expected one paragraph"),
    (read_paragraphs, b"one\n\x80\n", "line 2: byte 0 is not UTF-8"),
]


@pytest.mark.parametrize(("read", "content", "says"), CASES)
def test_a_malformed_file_says_where_and_what(
    read: Callable[[Path], object], content: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.tsv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"data\.tsv") as caught:
        read(path)
    assert f"{path}, {says}" in str(caught.value)


@pytest.mark.parametrize("read", [read_pairs, read_paragraphs])
def test_a_missing_file_says_how_to_name_it(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"There is no file .*nowhere\.tsv; expected .*--data"):
        read(tmp_path / "nowhere.tsv")


def test_good_files_are_read_as_they_are(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_bytes("Hi.\t嗨。\tby A\r\nRun!\t跑！\tby B".encode())
    assert read_pairs(pairs) == [("Hi.", "嗨。"), ("Run!", "跑！")]
    text = tmp_path / "text.txt"
    text.write_text("one\u2028still one\ntwo", encoding="utf-8")
    assert read_paragraphs(text) == ["one\u2028still one", "two"]


def test_toy_targets_are_the_sources_backwards() -> None:
    pairs = toy_pairs(50, seed=1)
    assert all(target == source[::-1] for source, target in pairs)
    assert pairs == toy_pairs(50, seed=1) != toy_pairs(50, seed=2)


def test_a_chinese_sentence_of_valid_or_test_is_not_trained_on(tmp_path: Path) -> None:
    sides = {"train": "甲 乙 丙 乙 丁", "valid": "乙 戊", "test": "丙"}
    for split, targets in sides.items():
        lines = "".join(f"{split} {number}\t{text}\tby A\n" for number, text in enumerate(targets.split()))
        (tmp_path / PAIRS[split]).write_text(lines, encoding="utf-8")
    assert chinese_sentences(tmp_path) == (["甲", "丁"], ["乙", "戊"])
