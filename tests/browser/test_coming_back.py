"""Questions that come back, in Chromium: guesses kept over days, a storage that is blocked, full or a stranger's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from inspector.questions import kept
from tests.browser.conftest import SLOW, Server, rests, until, without_errors
from tests.browser.test_every_page import RULES

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });"""
FULL = """const set = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, text) {
  if (key.startsWith("headlight") && !window.room) throw new DOMException("no room", "QuotaExceededError");
  return set.call(this, key, text);
};"""
WORDS = "Because softmax(QKᵀ/√d_k) is a mean of the values."
INTERVIEW = "/questions?interview=1.5"


@contextmanager
def visitor(browser: Browser, *, day: int = 0, script: str = "", **context: Any) -> Iterator[Page]:
    """Open a window with a storage of its own, so many days after the first; no script may fail on it."""
    errors: list[str] = []
    opened = browser.new_context(
        viewport={"width": 1440, "height": 900}, locale="en-US", timezone_id="UTC", accept_downloads=True, **context
    )
    if script:
        opened.add_init_script(script)
    page = opened.new_page()
    page.set_default_timeout(SLOW)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.clock.set_fixed_time(NOON + timedelta(days=day))
    try:
        yield page
    finally:
        opened.close()
    assert errors == []


def findings(page: Page) -> list[str]:
    """List the findings of axe-core in the page itself; on a phone Streamlit's menu of pages has some of its own.

    Left out are the ends of Streamlit's slider, which fade in and out with the pointer.
    """
    context = {"include": [["[data-testid=stMain]"]], "exclude": [["[data-testid=stSliderTickBar]"]]}
    found = Axe().run(page, context=context, options=RULES).response["violations"]
    return [f"{violation['id']}: {node['target']}" for violation in found for node in violation["nodes"]]


def stored(page: Page) -> dict[str, Any]:
    """Read what the browser keeps."""
    text = page.evaluate("key => localStorage.getItem(key)", kept.KEY)
    found: dict[str, Any] = json.loads(text)["guesses"] if text else {}
    return found


def waits_for(page: Page, seen: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    until(page, lambda: seen(stored(page)))
    return stored(page)


def guess(page: Page, server: Server, number: int, name: str) -> None:
    page.goto(f"{server.url}/questions?q={number}")
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_text("You guessed")).to_be_visible()


def opened_panel(page: Page) -> None:
    page.get_by_role("button", name="Kept guesses").click()
    expect(page.get_by_role("button", name="Import a file")).to_be_visible()
    rests(page)


def test_a_wrong_guess_comes_back_the_next_day_and_then_after_three(browser: Browser, server: Server) -> None:
    with visitor(browser) as page:
        guess(page, server, 27, "True")
        expect(page.get_by_text("Comes back on 2026-11-28.")).to_be_visible()
        assert waits_for(page, bool) == {"27": {"guess": "true", "right": False, "on": "2026-11-27", "box": 1}}
        expect(page.get_by_role("button", name="Due today")).to_have_count(0)
        page.clock.set_fixed_time(NOON + timedelta(days=1))
        page.goto(f"{server.url}/questions")
        page.get_by_role("button", name="Due today: 1").click()
        expect(page.get_by_role("heading", name="27.")).to_be_visible()
        page.get_by_role("button", name="False", exact=True).click()
        expect(page.get_by_text("Comes back on 2026-12-01.")).to_be_visible()
        found = waits_for(page, lambda one: one["27"]["box"] == 2)
        assert found == {"27": {"guess": "false", "right": True, "on": "2026-11-28", "box": 2}}
        expect(page.get_by_role("button", name="Due today")).to_have_count(0)
        assert "2026" not in page.url
    log = server.log.read_text()
    assert "guesses" not in log
    assert kept.KEY not in log


