"""python -m inspector.mcp before it serves: what is wrong is a sentence, and stdout stays empty."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.mcp import __main__ as command

ROOT = Path(__file__).parents[3]


def test_without_the_package_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "mcp" else find(name))
    assert command.main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("The server needs the package mcp: pip install 'headlight-inspector[mcp]', or -r ")
    assert len(told.err.splitlines()) == 1


def test_a_variable_that_cannot_be_read_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: object())
    monkeypatch.setenv("HEADLIGHT_TOKENS", "many")
    assert command.main([]) == 2
    assert "HEADLIGHT_TOKENS is 'many'" in capsys.readouterr().err


def test_another_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--port", "8000"]) == 2
    assert "unrecognized arguments: --port 8000" in capsys.readouterr().err


def test_help_does_not_wait_for_torch() -> None:
    code = (
        "import sys, inspector.mcp.__main__ as c\ntry: c.main(['--help'])\nfinally: assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Nothing listens on the network" in done.stdout
