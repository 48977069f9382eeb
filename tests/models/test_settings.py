"""Every variable of a host is read in one place, and a bad value is a sentence that names it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path

import pytest

from models import settings

ROOT = Path(__file__).parents[2]
BAD = (
    *[(name, value) for name in ("THREADS", "TURNS", "SESSIONS") for value in ("0", "-1", "two", "１", "1000000")],
    *[(name, value) for name in ("CACHE_MB", "MAPS_MB", "PER_ADDRESS") for value in ("-5", "abc", "1.5", "9" * 20)],
    *[("METRICS", "maybe"), ("PROXY", "nginx"), ("PROXY", "127.0.0.1;::1"), ("PROXY", "10.0.0.1/8")],
    *[("FRAME_ANCESTORS", value) for value in ("*", "https:", "https://*.example.org", "'self'", "http://example.org")],
    *[
        ("FRAME_ANCESTORS", value)
        for value in ("https://a.example/course", "https://a.example,", "https://a.example b")
    ],
    *[
        ("FRAME_ANCESTORS", f"https://a.example{end}b")
        for end in ("\n", "\r\nSet-Cookie: a=", "; script-src ", "\0", "@")
    ],
    *[("FRAME_ANCESTORS", value) for value in ("https://-.example", "https://ä.example", "https://a.example:port")],
    *[("FRAME_ANCESTORS", value) for value in ("https://\u212a.example", "https://a.example:99999")],
    ("FRAME_ANCESTORS", ",".join(f"https://a{number}.example" for number in range(21))),
    *[("ATLASES", "/proc/headlight"), ("ATLASES", "/etc/passwd"), ("ATLASES", "/etc/passwd/atlases")],
    *[("TOKENS", "1"), ("TOKENS", "2"), ("TOKENS", "many"), ("CHARACTERS", "-1"), ("LAYERS", "0")],
    *[("MEMORY_BYTES", "xyz"), ("DOWNLOAD_BYTES", "1.5GB"), ("DOWNLOADS_BYTES", "0"), ("CAPTURE_BYTES", "-1")],
    *[("PARAMETERS", "many"), ("ROOT", "/nope"), ("HUB", "maybe")],
    *[("CACHE", "here"), ("CACHE", "/etc/passwd"), ("CACHE", "~nobody-of-this-name/x")],
    *[("DTYPE", "int8"), ("DEVICE", "tpu"), ("DEVICE", "cuda:77")],
)


def test_the_defaults() -> None:
    defaults = {"THREADS": 1, "SESSIONS": 50, "PER_ADDRESS": 0, "CACHE_MB": 512, "MAPS_MB": 512}
    assert {name: settings.number(name, {}) for name in defaults} == defaults
    assert (settings.metrics({}), settings.proxies({}), settings.frame_ancestors({})) == (False, (), ())
    assert settings.atlases({}) == Path.home() / ".cache/headlight/atlases"
    settings.check({})


def test_the_cache_holds_what_is_fetched_and_built() -> None:
    assert settings.cache({}) == Path.home() / ".cache/headlight"
    assert settings.cache({"XDG_CACHE_HOME": "/of/all"}) == Path("/of/all/headlight")
    assert settings.cache({"XDG_CACHE_HOME": "here"}) == settings.cache({})  # XDG: what is not whole is ignored
    chosen = {"XDG_CACHE_HOME": "/of/all", "HEADLIGHT_CACHE": "~/mine"}
    assert settings.cache(chosen) == Path.home() / "mine"
    assert settings.atlases(chosen) == Path.home() / "mine/atlases"


def test_what_is_set_is_read(tmp_path: Path) -> None:
    chosen = {
        "HEADLIGHT_SESSIONS": " 7 ",
        "HEADLIGHT_TURNS": "3",
        "HEADLIGHT_METRICS": "on",
        "HEADLIGHT_PROXY": "127.0.0.1, 10.0.0.0/8",
        "HEADLIGHT_FRAME_ANCESTORS": "https://huggingface.co, https://Moodle.example:8443,http://localhost:8000",
        "HEADLIGHT_ATLASES": str(tmp_path / "kept"),
    }
    settings.check(chosen)
    assert (settings.number("SESSIONS", chosen), settings.number("TURNS", chosen)) == (7, 3)
    assert settings.metrics(chosen)
    assert settings.proxies(chosen) == (ip_network("127.0.0.1"), ip_network("10.0.0.0/8"))
    framing = ("https://huggingface.co", "https://moodle.example:8443", "http://localhost:8000")
    assert settings.frame_ancestors(chosen) == framing
    assert settings.atlases(chosen) == tmp_path / "kept"
    assert (tmp_path / "kept").is_dir()
    assert settings.atlases({"HEADLIGHT_ATLASES": "OFF"}) is None


@pytest.mark.parametrize(("cores", "threads", "turns"), [(1, "1", 1), (2, "", 1), (16, "", 8), (16, "4", 2)])
def test_how_many_work_at_once(cores: int, threads: str, turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of what the cores can run, so that pages are drawn meanwhile, and at least one."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert settings.number("TURNS", {"HEADLIGHT_THREADS": threads}) == turns


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_value_is_one_sentence_with_the_variable_the_value_and_what_it_may_be(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"^HEADLIGHT_{name} is .*(write|it can be) ") as caught:
        settings.check({f"HEADLIGHT_{name}": value})
    assert f"{value[:100]!a}" in str(caught.value)
    assert str(caught.value).isascii()
    assert "\n" not in str(caught.value)


OF_TESTS = {"KERNELS", "ROUND", "PRESS"}  # read by .ci/run and the tests alone


def test_every_variable_that_the_code_and_the_texts_name_is_tried() -> None:
    files = [*ROOT.glob("*.py"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    files += [path for top in ("models", "inspector") for path in (ROOT / top).rglob("*.py")]
    named = {name for path in files for name in re.findall(r"HEADLIGHT_([A-Z_]*[A-Z])", path.read_text("utf-8"))}
    assert named - OF_TESTS == {name for name, _ in BAD}


def test_no_other_file_reads_them() -> None:
    readers = {
        path.relative_to(ROOT).as_posix()
        for top in ("models", "inspector")
        for path in (ROOT / top).rglob("*.py")
        if re.search(r"environ(\.get\(|\[)[^)\]]*HEADLIGHT_", path.read_text("utf-8"))
    }
    assert readers == set()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("options", "variable", "sentence"),
    [
        ((), "abc", "HEADLIGHT_CACHE_MB is 'abc'; write a whole number from 0 to 9999999"),
        (("-OO",), "", "python -OO drops docstrings, which transformers reads. Leave -OO out."),
    ],
)
def test_the_server_does_not_start_and_says_why(options: tuple[str, ...], variable: str, sentence: str) -> None:
    command = [
        sys.executable,
        *options,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.headless=true",
        "--server.port=0",
    ]
    environment = {**os.environ, "HEADLIGHT_CACHE_MB": variable}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Headlight does not start: {sentence}\n")
