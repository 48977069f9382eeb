"""The recipes of CONTRIBUTING.md, applied line by line to a copy of the repository, in which their checks then pass."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LARGE = 150_000  # bytes, from which on a copy has a link in a file's place
PLACE = re.compile(
    r"(?:New file `(?P<new>[^`\n]+)`|At the end of `(?P<end>[^`\n]+)`"
    r"|In `(?P<old>[^`\n]+)`, (?P<how>after|in place of) `(?P<anchor>[^`\n]+)`(?P<last>, the last time)?"
    r"|(?P<check>Check)[^\n:]*):\n\n```\w+\n(?P<code>.*?)```",
    re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A block of lines that a recipe adds: to a new file, at a file's end, after a line or in its place."""

    path: str
    how: str
    code: str
    anchor: str = ""

    def applied(self, text: str) -> str:
        """Return the file's text with the lines; ValueError where the anchor does not stand there once."""
        if self.how in ("new", "end"):
            return text + self.code
        lines = text.splitlines(keepends=True)
        places = [at for at, line in enumerate(lines) if line.strip() == self.anchor]
        if not places or (len(places) > 1 and self.how != "after the last"):
            raise ValueError(f"{self.path} has {len(places)} lines {self.anchor!r}")
        first = places[-1] + (self.how != "in place of")
        return "".join([*lines[:first], self.code, *lines[places[-1] + 1 :]])

    def undone(self, text: str) -> str:
        """Return the file's text without the lines, where they stand behind their anchor already."""
        whole = f"{self.anchor}\n{self.code}"
        return text.replace(whole, f"{self.anchor}\n") if self.how == "after" else text


@dataclass(frozen=True)
class Recipe:
    """Steps in their order, and the command that checks them."""

    steps: tuple[Step, ...]
    check: str

    @property
    def paths(self) -> list[str]:
        """The files that the recipe touches, each once."""
        return list(dict.fromkeys(step.path for step in self.steps))


def read(text: str) -> Recipe:
    """Read one recipe as a reader would, from top to bottom."""
    steps, check = [], ""
    for found in PLACE.finditer(text):
        if found["check"]:
            check = found["code"]
        elif found["new"] or found["end"]:
            steps.append(Step(found["new"] or found["end"], "new" if found["new"] else "end", found["code"]))
        else:
            how = "after the last" if found["last"] else found["how"]
            steps.append(Step(found["old"], how, found["code"], found["anchor"]))
    return Recipe(tuple(steps), check)


RECIPES = {
    title: read(text)
    for title, text in re.findall(
        r"^### ([^\n]+)\n(.*?)(?=^### |\Z)", TEXT.split("## Recipes")[1], re.MULTILINE | re.DOTALL
    )
}
every_recipe = pytest.mark.parametrize("title", RECIPES)


def written(recipe: Recipe, *, root: Path) -> dict[str, str]:
    """Apply a recipe to the files under root -> the texts of those that it touches; an example there is taken out."""
    texts: dict[str, str] = {}
    for path in recipe.paths:
        file = root / path
        new = next(step for step in recipe.steps if step.path == path).how == "new"
        if new == file.exists():
            raise ValueError(f"{path} is {'there already' if new else 'gone'}")
        texts[path] = "" if new else file.read_text(encoding="utf-8")
    for step in recipe.steps:
        texts[step.path] = step.applied(step.undone(texts[step.path]))
    return texts


def copied(folder: Path) -> None:
    """Copy what git tracks, large files as links."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, done.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if not source.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.stat().st_size > LARGE and source.suffix != ".py":
            target.symlink_to(source)
        else:
            shutil.copy2(source, target)


def test_there_are_four_recipes_each_with_a_check() -> None:
    assert list(RECIPES) == ["A measure of heads", "A section", "A question", "A family"]
    assert all(recipe.steps and recipe.check.startswith("python -m pytest ") for recipe in RECIPES.values())


@every_recipe
def test_each_block_of_lines_is_a_step(title: str) -> None:
    text = TEXT.split(f"### {title}\n")[1].split("\n### ")[0]
    assert text.count("\n```") == 2 * (len(RECIPES[title].steps) + 1)


@every_recipe
def test_each_anchor_stands_in_its_file(title: str) -> None:
    assert written(RECIPES[title], root=ROOT)


@every_recipe
def test_a_gone_anchor_fails(title: str) -> None:
    recipe = RECIPES[title]
    for at, step in enumerate(recipe.steps):
        if step.anchor:
            steps = (*recipe.steps[:at], replace(step, anchor=f"{step.anchor} gone"), *recipe.steps[at + 1 :])
            with pytest.raises(ValueError, match="has 0 lines"):
                written(replace(recipe, steps=steps), root=ROOT)


def test_an_example_that_is_there_is_taken_out_and_comes_back() -> None:
    family = RECIPES["A family"]
    before = {path: (ROOT / path).read_text(encoding="utf-8") for path in family.paths}
    assert all(step.code not in step.undone(before[step.path]) for step in family.steps)
    assert written(family, root=ROOT) == before


@pytest.mark.heavy
@pytest.mark.parametrize("title", list(RECIPES))
def test_a_recipe_works_as_it_is_written(title: str, tmp_path: Path) -> None:
    recipe = RECIPES[title]
    copied(tmp_path)
    for path, text in written(recipe, root=tmp_path).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    command = [sys.executable, *shlex.split(recipe.check)[1:], "-p", "no:cacheprovider"]
    usual = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=usual)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    python = [path for path in recipe.paths if path.endswith(".py")]
    for tool in (["check"], ["format", "--check"]):
        linted = subprocess.run(
            [sys.executable, "-m", "ruff", *tool, *python], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert linted.returncode == 0, linted.stdout + linted.stderr
