"""The source of a component, JavaScript and CSS, for any host: the Streamlit page, an HTML file, a notebook cell.

Only this module and `standalone` read JavaScript and CSS, by path.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

COMPONENTS = Path(__file__).parent

_IMPORT = re.compile(r'^import \{.*\} from "(.+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:const|(?:async )?function|class) (\w+)", re.MULTILINE)
_EXPORT_WORD = re.compile(r"^export ", re.MULTILINE)


@cache
def script(component: str) -> str:
    """Return a component's JavaScript ("grid", "head", "matrix", "written") as one ES module.

    The module exports `draw(root, data, emit)`. Of another file than a component's index.js ("head/page.js") it is what
    the file exports. The files that it imports are set before it, each once.
    """
    order: list[Path] = []

    def collect(path: Path) -> None:
        for name in _IMPORT.findall(path.read_text(encoding="utf-8")):
            collect((path.parent / name).resolve())
        if path not in order:
            order.append(path)

    collect(COMPONENTS / (component if component.endswith(".js") else f"{component}/index.js"))
    sources = [_IMPORT.sub("", path.read_text(encoding="utf-8")) for path in order]
    return "\n".join([*(f"const {_exports(source)} = {enclosed(source)};" for source in sources[:-1]), sources[-1]])


def _exports(source: str) -> str:
    return f"{{ {', '.join(_EXPORT.findall(source))} }}"


def enclosed(source: str) -> str:
    """Wrap a module's source into an expression with the module's exports as its value; other names stay inside."""
    return f"(() => {{\n{_EXPORT_WORD.sub('', source)}\nreturn {_exports(source)};\n}})()"


@cache
def style(*components: str) -> str:
    """Return the CSS of some components after the shared CSS. Every rule lies under a class of a component."""
    files = [COMPONENTS / "shared.css", *(COMPONENTS / component / "style.css" for component in components)]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)
