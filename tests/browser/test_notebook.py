"""The live view in JupyterLab: it draws, speaks with Python both ways, has the notebook's colours, and is reopened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, SLOW
from tests.browser.drawing import frame
from tests.browser.serving import serving

NEEDED = "the packages of requirements-notebook-dev.txt are not installed"
nbformat = pytest.importorskip("nbformat", reason=NEEDED)
for package in ("anywidget", "jupyterlab", "ipykernel"):
    pytest.importorskip(package, reason=NEEDED)

CELLS = (
    """
import inspector, models
loaded = models.load("mini-bert")
trace = inspector.record(loaded, "The cat sat on the mat.")
view = inspector.show(trace, layer=1, head=2)
seen = []
view.observe(lambda change: seen.append((change.name, change.new)), ["head", "query"])
view
""",
    "print(view.head, view.query, seen)",
    "view.head = (-1, 0)\nview.query = 4",
    "beside = inspector.show(trace, layer=0, head=0)\nbeside",
    'other = inspector.show(inspector.record(loaded, "The cat sat on the mat."), layer=0, head=1)\nother',
)


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, the folder of its notebooks, and the environment that it runs in."""

    url: str
    folder: Path
    environment: Mapping[str, str]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder, own = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("jupyter")
    places = {
        name: str(own) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    environment = {**os.environ, **places, "PYTHONPATH": str(ROOT)}
    flags = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}")
    flags += ("--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=")
    with serving([*("jupyterlab", *flags), "--port={port}"], "api", folder=own, environment=environment) as url:
        yield Lab(url, folder, environment)


def written(cells) -> object:
    kernel = {"name": "python3", "display_name": "Python 3"}
    made = [nbformat.v4.new_code_cell(source.strip()) for source in cells]
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel})


