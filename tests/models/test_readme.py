"""models/README.md names a line for each switch: the line is still that one, and no switch is missing."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from models.config import TransformerConfig

FOLDER = Path(__file__).parents[2] / "models"
TEXT = (FOLDER / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\[`(\w+\.py)`: `([^`]+)`\]\((\w+\.py)#L(\d+)\)", TEXT)
SIZES = {"vocabulary", "layers", "width", "heads", "ffn_width", "max_positions"}


@pytest.mark.parametrize(("name", "code", "file", "line"), LINKS)
def test_each_link_leads_to_the_line_that_it_names(name: str, code: str, file: str, line: str) -> None:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    here = [number for number, text in enumerate(lines, start=1) if code in text]
    assert name == file
    assert int(line) in here, f"{file}: {code!r} is on the lines {here}, README.md says {line}"


def test_every_switch_has_its_line() -> None:
    table = [row for row in TEXT.splitlines() if row.startswith("| ")]
    named = {name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {field.name for field in fields(TransformerConfig)} - named == SIZES
    assert len(LINKS) == len(table) - 2


def test_every_file_is_in_the_reading_order() -> None:
    order = TEXT.split("## Switches")[0]
    for path in FOLDER.glob("*.py"):
        assert path.name == "__init__.py" or f"`{path.name}`" in order, path.name
