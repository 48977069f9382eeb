"""The wheel: only imports differ from the repository, nothing is missing, and it works in a folder of decoys."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import site
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SPACE = "headlight_inspector"
TOPS = ("inspector", "models")
RECORDED = """
import json, sys
from headlight_inspector import inspector, models

loaded = models.load("minilm")
trace = inspector.record(loaded, "The cat sat on the mat.")
sums = trace.attention(layer=3, head=7).sum(axis=-1)
shown = list(inspector.sections.show("block/added", trace, loaded=loaded).outputs())
code = next(block.code for block in inspector.sections.show("layernorm/direction", trace, loaded=loaded).blocks
            if getattr(block, "code", ""))
names = {}
exec(code, names)
print(json.dumps({
    "rows": len(inspector.heads.measure(trace)),
    "sums": [float(value) for value in sums],
    "outputs": len(shown),
    "grid": len(inspector.show(trace, live=False)._repr_html_()),
    "table": len(names["table"]),
    "strangers": sorted(name for name in sys.modules if name.split(".")[0] in ("inspector", "models", "utils", "app")),
}))
"""


def backend() -> ModuleType:
    spec = spec_from_file_location("headlight_setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Moved(ast.NodeTransformer):
    """The imports of a module of the repository as they are in the namespace; strings are compared apart."""

    def visit_Import(self, node: ast.Import) -> ast.AST:
        ours = [name for name in node.names if name.name.split(".")[0] in TOPS]
        if not ours:
            return node
        assert len(ours) == len(node.names), ast.unparse(node)
        if any("." in name.name for name in ours):
            return ast.Import([ast.alias(f"{SPACE}.{name.name}", name.asname) for name in ours])
        return ast.ImportFrom(SPACE, ours, 0)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if (node.module or "").split(".")[0] in TOPS:
            node.module = f"{SPACE}.{node.module}"
        return node


def shape(tree: ast.AST) -> str:
    """Dump a tree without its strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def strings(tree: ast.AST) -> list[str]:
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_only_imports_differ_and_no_string_names_a_module_of_the_repository() -> None:
    renamed, modules = backend().renamed, set[str]()
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    for path in paths:
        modules.add(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    changed = 0
    for path in [*paths, ROOT / "app.py"]:
        source = path.read_text(encoding="utf-8")
        before, after = ast.parse(source), ast.parse(renamed(source))
        changed += renamed(source) != source
        left = [text for text in strings(after) if text in modules - set(TOPS)]
        assert left == [], f"{path}: {left} are names of modules; say __name__ or __package__"
        shown = [text for text in strings(after) if re.search(r"(?m)^\s*(import|from) (inspector|models)\b", text)]
        assert shown == [], f"{path}: {shown}"
        assert shape(Moved().visit(before)) == shape(after), path
    assert changed > 500


@pytest.mark.parametrize(
    ("source", "renamed"),
    [
        ("import inspector, models\n", "from headlight_inspector import inspector, models\n"),
        ("import inspector.trace as t\n", "import headlight_inspector.inspector.trace as t\n"),
        ("from models.attention import seam\n", "from headlight_inspector.models.attention import seam\n"),
        (
            'code = f"{given}from inspector import flow\\n"\n',
            'code = f"{given}from headlight_inspector.inspector import flow\\n"\n',
        ),
        ("'\\nimport models'", "'\\nfrom headlight_inspector import models'"),
        ("# python -m inspector.atlas build\n", "# headlight-inspector atlas build\n"),
        ("# python -m models.train mini-gpt\n", "# python -m headlight_inspector.models.train mini-gpt\n"),
        ("from inspectors import x\nimport models_of\nfrom .models import y\n", None),
    ],
)  # fmt: skip
def test_an_import_is_written_anew(source: str, renamed: str | None) -> None:
    assert backend().renamed(source) == (renamed or source)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel in a copy, for a build leaves files beside setup.py."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*TOPS, ".streamlit"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "command.py", "setup.py", "pyproject.toml", "README.md", "LICENSE", "requirements.txt"):
        shutil.copyfile(ROOT / name, copy / name)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run([sys.executable, "-m", "pip", "wheel", ".", *offline, "--wheel-dir", str(out)], copy)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in an environment of its own, which finds the packages of this one; returns its scripts."""
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", str(folder)], folder)
    scripts = folder / "bin"
    run([str(scripts / "python"), "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", str(wheel)], folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return scripts


@pytest.fixture
def decoys(tmp_path: Path) -> Path:
    """A folder whose files have the names of ours, and a configuration that would open the page to all."""
    (tmp_path / "inspector").mkdir()
    (tmp_path / ".streamlit").mkdir()
    for name in ("models.py", "utils.py", "app.py", "inspector/__init__.py"):
        (tmp_path / name).write_text("raise RuntimeError('a decoy was imported')\n", encoding="utf-8")
    opened = '[server]\naddress = "0.0.0.0"\nallowedHosts = ["*"]\nenableXsrfProtection = false\nenableCORS = false\n'
    (tmp_path / ".streamlit" / "config.toml").write_text(opened, encoding="utf-8")
    return tmp_path


def run(command: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_that_the_packages_hold_is_missing(wheel: Path) -> None:
    listed = subprocess.run(["git", "ls-files", *TOPS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    held = {name.removeprefix(f"{SPACE}/"): data for name, data in members(wheel).items()}
    assert set(listed.splitlines()) <= set(held)
    for name in ("app.py", "command.py", ".streamlit/config.toml", "LICENSE", "__init__.py", "__main__.py"):
        assert name in held
    assert held[".streamlit/config.toml"] == (ROOT / ".streamlit" / "config.toml").read_bytes()
    assert {name.split("/")[0].split("-")[0] for name in members(wheel)} == {SPACE}  # no top-level models or inspector


def members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.heavy
def test_a_program_in_a_folder_of_decoys_records_measures_and_shows(installed: Path, decoys: Path) -> None:
    (decoys / "own.py").write_text(RECORDED, encoding="utf-8")
    told = json.loads(run([str(installed / "python"), "own.py"], decoys).splitlines()[-1])
    assert told["rows"] == 72
    assert told["sums"] == pytest.approx([1.0] * 9, rel=1e-5)  # [CLS] the cat sat on the mat . [SEP]
    assert told["outputs"] > 5
    assert told["grid"] > 10_000
    assert told["table"] > 5
    assert told["strangers"] == []


@pytest.mark.heavy
def test_commands_work_in_a_folder_of_decoys(installed: Path, decoys: Path) -> None:
    command = str(installed / "headlight-inspector")
    assert re.fullmatch(r"headlight-inspector \d+\.\d+\.\d+\n", run([command, "--version"], decoys))
    assert "mini-gpt" in run([command, "models"], decoys)
    assert run([str(installed / "python"), "-m", SPACE, "--help"], decoys).count("headlight-inspector") > 5
    assert "previous" in run([command, "heads", "The cat sat on the mat."], decoys)
    (decoys / "texts.txt").write_text("The cat sat.\nIt was tired.\n" * 20, encoding="utf-8")
    build = ["atlas", "build", "minilm", "texts.txt", "--out", "built", "--workers", "2", "--block-texts", "10"]
    assert "over 40 texts of texts.txt" in run([command, *build], decoys)
    assert "previous" in run([command, "atlas", "show", "built", "--most", "2"], decoys)
    refused = subprocess.run([command, "nothing"], cwd=decoys, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "'nothing' is no command of headlight-inspector" in refused.stderr


@pytest.mark.heavy
def test_the_page_is_served_on_this_machine_alone_whatever_the_folder_says(installed: Path, decoys: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(installed / "headlight-inspector"), "page", f"--server.port={port}", "--server.headless=true"]
    with subprocess.Popen(command, cwd=decoys, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as page:
        try:
            headers, status = served(port)
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert headers["x-frame-options"] == "DENY"
            assert status == "ok"
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": "elsewhere.example"})
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(request, timeout=30)
            with socket.socket() as other:  # another address of this machine
                assert other.connect_ex(("127.0.0.2", port)) != 0
        finally:
            page.send_signal(signal.SIGINT)
            told = page.communicate(timeout=60)[0]
    assert f"Headlight is at http://127.0.0.1:{port}" in told
    assert "Traceback" not in told


def served(port: int) -> tuple[dict[str, str], str]:
    """Wait until the page answers; returns the headers of its first file, and what its health check says."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
                headers = {name.lower(): value for name, value in answer.headers.items()}
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=30) as answer:
                return headers, answer.read().decode()
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the page does not answer")
