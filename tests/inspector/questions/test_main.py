"""python -m inspector.questions: a table, JSON, verdicts held, and one sentence where something is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import models
from inspector import examples, questions
from inspector.questions import __main__ as command
from inspector.questions import written
from inspector.questions.index import BY_NUMBER, QUESTIONS
from inspector.questions.record.question import Measurement
from tests.inspector.plain.held import held


@pytest.fixture(autouse=True)
def loaded_once(monkeypatch: pytest.MonkeyPatch, shipped) -> None:
    monkeypatch.setattr(models, "load", lambda model: shipped(model))


def test_a_table_of_two_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--only", "16,42", "--text", "The cat sat."]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f" 16  conditions  {BY_NUMBER[16].asked.en}")
    assert "scaled variance, random entries, largest over d_k: 1.03" in lines[1]
    assert lines[2].startswith(" 42  ")


def test_json_holds_all_that_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--only", "16", "--json", "--text", examples.FIRST]) == 0
    (found,) = held(capsys.readouterr().out)["answers"]
    assert found["verdict"] == "conditions"
    assert [part["holds"] for part in found["parts"]] == [True, False, False, False]
    check, _ = found["parts"][0]["checks"]
    assert check["number"] == "drawn_least"
    assert check["needs"] == "1 ± 5 %"
    assert check["value"] == pytest.approx(1, abs=0.05)
    assert set(found["numbers"]) == set(BY_NUMBER[16].numbers)
    assert (found["asked_of"], found["measured_on"], found["text"]) == ("minilm", "minilm", examples.FIRST)


@pytest.mark.heavy
def test_verdicts_are_held_and_a_change_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--only", "16,42", "--json"])
    said = capsys.readouterr().out
    file = tmp_path / "verdicts.json"
    file.write_text(said, encoding="utf-8")
    assert command.main(["--expect", str(file)]) == 0
    records = json.loads(said)["answers"]
    records[0]["verdict"] = "true"
    records[1]["parts"][0]["holds"] = not records[1]["parts"][0]["holds"]
    file.write_text(json.dumps(records), encoding="utf-8")  # a list, as it was printed before there was a schema
    capsys.readouterr()
    assert command.main(["--expect", str(file)]) == 1
    told = capsys.readouterr()
    assert "question 16: was true, is conditions" in told.err
    assert "question 42: of the same verdict, other parts hold: 1" in told.err
    assert told.out == ""


@pytest.mark.parametrize("text", ["", "[]", "[1]", '[{"number": 16}]', '[{"number": 16, "verdict": 1, "parts": []}]'])
def test_a_file_of_something_else_is_one_sentence(text: str, tmp_path: Path, capsys) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    assert command.main(["--expect", str(file)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "9999"], "there is no question 9999"),
        (["--only", "x"], "--only takes numbers"),
        (["--only", ","], "names no question"),
        (["--only", "1" * 5000], "--only takes numbers"),
        (["--list", "--whole"], "leave out --whole"),
        (["--list", "--expect", "x"], "leave out --list"),
        (["--only", "16", "--whole"], "long experiment"),
        (["--expect", "no-such-file.json"], "no-such-file.json"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: list[str], said: str, capsys) -> None:
    assert command.main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_questions_are_listed_for_programs_and_mistakes_told_to_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list", "--json", "--only", "16", "--language", "zh"]) == 0
    (question,) = held(capsys.readouterr().out)["questions"]
    assert (question["number"], question["question"]) == (16, BY_NUMBER[16].asked.zh)
    assert command.main(["--only", "9999", "--json"]) == 2
    printed = capsys.readouterr()
    assert held(printed.out)["error"] == printed.err.strip()
    assert "there is no question 9999" in printed.err


def test_a_long_experiment_for_programs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    question = next(question for question in QUESTIONS if question.whole is not None)
    short = replace(
        question.whole, run=lambda subject, watch: Measurement({"one": 1.0, "none": float("nan")}), parts=()
    )
    monkeypatch.setattr(command, "chosen_from", lambda only, expected: [replace(question, whole=short)])
    assert command.main(["--whole", "--json"]) == 0
    (experiment,) = held(capsys.readouterr().out)["experiments"]
    assert experiment["numbers"] == {"one": 1.0, "none": None}


def test_a_list_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list", "--language", "zh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(QUESTIONS)
    assert f" 16  {BY_NUMBER[16].asked.zh}" in lines


def test_a_span_names_the_questions_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list", "--only", "42,41-43"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["42", "41", "43"]


def test_answers_as_a_table(shipped) -> None:
    answers = list(questions.ask_all(questions.Subject(shipped("minilm"), examples.FIRST), only=[16]))
    table = questions.table(answers, language="zh")
    assert list(table.columns) == ["number", "question", "verdict", "numbers", "measured_on", "problem"]
    assert table.loc[0, "question"] == BY_NUMBER[16].asked.zh
    assert table.loc[0, "numbers"].startswith("缩放后的方差，随机分量，各 d_k 最小值：0.993；")
    assert json.loads(json.dumps(written.record(answers[0]), allow_nan=False))
