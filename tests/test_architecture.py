"""Imports between rooms run one way: views -> plots -> analysis -> trace -> models, and views -> probe -> trace."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted([ROOT / "app.py", *ROOT.glob("models/**/*.py"), *ROOT.glob("inspector/**/*.py")])

RANK = {"models": 0, "trace": 1, "probe": 2, "analysis": 2, "plots": 3, "files": 4, "views": 5}
ROOMS = {  # of inspector's modules; all others are analysis
    "trace": {
        *(
            "trace",
            "norm_formula",
            "trace_file",
            "trace_check",
            "archive",
            "function_file",
            "tensor_file",
            "layer_words",
        ),
        *("cache", "held", "recompute", "pooling", "shared_models"),
    },
    "probe": {
        *("probe", "norm_hooks", "norm_places", "norm_kinds", "residual_sums", "states", "reading", "kept"),
        *("interventions", "generating", "beams"),
    },
    "files": {"export", "importance", "notebook", "__main__"},
}
OUTSIDE = {"models": {"streamlit", "plotly", "inspector"}}


def room(module: str) -> str:
    """The room of a module of the project, by its dotted name."""
    parts = module.split(".")
    if parts[0] in ("models", "app"):
        return {"models": "models", "app": "views"}[parts[0]]
    name = parts[1] if len(parts) > 1 else "trace"  # inspector itself imports on first use only
    if name in ("views", "plots"):
        return name
    return next((room for room, modules in ROOMS.items() if name in modules), "analysis")


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
            found |= {node.module or ""} | {
                f"{node.module}.{name.name}" for name in node.names if is_module(f"{node.module}.{name.name}")
            }
    return found


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_run_one_way(path: Path) -> None:
    own = room(module_of(path))
    for name in imports(path):
        top = name.split(".")[0]
        if top == "streamlit":
            assert own == "views", f"{path.name} imports streamlit outside the views"
        assert top not in OUTSIDE.get(own, set()), f"{path.name} in {own} imports {name}"
        if top in ("models", "inspector") and name != "inspector":
            other = room(name)
            forward = RANK[other] <= RANK[own] and {own, other} != {"probe", "analysis"}
            assert forward or "__init__" in path.name, f"{path.name} in {own} imports {name} of {other}"


def test_a_wrong_arrow_would_be_seen(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def f():\n    from inspector.views import session\n    import streamlit\n", encoding="utf-8")
    assert imports(wrong) >= {"inspector.views", "inspector.views.session", "streamlit"}
    assert RANK[room("inspector.views.session")] > RANK[room("inspector.heads")]
    assert room("inspector.probe") == "probe"


def test_the_page_draws_before_torch_is_there() -> None:
    """What app.py imports for its sidebar brings neither torch nor transformers."""
    code = "import sys, inspector.views.session; sys.exit(str({'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.stderr.decode().strip() == "set()"
