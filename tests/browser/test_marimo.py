"""The live view in marimo: it draws, its clicks run other cells, Python moves it, and it is dark where marimo is."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, SLOW
from tests.browser.drawing import frame
from tests.browser.serving import serving

NEEDED = "the packages of requirements-notebook-dev.txt are not installed"
for package in ("anywidget", "marimo"):
    pytest.importorskip(package, reason=NEEDED)

NOTEBOOK = """
# /// script
# [tool.marimo.display]
# theme = "system"
# ///
import marimo

app = marimo.App()


@app.cell
def _():
    import inspector
    import marimo as mo
    import models

    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, "The cat sat on the mat.")
    return inspector, loaded, mo, trace


@app.cell
def _(inspector, mo, trace):
    view = mo.ui.anywidget(inspector.show(trace, layer=1, head=2))
    view
    return (view,)


@app.cell
def _(mo, view):
    mo.md(f"opened {view.head}, pinned {view.query}")
    return


@app.cell
def _(mo):
    button = mo.ui.run_button(label="Move")
    button
    return (button,)


@app.cell
def _(button, view):
    if button.value:
        view.widget.head, view.widget.query = (3, 0), 4
    return


@app.cell
def _(inspector, loaded, trace):
    beside = inspector.show(trace, layer=0, head=0)
    beside
    return


@app.cell
def _(inspector, loaded):
    inspector.show(inspector.record(loaded, "The cat sat on the mat."), layer=0, head=1)
    return
"""


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "view.py").write_text(NOTEBOOK.lstrip(), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = ("marimo", "-y", "run", "view.py", "--headless", "--no-token", "--host=127.0.0.1", "--port={port}")
    with serving(command, "health", folder=folder, environment=environment) as url:
        context, errors = browser.new_context(viewport={"width": 1200, "height": 1600}), []
        page = context.new_page()
        page.set_default_timeout(SLOW)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        for number in range(3):
            expect(view(page, number).locator(".hl-head canvas").first).to_be_visible()
        yield page
        context.close()
    assert errors == []


def view(page: Page, number: int):
    return page.locator(".hl-widget").nth(number)


def title(page: Page, number: int, text: str) -> None:
    expect(view(page, number).locator(".head-title")).to_have_text(text)


def test_a_click_runs_the_cells_that_read_it_and_python_moves_the_view(page: Page) -> None:
    title(page, 0, "Layer 1, head 2")
    view(page, 0).get_by_role("gridcell", name="layer 2, head 3").click()
    title(page, 0, "Layer 2, head 3")
    expect(page.get_by_text("opened (2, 3), pinned None")).to_be_visible()
    view(page, 0).locator(".left .label").nth(3).click()
    expect(page.get_by_text("opened (2, 3), pinned 3")).to_be_visible()
    page.get_by_role("button", name="Move").click()
    title(page, 0, "Layer 3, head 0")
    expect(view(page, 0).locator(".left .label.chosen")).to_have_text("␣on")
    title(page, 1, "Layer 0, head 0")


def test_a_look_lights_the_tokens_in_views_of_the_same_trace_alone(page: Page) -> None:
    view(page, 1).locator(".left .label").nth(2).hover()
    frame(page)
    frame(page)
    lit = [view(page, number).locator(".left .label.on").all_inner_texts() for number in range(3)]
    assert lit[1:] == [["␣cat"], []]
    assert lit[0] == ["␣cat"]


def test_it_is_dark_where_marimo_is(page: Page) -> None:
    look = """(widget) => {
      const { mode } = widget.dataset;
      const head = widget.querySelector(".hl-head");
      const framed = widget.querySelector(".cell.framed");
      return { mode, paper: getComputedStyle(head).getPropertyValue("--paper"),
               role: framed.style.getPropertyValue("--role") };
    }"""
    light = view(page, 1).evaluate(look)
    page.emulate_media(color_scheme="dark")
    expect(view(page, 1)).to_have_attribute("data-mode", "dark")
    frame(page)
    dark = view(page, 1).evaluate(look)
    assert light["mode"] == "light"
    assert light["paper"] != dark["paper"]
    assert light["role"] != dark["role"]
