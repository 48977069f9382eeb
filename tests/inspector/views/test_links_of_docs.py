"""Links and commands in the pages for students and teachers: each link opens the very view, each command runs."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from inspector.sections import registry
from models.registry import is_installed
from tests.inspector.views.page import opened, said
from tests.rounds import in_turn

DOCS = Path(__file__).parents[3] / "docs"
READERS = ("student", "teacher")
TEXTS = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in READERS}
LINKS = sorted({link for text in TEXTS.values() for link in re.findall(r"\]\((http://localhost:8501[^)\s]*)\)", text)})
REFUSED = ("Cannot be shown", "does not know", "is not in the list")
SENTENCES = "The cat sat on the mat.\nIt was tired.\n" * 5


def refusal(link: str) -> str:
    """Open a link without a browser; returns what was not followed, "" where the view is whole and is the link's."""
    parts = urlsplit(link)
    page, asked = registry.PAGES[parts.path.strip("/")], dict(parse_qsl(parts.query))
    app = opened(page.title, **asked)
    words = said(app)
    problems = [*app.session_state["link.problems"], *(word for word in REFUSED if word in words)]
    held = {name: values if isinstance(values, list) else [values] for name, values in app.query_params.items()}
    lost = [f"{name} {held.get(name)}" for name, value in asked.items() if held.get(name) != [value]]
    there = [] if app.title and app.title[0].value == page.title else [f"not {page.title}"]
    return ", ".join([*problems, *lost, *there])


@pytest.mark.parametrize("link", in_turn(LINKS, of=4))
def test_a_link_opens_its_view(link: str) -> None:
    named = dict(parse_qsl(urlsplit(link).query)).get("model", "minilm")
    if not is_installed(named):
        pytest.skip(f"the weights of {named} are not here")
    assert refusal(link) == ""


@pytest.mark.parametrize(
    "broken", ["?layer=77", "scores?section=Theorie", "questions?q=999", "questions?path=0.1", "?model=minilmm"]
)
def test_a_link_that_is_not_followed_would_be_seen(broken: str) -> None:
    assert refusal(f"http://localhost:8501/{broken}") != ""


def test_the_student_is_led_to_every_page() -> None:
    led = {urlsplit(link).path.strip("/") for link in re.findall(r"\]\((http://localhost[^)\s]*)\)", TEXTS["student"])}
    assert led == set(registry.PAGES)


def commands(name: str) -> list[list[str]]:
    """List the arguments of each command of a page's shell blocks, but Docker's, which no test runs."""
    blocks = re.findall(r"```sh\n(.*?)```", TEXTS[name], re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if not line.startswith("docker ")]
    return [shlex.split(line) for line in lines]


def main_of(module: str) -> Callable[[list[str]], int]:
    """Give what `python -m module` runs."""
    package = importlib.util.find_spec(module)
    assert package is not None
    name = f"{module}.__main__" if package.submodule_search_locations else module
    main: Callable[[list[str]], int] = importlib.import_module(name).main
    return main


@pytest.mark.heavy
@pytest.mark.parametrize("name", READERS)
def test_its_commands_run_as_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.txt").write_text(SENTENCES, encoding="utf-8")
    assert commands(name)
    for python, flag, module, *arguments in commands(name):
        assert (python, flag) == ("python", "-m")
        assert main_of(module)(arguments) == 0, arguments
    written = {
        argument for command in commands(name) for argument in command if re.search(r"\.(html|svg|npz|png)$", argument)
    }
    assert [file for file in written if not (tmp_path / file).stat().st_size] == []


@pytest.mark.parametrize("name", ["student", "teacher", "python", "hosting", "code"])
def test_a_readers_page_is_short(name: str) -> None:
    assert len((DOCS / f"{name}.md").read_text(encoding="utf-8").splitlines()) < 200
