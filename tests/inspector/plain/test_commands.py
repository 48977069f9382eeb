"""--json: stdout holds one document of the schema, whatever is asked and whatever is wrong; all else is on stderr."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import command as installed
import inspector
import models
from inspector.__main__ import main
from inspector.atlas.__main__ import main as atlas
from models import LoadedModel
from tests.inspector.plain.held import SCHEMA, held, rows

ROOT = Path(__file__).parents[3]
TEXT = "The cat sat on the mat."
SHIPPED = ROOT / "inspector" / "atlas" / "shipped" / "minilm"


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch: pytest.MonkeyPatch, shipped) -> None:
    monkeypatch.setattr(models, "load", lambda name, **how: shipped(name))


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    def document(code: int, expected: int = 0) -> dict[str, Any]:
        assert code == expected
        return held(capsys.readouterr().out)

    return document


def test_heads(printed) -> None:
    document = printed(main([TEXT, "--json"]))
    assert (document["kind"], len(document["heads"]["rows"])) == ("heads", 72)
    assert document["recording"]["text"] == TEXT


def test_a_recording_and_its_file(printed, tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    document = printed(installed.main(["record", TEXT, "--save", str(file), "--json"]))
    assert document["file"] == str(file)
    assert list(inspector.open(file).tokens) == document["tokens"]
    assert printed(main(["--open", str(file), "--record", "--json"]))["tokens"] == document["tokens"]


def test_a_recording_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([TEXT, "--record"]) == 0
    first, *sites = capsys.readouterr().out.splitlines()
    assert first.startswith("<Trace of 'minilm': 9 tokens")
    assert sites[5] == "encoder layer 5: 12 heads of softmax, 9 x 9"


def test_sections_and_one_of_them(printed, minilm: LoadedModel) -> None:
    listed = printed(installed.main(["sections", "--json"]))["sections"]
    assert "block/added" in [section["path"] for section in listed]
    document = printed(installed.main(["section", "block/way", TEXT, "--choose", '{"token": 2}', "--json"]))
    assert document["chosen"] == {"token": 2}
    assert "`cat`" in document["blocks"][0]["text"]
    tables = [block["table"] for block in document["blocks"] if block["block"] == "figure"]
    assert all(rows(table) for table in tables)


def test_a_section_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([TEXT, "--section", "block/added"]) == 0
    assert capsys.readouterr().out.startswith("### ")
    assert main(["--sections"]) == 0
    assert "block/added" in capsys.readouterr().out


def test_models_and_the_schema(printed, capsys: pytest.CaptureFixture[str]) -> None:
    document = printed(installed.main(["models", "--json"]))
    assert [model["id"] for model in document["models"]] == list(models.names())
    assert installed.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


def test_an_atlas(printed) -> None:
    document = printed(atlas(["show", str(SHIPPED), "--json", "--most", "2", "--measure", "previous"]))
    opened = inspector.atlas.open(SHIPPED)
    assert [row["previous"] for row in rows(document["heads"])] == opened.table()["previous"].nlargest(2).tolist()
    assert document["heads"]["left_out"] == 70
    assert document["atlas"]["attribution"] == opened.manifest.attribution


@pytest.mark.heavy
def test_an_atlas_is_built_and_merged(printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # a worker loads by itself
    (tmp_path / "texts.txt").write_text("The cat sat.\nIt was tired.\n" * 4, encoding="utf-8")
    build = ["build", "mini-bert", str(tmp_path / "texts.txt"), "--block-texts", "4", "--json"]
    for shard in ("1/2", "2/2"):
        folder = str(tmp_path / shard[0])
        document = printed(atlas([*build, "--out", folder, "--shard", shard]))
        assert (document["kind"], document["finished"]) == ("atlas_build", False)
    merged = printed(
        atlas(["merge", *(str(tmp_path / part) for part in "12"), "--out", str(tmp_path / "all"), "--json"])
    )
    assert merged["atlas"]["texts"] == {"read": 8, "unread": 0, "cut": 0}
    assert len(merged["heads"]["rows"]) == merged["atlas"]["heads"] == 24


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heads", "--json"], "There is no text"),
        (["heads", TEXT, "--json", "--layer", "x"], "invalid int value"),
        (["heads", TEXT, "--json", "--nothing\x1b[31m"], "unrecognized arguments"),
        (["heads", TEXT, "--json", "--save", "x.csv"], "give --record too"),
        (["heads", TEXT, "--json", "--report", "x.html", "--section", "block/added"], "give one of them"),
        (["heads", TEXT, "--json", "--choose", "{}"], "give --section PATH too"),
        (["section", "block/added", TEXT, "--json", "--choose", "[1]"], "takes a JSON object"),
        (["section", "block/added", TEXT, "--json", "--choose", "[" * 100_000], "takes a JSON object"),
        (["section", "block/added", TEXT, "--json", "--choose", '{"x": 1}'], "has no choice 'x'"),
        (["section", "block/added", TEXT, "--json", "--choose", '{"stream": [1]}'], "is no stream"),
        (["section", "nothing", TEXT, "--json"], "is no page of sections"),
        (["section", "block/nothing", TEXT, "--json"], "has no section 'nothing'"),
        (["record", "  ", "--json"], ""),
        (["questions", "--json", "--only", "x"], "--only takes numbers"),
        (["schema", "--json"], "unrecognized arguments"),
    ],
)
def test_a_mistake_is_a_document_and_a_sentence(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert installed.main(arguments) == 2
    told = capsys.readouterr()
    error = held(told.out)["error"]
    assert words in error
    assert told.err == f"{error}\n"
    assert "\x1b" not in told.out + told.err
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_of_an_atlas_has_its_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert atlas(["show", str(tmp_path), "--json"]) == 1
    assert "holds no atlas" in held(capsys.readouterr().out)["error"]


@pytest.mark.heavy
def test_warnings_and_prints_stay_out_of_stdout() -> None:
    """A text of unknown letters, that is cut: both are told, on stderr."""
    done = subprocess.run(
        [sys.executable, "-W", "always", "-m", "inspector", "-", "--json"],
        cwd=ROOT,
        input="cat \U00013000 " * 300,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert held(done.stdout)["recording"]["cut"] is not None
    assert "are unknown to the tokenizer" in done.stderr
