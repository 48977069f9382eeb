"""All questions: that they are there, that they are whole in both languages, and that every name in them is known."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from inspector.questions.index import MERGED, QUESTIONS, THEMES
from inspector.questions.record import papers
from inspector.questions.record.both import Both
from inspector.questions.record.checks import above
from inspector.questions.record.papers import Paper
from inspector.questions.record.question import Measurement, Question, Theme
from inspector.questions.record.reasons import reason
from inspector.questions.record.words import read
from inspector.sections import registry
from inspector.views.lab.settings import OPTIONS, Switches, words
from inspector.views.shell import pages
from tests.inspector.wording.chinese import OF_QUESTIONS, PHRASES, english_words

VIEWS = Path(pages.__file__).parents[1]
WORDS = VIEWS.parent / "wording" / "english"
FILES = VIEWS.parent / "wording" / "questions"
HAN = r"[㐀-鿿]"
CHINESE = re.compile(HAN)
ASCII_POINT = re.compile(rf"{HAN}\s*[,;:?!](?=\s|{HAN}|$)|[,;?!]\s*{HAN}|{HAN}\.(\s|$)|\({HAN}+\)")
# A star between numbers is no Markdown, and an underscore in d_k is none.
MARKDOWN = re.compile(r"\*\*|__|`|^#+ |^[-*] |\[[^]]+\]\([^)]+\)|:material/|\$[^$]+\$", re.MULTILINE)
LATEX = re.compile(r"\\[a-zA-Z]+|\^\{|_\{")
CLAIMS = range(1, 114)
FINDINGS = 25
QUOTED = 10  # Chinese characters that an English text may quote, such as a book's title
BESIDE = {"model", "text", "pair", "target", "b"}  # of the sidebar, on every page

every = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.number))


def texts(question: Question) -> Iterator[tuple[str, Both]]:
    """Yield every text of a question with its place."""
    yield "asked", question.asked
    yield "claim", question.claim
    yield "because", question.because
    yield "refuted", question.refuted
    for at, part in enumerate(question.parts):
        yield f"part {at + 1}", part.statement
    for name, quantity in question.numbers.items():
        yield f"number {name}", quantity.name
        if isinstance(quantity.unit, Both):
            yield f"unit of {name}", quantity.unit
    if question.measure is not None:
        yield "setting", question.setting
    if question.stated is not None:
        yield "stated", question.stated.why
    for name, published in question.published.items():
        yield f"published {name}", published.of
    if question.whole is not None:
        yield "whole", question.whole.about
        for at, part in enumerate(question.whole.parts):
            yield f"whole, part {at + 1}", part.statement
        for name, quantity in question.whole.numbers.items():
            yield f"whole, number {name}", quantity.name


def is_prose(place: str) -> bool:
    """Return True for sentences; a number's name or unit may be a formula alone."""
    return not place.startswith(("number", "unit", "whole, number"))


