"""Words of Practice in two languages: every task, every mistake and every input by its name, and no English word."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from inspector.practice import __main__ as command
from inspector.practice.index import TASKS
from inspector.practice.record.task import Task
from inspector.wording import in_language
from inspector.wording.chinese import practice_verdict as chinese
from inspector.wording.english import practice_verdict as english
from inspector.wording.reader import practice_verdict as spoken
from tests.inspector.wording.chinese import OF_PRACTICE, english_words

HAN = re.compile(r"[一-鿿]")
ASCII_POINT = re.compile(r"[一-鿿」”）][,;:!?]|[,;!?][一-鿿]|[一-鿿]\.(?!\w)")
NAMES = tomllib.loads(Path(chinese.__file__).with_name("practice_names.toml").read_text(encoding="utf-8"))
MISTAKES = {mistake.said for task in TASKS for mistake in task.mistakes}
INPUTS = {case.name for task in TASKS for case in (*task.made(), *task.recorded())}
every_task = pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])


@every_task
def test_a_task_is_there_in_both(task: Task) -> None:
    assert len(task.hints) == 3
    for text in (task.title, task.asked, *task.hints):
        assert not HAN.search(text.en)
        assert english_words(text.zh, OF_PRACTICE) == [], text.zh


def test_every_mistake_and_every_input_has_a_chinese_name_and_no_other() -> None:
    assert NAMES["mistakes"].keys() == MISTAKES
    assert NAMES["inputs"].keys() == INPUTS


@pytest.mark.parametrize("kind", ["mistakes", "inputs"])
def test_a_chinese_name_is_chinese(kind: str) -> None:
    for name, named in NAMES[kind].items():
        assert HAN.search(named), name
        assert english_words(named, OF_PRACTICE) == [], named
        assert not ASCII_POINT.search(named), named
        assert not re.search(r"[。.]$|^\s|\s$", named), named


@every_task
def test_two_mistakes_of_a_task_have_two_names(task: Task) -> None:
    names = [mistake.said for mistake in task.mistakes]
    for words in (english, chinese):
        assert len({words.mistake(name) for name in names}) == len(names)


@pytest.mark.parametrize("kind", ["mistakes", "inputs"])
def test_a_number_of_a_name_is_in_both(kind: str) -> None:
    """Numbers and formulas are not translated."""
    for name, named in NAMES[kind].items():
        for number in re.findall(r"\d[\d,]*\d|[√²β]", name):
            assert number.replace(",", "") in named, (name, named)


@pytest.mark.heavy
@pytest.mark.parametrize(("language", "words"), [("en", english), ("zh", chinese)])
def test_the_command_says_all_in_the_language(
    language: str, words: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A right file, wrong ones, one that ends, one that lacks the function, and none."""
    on = words.case("3 tokens, width 4, FFN of 10, 2 heads")
    due = {
        "return 8 * n * width**2 + 4 * n**2 * width + 4 * n * width * ffn": words.right(
            4, [words.case("a layer of MiniLM on 128 tokens"), words.case("one of the sizes of SmolLM2 on 13 tokens")]
        ),
        "return 8 * n * width**2 + 4 * n**2 * width": words.wrong([words.mistake("the FFN is left out")]),
        "raise SystemExit": words.raised(("SystemExit",), "", 2, "raise SystemExit", on=on),
        "return object()": words.unreadable("type", ("object",), on=on),
        "import os; os._exit(3)": words.ended(3, ""),
        "return None": words.kind(
            "FLOPs",
            on=on,
            expected=words.value("int"),
            given=words.NO_RETURN,
        ),
    }
    for code, sentence in due.items():
        file = tmp_path / "mine.py"
        file.write_text(f"def flops(n, width, ffn, heads):\n    {code}\n", encoding="utf-8")
        command.main(["12", str(file), "--language", language])
        told = capsys.readouterr()
        assert sentence in told.out.splitlines(), (sentence, told.out)
        assert told.err.startswith(words.OWN_PROCESS)
    file.write_text("", encoding="utf-8")
    assert command.main(["12", str(file), "--language", language]) == 1
    assert capsys.readouterr().out == f"{words.missing('flops', ())}\n"
    assert command.main(["12", str(tmp_path / "no.py"), "--language", language]) == 2
    assert words.no_file(str(tmp_path / "no.py")) in capsys.readouterr().err
    assert spoken.RESULT == in_language("en", "practice_verdict").RESULT, "the command leaves the language as it was"
