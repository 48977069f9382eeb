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
from playwright.sync_api import Browser, Page, expect

import inspector
import models
from inspector import record
from models import LoadedModel
from tests.browser.conftest import SLOW, rests, turn_to, visit
from tests.browser.drawing import SAID, frame, point, tooltip
from tests.inspector.probe.families import CAPTURED, save

EXAMPLE = "The cat sat on the mat because it was tired."


@pytest.fixture
def page(browser: Browser, server: Any) -> Iterator[Page]:
    """A page from which no request leaves this machine, with neither dialogs nor script errors."""
    yield from opened(browser, server)


def opened(browser: Browser, server: Any, **options: Any) -> Iterator[Page]:
    complaints: list[str] = []
    context = browser.new_context(**({"viewport": {"width": 1440, "height": 1000}} | options))
    page = context.new_page()
    page.set_default_timeout(SLOW)
    page.on("request", lambda r: r.url.startswith((server.url, "data:", "blob:", "file:")) or complaints.append(r.url))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("console", lambda said: "Content Security Policy" in said.text and complaints.append(said.text))
    yield page
    context.close()
    assert complaints == []


def ready(page: Page, server: Any, path: str = "/") -> None:
    """The Attention page with its grid drawn."""
    visit(page, server, path)
    expect(page.get_by_role("gridcell")).to_have_count(72)


def test_the_example_is_drawn_and_nothing_leaves_the_machine(page: Page, server: Any) -> None:
    ready(page, server)
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
    for name in ("Compare", "LayerNorm", "Positions", "Costs"):
        turn_to(page, name)
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        rests(page)
        assert page.get_by_test_id("stException").count() == 0
    hosts = {line.split()[1] for line in server.calls.read_text().splitlines()}
    assert hosts <= {"127.0.0.1", "localhost", "None", "::1"}, hosts


def test_a_click_opens_a_head_and_the_link_restores_it(page: Page, server: Any, browser: Browser) -> None:
    ready(page, server)
    page.get_by_role("gridcell", name="layer 3, head 5").click()
    expect(page.get_by_text("Layer 3, head 5", exact=True)).to_be_visible()
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Merge word pieces").click()
    expect(page).to_have_url(re.compile("(?=.*layer=3)(?=.*head=5)(?=.*words=true)"))
    other = page.context.new_page()
    ready(other, server, page.url.removeprefix(server.url))
    expect(other.get_by_text("Layer 3, head 5", exact=True)).to_be_visible()
    other.get_by_role("button", name="Options").click()
    expect(other.get_by_role("switch", name="Merge word pieces")).to_be_checked()
    expect(other.get_by_role("gridcell", name="layer 3, head 5")).to_have_attribute("aria-selected", "true")


def test_the_keyboard_walks_and_steps(page: Page, server: Any) -> None:
    ready(page, server, "/?layer=2&head=10")
    page.get_by_role("gridcell", name="layer 2, head 10").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Layer 3, head 10", exact=True)).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_text("Layer 3, head 11", exact=True)).to_be_visible()
    page.keyboard.press("]")
    expect(page.get_by_text("Layer 4, head 0", exact=True)).to_be_visible()
    page.keyboard.press("[")
    expect(page.get_by_text("Layer 3, head 11", exact=True)).to_be_visible()


def test_the_open_head_waits_while_other_pages_are_used(page: Page, server: Any) -> None:
    ready(page, server)
    page.get_by_role("gridcell", name="layer 4, head 2,").click()
    expect(page).to_have_url(re.compile("layer=4&head=2"))
    turn_to(page, "Compare")
    page.get_by_role("button", name="Options").click()
    page.get_by_text("Square-root colour").click()
    expect(page).to_have_url(re.compile("sqrt=true"))
    page.keyboard.press("Escape")
    rests(page)
    turn_to(page, "Attention")
    expect(page.get_by_role("gridcell", name="layer 4, head 2,")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("layer=4"))


def test_back_returns_to_the_head_before(page: Page, server: Any) -> None:
    ready(page, server)
    for place in ("layer 2, head 1", "layer 4, head 6"):
        page.get_by_role("gridcell", name=f"{place},").click()
        expect(page).to_have_url(re.compile(place.replace("layer ", "layer=").replace(", head ", "&head=")))
    page.go_back()
    expect(page.get_by_role("gridcell", name="layer 2, head 1,")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("layer=2&head=1"))


