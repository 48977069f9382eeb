"""The rooms of the code and the arrows between them, read from folders, imports and paths.

A room is a folder with Python in it. The files that lie directly in models/ or inspector/ make up three rooms more:
`models` (the doors), `models/*.py` (small files that every room may use) and `inspector/*.py` (the analysis).
tests/test_architecture.py holds the arrows to FLOORS, docs/draw_rooms.py draws them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
FLOORS = (
    ("models/*.py",),
    ("models/attention", "models/untrusted", "models/fetch"),
    ("models/mixers",),
    ("models/transformer", "models/huggingface", "models/recurrent"),
    ("models/convert", "models/checkpoints", "models/smollm2"),
    ("models/training/tiny",),
    ("models/training",),
    ("models",),
    ("inspector/memory",),
    ("inspector/trace",),
    ("inspector/costs/counted",),
    ("inspector/probe", "inspector/costs", "inspector/normalization", "inspector/positional", "inspector/*.py"),
    ("inspector/scores", "inspector/mixers", "inspector/writers", "inspector/plain"),
    (
        "inspector/interventions",
        "inspector/generating",
        "inspector/batches",
        "inspector/exactness",
        "inspector/atlas",
    ),
    (
        "inspector/distance",
        "inspector/patching",
        "inspector/stepwise",
        "inspector/vocabularies",
        "inspector/masked_lm",
        "inspector/sentence_vectors",
        "inspector/long_texts",
        "inspector/atlas/reading",
    ),
    ("inspector/questions/record",),
    ("inspector/questions/themes", "inspector/practice/record"),
    ("inspector/questions", "inspector/practice/tasks", "inspector/practice/solutions"),
    ("inspector/plots",),
    ("inspector/plots/*",),
    ("inspector/wording/english",),
    ("inspector/wording/english/*", "inspector/wording/chinese"),
    ("inspector/wording/chinese/*",),
    ("inspector/wording",),
    ("inspector/components",),
    ("inspector/sections",),
    ("inspector/sections/*",),
    ("inspector/export", "inspector/practice"),
    ("inspector/lessons",),
    ("inspector/views/components", "inspector/mcp"),
    ("inspector/views/server",),
    ("inspector/views/shell",),
    ("inspector/views/figures",),
    ("inspector/views/*.py",),
    ("inspector/views/*",),
    ("app",),
)
"""Floors from the ground up; an arrow leads to a lower floor. `inspector/views/*` are the pages, each its own room."""
DOORS = (
    "__init__",
    "in_memory",
    "output_projection",
    "registry",
    "train",
)  # files of models/ above the rooms that they open
WHOLE = ("inspector/components",)  # rooms whose folders belong to them
PUBLIC = "inspector/__init__.py"  # reaches every room by its name, on first use

Arrows = Mapping[tuple[str, str], list[str]]
"""(from, to) -> the lines of code that make the arrow, each as "file: what it names"."""


def files(root: Path = ROOT, *endings: str) -> list[Path]:
    """List the project's files with these endings."""
    inside = [path for top in ("models", "inspector") for path in (root / top).rglob("*.*")]
    return sorted(
        path
        for path in [*inside, root / "app.py", root / "command.py"]
        if path.suffix[1:] in endings and path.is_file()
    )


def room(path: Path, root: Path = ROOT) -> str:
    """Name the room of a file."""
    parts = path.relative_to(root).parts
    folder = "/".join(parts[:-1])
    if not folder or parts == ("inspector", "__main__.py"):
        return "app"
    if len(parts) == 2:
        return "models" if folder == "models" and path.stem in DOORS else f"{folder}/*.py"
    if folder == "inspector/views":
        return "inspector/views/*.py"
    return next((whole for whole in WHOLE if folder.startswith(whole)), folder)


def floor(room: str) -> int:
    """Count the floors below a room."""
    for matches in (str.__eq__, fnmatchcase):  # a room's own name goes before a pattern
        for number, rooms in enumerate(FLOORS):
            if any(matches(room, name) for name in rooms):
                return number
    raise ValueError(f"{room} is a new room: give it a floor in tests/rooms.py")


@cache
def nodes(source: str) -> list[ast.AST]:
    """List the imports and the constants of a source file."""
    return [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant)
    ]


def imports(path: Path, root: Path = ROOT) -> set[str]:
    """Collect every module that a Python file imports, inside functions too."""
    found: set[str] = set()
    for node in nodes(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules = {f"{node.module}.{name.name}" for name in node.names}
            found |= {module for module in modules if source(module, root)} or {node.module or ""}
    return found


def source(module: str, root: Path = ROOT) -> Path | None:
    """Find the file of a module of the project."""
    path = root.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def read(path: Path, root: Path = ROOT) -> set[Path]:
    """Collect the JavaScript and CSS files that the strings of a file may mean: `"index.js"` means each index.js."""
    found = nodes(path.read_text(encoding="utf-8"))
    strings = {node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if not (names := {string.lstrip("./") for string in strings if re.fullmatch(r"[\w./-]+\.(js|css)", string)}):
        return set()
    return {
        file for file in files(root, "js", "css") for name in names if f"/{file.relative_to(root)}".endswith(f"/{name}")
    }


def arrows(root: Path = ROOT) -> Arrows:
    """Read every arrow between two rooms."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in files(root, "py"):
        modules = {name: source(name, root) for name in imports(path, root)}
        scripts = {file.relative_to(root).as_posix(): file for file in read(path, root)}
        for name, target in sorted((modules | scripts).items()):
            if target is None or root / PUBLIC in (path, target):
                continue
            ends = room(path, root), room(target, root)
            if ends[0] != ends[1]:
                found[ends].append(f"{path.relative_to(root).as_posix()}: {name}")
    return {ends: found[ends] for ends in sorted(found)}


def upward(arrows: Arrows) -> list[str]:
    """Tell every arrow that does not lead to a lower floor."""
    wrong = [(ends, lines) for ends, lines in arrows.items() if floor(ends[1]) >= floor(ends[0])]
    return [f"{start} -> {end}: {line}" for (start, end), lines in wrong for line in lines]


def circle(arrows: Arrows) -> list[str]:
    """Find a circle of rooms; an empty list where the arrows make none."""
    below: dict[str, set[str]] = defaultdict(set)
    for start, end in arrows:
        below[start].add(end)
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
