"""A lesson there and back in Chromium: opened, answered, handed in, and a class's files collected by the command."""

from __future__ import annotations

import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from inspector.lessons import read, shipped
from inspector.lessons.links import MOST_LETTERS, decode
from inspector.lessons.reading import MOST_BYTES
from inspector.practice import texts
from inspector.practice.index import find
from inspector.views.lessons.sheet import KEY
from tests.browser.conftest import ROOT, Server, rests, until, without_errors
from tests.browser.test_coming_back import findings, visitor

MARKUP = "<img src=x onerror=alert(1)> **bold** $x$"
OWN = f"""
title = "Own {MARKUP}"
feedback = false
[[steps]]
words = "{MARKUP}"
question = 75
[[steps]]
words = "How many?"
expected = 40
tolerance = 0
"""
DRAW = random.Random(0)
LONG = 'title = "Long"\n[[steps]]\nwords = "Look."\n' + "".join(  # words that cannot be packed
    f'[[steps]]\nwords = "{"".join(chr(DRAW.randint(0x4E00, 0x9FFF)) for _ in range(300))}"\n' for _ in range(20)
)


def opened_here(page: Page, title: str, step: int, of: int) -> None:
    """Wait for a step of a lesson."""
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_role("combobox", name="Step")).to_have_value(re.compile(f"^Step {step} of {of} "))
    rests(page)


