"""The page in a real Chromium: its clicks, keys, links, downloads, colours and widths."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import inspector
import models
from inspector import record
from inspector.wording.english.pages import PURPOSES
from models import LoadedModel
from tests.browser.conftest import PAGES, lent, rests, turn_to, until, visit
from tests.browser.drawing import SAID, frame, point, tooltip
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save

EXAMPLE = "The cat sat on the mat because it was tired."
HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$ <script>alert(2)</script>"
PLACES = {  # pages that read the same text, and their paths
    "Attention": "/",
    "Compare": "/compare",
    "Norms": "/layernorm",
    "Positions": "/positions",
    "Costs": "/costs",
}


@pytest.fixture
def page(window: Page, server: Any) -> Iterator[Page]:
    """Lend the window; no request leaves this machine, and there are neither dialogs nor script errors."""
    complaints: list[str] = []
    own = (server.url, "data:", "blob:", "file:", "about:")
    heard = {
        "request": lambda asked: asked.url.startswith(own) or complaints.append(asked.url),
        "dialog": lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "pageerror": lambda error: complaints.append(f"error: {error}"),
        "console": lambda said: "Content Security Policy" in said.text and complaints.append(said.text),
    }
    with lent(window, 1440, 1000, **heard) as page:
        yield page
    assert complaints == []


def ready(page: Page, server: Any, path: str = "/") -> None:
    """The Attention page with its grid drawn."""
    visit(page, server, path)
    expect(page.get_by_role("gridcell")).to_have_count(72)


def test_a_pasted_text_is_inspected_and_inert_on_every_page_and_nothing_leaves_the_machine(
    page: Page, server: Any, minilm: LoadedModel
) -> None:
    ready(page, server, "/?words=true")
    expect(page.get_by_text("Exact on this text").first).to_be_visible()
    painted = page.locator("canvas").evaluate_all(
        """canvases => canvases.map(canvas => {
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4) if (data[i + 3]) colours.add(data.slice(i, i + 3).join());
            return colours.size;
        })"""
    )
    assert max(painted) > 20, "no canvas shows a map"
    page.get_by_label("Text", exact=True).fill(HOSTILE)
    page.get_by_role("button", name="Inspect").click()
    told = f"{len(record(minilm, HOSTILE).tokens)} tokens of at most 512"
    for name, path in PLACES.items():
        if name != "Attention":
            turn_to(page, name)
            expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        expect(page.get_by_text(told)).to_be_visible()
        rests(page)
        page.locator(PAGES[path]).first.wait_for(state="attached")
        expect(page.get_by_label("Text", exact=True)).to_have_value(HOSTILE)
        assert page.locator("img[src='x']").count() == 0
        assert page.get_by_test_id("stException").count() == 0
        if name == "Compare":
            expect(page).to_have_url(re.compile("words=true"))
    hosts = {line.split()[1] for line in server.calls.read_text().splitlines()}
    assert hosts <= {"127.0.0.1", "localhost", "None", "::1"}, hosts


def test_heads_open_by_keys_and_clicks_and_back_and_wait_while_another_page_is_used(page: Page, server: Any) -> None:
    ready(page, server, "/?layer=2&head=10")
    page.get_by_role("gridcell", name="layer 2, head 10").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("strong", has_text="Layer 3, head 10")).to_be_visible()
    page.keyboard.press("]")
    expect(page.locator("strong", has_text="Layer 3, head 11")).to_be_visible()
    page.keyboard.press("]")
    expect(page.locator("strong", has_text="Layer 4, head 0")).to_be_visible()
    page.keyboard.press("[")
    expect(page.locator("strong", has_text="Layer 3, head 11")).to_be_visible()

    for place in ("layer 2, head 1", "layer 4, head 6"):
        page.get_by_role("gridcell", name=f"{place},").click()
        expect(page).to_have_url(re.compile(place.replace("layer ", "layer=").replace(", head ", "&head=")))
    page.go_back()
    expect(page.get_by_role("gridcell", name="layer 2, head 1,")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("layer=2&head=1"))

    page.get_by_role("gridcell", name="layer 4, head 2,").click()
    expect(page).to_have_url(re.compile("layer=4&head=2"))
    rests(page)
    turn_to(page, "Compare")
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Square-root colour").click()
    expect(page).to_have_url(re.compile("sqrt=true"))
    page.keyboard.press("Escape")
    rests(page)
    turn_to(page, "Attention")
    expect(page.get_by_role("gridcell", name="layer 4, head 2,")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("layer=4"))


def downloaded(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_the_menu_of_a_figure_stands_in_its_title_line_and_gives_way_to_the_slide(page: Page, server: Any) -> None:
    """Two figures side by side have their buttons at one height; a keyboard opens the menu, Escape closes both."""
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, server, "/costs")
    menu = page.get_by_role("button", name="Slide and files of FLOPs by component")
    boxes = [
        box
        for place in (menu, page.get_by_role("button", name="Slide and files of When does"))
        if (box := place.bounding_box()) is not None
    ]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert min(boxes[0]["width"], boxes[0]["height"]) >= 24
    title = page.get_by_role("heading", name="FLOPs by component").bounding_box()
    assert title is not None
    assert title["y"] < boxes[0]["y"] + boxes[0]["height"]
    assert boxes[0]["y"] < title["y"] + title["height"]
    menu.focus()
    page.keyboard.press("Enter")
    popover = page.get_by_test_id("stPopoverBody")
    expect(popover.get_by_role("button", name="CSV")).to_be_visible()
    popover.get_by_role("button", name="Slide", exact=True).click()
    whole = page.get_by_role("dialog").get_by_role("button", name="Full screen")
    whole.click()
    until(page, lambda: page.evaluate("Boolean(document.fullscreenElement)"))  # a script as text is refused by the page
    page.evaluate("document.exitFullscreen()")
    expect(whole).to_be_focused()
    expect(popover).to_have_count(0)
    files = page.get_by_role("dialog").get_by_role("button", name="PNG", exact=True).bounding_box()
    assert files is not None
    assert files["y"] + files["height"] < 900
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_one_click_opens_a_menu_however_slow_the_browser_is(page: Page, server: Any) -> None:
    """The click is on its arrow, which Streamlit takes out of the document as it opens the menu."""
    visit(page, server, "/costs")
    page.evaluate("(() => { const { now } = Date; let late = 0; Date.now = () => now() + (late += 100); })")
    menu = page.get_by_role("button", name="Slide and files of FLOPs by component")
    menu.get_by_test_id("stIconMaterial").last.click()
    expect(page.get_by_test_id("stPopoverBody").get_by_role("button", name="CSV")).to_be_visible()
    menu.get_by_test_id("stIconMaterial").last.click()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_the_files_of_a_chart_hold_its_numbers(page: Page, server: Any, tmp_path: Path) -> None:
    """Holds the CSV against what Chromium drew, the points of the SVG against the CSV, the PNG against the SVG."""
    visit(page, server, "/training?replay_measure=confidence")
    chart = page.locator(".st-key-head-measures .js-plotly-plot")
    drawn = chart.evaluate("plot => plot._fullData.map(one => [one.name, Array.from(one.y)])")
    page.locator(".st-key-head-measures-menu").get_by_role("button").click()
    rows = list(csv.DictReader(downloaded(page, "CSV", tmp_path).read_text(encoding="utf-8").splitlines()))
    for name, values in drawn:
        number = name.removeprefix("head ")
        assert [float(row["confidence"]) for row in rows if row["head"] == number] == pytest.approx(values, rel=1e-9)
    assert len({row["step"] for row in rows}) == len(drawn[0][1])
    root = ElementTree.parse(downloaded(page, "SVG", tmp_path)).getroot()
    points = [one.attrib["transform"] for one in root.iter() if one.get("class", "").split()[:1] == ["point"]]
    high, numbers = [float(re.split("[(,)]", at)[2]) for at in points], np.concatenate([its for _, its in drawn])
    assert len(high) == len(numbers)
    slope, zero = np.polyfit(numbers, high, 1)
    assert slope < 0  # a larger number stands higher
    assert_close(high, slope * numbers + zero, relative=1e-4)  # pixels
    with Image.open(downloaded(page, "PNG", tmp_path)) as picture:
        width, height = (float(root.attrib[side]) for side in ("width", "height"))
        assert picture.width >= 1920
        assert picture.width / picture.height == pytest.approx(width / height, rel=0.01)
        assert len(picture.convert("RGB").getcolors(10**6)) > 10


def test_each_download_holds_the_numbers(page: Page, server: Any, minilm: LoadedModel, tmp_path: Path) -> None:
    ready(page, server, "/?layer=3&head=5")
    trace = record(minilm, EXAMPLE)
    expected = trace.attention(layer=3, head=5)
    page.get_by_role("button", name="Slide and files of").click()
    rows = list(csv.reader(io.StringIO(downloaded(page, "CSV", tmp_path).read_text(encoding="utf-8"))))
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], np.float32), expected)
    with np.load(downloaded(page, "NPZ", tmp_path)) as numbers:
        np.testing.assert_array_equal(numbers["values"], expected)
        assert tuple(numbers["keys"]) == trace.tokens
    saved = inspector.open(downloaded(page, "Trace", tmp_path))
    np.testing.assert_array_equal(saved.attention(layer=3, head=5), expected)
    svg = ElementTree.parse(downloaded(page, "SVG", tmp_path)).iter("{http://www.w3.org/2000/svg}title")
    np.testing.assert_array_equal(np.array([cell.text for cell in svg], np.float32), expected.flatten())
    assert downloaded(page, "PNG", tmp_path).read_bytes().startswith(b"\x89PNG")
    exported = page.context.new_page()
    exported.goto(downloaded(page, "HTML", tmp_path).as_uri())
    expect(exported.get_by_role("gridcell")).to_have_count(72)
    where = {"layer": 3, "head": 5, "stream": "encoder"}
    page.keyboard.press("Escape")
    for tab in (page, exported):  # the page's own tooltips, and those of the file
        tab.bring_to_front()
        tab.locator(".plot").evaluate("(plot) => plot.scrollIntoView({ block: 'center' })")
        frame(tab)
        cells = np.random.default_rng(1).integers(0, len(trace.tokens), (100, 2))
        for query, key in cells:
            point(tab, query, key, n=len(trace.tokens))
            found = SAID.search(tooltip(tab))
            assert found is not None, (tab.url, query, key, tooltip(tab))
            assert (int(found["query"]), int(found["key"])) == (query, key)
            assert np.float32(found["weight"]) == expected[query, key]
            told = float(found["score"].replace("−", "-"))
            assert_close(told, trace.scores(**where)[query, key], relative=6e-5, scale=max(1, abs(told)))  # five digits


def test_a_click_in_a_hybrids_grid_opens_the_models_layer(page: Page, server: Any, tmp_path: Path) -> None:
    save(next(family for family in CAPTURED if family.name == "qwen3_next"), tmp_path / "hybrid")
    trace = record(models.load(tmp_path / "hybrid"), "the cat sat on the log")
    (site,), (mixer,) = trace.sites, trace.mixer_sites
    assert (site.layer, mixer.layer) == (1, 0)
    inspector.save(trace, tmp_path / "hybrid.npz")
    ready(page, server)
    page.get_by_text("Open a saved trace").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "hybrid.npz")
    expect(page.get_by_role("gridcell")).to_have_count(site.heads + mixer.heads)
    expect(page.get_by_role("rowheader")).to_have_text(["layer 0 (delta)", "layer 1 (softmax)"])
    page.get_by_role("gridcell", name=re.compile(r"^layer 1 \(softmax\), head 2,")).click()
    expect(page).to_have_url(re.compile("layer=1&head=2"))
    expect(page.get_by_text("Layer 1, head 2", exact=True).first).to_be_visible()
    chosen = page.get_by_role("gridcell", selected=True)
    expect(chosen).to_have_accessible_name(re.compile(r"^layer 1 \(softmax\), head 2,"))
    page.get_by_role("gridcell", name=re.compile(r"^layer 0 \(delta\), head 3,")).click()
    expect(page).to_have_url(re.compile("layer=0&head=3"))
    expect(
        page.get_by_role("heading", name=re.compile(r"^Layer 0 \(gated delta rule\), head 3: the weight"))
    ).to_be_visible()
    expect(chosen).to_have_accessible_name(re.compile(r"^layer 0 \(delta\), head 3,"))
    expected = trace.attention(layer=0, head=3, kind="gated delta rule")
    query, key = map(int, np.unravel_index(np.abs(expected).argmax(), expected.shape))
    page.locator(".plot").evaluate("(plot) => plot.scrollIntoView({ block: 'center' })")
    frame(page)
    point(page, query, key, n=len(trace.tokens))
    told = re.search(r"exactly (\S+)", tooltip(page))
    assert told is not None
    assert np.float32(told[1].replace("−", "-")) == expected[query, key]


def test_the_open_page_is_marked_and_an_unknown_address_says_so(page: Page, server: Any) -> None:
    visit(page, server, "/layernorm")
    menu = page.get_by_test_id("stTopNav")
    marked = menu.locator("strong")
    expect(marked).to_have_text("Inside the model")
    turn_to(page, "Questions")
    expect(marked).to_have_text("Learning")
    menu.get_by_role("button", name="Learning").click()
    expect(page.get_by_role("menuitem", name="Questions")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("menuitem", name="Lab")).to_have_accessible_description(PURPOSES["lab"])
    page.keyboard.press("Escape")

    page.goto(f"{server.url}/<b>nosuchpage?layer=2")
    expect(page.get_by_text("There is no page at this address. You see Attention")).to_be_visible()
    assert "nosuchpage" not in page.get_by_test_id("stMain").inner_text()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_text("There is no page at this address.")).to_have_count(0)
