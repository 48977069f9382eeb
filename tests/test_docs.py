"""README and docs/ say what is there: links, commands, pages, rooms, variables, benchmarks; each picture is shown."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from docs.take_pictures import FOLDER, VIEWS
from inspector.mcp.tools import TOOLS
from inspector.sections import registry
from models import settings
from models.limits import Limits
from models.placement import Placement
from tests.inspector.plain.held import held

ROOT = Path(__file__).parents[1]
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for pattern in ("*.md", "docs/*.md", "models/README.md", "inspector/README.md")
    for path in ROOT.glob(pattern)
}
PICTURE_BYTES, ALL_BYTES = 200_000, 4_000_000

every_text = pytest.mark.parametrize("name", TEXTS)


def links(text: str) -> list[str]:
    """List where a text's links lead within the repository, code left out."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return re.findall(r"\]\((?!https?://)([^)\s]+)\)", prose)


def anchors(text: str) -> set[str]:
    """List the names of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def dead(name: str, text: str) -> list[str]:
    """List the links of a text that lead to no file, or to no heading of one."""
    found = []
    for link in links(text):
        path, _, heading = link.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists() or (heading and heading not in anchors(file.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@every_text
def test_no_link_leads_nowhere(name: str) -> None:
    assert dead(name, TEXTS[name]) == []


def test_a_dead_link_would_be_found() -> None:
    text = "[a](gone.md), [b](README.md#gone), ![c](docs/gone.png), [d](#here), [e](LICENSE)\n## Here"
    assert dead("README.md", text) == ["gone.md", "README.md#gone", "docs/gone.png", "#here"]


def test_readme_leads_to_every_page_of_docs() -> None:
    led = {link.partition("#")[0] for link in links(TEXTS["README.md"])}
    assert [name for name in TEXTS if name.startswith("docs/") and name not in led] == []


@every_text
def test_the_files_that_it_names_exist(name: str) -> None:
    text = TEXTS[name].split("## Recipes")[0]  # these make new files
    named = re.findall(r"`((?:tests|docs|models|inspector)/[\w/]+\.(?:py|md|tsv))`", text)
    folder = (ROOT / name).parent
    assert [path for path in named if not ((ROOT / path).exists() or (folder / path).exists())] == []


@every_text
def test_its_make_targets_exist(name: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)|`make (\w+)`", TEXTS[name], re.MULTILINE)
    assert [target for target in map("".join, targets) if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


# --- pages, pictures, rooms, variables ---------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """Give the text of each page that docs/pages.md tells, by its title and in its order."""
    told = re.findall(r"^## ([^\n]+)\n\n(.*?)(?=^## |\Z)", TEXTS["docs/pages.md"], re.MULTILINE | re.DOTALL)
    return {title: " ".join(text.split()) for title, text in told[1:]}  # the first tells what all share


def test_every_page_is_told_in_its_order_and_begins_with_its_purpose() -> None:
    assert list(pages()) == [page.title for page in registry.PAGES.values()]
    assert [page.title for page in registry.PAGES.values() if not pages()[page.title].startswith(page.purpose)] == []


def test_a_page_is_told_in_a_few_words_and_shown() -> None:
    words = {title: len(text.split("![")[0].split()) for title, text in pages().items()}
    assert {title: count for title, count in words.items() if count > 80} == {}
    assert [title for title, text in pages().items() if f"![{title}" not in text] == []


def test_every_picture_is_shown_and_small_and_taken_by_the_script() -> None:
    pictures = sorted(FOLDER.iterdir())
    shown = {(ROOT / name).parent / link for name, text in TEXTS.items() for link in links(text)}
    assert [path.name for path in pictures if path not in shown] == []
    assert {path.name for path in pictures} == {*(f"{name}.png" for name in VIEWS), "headlight.webp"}
    sizes = {path.name: path.stat().st_size for path in pictures}
    assert {name: size for name, size in sizes.items() if name.endswith("png") and size > PICTURE_BYTES} == {}
    assert sum(sizes.values()) <= ALL_BYTES


def test_the_map_names_every_room_of_the_inspector() -> None:
    told = TEXTS["docs/code.md"].split("```")[1]
    rooms = sorted({path.parent.name for path in (ROOT / "inspector").glob("*/*.py")})
    assert rooms
    assert [room for room in rooms if not re.search(rf"(?<![\w/]){room}/ ", told)] == []


def test_the_variables_that_it_tells_are_those_of_the_host() -> None:
    fields = {field.name.upper() for kind in (Limits, Placement) for field in dataclasses.fields(kind)}
    source = (ROOT / "models" / "settings.py").read_text(encoding="utf-8")
    fields.remove("MAX_MEMORY")  # from Python alone
    read = fields | set(settings.NUMBERS) | set(re.findall(r'_text\("([A-Z_]+)"', source))
    assert set(re.findall(r"`HEADLIGHT_([A-Z_]+)`", TEXTS["docs/settings.md"])) == read


@pytest.mark.heavy
def test_the_lines_of_the_notebook_run_as_written(tmp_path: Path) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install -r requirements-notebook.txt")
    lines = re.findall(r"```python\n(.*?)```", TEXTS["docs/notebook.md"], re.DOTALL)
    assert len(lines) == 4
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HEADLIGHT_CACHE": os.environ["HEADLIGHT_CACHE"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "head (3, 7)\nquery 9\n"


@pytest.mark.heavy
@pytest.mark.parametrize(
    "heading", ["Record, then ask", "Many texts", "Change the model at one place", "Attention from elsewhere"]
)
def test_the_lines_of_python_run_as_written(heading: str, tmp_path: Path) -> None:
    lines = TEXTS["docs/python.md"].split(f"## {heading}\n")[1].split("```python\n")[1].split("```")[0]
    loaded = 'import inspector, models\nloaded = models.load("minilm")\n'
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", loaded + lines],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "HEADLIGHT_CACHE": os.environ["HEADLIGHT_CACHE"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def programs(language: str) -> list[str]:
    """Give the examples of docs/programs.md in a language."""
    return re.findall(rf"```{language}\n(.*?)```", TEXTS["docs/programs.md"], re.DOTALL)


def test_the_page_for_programs_is_short_and_names_every_tool() -> None:
    assert len(TEXTS["docs/programs.md"].splitlines()) < 200
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", TEXTS["docs/programs.md"], re.MULTILINE)))
    assert named == [tool.name for tool in TOOLS]
    (configured,) = programs("json")
    assert json.loads(configured)["mcpServers"]["headlight"] == {"command": "headlight-inspector", "args": ["mcp"]}


@pytest.mark.heavy
def test_the_commands_for_programs_print_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = []
    for line in programs("sh")[0].splitlines():
        python, module, name, *arguments = shlex.split(line, comments=True)
        assert (python, module) == ("python", "-m")
        given = [str(ROOT / word) if word.startswith("inspector/") else word for word in arguments]
        assert import_module(f"{name}.__main__").main(given) == 0
        printed.append(capsys.readouterr().out)
    *documents, schema = printed
    kinds = ["heads", "recording", "heads", "sections", "section", "questions", "answers"]
    kinds += ["practice_tasks", "practice", "atlas"]
    assert [held(document)["kind"] for document in documents] == kinds
    assert json.loads(schema)["title"] == "Headlight's documents"


@pytest.mark.heavy
@pytest.mark.parametrize("number", [0, 1], ids=["documents", "a client"])
def test_the_python_for_programs_runs_as_written(number: int) -> None:
    code = programs("python")[number]
    if "mcp" in code:
        pytest.importorskip("mcp", reason="the package mcp is not here: pip install -r requirements-mcp.txt")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
