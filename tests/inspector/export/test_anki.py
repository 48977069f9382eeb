"""The package is read back as what it is: a zip with an SQLite file, by code that did not write it."""

from __future__ import annotations

import csv
import html
import io
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

import models
from inspector import examples
from inspector.export import anki, questions_sheet
from inspector.questions import Subject, ask_all
from inspector.questions.asking import Answer, find
from inspector.questions.record.both import LANGUAGES, Both, Language

ASKED = [1, 35, 97]  # a number of each kind: of the text, of no model, of a stand-in
FIELDS = ["Number", "Question", "Claim", "Verdict", "Answer"]


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    subject = Subject(models.load("mini-bert"), examples.FIRST)
    return list(ask_all(subject, only=ASKED))


def notes(package: bytes, folder: Path) -> dict[str, tuple[int, list[str], str]]:
    """Read the notes of a package -> by guid: when it changed, its fields, its tags."""
    with zipfile.ZipFile(io.BytesIO(package)) as zipped:
        zipped.extract("collection.anki2", folder)
    with sqlite3.connect(folder / "collection.anki2") as collection:
        rows = collection.execute("SELECT guid, mod, flds, tags FROM notes ORDER BY id").fetchall()
        cards = collection.execute("SELECT count(*) FROM cards").fetchone()[0]
    assert cards == len(rows)
    return {guid: (mod, fields.split("\x1f"), tags) for guid, mod, fields, tags in rows}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_note_for_each_question(answers: list[Answer], language: Language, tmp_path: Path) -> None:
    written = list(notes(anki.package(answers, language), tmp_path).values())
    assert [fields[0] for _, fields, _ in written] == [str(answer.question.number) for answer in answers]
    for answer, (_, fields, tags) in zip(answers, written, strict=True):
        assert len(fields) == len(FIELDS)
        assert html.escape(answer.question.claim.of(language)) in fields[2]
        assert html.escape(answer.question.because.of(language)) in fields[4]
        assert "headlight" in tags.split()
        assert answer.question.scope in tags.split()


def test_a_later_package_updates_the_notes_and_the_other_language_is_another_deck(
    answers: list[Answer], tmp_path: Path
) -> None:
    first, again = (set(notes(anki.package(answers, "en"), tmp_path)) for _ in range(2))
    assert first == again
    assert len(first) == len(answers)
    assert not first & set(notes(anki.package(answers, "zh"), tmp_path))


def test_no_text_is_markup(answers: list[Answer], tmp_path: Path) -> None:
    hostile = Both("<img src=x onerror=alert(1)> & {{Answer}}", "<script>\x00")
    question = replace(answers[0].question, asked=hostile, claim=hostile, because=hostile)
    [(_, fields, _)] = notes(anki.package([replace(answers[0], question=question)], "en"), tmp_path).values()
    assert not any("<img" in field or "<script" in field for field in fields)
    assert "&lt;img src=x" in fields[1]


def test_the_table_has_a_row_for_each_question(answers: list[Answer]) -> None:
    rows = list(csv.DictReader(io.StringIO(anki.csv(answers, "en").decode())))
    assert [int(row["number"]) for row in rows] == ASKED
    assert rows[1]["verdict"] == answers[1].verdict
    assert rows[1]["because"] == answers[1].question.because.en


@pytest.mark.parametrize("ending", [".apkg", ".csv"])
def test_the_command_writes_what_the_name_ends_in(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"questions{ending}"
    assert questions_sheet.main([str(file), "--model", "mini-bert", "--only", "35", "--language", "zh"]) == 0
    if ending == ".apkg":
        assert len(notes(file.read_bytes(), tmp_path)) == 1
    else:
        assert find(35).asked.zh in file.read_text(encoding="utf-8")


def test_another_ending_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert questions_sheet.main(["questions.pdf"]) == 2
    assert "end it in .html, .apkg or .csv" in capsys.readouterr().err
