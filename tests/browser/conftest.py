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
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    # A document whose headers a test rewrites counts as foreign, and might open no websocket to this machine.
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets",
]
SLOW = 120_000  # ms: the first view loads torch, perhaps on a busy machine; a test that passes waits no longer for it
expect.set_options(timeout=SLOW)
# Path of a page -> what its picture is made of.
PAGES = {
    "/": "[role=gridcell]",
    "/compare": "canvas",
    "/what_if?model=mini-bert": "canvas",
    "/generate?model=translator": ".js-plotly-plot",
    "/layernorm": ".js-plotly-plot",
    "/positions": ".js-plotly-plot",
    "/costs": ".js-plotly-plot",
    "/lab": "text=Nothing is trained yet",
    "/training": ".js-plotly-plot",
}
GROUPS = {
    "Read": ("Attention", "Compare", "What if"),
    "Inside": ("LayerNorm", "Positions", "Costs"),
    "Write": ("Generate",),
    "Learn": ("Lab", "Training"),
}
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
    """Choose another page in the navigation."""
    group = next(group for group, names in GROUPS.items() if name in names)
    page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
    page.get_by_role("menuitem", name=name).click()


def rests(page: Page) -> None:
    """Wait until no script of the app runs and nothing is announced as under way."""
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=SLOW)
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no chromium on this machine")
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A page of which no request may leave, and on which neither an error nor a dialog may come."""
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 900, "height": 1200})
    page.set_default_timeout(SLOW)

    def guard(route: Route) -> None:
        if not route.request.url.startswith(("file:", "data:", "blob:")):
            complaints.append(f"request to {route.request.url}")
            route.abort()
        else:
            route.continue_()

    page.route("**/*", guard)
    page.on("pageerror", lambda error: complaints.append(f"error {error}"))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    yield page
    page.close()
    assert complaints == []


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
