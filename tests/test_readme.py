"""README shows what is true: its example runs as written, its files exist, its commands are there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.sections import registry

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.heavy
def test_the_example_runs_as_written() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len([line for line in example.splitlines() if line.strip()]) <= 6
    done = subprocess.run(
        [sys.executable, "-c", example + "\nprint(trace.attention(layer=1, head=7).shape)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("(13, 13)\n")


def test_what_it_links_to_exists() -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_its_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def page_rows() -> list[tuple[str, str]]:
    """Give title and text of each row of the table of pages."""
    table = README.split("| page | what it is for |\n| --- | --- |\n")[1].split("\n\n")[0]
    return [re.fullmatch(r"\| \*\*([^|]+)\*\* \| ([^|]+) \|", row).groups() for row in table.splitlines()]


def test_every_page_has_a_row_that_begins_with_its_title_and_purpose() -> None:
    rows, pages = page_rows(), registry.PAGES.values()
    assert [title for title, _ in rows] == [page.title for page in pages]
    assert [page.title for page, (_, said) in zip(pages, rows, strict=True) if not said.startswith(page.purpose)] == []


def test_a_page_is_told_in_two_sentences_behind_its_purpose() -> None:
    plain = {title: re.sub(r"\]\([^)]*\)", "]", said) for title, said in page_rows()}
    assert {title: said for title, said in plain.items() if len(re.findall(r"[.?!](?= |$)", said)) > 3} == {}


def test_its_map_names_every_room_of_the_inspector() -> None:
    told = README.split("## For those who read the code")[1].split("```")[1]
    rooms = sorted({path.parent.name for path in (ROOT / "inspector").glob("*/*.py")})
    assert rooms
    assert [room for room in rooms if not re.search(rf"(?<![\w/]){room}/ ", told)] == []
