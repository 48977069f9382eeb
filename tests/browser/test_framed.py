"""The page in another site's frame, in Chromium: a named site may show it, and all of it works; no other site may."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

import inspector
import models
from tests.browser.conftest import SLOW, lent, until
from tests.inspector.views.server.served import ROOT, Server, served

NAMED, OTHER = "http://localhost:8000", "http://localhost:8001"  # another site than 127.0.0.1


@pytest.fixture(scope="module")
def framed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(ROOT / "app.py", tmp_path_factory.mktemp("framed"), HEADLIGHT_FRAME_ANCESTORS=NAMED) as server:
        yield server


@pytest.fixture
def refusals() -> list[str]:
    """Messages of Chromium about the policy while the page is open."""
    return []


@pytest.fixture
def page(window: Page, framed: Server, refusals: list[str]) -> Iterator[Page]:
    def hear(said: ConsoleMessage) -> None:
        if "frame-ancestors" in said.text:
            refusals.append(said.text)

    frame = f'<iframe src="http://{framed.host}/block?model=mini-bert" width="1400" height="1300"></iframe>'
    with lent(window, 1440, 1400, console=hear) as page:
        for site in (NAMED, OTHER):
            page.route(f"{site}/course", lambda route: route.fulfill(body=frame, content_type="text/html"))
        yield page


def test_in_a_named_sites_frame_it_draws_and_takes_a_file(page: Page, refusals: list[str], tmp_path: Path) -> None:
    saved = tmp_path / "saved.npz"
    inspector.save(inspector.record(models.load("mini-bert"), "The cat sat."), saved)
    page.goto(f"{NAMED}/course")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Block", exact=True)).to_be_visible(timeout=SLOW)
    expect(frame.locator(".js-plotly-plot").first).to_be_visible(timeout=SLOW)
    frame.get_by_text("Open a saved trace").first.click()
    frame.locator("input[type=file]").set_input_files(saved)
    expect(frame.get_by_text("You see a saved trace.").first).to_be_visible(timeout=SLOW)
    assert refusals == []


def test_no_other_site_may_frame_it(page: Page, refusals: list[str]) -> None:
    page.goto(f"{OTHER}/course")
    until(page, lambda: bool(refusals))
    assert refusals
    expect(page.frame_locator("iframe").get_by_role("heading", name="Block")).to_have_count(0)
