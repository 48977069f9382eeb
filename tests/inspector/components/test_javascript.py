"""The components' JavaScript outside a browser: unit tests of the pure files under node, and where imports lead."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from inspector.components.source import COMPONENTS, script

ROOT = Path(__file__).parents[3]
UNITS = sorted((ROOT / "tests/browser/unit").glob("*.test.mjs"))
# What source.script understands; any other form would reach the browser as it is, and fail there.
IMPORT = re.compile(r'^import \{.*\} from "(.+)";$', re.MULTILINE)
# What one component takes of another, and what the hosts draw.
BORROWS = {
    "matrix": ("head/matrix.js", "head/colourbar.js", "head/names.js"),
    "widget": ("grid/index.js", "head/index.js"),
    "host.js": ("grid/index.js", "head/index.js", "heads.js"),
}
FETCHES = "widget/loader.js"  # the code of the widget, which the notebook holds; nothing is bundled with it
ANY_IMPORT = re.compile(r"^\s*import\b|\bimport\s*\(|^\s*export\s*(?:\*|\{[^}]*\})\s*from\b", re.MULTILINE)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_under_node(path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the PATH: install Node.js 18 or later to run the JavaScript's unit tests")
    done = subprocess.run([node, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def wrong_imports(components: Path) -> list[str]:
    """List the imports that lead out of their component, or that are written in a form unknown to source.script.

    A component's file imports files of its own folder, what it borrows, and the files that all share, which import
    shared.js alone.
    """
    wrong = []
    for path in sorted(components.rglob("*.js")):
        source, name = path.read_text(encoding="utf-8"), path.relative_to(components).as_posix()
        if name == FETCHES:
            assert not re.search(r"^import\b|https?:", source, re.MULTILINE)
            continue
        found = IMPORT.findall(source)
        if len(found) != len(ANY_IMPORT.findall(source)):
            wrong.append(f"{name} has an import in another form")
        for target in found:
            file = (path.parent / target).resolve()
            of_all = () if path.parent == components else ("heads.js", "opened.js")
            borrows = BORROWS.get(path.name if path.parent == components else path.parent.name, ())
            lent = {(components / one).resolve() for one in ("shared.js", *of_all, *borrows)}
            allowed = file in lent or (path.parent != components and file.parent == path.parent)
            if not allowed or not file.is_file():
                wrong.append(f"{name} imports {target}")
    return wrong


def test_imports_stay_in_their_component() -> None:
    assert wrong_imports(COMPONENTS) == []
    pages = ("grid/page.js", "head/page.js", "heads/page.js")
    for component in (
        "grid",
        "head",
        "heads.js",
        "host.js",
        "matrix",
        "snapshot",
        "steps",
        "widget",
        "written",
        *pages,
    ):
        assert not ANY_IMPORT.findall(script(component).removesuffix("\n"))


@pytest.mark.parametrize(
    "planted",
    [
        'import { Axis } from "../head/axis.js";',  # another component
        'import { page } from "../../views/page.js";',
        'import { d3 } from "https://cdn.example.com/d3.js";',
        'import { gone } from "./gone.js";',
        'import Axis from "./axis.js";',
        'const axis = await import("./axis.js");',
        'export { Axis } from "./axis.js";',
    ],
)
def test_a_wrong_import_would_be_seen(tmp_path: Path, planted: str) -> None:
    shutil.copytree(COMPONENTS, tmp_path / "components")
    path = tmp_path / "components" / "grid" / "index.js"
    (path.parent / "axis.js").write_text("export const Axis = 1;\n", encoding="utf-8")
    assert wrong_imports(tmp_path / "components") == []
    path.write_text(f"{planted}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    assert len(wrong_imports(tmp_path / "components")) == 1
