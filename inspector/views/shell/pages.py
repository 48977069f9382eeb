"""The pages by their groups in the menu, and the file of each; inspector/sections/registry.py says what they are."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from inspector.sections.registry import PAGES
from inspector.wording import pages as words

VIEWS = Path(__file__).parents[1]
FILES = {address: VIEWS / (address or "attention") / "page.py" for address in PAGES}
GROUPS = {words.GROUPS[group]: tuple(pages) for group, pages in groupby(PAGES.values(), key=lambda page: page.group)}