def chosen(page: Page, button: str, *, name: str, content: bytes) -> None:
    """Choose a file with a button."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=button).click()
    chooser.value.set_files(FilePayload(name=name, mimeType="text/plain", buffer=content))


def stored(page: Page, digest: str) -> dict[str, Any]:
    """Read what the browser keeps of a lesson."""
    text = page.evaluate("key => localStorage.getItem(key)", f"{KEY}.{digest}")
    found: dict[str, Any] = json.loads(text)["answers"] if text else {}
    return found


def handed_in(page: Page, folder: Path, name: str) -> Path:
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Save the file to hand in").click()
    path = folder / name
    downloading.value.save_as(path)
    return path


def collected(folder: Path, *files: Path, more: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """Run the command on files of answers; returns the rows of its table."""
    table = folder / "table.csv"
    command = [sys.executable, "-m", "inspector.lessons", "collect", *map(str, files), "--csv", str(table), *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_lesson_there_and_back_with_the_answers_collected(browser: Browser, server: Server, tmp_path: Path) -> None:
    digest = shipped("evening").digest
    with visitor(browser) as page:
        page.goto(f"{server.url}/lessons")
        page.get_by_role("button", name="Open", exact=True).first.click()
        opened_here(page, "An evening with attention", 1, 10)
        assert "lesson=evening" in page.url
        page.get_by_role("button", name="Next step").click()
        opened_here(page, "An evening with attention", 2, 10)
        page.get_by_role("button", name="True", exact=True).click()
        expect(page.get_by_text("You guessed “True”. The verdict: Does not hold.")).to_be_visible()
        page.get_by_role("button", name="Next step").click()
        opened_here(page, "An evening with attention", 3, 10)
        page.get_by_test_id("stMain").get_by_role("link", name="Open Attention").click()
        expect(page.get_by_text("gives 71 % of its attention")).to_be_visible()
        rests(page)
        assert "head=11" in page.url
        page.get_by_role("link", name="Back to the lesson: An evening with attention, step 3 of 10").click()
        opened_here(page, "An evening with attention", 3, 10)
        field = page.get_by_role("textbox", name="What you found")
        for typed, sentence in (("71 %", "That is no number"), ("0.5", "0.5 is too small"), ("0.71", "0.71 is right")):
            field.fill(typed)
            field.press("Enter")
            expect(page.get_by_text(sentence)).to_be_visible()
        rests(page)
        assert findings(page) == []
        page.get_by_role("button", name="Next step").click()
        opened_here(page, "An evening with attention", 4, 10)
        page.get_by_role("textbox", name="Your function, as Python").fill(texts.solution(find(1)))
        page.get_by_role("button", name="Keep it").click()
        expect(page.get_by_text("are among your answers")).to_be_visible()
        page.get_by_role("textbox", name="Your name").fill("李雷")
        page.get_by_role("textbox", name="Your name").press("Enter")
        until(page, lambda: len(stored(page, digest)) == 3)
        rests(page)
        first = handed_in(page, tmp_path, "li.json")
        page.reload()
        expect(page.get_by_text("3 of 8 answered, 1 right")).to_be_visible()
        expect(page.get_by_role("textbox", name="Your name")).to_have_value("李雷")
        expect(page.get_by_role("textbox", name="Your function, as Python")).to_have_value(texts.solution(find(1)))
    with visitor(browser) as page:  # another browser goes on from the file
        page.goto(f"{server.url}/lessons?lesson=evening&step=7")
        opened_here(page, "An evening with attention", 7, 10)
        for content, sentence in (
            (b"[]", "The file holds no answers"),
            (first.read_bytes(), "3 answers taken from the file."),
        ):
            chosen(page, "Import answers", name="a.json", content=content)
            expect(page.get_by_text(sentence)).to_be_visible()
        page.get_by_role("textbox", name="What you found").fill("768")
        page.get_by_role("button", name="Keep it").click()
        expect(page.get_by_text("4 of 8 answered, 2 right")).to_be_visible()
        rests(page)
        second = handed_in(page, tmp_path, "li-later.json")
        page.get_by_role("button", name="Forget all").click()
        expect(page.get_by_text("0 of 8 answered, 0 right")).to_be_visible()
        until(page, lambda: not stored(page, digest))
        assert page.evaluate("key => localStorage.getItem(key)", f"{KEY}.{digest}") is None
        assert "李雷" not in page.url
    before, after = collected(tmp_path, first, second)
    assert [(row["student"], row["right of 8"]) for row in (before, after)] == [("李雷", "1"), ("李雷", "2")]
    assert before["2 question 3"] == "wrong: true (false)"
    assert before["3 number"] == "right: 0.71"
    assert after["7 number"] == "right: 768"
    assert after["4 practice 1"].startswith("not judged: ")
    assert "李雷" not in server.log.read_text()


def test_a_teachers_own_file_its_link_and_what_is_no_lesson(browser: Browser, server: Server, tmp_path: Path) -> None:
    with visitor(browser) as page:
        page.goto(f"{server.url}/lessons")
        rests(page)
        for content, sentence in (
            (b'title = "T"\ncolour = "red"\n[[steps]]', "There is no field “colour”"),
            (b"\x00\xff", "The lesson is no TOML"),
            (b"#" * (MOST_BYTES + 1), "The lesson is larger than"),
        ):
            chosen(page, "Open a lesson's file", name="l.toml", content=content)
            expect(page.get_by_text(sentence)).to_be_visible()
        chosen(page, "Open a lesson's file", name="l.toml", content=OWN.encode())
        expect(page.get_by_role("heading", name=f"Own {MARKUP}")).to_be_visible()
        expect(page.get_by_text(MARKUP, exact=True)).to_be_visible()
        rests(page)
        page.get_by_role("button", name="Share this lesson").click()
        link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
        page.keyboard.press("Escape")
        given = link.partition("lesson=")[2].partition("&")[0]
        assert decode(given) == OWN
    with visitor(browser) as page:  # a student, who has the link alone
        page.goto(link)
        page.get_by_role("button", name="True", exact=True).click()
        expect(page.get_by_text("Your guess is kept.")).to_be_visible()
        page.get_by_role("button", name="Next step").click()
        page.get_by_role("textbox", name="What you found").fill("40")
        page.get_by_role("button", name="Keep it").click()
        expect(page.get_by_text("40 is kept.")).to_be_visible()
        expect(page.get_by_text("2 of 2 answered")).to_be_visible()
        rests(page)
        assert findings(page) == []
        answers = handed_in(page, tmp_path, "a.json")
        assert "right" not in answers.read_text(encoding="utf-8")
    lesson = tmp_path / "own.toml"
    lesson.write_text(OWN, encoding="utf-8")
    (row,) = collected(tmp_path, answers, more=("--lesson", str(lesson)))
    assert (row["2 number"], row["right of 2"]) == ("right: 40", "1")
    assert row["1 question 75"] == "not judged: true"


def test_a_lesson_too_long_for_a_link_is_opened_again(browser: Browser, server: Server) -> None:
    assert len(LONG.encode()) < MOST_BYTES
    with visitor(browser) as page:
        page.goto(f"{server.url}/lessons")
        rests(page)
        chosen(page, "Open a lesson's file", name="l.toml", content=LONG.encode())
        opened_here(page, "Long", 1, 21)
        assert "lesson=file" in page.url
        page.get_by_role("button", name="Share this lesson").click()
        expect(page.get_by_text(f"too long for a link of {MOST_LETTERS:,} letters")).to_be_visible()
        page.reload()
        expect(page.get_by_text("Open its file again")).to_be_visible()
        assert read(LONG).steps


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_lesson_on_a_phone_in_chinese(window: Page, server: Server, dark: bool) -> None:
    with without_errors(window, 390, 844) as page:
        page.emulate_media(color_scheme="dark" if dark else "light")
        main = page.get_by_test_id("stMain")
        for path, word in (
            ("/lessons?lang=zh", "与注意力共度一晚"),
            ("/lessons?lang=zh&lesson=evening&step=2", "一个 token 会看自己吗"),
            ("/lessons?lang=zh&lesson=evening&step=4", "你的 Python 函数"),
            ("/lessons?lang=zh&lesson=findings&step=7", "你找到的数值"),
        ):
            page.goto(server.url + path)
            expect(page.get_by_role("button", name="全部页面")).to_be_visible()
            expect(page.get_by_text(word).first).to_be_visible()
            rests(page)
            assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
            assert findings(page) == []