def test_a_pasted_text_is_inspected(page: Page, server: Any) -> None:
    ready(page, server)
    page.get_by_label("Text", exact=True).fill("Colourless green ideas sleep furiously.")
    page.get_by_role("button", name="Inspect").click()
    expect(page.get_by_text("9 tokens of at most 512")).to_be_visible()
    turn_to(page, "LayerNorm")
    expect(page.get_by_text("9 tokens of at most 512")).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value("Colourless green ideas sleep furiously.")


def test_tokens_are_inert_in_every_view(page: Page, server: Any) -> None:
    hostile = "%3Cimg src=x onerror=alert(1)%3E **bold** $x$ %3Cscript%3Ealert(2)%3C/script%3E"
    ready(page, server, f"/?words=true&text={hostile}")
    for path in ("/compare", "/layernorm", "/positions", "/costs"):
        visit(page, server, f"{path}?words=true&text={hostile}")
        assert page.locator("img[src='x']").count() == 0
        assert page.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(browser: Browser, server: Any, scheme: str) -> None:
    for page in opened(browser, server, color_scheme=scheme):
        ready(page, server)
        background = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
        assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 21, 26)"}[scheme]


@pytest.mark.parametrize("path", ["/", "/compare", "/layernorm", "/positions", "/costs"])
def test_nothing_scrolls_sideways_on_a_phone(browser: Browser, server: Any, path: str) -> None:
    for page in opened(browser, server, viewport={"width": 390, "height": 844}):
        visit(page, server, path)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def downloaded(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_the_files_of_a_chart_hold_its_numbers(page: Page, server: Any, tmp_path: Path) -> None:
    """Holds the CSV against what Chromium drew, the points of the SVG against the CSV, the PNG against the SVG."""
    visit(page, server, "/training?replay_measure=confidence")
    chart = page.locator(".st-key-head-measures .js-plotly-plot")
    drawn = chart.evaluate("plot => plot._fullData.map(one => [one.name, Array.from(one.y)])")
    page.locator(".st-key-head-measures-save").get_by_role("button").click()
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
    np.testing.assert_allclose(high, slope * numbers + zero, atol=0.02)
    with Image.open(downloaded(page, "PNG", tmp_path)) as picture:
        width, height = (float(root.attrib[side]) for side in ("width", "height"))
        assert picture.width >= 1920
        assert picture.width / picture.height == pytest.approx(width / height, rel=0.01)
        assert len(picture.convert("RGB").getcolors(10**6)) > 10


def test_each_download_holds_the_numbers(page: Page, server: Any, minilm: LoadedModel, tmp_path: Path) -> None:
    ready(page, server, "/?layer=3&head=5")
    trace = record(minilm, EXAMPLE)
    expected = trace.attention(layer=3, head=5)
    page.get_by_role("button", name="Save").click()
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
            assert told == pytest.approx(trace.scores(**where)[query, key], abs=6e-5 * max(1, abs(told)))  # five digits


def test_a_click_in_a_hybrids_grid_opens_the_models_layer(page: Page, server: Any, tmp_path: Path) -> None:
    save(next(family for family in CAPTURED if family.name == "qwen3_next"), tmp_path / "hybrid")
    trace = record(models.load(tmp_path / "hybrid"), "the cat sat on the log")
    (site,) = trace.sites
    assert site.layer == 1  # layer 0 does not attend
    trace.save(tmp_path / "hybrid.npz")
    ready(page, server)
    page.get_by_text("Open a saved trace").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "hybrid.npz")
    expect(page.get_by_role("gridcell")).to_have_count(site.heads)
    expect(page.get_by_role("rowheader")).to_have_text(["layer 1"])
    page.get_by_role("gridcell", name=re.compile("^layer 1, head 2,")).click()
    expect(page).to_have_url(re.compile("layer=1&head=2"))
    expect(page.get_by_text("Layer 1, head 2", exact=True).first).to_be_visible()
    expect(page.get_by_role("gridcell", selected=True)).to_have_accessible_name(re.compile("^layer 1, head 2,"))
