"""The sheet of questions: all in one file, a stranger's text escaped, no script and no request, both languages."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from inspector import examples, export, questions
from inspector.export import markdown, questions_sheet
from inspector.questions.index import THEMES

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)> & \" ' \u202e"
VOID = {"meta", "input", "br", "img", "link"}


class Reader(HTMLParser):
    """Collect elements, and tell any that is closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def answers(shipped):
    some = [theme.questions[0].number for theme in THEMES if theme.questions]
    return list(questions.ask_all(questions.Subject(shipped("minilm"), examples.FIRST), only=sorted({16, *some})))


@pytest.mark.heavy
def test_all_questions_stand_in_both_languages(answers) -> None:
    page = export.sheet(answers, model="minilm", text=examples.FIRST, date="2026-11-23")
    found = read(page)
    ids = [of["id"] for _, of in found.tags if "id" in of]
    assert len(ids) == len(set(ids))
    assert {f"q{answer.question.number}" for answer in answers} <= set(ids)
    links = {str(of["href"])[1:] for tag, of in found.tags if tag == "a" and str(of["href"]).startswith("#")}
    assert links <= set(ids)
    for said in (
        "Is the variance of q · k equal to d_k, and 1 after dividing by √d_k?",
        "q·k 的方差等于 d_k，除以 √d_k 之后等于 1 吗？",
        "Holds under conditions",
        "有条件地成立",
        "2026-11-23",
    ):
        assert said in page
    assert sum(tag == "math" for tag, _ in found.tags) == 2 * sum(bool(one.question.formula) for one in answers)
    assert "<drawn>" not in page
    assert "&lt;drawn" not in page


def test_a_text_of_a_stranger_stays_text(answers) -> None:
    page = export.sheet(answers[:2], model=HOSTILE, text=HOSTILE)
    assert read(page).tags == read(export.sheet(answers[:2], model="m", text="t")).tags
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_no_script_no_request_and_no_other_style(answers) -> None:
    page = export.sheet(answers, model="m", text="t")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    for tag, of in read(page).tags:
        assert tag not in ("script", "img", "link", "iframe", "object", "form")
        assert not any(name.startswith("on") or name in ("style", "src") for name in of), (tag, of)
    assert not re.search(r"url\(|@import", style)


@pytest.mark.parametrize(("language", "checked"), [(None, "both"), ("en", "en"), ("zh", "zh")])
def test_one_switch_is_set(answers, language, checked: str) -> None:
    tags = read(export.sheet(answers[:1], model="m", text="t", language=language)).tags
    assert [of["id"] for tag, of in tags if tag == "input" and "checked" in of] == [checked, "long"]
    assert next(of["lang"] for tag, of in tags if tag == "html") == ("zh-Hans" if language == "zh" else "en")


def test_short_keeps_verdict_and_parts_and_leads_to_the_host(answers) -> None:
    (answer,) = (one for one in answers if one.question.number == 16)
    page = export.sheet([answer], model="m", text="t", language="en", address="https://headlight.example")
    short, _, more = page.partition('<div class="more">')
    assert html.escape(f"“{answer.question.parts[0].statement.en}”") in short
    assert answer.question.because.en not in short
    assert html.escape(answer.question.because.en) in more
    assert 'href="https://headlight.example/scores' in more
    assert "Numbers of random vectors" in more
    bare = export.sheet([answer], model="m", text="t")
    assert "<code>/scores" in bare


def test_a_formula_that_cannot_be_read_stands_as_it_is_written() -> None:
    assert markdown.formula(r"\frac{1}{2}").startswith("<math")
    assert markdown.formula(r"\right <a>") == r"<code>\right &lt;a&gt;</code>"


def test_every_formula_becomes_mathml() -> None:
    for theme in THEMES:
        for question in theme.questions:
            if question.formula:
                formula = questions_sheet.filled(question.formula, dict.fromkeys(question.numbers, 2.9e-4))
                assert markdown.formula(formula).startswith("<math"), (question.number, formula)


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sheet.html"
    assert questions_sheet.main([str(file), "--only", "16", "--text", "Hello there."]) == 0
    assert "Hello there." in file.read_text(encoding="utf-8")
    capsys.readouterr()
    assert questions_sheet.main([str(tmp_path / "sheet.txt"), "--only", "16"]) == 2
    assert "end it in .html" in capsys.readouterr().err
