"""Imports between rooms run one way. A room is a folder; its rank says which rooms it may import: those below it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted([ROOT / "app.py", *ROOT.glob("models/**/*.py"), *ROOT.glob("inspector/**/*.py")])

RANKS = {
    **{
        "models": 0,
        "inspector.memory": 1,
        "inspector.trace": 2,
        "inspector.probe": 3,
        "inspector": 4,
        "inspector.costs": 4,
    },
    **{"inspector.interventions": 5, "inspector.generating": 5, "inspector.plots": 6, "inspector.components": 6},
    **{"inspector.export": 8, "inspector.views": 9, "app": 9},
}
"""Of each room; "inspector" holds the analysis, which reads what was recorded and never runs a model."""


def room(module: str) -> str:
    """The room of a module of the project, by its dotted name."""
    if module in ("inspector.__main__", "app"):
        return "app"
    parts = module.split(".")
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next(name for name in names if name in RANKS)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Every module that the file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules = {f"{node.module}.{name.name}" for name in node.names if is_module(f"{node.module}.{name.name}")}
            found |= modules or {node.module or ""}
    return found


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_run_one_way(path: Path) -> None:
    own = room(module_of(path))
    for name in imports(path):
        top = name.split(".")[0]
        assert top != "streamlit" or own in ("inspector.views", "app"), f"{path} imports streamlit outside the views"
        assert top != "plotly" or own != "models", f"{path} imports plotly"
        if top not in ("models", "inspector") or name == "inspector" or module_of(path) == "inspector":
            continue
        other = room(name)
        assert RANKS[other] <= RANKS[own], f"{path} in {own} imports {name} of {other}"
        assert (own, other) != ("inspector", "inspector.probe"), f"{path}: analysis never runs a model"


def test_a_wrong_arrow_would_be_seen(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "def f():\n    from inspector.views.shell import session\n    import streamlit\n", encoding="utf-8"
    )
    assert imports(wrong) == {"inspector.views.shell.session", "streamlit"}
    assert RANKS[room("inspector.views.shell.session")] > RANKS[room("inspector.heads")]
    assert room("inspector.probe.recording") == "inspector.probe"


def test_the_page_draws_before_torch_is_there() -> None:
    """What app.py imports for its sidebar brings neither torch nor transformers."""
    code = "import sys, inspector.views.shell.session; sys.exit(str({'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.stderr.decode().strip() == "set()"