def test_export_forget_and_import_back(browser: Browser, server: Server, tmp_path: Path) -> None:
    with visitor(browser) as page:
        guess(page, server, 27, "False")
        before = waits_for(page, bool)
        opened_panel(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export").click()
        file = tmp_path / "guesses.json"
        download.value.save_as(file)
        assert json.loads(file.read_text()) == {"version": kept.VERSION, "guesses": before}
        page.evaluate("sessionStorage.setItem('headlight.interview', 'words')")
        page.get_by_role("button", name="Forget all").click()
        expect(page.get_by_role("button", name="Kept guesses")).to_have_count(0)
        rests(page)
        assert page.evaluate("key => [localStorage.getItem(key), sessionStorage.length]", kept.KEY)[0] is None
        assert page.evaluate("sessionStorage.getItem('headlight.interview')") is None
        page.goto(f"{server.url}/questions?theme=all")
        opened_panel(page)
        for content, sentence in (
            (b"x" * (kept.MOST_BYTES + 1), "The file is larger than 64 KB"),
            (b"\xff\xfe<img src=x onerror=alert(1)>", "The file is no list of guesses"),
            (file.read_bytes(), "1 guess taken from the file."),
        ):
            with page.expect_file_chooser() as chooser:
                page.get_by_role("button", name="Import a file").click()
            chooser.value.set_files({"name": "g.json", "mimeType": "application/json", "buffer": content})
            expect(page.get_by_text(sentence)).to_be_visible()
        assert waits_for(page, bool) == before


def test_another_tab_hears_of_it(browser: Browser, server: Server) -> None:
    with visitor(browser) as page:
        guess(page, server, 27, "True")
        waits_for(page, bool)
        other = page.context.new_page()
        other.set_default_timeout(SLOW)
        other.clock.set_fixed_time(NOON + timedelta(days=1))
        other.goto(f"{server.url}/questions")
        expect(other.get_by_role("button", name="Due today: 1")).to_be_visible()
        rests(other)
        opened_panel(page)
        page.get_by_role("button", name="Forget all").click()
        expect(other.get_by_role("button", name="Due today")).to_have_count(0)


def test_a_blocked_storage_is_a_sentence_and_the_page_goes_on(browser: Browser, server: Server) -> None:
    with visitor(browser, script=BLOCKED) as page:
        guess(page, server, 27, "True")
        expect(page.get_by_text("This browser stores nothing for this page")).to_be_visible()
        opened_panel(page)
        expect(page.get_by_text("Guesses of 1 question are kept.")).to_be_visible()  # in this visit
        page.goto(server.url + INTERVIEW)
        page.get_by_role("textbox", name="Your answer to").fill(WORDS)
        page.get_by_role("button", name="Show the answer").click()
        expect(page.get_by_text(WORDS)).to_be_visible()


def test_a_full_storage_is_a_sentence_until_there_is_room(browser: Browser, server: Server) -> None:
    with visitor(browser, script=FULL) as page:
        guess(page, server, 27, "True")
        expect(page.get_by_text("This browser's storage is full")).to_be_visible()
        assert stored(page) == {}
        page.evaluate("window.room = true")
        page.get_by_role("button", name="Another").click()
        page.get_by_role("button", name="True", exact=True).click()
        expect(page.get_by_text("This browser's storage is full")).to_have_count(0)
        assert len(waits_for(page, bool)) == 2  # the guess for which there was no room, and the one after


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<img src=x onerror=alert(1)>", "is no list of guesses"),
        ("x" * (kept.MOST_BYTES + 1), "is larger than 64 KB"),
        ('{"version": 9, "guesses": {}}', "by another version of Headlight"),
        ('{"version": 1, "guesses": {"27": {"guess": "<b>", "right": 1, "on": "x", "box": 1e9}}}', "1 of the entries"),
    ],
    ids=["markup", "large", "version", "entry"],
)
def test_a_strangers_storage_is_a_sentence_and_is_not_overwritten(
    browser: Browser, server: Server, text: str, sentence: str
) -> None:
    script = f"localStorage.setItem({json.dumps(kept.KEY)}, {json.dumps(text)});"
    with visitor(browser) as page:
        page.goto(f"{server.url}/_stcore/health")
        page.evaluate(script)
        page.goto(f"{server.url}/questions?q=27")
        expect(page.get_by_text(sentence)).to_be_visible()
        page.get_by_role("button", name="True", exact=True).click()
        expect(page.get_by_text("You guessed")).to_be_visible()
        rests(page)
        if "entries" in sentence:
            assert set(waits_for(page, bool)) == {"27"}
            return
        assert page.evaluate("key => localStorage.getItem(key)", kept.KEY) == text
        opened_panel(page)
        page.get_by_role("button", name="Forget all").click()
        expect(page.get_by_text(sentence)).to_have_count(0)
        rests(page)
        assert page.evaluate("key => localStorage.getItem(key)", kept.KEY) is None


