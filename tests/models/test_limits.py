from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from models.limits import UNLIMITED, Limits, machine_memory, variable


def test_the_defaults_take_half_of_the_memory() -> None:
    limits = Limits.from_environment({})
    assert limits.memory_bytes == machine_memory() // 2
    assert 0 < limits.memory_bytes < 10**14
    assert limits.root is None
    assert limits.hub


def test_every_limit_has_a_variable(tmp_path: Path) -> None:
    environment = {
        "HEADLIGHT_DOWNLOAD_BYTES": "500 MB",
        "HEADLIGHT_DOWNLOADS_BYTES": "20 GB",
        "HEADLIGHT_MEMORY_BYTES": "2GiB",
        "HEADLIGHT_PARAMETERS": "1_000_000",
        "HEADLIGHT_LAYERS": "12",
        "HEADLIGHT_CHARACTERS": "2,000",
        "HEADLIGHT_TOKENS": "512",
        "HEADLIGHT_CAPTURE_BYTES": "64mb",
        "HEADLIGHT_ROOT": str(tmp_path),
        "HEADLIGHT_HUB": "Off",
    }
    assert set(environment) == {variable(field.name) for field in fields(Limits)}
    root = tmp_path.resolve()
    assert Limits.from_environment(environment) == Limits(
        500 * 10**6, 20 * 10**9, 2 * 2**30, 10**6, 12, 2000, 512, 64 * 10**6, root, hub=False
    )


@pytest.mark.parametrize("value", ["-1", "0", "many", "1.5GB", "1e9", "3 XB", "1i", "9" * 40, "\x1b[31m", "１２"])
def test_a_bad_number_is_a_sentence(value: str) -> None:
    with pytest.raises(ValueError, match=r"^HEADLIGHT_MEMORY_BYTES is '.*'; write ") as caught:
        Limits.from_environment({"HEADLIGHT_MEMORY_BYTES": value})
    assert str(caught.value).isascii()
    assert str(caught.value).isprintable()


def test_a_bad_switch_and_a_bad_folder_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"HEADLIGHT_HUB is 'maybe'; write 1 or 0"):
        Limits.from_environment({"HEADLIGHT_HUB": "maybe"})
    for folder in ("models", str(tmp_path / "missing")):
        with pytest.raises(ValueError, match=r"HEADLIGHT_ROOT is .*; write the absolute path of a folder that exists"):
            Limits.from_environment({"HEADLIGHT_ROOT": folder})


def test_an_empty_variable_is_none() -> None:
    assert Limits.from_environment({"HEADLIGHT_TOKENS": " "}) == Limits.from_environment({})


def test_a_container_is_given_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    granted = tmp_path / "memory.max"
    monkeypatch.setattr("models.limits._CONTROL_GROUP", granted)
    whole = machine_memory()
    granted.write_text("1000000\n", encoding="ascii")
    assert machine_memory() == 1_000_000
    granted.write_text("max\n", encoding="ascii")
    assert machine_memory() == whole


def test_python_callers_are_not_limited() -> None:
    assert min(getattr(UNLIMITED, field.name) for field in fields(Limits) if field.type == "int") > 10**18
    assert UNLIMITED.hub
