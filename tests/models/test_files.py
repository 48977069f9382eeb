"""A file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from models.files import read_tensors, write_bytes, write_tensors, write_text


def test_what_fails_before_the_end_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "new folder" / "file"
    write_text(path, "old")

    def fail(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        write_bytes(path, b"new")
    assert path.read_text(encoding="utf-8") == "old"
    monkeypatch.undo()
    write_bytes(path, b"new")
    assert [file.name for file in path.parent.iterdir()] == ["file"]
    assert path.read_bytes() == b"new"


def test_tensors_and_their_text_come_back(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.tensor(3), "c": torch.zeros(0, 2)}
    write_tensors(tmp_path / "file", tensors, about="größer")
    again, about = read_tensors(tmp_path / "file")
    assert about == "größer"
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], tensor) for name, tensor in tensors.items())


def test_a_missing_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(ValueError, match=r"There is no file .*file"):
        read_tensors(path)
    write_tensors(path, {"a": torch.zeros(100)})
    for content in (b"", path.read_bytes()[:-1], path.read_bytes()[:9], b"\xff" * 200):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="file is damaged"):
            read_tensors(path)
