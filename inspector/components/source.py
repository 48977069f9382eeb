"""The source of a component, JavaScript and CSS, for any host: the Streamlit page, an HTML file, a notebook cell.

Only this module, `standalone` and `widget` read JavaScript and CSS, by path.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

COMPONENTS = Path(__file__).parent

_IMPORT = re.compile(r'^import \{ (.*) \} from "(.+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:const|(?:async )?function|class) (\w+)", re.MULTILINE)
_EXPORT_WORD = re.compile(r"^export ", re.MULTILINE)


@cache
def script(component: str) -> str:
    """Return a component's JavaScript ("grid", "head", "matrix", "written") as one ES module.

    The module exports `draw(root, data, emit)`. Of another file than a component's index.js ("head/page.js") it is what
    the file exports. The files that it imports are set before it, each once and in a scope of its own.
    """
    order: list[Path] = []

    def collect(path: Path) -> None:
        for file in _imported(path):
            collect(file)
        if path not in order:
            order.append(path)

    collect(COMPONENTS / (component if component.endswith(".js") else f"{component}/index.js"))
    names = {path: f"file{number}" for number, path in enumerate(order)}

    def linked(path: Path) -> str:
        files = iter(_imported(path))

        def as_constant(line: re.Match[str]) -> str:
            return f"const {{ {line[1].replace(' as ', ': ')} }} = {names[next(files)]};\n"

        return _IMPORT.sub(as_constant, path.read_text(encoding="utf-8"))

    *before, last = order
    return "\n".join([*(f"const {names[path]} = {enclosed(linked(path))};" for path in before), linked(last)])


def _imported(path: Path) -> list[Path]:
    """List the files that a file imports, in the order of its lines."""
    return [(path.parent / line[2]).resolve() for line in _IMPORT.finditer(path.read_text(encoding="utf-8"))]


def enclosed(source: str) -> str:
    """Wrap a module's source into an expression with the module's exports as its value; other names stay inside."""
    exports = ", ".join(_EXPORT.findall(source))
    return f"(() => {{\n{_EXPORT_WORD.sub('', source)}\nreturn {{ {exports} }};\n}})()"


@cache
def style(*components: str) -> str:
    """Return the CSS of some components after the shared CSS. Every rule lies under a class of a component."""
    files = [COMPONENTS / "shared.css", *(COMPONENTS / component / "style.css" for component in components)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)
