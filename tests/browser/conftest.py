"""A real Chromium, and the real app behind it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.browser.drawing import frame

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    # A document whose headers a test rewrites counts as foreign, and might open no websocket to this machine.
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
]
NO_CHROMIUM = "there is no chromium on the PATH; on Debian: apt-get install chromium"
SLOW = 120_000  # ms: the first view loads torch, perhaps on a busy machine; a test that passes waits no longer for it
expect.set_options(timeout=SLOW)
# Path of a page -> what its picture is made of.
PAGES = {
    "/": "[role=gridcell]",
    "/compare": "canvas",
    "/scores": "canvas",
    "/what_if?model=mini-bert": "canvas",
    "/generate?model=translator": ".js-plotly-plot",
    "/block": ".js-plotly-plot",
    "/layernorm": ".js-plotly-plot",
    "/positions": ".js-plotly-plot",
    "/costs": ".js-plotly-plot",
    "/time": ".js-plotly-plot",
    "/questions": "text=Guess first",
    "/practice": "text=To write",
    "/lessons": "text=An evening with attention",
    "/tokens": "canvas, .js-plotly-plot",
    "/batch": "canvas",
    "/lab": "text=Nothing is trained yet",
    "/training": ".js-plotly-plot",
    "/atlas": "canvas",
}
GROUPS = {
    "Attention": ("Attention", "Compare", "Scores", "What if"),
    "Inside the model": ("Block", "Norms", "Positions", "Costs"),
    "Writing": ("Generate", "Time"),
    "Learning": ("Questions", "Practice", "Lessons", "Tokens", "Batch", "Lab", "Training"),
    "Many texts": ("Atlas",),
}
# Notes what is sent to the server; whatever is sent asks for a run of the page.
NOTE = """() => {
  window.sent = "";
  if (window.noting) return;
  window.noting = true;
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    window.sent += new TextDecoder().decode(data);
    return send.call(this, data);
  };
}"""
# Our components draw into shadow roots, the watch of the window too, which is the only one on every page.
MOUNTED = """() => {
  const components = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")];
  return components.some((one) => one.closest(".st-key-width"))
    && components.every((one) => one.shadowRoot?.childElementCount);
}"""
# Runs inside the server before anything else: writes down every address that it resolves or connects to.
WATCHER = """
import os, sys
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        address = args[1] if event == "socket.connect" else args[0]
        host = address[0] if isinstance(address, tuple) else address
        with open(os.environ["HEADLIGHT_TEST_CALLS"], "a") as file:
            print(event, host, file=file)
sys.addaudithook(watch)
"""


def visit(page: Page, server: Server, path: str = "/") -> None:
    """Open a page of the app, and wait until its picture is there and its script rests."""
    page.goto(server.url + path)
    picture = PAGES.get(path) or PAGES[path.split("?")[0]]
    page.locator(picture).first.wait_for(state="attached", timeout=SLOW)
    rests(page)


def turn_to(page: Page, name: str) -> None:
    """Choose another page in the navigation, and wait for it: the old one stands until then, and its buttons leave."""
    group = next(group for group, names in GROUPS.items() if name in names)
    page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
    page.get_by_role("menuitem", name=name).click()
    page.get_by_role("heading", name=name, exact=True).first.wait_for(timeout=SLOW)
    rests(page)


def rests(page: Page) -> None:
    """Wait until no script of the app runs, nothing is announced as under way, and the page's components are there.

    Streamlit fetches the code of its components last. On a busy machine they come seconds after the script has ended:
    the one that watches the window hears of no change before, and what they add takes the focus away.
    """
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=SLOW)
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)  # dimmed: of the run before
    page.wait_for_function(MOUNTED, timeout=SLOW)


@contextmanager
def redrawn(page: Page, *, told: str = "") -> Iterator[None]:
    """Change the window; its script runs anew, and then it rests. told: what the run is asked for with."""
    page.evaluate(NOTE)
    yield
    page.wait_for_function("told => window.sent && window.sent.includes(told)", arg=told, timeout=SLOW)
    frame(page)
    rests(page)


def until(page: Page, seen: Callable[[], bool]) -> None:
    """Let Chromium go on until something is seen; after two minutes the next assertion tells what is missing."""
    for _ in range(1200):
        if seen():
            break
        page.wait_for_timeout(100)


@dataclass(frozen=True)
class Server:
    """The running app: its address, and the file in which its outgoing calls are written down."""

    url: str
    calls: Path
    log: Path


CHROMIUM = ExitStack()
"""Chromium, its window and its driver, while tests use them."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close Chromium behind the last of its tests: at the end of a session, thousands of tests later, it once hung."""
    if nextitem is None or FOLDER not in nextitem.path.parents:
        CHROMIUM.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(NO_CHROMIUM)
    driver = CHROMIUM.enter_context(sync_playwright())
    chromium = driver.chromium.launch(executable_path=path, args=FLAGS)
    CHROMIUM.callback(chromium.close)
    yield chromium
    CHROMIUM.close()