def opened(page: Page, lab: Lab, name: str) -> None:
    page.goto(f"{lab.url}/lab/tree/{name}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=SLOW)
    page.wait_for_function("window.jupyterapp")
    # The kernel is there, and the manager of widgets with it.
    page.wait_for_function("() => jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")


def run(page: Page, cell: int) -> str:
    """Run a cell; returns what it printed."""
    page.evaluate(
        """async (cell) => {
          const notebook = jupyterapp.shell.currentWidget.content;
          notebook.activeCellIndex = cell;
          await jupyterapp.commands.execute("notebook:run-cell");
        }""",
        cell,
    )
    printed = outputs(page, cell).locator(".jp-OutputArea-output pre")
    return printed.first.inner_text().strip() if printed.count() else ""


def outputs(page: Page, cell: int):
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").nth(cell)


def title(page: Page, cell: int, text: str) -> None:
    expect(outputs(page, cell).locator(".head-title")).to_have_text(text)


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """A window of its own: JupyterLab asks before an unsaved notebook is left, and no script may fail in it."""
    context, errors = browser.new_context(viewport={"width": 1500, "height": 1200}), []
    page = context.new_page()
    page.set_default_timeout(SLOW)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.fixture(scope="module")
def page(tab: Page, lab: Lab) -> Page:
    nbformat.write(written(CELLS), lab.folder / "view.ipynb")
    opened(tab, lab, "view.ipynb")
    for cell in (0, 3, 4):
        run(tab, cell)
        expect(outputs(tab, cell).locator(".hl-head canvas").first).to_be_visible()
    return tab


def test_it_draws_and_hides_the_picture_of_a_saved_notebook(page: Page) -> None:
    title(page, 0, "Layer 1, head 2")
    assert outputs(page, 0).get_by_role("gridcell").count() == 24
    assert outputs(page, 0).locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 1, head 2")
    expect(outputs(page, 0).locator("img[class^=headlight-still]")).to_be_hidden()


def test_a_click_comes_back_to_python(page: Page) -> None:
    run(page, 0)
    outputs(page, 0).get_by_role("gridcell", name="layer 2, head 3").click()
    title(page, 0, "Layer 2, head 3")
    for query in (2, 5):
        outputs(page, 0).locator(".left .label").nth(query).click()
    assert run(page, 1) == "(2, 3) 5 [('head', (2, 3)), ('query', 2), ('query', 5)]"
    outputs(page, 0).locator(".left .label").nth(5).click()  # the pin is taken away, and the one before counts
    assert run(page, 1).startswith("(2, 3) 2 ")


def test_python_moves_the_view(page: Page) -> None:
    run(page, 0)
    title(page, 0, "Layer 1, head 2")
    run(page, 2)
    title(page, 0, "Layer 3, head 0")
    assert outputs(page, 0).locator("[aria-selected=true]").get_attribute("aria-label").startswith("layer 3, head 0")
    assert outputs(page, 0).locator(".left .label.chosen").all_inner_texts() == ["␣on"]
    assert run(page, 1) == "(3, 0) 4 [('head', (3, 0)), ('query', 4)]"


def test_keys_are_the_view_s_while_it_has_the_focus(page: Page) -> None:
    run(page, 0)
    chosen = "jupyterapp.shell.currentWidget.content.activeCellIndex"
    outputs(page, 0).get_by_role("gridcell", name="layer 1, head 2").click()
    before = page.evaluate(chosen)
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    title(page, 0, "Layer 2, head 3")
    outputs(page, 0).locator(".hl-head").focus()
    page.keyboard.press(".")
    title(page, 0, "Layer 2, head 4")
    page.keyboard.press("b")  # which would insert a cell
    frame(page)
    assert page.evaluate(chosen) == before
    assert page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length") == len(CELLS)
    assert run(page, 1).startswith("(2, 4) None")


def test_a_look_lights_the_tokens_in_views_of_the_same_trace_alone(page: Page) -> None:
    for cell in (0, 3, 4):
        run(page, cell)
        title(page, cell, {0: "Layer 1, head 2", 3: "Layer 0, head 0", 4: "Layer 0, head 1"}[cell])
    outputs(page, 3).locator(".left .label").nth(2).hover()
    frame(page)
    frame(page)
    lit = {cell: outputs(page, cell).locator(".left .label.on").all_inner_texts() for cell in (0, 3, 4)}
    assert lit == {0: ["␣cat"], 3: ["␣cat"], 4: []}
    outputs(page, 4).locator(".left .label").nth(3).hover()
    frame(page)
    frame(page)
    assert outputs(page, 0).locator(".left .label.on").count() == 0


def test_it_takes_the_colours_of_the_notebook(page: Page) -> None:
    run(page, 0)
    look = """() => {
      const style = getComputedStyle(document.querySelector(".hl-head"));
      const { backgroundColor } = getComputedStyle(document.querySelector(".jp-Notebook"));
      const canvas = document.querySelector(".jp-Notebook .hl-head canvas.cells");
      const pixels = [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data];
      const sums = pixels.flatMap((_, at) => (at % 4 ? [] : [pixels[at] + pixels[at + 1] + pixels[at + 2]]));
      const mode = document.querySelector(".hl-widget").dataset.mode;
      return { mode, ink: style.color, paper: style.getPropertyValue("--paper"), around: backgroundColor,
               mean: sums.reduce((sum, value) => sum + value, 0) / sums.length / 765 };
    }"""
    light = page.evaluate(look)
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function("document.querySelector('.hl-widget').dataset.mode === 'dark'")
    frame(page)
    dark = page.evaluate(look)
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' })")
    page.wait_for_function("document.querySelector('.hl-widget').dataset.mode === 'light'")
    assert light["mode"] == "light"
    assert light["mean"] > 0.5 > dark["mean"]
    assert light["paper"] != dark["paper"]
    assert light["ink"] != dark["ink"]


def test_a_saved_notebook_is_reopened(page: Page, lab: Lab) -> None:
    """A picture stands in the place of the view, whose state JupyterLab saves only where it is told to."""
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("!jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate("jupyterapp.commands.execute('kernelmenu:shutdown')")
    held = json.loads((lab.folder / "view.ipynb").read_text())
    sizes = [len(json.dumps(cell["outputs"])) for cell in held["cells"]]
    assert max(sizes) < 30_000, sizes
    opened(page, lab, "view.ipynb")
    still = outputs(page, 0).locator("img[class^=headlight-still]")
    expect(still).to_be_visible()
    assert still.evaluate("(image) => image.naturalWidth") > 500
    assert page.locator(".hl-grid").count() == 0


@pytest.mark.heavy
def test_a_notebook_that_was_run_with_its_state_draws_without_python(tab: Page, lab: Lab) -> None:
    nbformat.write(written(CELLS[:1]), lab.folder / "state.ipynb")
    convert = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "state.ipynb"]
    trust = [sys.executable, "-m", "jupyter", "trust", "state.ipynb"]  # JupyterLab draws no widget of a stranger
    for command in (convert, trust):
        subprocess.run(command, cwd=lab.folder, env=lab.environment, check=True, capture_output=True, timeout=600)
    opened(tab, lab, "state.ipynb")
    title(tab, 0, "Layer 1, head 2")
    assert outputs(tab, 0).get_by_role("gridcell").count() == 24
    outputs(tab, 0).get_by_role("gridcell", name="layer 2, head 3").click()
    expect(outputs(tab, 0).get_by_role("status")).to_contain_text("no kernel runs")
    title(tab, 0, "Layer 1, head 2")
