"""The wheel: `inspector` and `models` under the namespace `headlight_inspector`, with all that they read.

    pip wheel . --no-deps

In the repository the two stand at the top, as their code and their readers call them. Installed, such names would meet
half of all projects: a file `models.py` beside a notebook would be imported in their place. So the build moves both
under one name and writes every import anew, in strings that readers are shown as well.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
NAMESPACE = "headlight_inspector"
PACKAGES = ("inspector", "models")
BESIDE = ("app.py", "command.py", ".streamlit/config.toml", "LICENSE")  # what the page starts from

_NAME = "(?:" + "|".join(PACKAGES) + ")"
_START = r"(?:(?<![\w.])|(?<=\\n))"  # no part of a longer name; in a string a line may begin behind an escape
_FROM = re.compile(rf"{_START}from ({_NAME}(?:\.\w+)*) import\b")
_MODULE_AS = re.compile(rf"{_START}import ({_NAME}(?:\.\w+)+) as\b")
_PACKAGES = re.compile(rf"{_START}import ({_NAME}(?:, {_NAME})*)(?![\w.])")
_COMMAND = re.compile(rf"python -m ({_NAME}(?:\.\w+)*)(?![\w.])")
COMMANDS = {  # of command.py
    "inspector": "heads",
    "inspector.atlas": "atlas",
    "inspector.lessons": "lessons",
    "inspector.mcp": "mcp",
    "inspector.plain": "schema",
    "inspector.practice": "practice",
    "inspector.questions": "questions",
    "inspector.export.questions_sheet": "sheet",
    "models.fetch": "fetch",
}


def renamed(source: str) -> str:
    """Write a module's imports, those in its strings too, as they are in the namespace."""
    source = _FROM.sub(rf"from {NAMESPACE}.\1 import", source)
    source = _MODULE_AS.sub(rf"import {NAMESPACE}.\1 as", source)
    source = _PACKAGES.sub(_packages, source)
    return _COMMAND.sub(_command, source)


def _packages(found: re.Match[str]) -> str:
    of_another = re.search(r"\bfrom [\w.]+ $", found.string[: found.start()])  # from tokenizers import models
    return found.group() if of_another else f"from {NAMESPACE} import {found.group(1)}"


def _command(found: re.Match[str]) -> str:
    module = found.group(1)
    return f"headlight-inspector {COMMANDS[module]}" if module in COMMANDS else f"python -m {NAMESPACE}.{module}"


def sources() -> dict[Path, Path]:
    """List every file of the wheel: its place within the namespace -> where it stands in the repository."""
    inside = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    kept = [path for path in inside if "__pycache__" not in path.parts]
    return {path.relative_to(ROOT): path for path in [*kept, *(ROOT / name for name in BESIDE)]}


class Namespaced(build_py):
    """Copies both packages under the namespace."""

    def run(self) -> None:
        """Write the namespace's folder into the build."""
        top = Path(self.build_lib) / NAMESPACE
        for place, path in sources().items():
            target = top / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".py":
                target.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                shutil.copyfile(path, target)
        (top / "__init__.py").write_text('"""Headlight: `from headlight_inspector import inspector, models`."""\n')
        (top / "__main__.py").write_text(
            "import sys\n\nfrom headlight_inspector.command import main\n\nsys.exit(main())\n"
        )


def needed(file: str = "requirements.txt") -> list[str]:
    """Read what must be installed with the wheel, or with an extra: a file without its comments and its constraints."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("-")]


def extras() -> dict[str, list[str]]:
    """Read what `pip install headlight-inspector[cluster]` brings: an extra for each requirements-EXTRA.txt but dev."""
    names = {path.stem.removeprefix("requirements-"): path.name for path in ROOT.glob("requirements-*.txt")}
    return {name: needed(file) for name, file in sorted(names.items()) if not name.endswith("dev")}


if __name__ == "__main__":
    setup(
        packages=[NAMESPACE],
        package_dir={NAMESPACE: "inspector"},  # for setuptools' own lists; the copy is made above
        install_requires=needed(),
        extras_require=extras(),
        cmdclass={"build_py": Namespaced},
    )
