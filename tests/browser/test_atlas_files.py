"""Every file that the page Atlas offers, fetched from the real server and read back; every part of the page opened."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Locator, Page, expect

from inspector import atlas
from inspector.atlas import library
from inspector.atlas.measures import NAMES
from inspector.sections.atlas import card_file
from tests.browser.conftest import Server, rests, visit
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def shipped() -> atlas.Atlas:
    return atlas.open(library.SHIPPED / "minilm")


def fetched(page: Page, button: Locator) -> tuple[str, bytes]:
    """Press a button, and give the file's name and its bytes."""
    rests(page)  # a button that a run draws anew loses its click
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def opened(page: Page, name: str, key: str) -> Locator:
    """Open a folded part of the page."""
    page.get_by_text(name, exact=True).click()
    part = page.locator(f".st-key-{key}")
    expect(part.get_by_test_id("stDownloadButton").last).to_be_visible()
    rests(page)
    return part


def checked(file: tuple[str, bytes]) -> str:
    """Hold a file's bytes to what its name says, and give the ending."""
    name, content = file
    ending = Path(name).suffix
    match ending:
        case ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
        case ".svg":
            assert ElementTree.fromstring(content).tag.endswith("svg")
        case ".csv":
            assert len(pd.read_csv(io.BytesIO(content))) > 1
        case ".parquet":
            assert pq.read_table(io.BytesIO(content)).num_rows > 1
        case ".html":
            assert content.startswith(b"<!doctype html>")
        case _:
            raise AssertionError(f"no check for {name}")
    return ending


def test_the_numbers_of_all_heads(page: Page, server: Server, shipped: atlas.Atlas) -> None:
    visit(page, server, "/atlas")
    part = opened(page, "All heads in numbers", "atlas_table")
    files = dict(
        fetched(page, button) for button in part.get_by_test_id("stDownloadButton").get_by_role("button").all()
    )
    assert set(files) >= {"atlas-heads.csv", "atlas-heads.parquet", "atlas-relations.csv"}
    means = shipped.table()
    for table in (
        pd.read_csv(io.BytesIO(files["atlas-heads.csv"])),
        pq.read_table(io.BytesIO(files["atlas-heads.parquet"])).to_pandas(),
    ):
        assert_close(table[list(NAMES)], means[list(NAMES)], relative=1e-12)
    scores = pd.read_csv(io.BytesIO(files["atlas-relations.csv"]))
    assert shipped.scores is not None
    assert_close(scores["share"], shipped.scores["share"], relative=1e-12)


def test_the_card(page: Page, server: Server, shipped: atlas.Atlas) -> None:
    visit(page, server, "/atlas?layer=0&head=2")
    part = opened(page, "Take the card away", "atlas_take")
    expect(page.get_by_role("heading", name="Heads like it")).to_be_visible()
    buttons = part.get_by_test_id("stDownloadButton").get_by_role("button").all()
    files = [fetched(page, button) for button in buttons]
    assert sorted(map(checked, files)) == [".csv", ".html", ".parquet", ".png", ".svg"]
    contents = {Path(name).suffix: content for name, content in files}
    expected = card_file.numbers(shipped, 2)
    for table in (
        pd.read_csv(io.BytesIO(contents[".csv"])),
        pq.read_table(io.BytesIO(contents[".parquet"])).to_pandas(),
    ):
        assert_close(table["mean"], expected["mean"], relative=1e-12)
    assert "creativecommons.org/licenses/by-sa/4.0" in contents[".html"].decode()


@pytest.mark.parametrize(
    ("figure", "key"),
    [("All texts", "atlas_distribution"), ("By offset", "atlas_offsets"), ("Relations", "atlas_relations")],
)
def test_the_files_in_the_menu_of_every_figure(page: Page, server: Server, figure: str, key: str) -> None:
    visit(page, server, "/atlas")
    page.get_by_role("radio", name=figure).click()
    for own in ("atlas_grid", key):
        save = page.locator(f".st-key-{own}-menu").get_by_role("button").first
        expect(save).to_be_visible()
        rests(page)
        save.click()
        popover = page.get_by_test_id("stPopoverBody")
        for ending in ("CSV", "PNG", "SVG"):
            assert (
                checked(fetched(page, popover.get_by_role("button", name=ending, exact=True))) == f".{ending.lower()}"
            )
        page.keyboard.press("Escape")
        expect(popover).to_have_count(0)
    assert page.get_by_text("Cannot be shown").count() == 0
