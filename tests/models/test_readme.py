"""models/README.md names the code of each switch: it still stands in that file, and no switch is missing."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from models.transformer.config import TransformerConfig

FOLDER = Path(__file__).parents[2] / "models"
TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\[`([\w/]+\.py)`: `([^`]+)`\]\(([\w/]+\.py)\)", TEXT)
SIZES = {"vocabulary", "layers", "width", "heads", "ffn_width", "max_positions"}


@pytest.mark.parametrize(("name", "code", "file"), LINKS)
def test_each_link_names_code_of_its_file(name: str, code: str, file: str) -> None:
    assert name == file
    assert code in (FOLDER / file).read_text(encoding="utf-8")


def test_every_switch_has_its_code() -> None:
    table = [row for row in TEXT.splitlines() if row.startswith("| ")]
    named = {name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {field.name for field in fields(TransformerConfig)} - named == SIZES
    assert len(LINKS) == len(table) - 2


def test_every_file_is_in_the_reading_order() -> None:
    order = TEXT.split("## Switches")[0]
    for path in FOLDER.rglob("*.py"):
        name = path.relative_to(FOLDER).as_posix()
        assert path.name == "__init__.py" or f"`{name}`" in order, name
