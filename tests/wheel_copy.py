"""The tests as the wheel needs them: a copy with every import, and every string that names a module, written anew.

python -m tests.wheel_copy FOLDER NAMESPACE       NAMESPACE: the folder headlight_inspector of an environment
cd FOLDER && ENVIRONMENT/bin/python -m pytest tests/models/transformer -m "not heavy"

Files of the packages are found where tests look for them, beside the copy, by links into the installed namespace. A
module that is imported by its name in the repository ends the run: it would be tested in the wheel's place.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import setuptools  # noqa: F401  # first of all: once something has looked for pip, it refuses to be imported

ROOT = Path(__file__).parents[1]
_TARGET = re.compile(r"""(?<=["'])(?:inspector|models)(?:\.\w+)+(?=["'])""")
GUARD = """

def pytest_sessionfinish(session):
    import sys

    strangers = sorted(name for name in sys.modules if name.split(".")[0] in ("inspector", "models"))
    assert not strangers, f"{strangers} were imported in place of the wheel"
"""


def backend() -> ModuleType:
    """Load setup.py, which writes imports anew."""
    spec = spec_from_file_location("headlight_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_a_module(name: str) -> bool:
    """Return True for a module of the repository, or for what is reached through one: "models.registry.load"."""
    parts = name.split(".")
    places = [ROOT.joinpath(*parts[:end]) for end in range(2, len(parts) + 1)]
    return any(place.with_suffix(".py").is_file() or (place / "__init__.py").is_file() for place in places)


def renamed(source: str, setup: ModuleType) -> str:
    """Write a test's imports anew, and the strings that are the name of a module or of what stands in one."""

    def target(found: re.Match[str]) -> str:
        name = found.group()
        return f"{setup.NAMESPACE}.{name}" if names_a_module(name) else name

    return _TARGET.sub(target, str(setup.renamed(source)))


def write(folder: Path, namespace: Path) -> None:
    """Write the copy into an empty folder. namespace: the installed folder headlight_inspector."""
    setup = backend()
    for path in (ROOT / "tests").rglob("*"):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            target.write_text(renamed(path.read_text(encoding="utf-8"), setup), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
    with (folder / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(GUARD)
    for name in (*setup.PACKAGES, "app.py", "command.py"):
        (folder / name).symlink_to(namespace / name)
    for path in (ROOT / "docs", *ROOT.glob("*.md")):
        (folder / path.name).symlink_to(path)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