@cache
def quoted(page: str) -> set[str]:
    """Collect the strings in a page's sources and words, and in the rooms that the page shares with others."""
    folder = pages.FILES[page].parent
    shared = (VIEWS / "shell", VIEWS / "figures", VIEWS / "components")
    sources = [path for room in (folder, *shared) for path in room.rglob("*.py")]
    sources += [WORDS / f"{page}.py"] if (WORDS / f"{page}.py").exists() else []
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    return {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def is_of_the_lab(name: str, value: str) -> bool:
    """Return True for a parameter of the Lab's experiment, or of a switch of one side, and a value that it can have."""
    side = re.fullmatch(r"lab_[ab]_(\w+)", name)
    if side is None:
        return name.removeprefix("lab_") in quoted("lab")
    usual = vars(Switches()).get(side[1])
    if side[1] in OPTIONS:
        return value in [words.value(side[1], option) for option in OPTIONS[side[1]]]
    return value in ("true", "false") if isinstance(usual, bool) else usual is not None and value.isdecimal()


def test_all_claims_and_the_findings_are_there_once() -> None:
    numbers = Counter(question.number for theme in THEMES for question in theme.questions)
    assert [number for number in CLAIMS if MERGED.get(number, number) not in numbers] == []
    assert not MERGED.keys() & numbers.keys()
    assert [number for number, times in numbers.items() if times > 1] == []
    findings = [number for number in numbers if number > CLAIMS[-1]]
    assert len(findings) >= FINDINGS
    assert sum(question.number in CLAIMS and question.measure is not None for question in QUESTIONS) >= 100


def test_no_number_twice_and_no_theme() -> None:
    numbers = Counter(question.number for theme in THEMES for question in theme.questions)
    assert [number for number, times in numbers.items() if times > 1] == []
    assert len({theme.id for theme in THEMES}) == len(THEMES)
    assert all(re.fullmatch(r"[a-z_-]+", theme.id) for theme in THEMES)


@every
def test_a_question_is_measured_or_says_why_not(question: Question) -> None:
    assert (question.measure is None) == (question.stated is not None)
    assert question.measure is None or any(part.role == "claim" for part in question.parts)


@every
def test_every_text_is_there_in_both_languages(question: Question) -> None:
    wrong = [
        (place, text)
        for place, both in texts(question)
        for text, fits in (
            (both.en, len(CHINESE.findall(both.en)) <= QUOTED),
            (both.zh, not is_prose(place) or CHINESE.search(both.zh) or both.zh.endswith("。")),
        )
        if not text.strip() or text != text.strip() or not fits
    ]
    assert wrong == []


@every
def test_chinese_has_chinese_punctuation(question: Question) -> None:
    found = [(place, hit[0], both.zh) for place, both in texts(question) if (hit := ASCII_POINT.search(both.zh))]
    assert found == []


@every
def test_chinese_has_no_english_word(question: Question) -> None:
    words = {place: english_words(re.sub(PHRASES, " ", both.zh), OF_QUESTIONS) for place, both in texts(question)}
    assert {place: found for place, found in words.items() if found} == {}


@every
def test_texts_are_plain(question: Question) -> None:
    found = [
        (place, hit[0])
        for place, both in texts(question)
        for text in (both.en, both.zh)
        if (hit := MARKDOWN.search(text) or LATEX.search(text))
    ]
    assert found == []


@every
def test_every_name_is_a_measured_number(question: Question) -> None:
    known = set(question.numbers)
    assert set(re.findall(r"<([A-Za-z]\w*)>", question.formula)) <= known
    assert {name for part in question.parts for check in part.checks for name in check.reads} <= known
    assert set(question.published) <= known
    assert all(part.checks for part in question.parts)
    if question.whole is not None:
        whole = question.whole
        assert {name for part in whole.parts for check in part.checks for name in check.reads} <= set(whole.numbers)
        assert whole.stored is None or set(whole.numbers) <= set(whole.stored.numbers)


@every
def test_where_to_see_it_is_a_page_and_a_state_that_it_knows(question: Question) -> None:
    if question.see is None:
        return
    page = "" if question.see.page == "attention" else question.see.page
    assert page in pages.FILES
    state = {name: value for name, value in question.see.state.items() if name not in BESIDE}
    for name in [name for name in state if name.startswith("lab_")]:
        assert is_of_the_lab(name, state.pop(name)), name
    known, titles = quoted(page), quoted(page)
    if not registry.PAGES[page].board:
        listed = registry.sections(page)
        known, titles = known | {*listed.parameters}, {section.title for section in listed.sections}
    assert set(state) <= known
    assert state.get("section") in {None, *titles}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.id)
def test_each_file_has_what_measures_it_and_nothing_measures_without_a_file(theme: Theme) -> None:
    module = import_module(f"inspector.questions.themes.{theme.id}")
    assert set(module.MEASURES) == {question.number for question in theme.questions if question.measure is not None}
    runs = {question.number for question in theme.questions if question.whole is not None}
    assert set(getattr(module, "RUNS", {})) == runs


@every
def test_every_bound_has_a_reason(question: Question) -> None:
    parts = question.parts + (() if question.whole is None else question.whole.parts)
    for check in (check for part in parts for check in part.checks):
        assert CHINESE.search(reason(check).zh)
        assert reason(check).en.endswith(".")


def test_a_bound_that_was_chosen_needs_a_reason() -> None:
    with pytest.raises(ValueError, match=r"share > 0\.3: the bound was chosen, and nothing says why"):
        reason(above("share", 0.3))


def test_a_field_that_no_question_has_is_refused(tmp_path: Path) -> None:
    text = (FILES / "scale" / "16.toml").read_text(encoding="utf-8")
    file = tmp_path / "16.toml"
    file.write_text(f"verdict = 'true'\n{text}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"16\.toml has fields that no question has: verdict\."):
        read(file, measure=lambda subject: Measurement({}), run=lambda subject, watch: Measurement({}))


def test_questions_are_listed_without_torch() -> None:
    listed = (
        "import sys; from inspector.questions.index import QUESTIONS; print(len(QUESTIONS), 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", listed], cwd=FILES.parents[2], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(QUESTIONS)), "False"]


def test_no_paper_is_cited_in_two_ways() -> None:
    listed = [paper for paper in vars(papers).values() if isinstance(paper, Paper)]
    assert [url for url, times in Counter(paper.url for paper in listed).items() if times > 1] == []
    assert all(re.fullmatch(r"https://\S+", paper.url) for paper in listed)
    assert {paper for question in QUESTIONS for paper in question.papers} <= set(listed)