@pytest.fixture(scope="session")
def window(browser: Browser) -> Page:
    """The window that all tests use in turn: a window of its own would cost each a second of the processor."""
    context = browser.new_context()  # of its own, in which a test may open other tabs
    CHROMIUM.callback(context.close)
    page = context.new_page()
    page.set_default_timeout(SLOW)
    return page


@contextmanager
def lent(
    window: Page, width: int, height: int, *, dark: bool = False, **heard: Callable[[Any], object]
) -> Iterator[Page]:
    """Lend the window as if it were new, in a size of pixels; `heard` has what is called at the page's events.

    Whoever changes what outlasts a document (its clock, its policy) opens a window with the fixture `browser`.
    """
    window.set_viewport_size({"width": width, "height": height})
    window.emulate_media(color_scheme="dark" if dark else "light")
    for event, hear in heard.items():
        window.on(event, hear)  # type: ignore[call-overload]
    try:
        yield window
    finally:
        _empty(window)
        for event, hear in heard.items():
            window.remove_listener(event, hear)


def _empty(window: Page) -> None:
    """Take away what a test can leave behind: other tabs, what is stored, the pointer, routes, and the way back."""
    for other in window.context.pages:
        if other is not window:
            other.close()
    if window.url.startswith("http"):
        window.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    window.context.clear_cookies()
    window.mouse.move(0, 0)
    window.goto("about:blank")
    window.unroute_all()
    window.emulate_media(reduced_motion="no-preference")
    session = window.context.new_cdp_session(window)
    session.send("Page.resetNavigationHistory")
    session.detach()


@pytest.fixture
def tab(window: Page) -> Iterator[Page]:
    """The window, of which no request may leave, and on which neither an error nor a dialog may come."""
    with inert(window) as page:
        yield page


@contextmanager
def inert(window: Page) -> Iterator[Page]:
    """Lend a window; what it asks for outside of its document, says as an error or in a dialog fails the test."""
    complaints: list[str] = []

    def guard(route: Route) -> None:
        if not route.request.url.startswith(("file:", "data:", "blob:")):
            complaints.append(f"request to {route.request.url}")
            route.abort()
        else:
            route.continue_()

    window.route("**/*", guard)
    heard = {
        "pageerror": lambda error: complaints.append(f"error {error}"),
        "console": lambda message: message.type == "error" and complaints.append(message.text),
        "dialog": lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()),
    }
    with lent(window, 900, 1200, **heard) as page:
        yield page
    assert complaints == []


@contextmanager
def without_errors(window: Page, width: int, height: int) -> Iterator[Page]:
    """Lend the window in a size of pixels; no script may fail, and no dialog may come."""
    errors: list[str] = []
    heard = {
        "pageerror": lambda error: errors.append(str(error)),
        "dialog": lambda dialog: (errors.append(f"dialog {dialog.message}"), dialog.dismiss()),
    }
    with lent(window, width, height, **heard) as page:
        yield page
    assert errors == []


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    """Lend the window in 1440 x 900, on which no script may fail."""
    with without_errors(window, 1440, 900) as page:
        yield page


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as `make app` starts it, on a port of its own."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "sitecustomize.py").write_text(WATCHER, encoding="utf-8")
    calls, log = folder / "calls.txt", folder / "log.txt"
    calls.touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    environment = {**os.environ, "PYTHONPATH": str(folder), "HEADLIGHT_TEST_CALLS": str(calls)}
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/_stcore/health", process, log)
        yield Server(url, calls, log)
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(480):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                assert answer.read() == b"ok"
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the app did not answer at {url}:\n{log.read_text()}")
