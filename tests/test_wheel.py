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
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests import constraints, wheel_copy
from tests.wheel_copy import backend

pytestmark = pytest.mark.heavy

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
        ("# python -m models.fetch minilm\n", "# headlight-inspector fetch minilm\n"),
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
    lists = [path.name for path in ROOT.glob("requirements*.txt")]
    for name in ("app.py", "command.py", "setup.py", "pyproject.toml", "README.md", "LICENSE", *lists):
        shutil.copyfile(ROOT / name, copy / name)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run([sys.executable, "-m", "pip", "wheel", ".", *offline, "--wheel-dir", str(out)], copy)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an environment with the wheel alone."""
    return environment(tmp_path_factory.mktemp("environment"), wheel)


def environment(folder: Path, wheel: Path) -> Path:
    """Install the wheel in an environment of its own, which finds the packages of this one; returns its scripts."""
    run([sys.executable, "-m", "venv", str(folder)], folder.parent)
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
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=usual, capture_output=True, text=True, check=False)
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


def test_it_asks_for_what_the_requirements_say_and_an_extra_for_what_a_cluster_needs(wheel: Path) -> None:
    """Weights, and what their packages would bring, are asked for by nothing; licences go along."""
    (name,) = [name for name in members(wheel) if name.endswith(".dist-info/METADATA")]
    told = Parser().parsestr(members(wheel)[name].decode())
    needed = [Requirement(line) for line in told.get_all("Requires-Dist", [])]
    always = {one.name for one in needed if one.marker is None}
    assert always == {Requirement(line).name for line in constraints.direct("requirements.txt")}
    assert {str(one.specifier) for one in needed if one.name == "ray"} == {"==2.60.0"}
    extras = {path.stem.removeprefix("requirements-") for path in ROOT.glob("requirements-*.txt")}
    of_tests = {"dev", "notebook-dev"}
    assert set(told.get_all("Provides-Extra", [])) == extras - of_tests == {"cluster", "mcp", "notebook"}
    licence = members(wheel)[f"{name.rpartition('/')[0]}/licenses/LICENSE"]
    assert licence == members(wheel)[f"{SPACE}/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    held = members(wheel)
    for place in re.findall(r"inspector/atlas/shipped/\S+\.parquet", licence.decode()):
        assert f"{SPACE}/{place}" in held
    assert f"{SPACE}/inspector/atlas/shipped/translator/ATTRIBUTION.txt" in held


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
    assert json.loads(run([command, "record", "The cat sat.", "--json"], decoys))["tokens"][2] == "cat"
    assert json.loads(run([command, "section", "block/added", "The cat sat.", "--json"], decoys))["kind"] == "section"
    assert json.loads(run([command, "schema"], decoys))["oneOf"]
    assert "headlight-inspector mcp" in run([command, "mcp", "--help"], decoys)
    (decoys / "texts.txt").write_text("The cat sat.\nIt was tired.\n" * 20, encoding="utf-8")
    build = ["atlas", "build", "minilm", "texts.txt", "--out", "built", "--workers", "2", "--block-texts", "10"]
    assert "over 40 texts of texts.txt" in run([command, *build], decoys)
    assert "previous" in run([command, "atlas", "show", "built", "--most", "2"], decoys)
    refused = subprocess.run([command, "nothing"], cwd=decoys, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "'nothing' is no command of headlight-inspector" in refused.stderr


@pytest.mark.heavy
def test_uninstalled_it_leaves_nothing_but_the_cache_whose_place_it_says(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, place = tmp_path / "home", tmp_path / "environment"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("HEADLIGHT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    scripts = environment(place, wheel)
    command, of_pip = str(scripts / "headlight-inspector"), written(home)
    assert "previous" in run([command, "heads", "The cat sat on the mat.", "--model", "mini-bert"], tmp_path)
    assert "MB" in run([command, "fetch"], tmp_path)
    assert written(home) == of_pip
    (tmp_path / "texts.txt").write_text("The cat sat.\n" * 20, encoding="utf-8")
    run(
        [command, "atlas", "build", "mini-bert", "texts.txt", "--out", str(home / ".cache/headlight/atlases/a")],
        tmp_path,
    )
    told = "".join(run([command, "fetch", "--help"], tmp_path).split())
    assert f"{home}/.cache/headlight/weights" in told
    run([str(scripts / "python"), "-m", "pip", "uninstall", "--yes", "--quiet", "headlight-inspector"], tmp_path)
    assert [path for path in place.rglob("*") if "headlight" in path.name] == []
    left = written(home) - of_pip
    assert left == {name for name in left if name.startswith(".cache/headlight/atlases/a/")} != set()


def written(home: Path) -> set[str]:
    return {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("source", "renamed"),
    [
        ('patch("models.registry.load", None)\n', 'patch("headlight_inspector.models.registry.load", None)\n'),
        ("patch('models.files.os.stat')\n", "patch('headlight_inspector.models.files.os.stat')\n"),
        ("run('inspector.views.shell.frame')\n", "run('headlight_inspector.inspector.views.shell.frame')\n"),
        ('say("models.of_nobody.here", "inspector", "models.")\n', None),
        ("from tests.a import b\nimport models\n", "from tests.a import b\nfrom headlight_inspector import models\n"),
        ("from tokenizers import models as kinds\n", None),
    ],
)  # fmt: skip
def test_a_test_is_written_anew(source: str, renamed: str | None) -> None:
    assert wheel_copy.renamed(source, backend()) == (renamed or source)


SHARE = (
    "tests/models/fetch",
    "tests/models/test_registry.py",
    "tests/inspector/test_heads.py",
    "tests/inspector/views/shell/test_sidebar.py",
)


@pytest.mark.heavy
def test_tests_pass_against_the_wheel(installed: Path, tmp_path: Path) -> None:
    """A share of the quick tests, in which modules are patched by their names, files read, and programs started."""
    namespace = next(installed.parent.glob(f"lib/python*/site-packages/{SPACE}"))
    wheel_copy.write(tmp_path, namespace)
    told = run([str(installed / "python"), "-m", "pytest", "-q", "-m", "not heavy", *SHARE], tmp_path)
    assert int(re.findall(r"(\d+) passed", told)[-1]) > 60
    assert "failed" not in told


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
