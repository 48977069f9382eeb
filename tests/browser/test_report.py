"""The report of a text in Chromium, from a file: no request, no findings of axe, and pictures whole on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import inspector
import models
from tests.browser.conftest import lent

TEXT = "The cat sat on the mat because it was tired, and the dog that had chased it all day long lay down beside it."
CUT = """() => [...document.querySelectorAll("figure")].filter((figure) => {
  const shown = [...figure.children].filter((child) => child.checkVisibility());
  return shown.length !== 1 || shown[0].getBoundingClientRect().width > document.body.clientWidth;
}).length"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    loaded = models.load("minilm")
    path = tmp_path_factory.mktemp("report") / "report.html"
    inspector.report(inspector.record(loaded, TEXT), path, loaded=loaded)
    assert path.stat().st_size < 10 * 2**20
    return path


@pytest.mark.parametrize(("mode", "width"), [("light", 1440), ("dark", 390)])
def test_it_is_read_from_a_file_with_no_request(window, report: Path, mode: str, width: int) -> None:
    asked: list[str] = []
    with lent(window, width, 900, request=lambda request: asked.append(request.url)) as page:
        page.emulate_media(color_scheme=mode)
        page.goto(report.as_uri())
        assert page.locator("h3").count() > 3
        assert page.evaluate(CUT) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 21, 26)"}[mode]
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []
        assert asked == [report.as_uri()]


def test_it_prints_with_whole_figures(window, report: Path) -> None:
    with lent(window, 800, 900) as page:
        page.goto(report.as_uri())
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == 0
        assert page.pdf(format="A4").startswith(b"%PDF")
        tall = page.evaluate("Math.max(...[...document.querySelectorAll('figure')].map((one) => one.offsetHeight))")
        assert 0 < tall < 930  # pixels of a page of A4 less its margins: none is cut in two
