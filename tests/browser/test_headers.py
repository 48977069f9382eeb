"""The page under its Content-Security-Policy, in Chromium: each source is needed, and no other site is let in."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Download, Page, Route, expect

from tests.browser.conftest import ROOT, Server, lent, until, visit, wait_for


@pytest.fixture
def found() -> list[str]:
    """Messages of Chromium about the policy while the page is open."""
    return []


@pytest.fixture
def saved() -> list[Download]:
    """Files that Chromium saves while the page is open."""
    return []


@pytest.fixture
def page(window: Page, found: list[str], saved: list[Download]) -> Iterator[Page]:
    pieces = re.compile("data:[^']{100,}")  # whole pictures and fonts

    def hear(said: ConsoleMessage) -> None:
        if "Content Security Policy" in said.text:
            found.append(pieces.sub("", said.text))

    with lent(window, 1440, 1400, console=hear, download=lambda download: saved.append(download)) as page:
        yield page


def save_chart(page: Page) -> None:
    page.get_by_role("button", name="Slide and files of").first.click()
    page.get_by_role("button", name="PNG", exact=True).first.click()


@pytest.mark.parametrize(
    ("directive", "source", "path"),
    [
        ("script-src", "'self'", "/lab"),
        ("script-src", "'sha256-[^']*'", "/lab"),
        ("script-src", "blob:", "/"),
        ("style-src", "'self'", "/lab"),
        ("style-src", "'unsafe-inline'", "/lab"),
        ("img-src", "'self'", "/lab"),
        ("img-src", "data:", "/positions"),
        ("img-src", "blob:", "/costs"),
        ("font-src", "'self'", "/lab"),
        ("font-src", "data:", "/lab"),
        ("connect-src", "'self'", "/lab"),
    ],
)
def test_each_source_is_needed(
    page: Page, found: list[str], saved: list[Download], server: Server, directive: str, source: str, path: str
) -> None:
    changed = []

    def without(route: Route) -> None:
        answer = route.fetch()
        policy = answer.headers["content-security-policy"]
        shorter = re.sub(f"({directive}[^;]*?) {source}", r"\1", policy)
        changed.append(shorter != policy)
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": shorter})

    page.route(server.url + path, without)
    if source == "blob:" and directive == "img-src":
        visit(page, server, path)
        save_chart(page)
    else:
        page.goto(server.url + path)
    until(page, lambda: any(directive in one for one in found))
    assert saved == []
    assert changed == [True]
    assert any(directive in one for one in found), found


def test_another_site_can_neither_frame_it_nor_send_it_elsewhere(
    page: Page, found: list[str], server: Server, tmp_path: Path
) -> None:
    frame = tmp_path / "frame.html"
    frame.write_text(f'<iframe src="{server.url}/lab"></iframe>', encoding="utf-8")
    page.goto(frame.as_uri())
    until(page, lambda: bool(found))
    assert any("frame-ancestors" in one for one in found), found
    found.clear()
    visit(page, server, "/lab")
    page.evaluate("fetch('http://192.0.2.1/').catch(() => 0)")
    until(page, lambda: any("connect-src" in one for one in found))
    assert any("connect-src" in one for one in found), found


def test_a_foreign_site_at_the_websocket_is_refused_and_nobody_is_asked_about_it(server: Server) -> None:
    before = server.calls.read_text()
    with closing(HTTPConnection(server.url.removeprefix("http://"), timeout=20)) as connection:
        handshake = {
            **{"Connection": "Upgrade", "Upgrade": "websocket", "Origin": "https://evil.example"},
            **{"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw=="},
        }
        connection.request("GET", "/_stcore/stream", headers=handshake)
        assert connection.getresponse().status == 403
    assert server.calls.read_text() == before


def test_what_a_script_lets_through_is_a_sentence_on_the_page_and_whole_in_the_log(page: Page, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("[][0] + hidden_detail\n", encoding="utf-8")
    (tmp_path / "app.py").write_text(
        "import streamlit as st\nfrom inspector.views.shell import boundary\n"
        "app = st.App('broken.py', on_script_error=boundary.escaped)\n",
        encoding="utf-8",
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port, log = free.getsockname()[1], tmp_path / "log.txt"
    options = [f"--server.port={port}", "--server.headless=true", "--server.address=127.0.0.1"]
    with log.open("w") as output:
        command = [sys.executable, "-m", "streamlit", "run", str(tmp_path / "app.py"), *options]
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        page.goto(f"http://127.0.0.1:{port}/")
        expect(page.get_by_text("Your text is kept")).to_be_visible()
        assert "hidden_detail" not in page.content()
        assert "list index out of range" in log.read_text(encoding="utf-8")
    finally:
        process.terminate()
        process.wait(timeout=60)
