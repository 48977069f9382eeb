"""The reading orders of models/ and inspector/ name what is there: code in its file, every switch, every room."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from models.transformer.config import TransformerConfig

ROOT = Path(__file__).parents[1]
ORDERS = {"models": "## Switches", "inspector": "## Equations"}
"""The room and the heading of the table that ends its reading order."""
LINK = re.compile(r"\[`([\w/]+\.py)`: `([^`]+)`\]\(([\w/]+\.py)\)")
SIZES = {"vocabulary", "layers", "width", "heads", "ffn_width", "max_positions"}
"""The fields of a TransformerConfig that are no switch."""
CITED = re.compile(r"[A-Z][\w-]+(?: et al\.| & [A-Z][\w-]+)? \d{4}")
NAMED = re.compile(r"`([\w/]+(?:\.py|/))`")

every_room = pytest.mark.parametrize("room", ORDERS)


def written(room: str) -> str:
    return (ROOT / room / "README.md").read_text(encoding="utf-8")


def order(room: str) -> str:
    return written(room).split(ORDERS[room])[0]


def table(room: str) -> list[str]:
    """Give the rows of the table behind the reading order, its head and rule left out."""
    part = written(room).split(ORDERS[room])[1].split("\n## ")[0]
    return [row for row in part.splitlines() if row.startswith("| ")][2:]


def folders(room: str) -> list[str]:
    """List the folders that hold Python, by their names in the room."""
    parents = {path.parent for path in (ROOT / room).rglob("*.py") if path.parent != ROOT / room}
    return sorted(f"{parent.relative_to(ROOT / room).as_posix()}/" for parent in parents)


@pytest.mark.parametrize(
    ("room", "name", "code", "file"), [(room, *link) for room in ORDERS for link in LINK.findall(written(room))]
)
def test_each_link_names_code_of_its_file(room: str, name: str, code: str, file: str) -> None:
    assert name == file
    assert code in (ROOT / room / file).read_text(encoding="utf-8")


@every_room
def test_each_row_of_the_table_has_one_link_at_its_end(room: str) -> None:
    rows = table(room)
    assert len(rows) >= 30
    assert [row for row in rows if len(LINK.findall(row)) != 1 or not LINK.search(row.split("|")[-2])] == []


def test_every_switch_has_its_code() -> None:
    named = {name for row in table("models") for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {field.name for field in fields(TransformerConfig)} - named == SIZES


def test_every_file_of_the_models_is_in_the_reading_order() -> None:
    names = [path.relative_to(ROOT / "models").as_posix() for path in (ROOT / "models").rglob("*.py")]
    assert [name for name in names if not name.endswith("__init__.py") and f"`{name}`" not in order("models")] == []


@every_room
def test_what_a_reading_order_names_is_there(room: str) -> None:
    names = [name for name in NAMED.findall(order(room)) if not name.startswith(("models/", "inspector/"))]
    assert names
    assert [name for name in names if not (ROOT / room / name).exists()] == []


def test_every_folder_of_the_inspector_is_named() -> None:
    assert [folder for folder in folders("inspector") if f"`{folder}`" not in order("inspector")] == []


def test_every_public_file_of_the_inspector_is_named() -> None:
    public = [path.name for path in (ROOT / "inspector").glob("*.py") if path.name != "__init__.py"]
    assert [name for name in public if f"`{name}`" not in order("inspector")] == []


def test_every_equation_names_what_it_is_and_where_it_comes_from() -> None:
    for row in table("inspector"):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 4, row
        assert all(cells), row


def test_every_paper_of_an_equation_is_cited_in_the_code() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "inspector").rglob("*.py")]
    said = re.sub(r"\s+", " ", " ".join(sources))
    cited = {paper for row in table("inspector") for paper in CITED.findall(row.split("|")[3])}
    assert len(cited) >= 30
    assert sorted(paper for paper in cited if paper not in said) == []