def test_a_mock_interview_from_start_to_result(browser: Browser, server: Server) -> None:
    with visitor(browser) as page:
        page.goto(f"{server.url}/questions?theme=all")
        page.get_by_role("button", name="Mock interview").click()
        page.get_by_role("button", name="Start", exact=True).click()
        for at in range(1, 11):
            expect(page.get_by_text(f"Question {at} of 10")).to_be_visible()
            field = page.get_by_role("textbox", name="Your answer to")
            expect(field).to_be_focused()
            expect(field).to_have_value("")
            if at == 2:
                page.get_by_role("button", name="Skip").click()
                continue
            field.fill(f"{WORDS} {at}")
            page.get_by_role("button", name="Show the answer").click()
            expect(page.get_by_text(f"{WORDS} {at}")).to_be_visible()
            rests(page)
            if at == 1:
                assert findings(page) == []
                for point in page.get_by_test_id("stCheckbox").all():
                    point.locator("label").click()
                    rests(page)
            page.get_by_role("button", name="See the result" if at == 10 else "Next question").click()
        expect(
            page.get_by_role("heading", name="1 of 10 answers named two thirds of the points or more")
        ).to_be_visible()
        expect(page.get_by_text("They come back tomorrow")).to_be_visible()
        expect(page.get_by_role("button", name="skipped")).to_have_count(1)
        rests(page)
        assert findings(page) == []
        found = waits_for(page, lambda one: len(one) == 10)
        assert sum(entry["right"] for entry in found.values()) == 1
        assert {entry["guess"] for entry in found.values()} == {"words"}
        assert WORDS not in page.url
        page.clock.set_fixed_time(NOON + timedelta(days=1))
        page.goto(f"{server.url}/questions")
        expect(page.get_by_role("button", name="Due today: 9")).to_be_visible()
    assert WORDS not in server.log.read_text()


def test_the_clock_runs_in_the_browser_alone_and_words_outlast_a_reload(browser: Browser, server: Server) -> None:
    with visitor(browser) as page:
        page.clock.install(time=NOON)
        sent: list[int] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(len(frame))))
        page.goto(server.url + INTERVIEW)
        timer, field = page.get_by_role("timer"), page.get_by_role("textbox", name="Your answer to")
        field.fill(WORDS)
        rests(page)
        page.wait_for_timeout(500)
        runs = len(sent)
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("Paused")).to_be_visible()
        page.clock.run_for(600_000)
        left = timer.inner_text()
        page.get_by_role("button", name="Go on").click()
        assert timer.inner_text() == left
        page.clock.run_for(62_000)
        expect(page.get_by_text("One minute left.")).to_be_visible()
        page.clock.run_for(60_000)
        expect(page.get_by_text("Time is up. Finish your sentence: nothing is lost.")).to_be_visible()
        expect(field).to_have_value(WORDS)
        field.press("End")
        field.press_sequentially("cr")  # which are shortcuts of Streamlit elsewhere
        assert len(sent) == runs, "the page ran while the clock did"
        assert findings(page) == []
        page.reload()
        expect(field).to_have_value(WORDS + "cr")
        expect(timer).to_contain_text("−0:")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_a_phone_in_chinese(window: Page, server: Server, dark: bool) -> None:
    with without_errors(window, 390, 844) as page:
        page.emulate_media(color_scheme="dark" if dark else "light")
        main = page.get_by_test_id("stMain")
        page.goto(f"{server.url}/questions?q=93&lang=zh")
        expect(page.get_by_role("button", name="全部页面")).to_be_visible()  # drawn anew for the narrow window
        rests(page)
        page.get_by_role("button", name="猜一个数值").click()
        slider = page.get_by_role("slider", name="先猜一猜")
        expect(slider).to_be_visible()
        expect(page.get_by_role("button", name="就猜这个数")).to_be_disabled()
        slider.press("ArrowLeft")
        expect(page.get_by_role("button", name="就猜这个数")).to_be_enabled()
        rests(page)
        assert findings(page) == []
        page.get_by_role("button", name="就猜这个数").click()
        expect(page.get_by_text("实测为")).to_be_visible()
        rests(page)
        page.get_by_role("button", name="已保存的猜测").click()
        expect(page.get_by_role("button", name="导入文件")).to_be_visible()
        rests(page)
        assert findings(page) == []  # of the open button too
        page.keyboard.press("Escape")
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
        page.goto(f"{server.url}{INTERVIEW}&lang=zh")
        page.get_by_role("textbox", name="你对这道题的回答").fill("因为 softmax。")
        rests(page)
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
        assert findings(page) == []
        page.get_by_role("button", name="看答案").click()
        expect(page.get_by_text("因为 softmax。")).to_be_visible()
        rests(page)
        assert main.evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
        assert findings(page) == []
