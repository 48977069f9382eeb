"""A host's image without Docker: its script in a fresh environment, its command as nobody where there is no network.

What the Dockerfile says is read from it: what is copied, what runs, as whom, and with which variables.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests import lock
from tests.rounds import is_due

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "install"
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
COPIED = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
# Runs in a network of its own: starts the command as its user, visits it, and prints what it saw.
VISIT = """
import asyncio, errno, fcntl, json, os, socket, struct, subprocess, sys, time, urllib.request

from tests.benchmarks.socket_session import SocketSession

command, folder, user, variables = json.loads(sys.argv[1])
with socket.socket() as any_socket:  # SIOCSIFFLAGS: the loopback is up and running, and nothing else is there
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x41))
    any_socket.settimeout(5)
    routes = any_socket.connect_ex(("192.0.2.1", 443)) != errno.ENETUNREACH
page = subprocess.Popen(command, cwd=folder, user=user, group=65534, extra_groups=[], env=variables)
try:
    for _ in range(1200):
        try:
            health = urllib.request.urlopen("http://127.0.0.1:8501/_stcore/health", timeout=60).read().decode()
            break
        except OSError:
            assert page.poll() is None
            time.sleep(0.1)
    heard = []

    async def read(model):
        async with SocketSession.at("http://127.0.0.1:8501/") as session:
            session.heard = lambda message, content: heard.append(content)
            await session.open("block", model=model, text="A quiet nightingale sang.")

    asyncio.run(asyncio.wait_for(read("minilm"), 600))
    sent = b"".join(heard)
    refusals = (b"Cannot be shown", b"is not in the list", b"Until then")
    print(json.dumps({"health": health, "routes": routes, "as": os.stat(f"/proc/{page.pid}").st_uid,
                      "read": b"nightingale" in sent, "refused": any(words in sent for words in refusals)}))
finally:
    page.terminate()
    page.wait(timeout=60)
"""


def said(instruction: str) -> list[str]:
    return [value for name, value in INSTRUCTIONS if name == instruction]


def test_the_image_copies_runs_the_script_and_starts_the_page_as_nobody() -> None:
    assert [name for name, _ in INSTRUCTIONS] == ["FROM", "WORKDIR", "COPY", "ENV", "RUN", "USER", "CMD"]
    assert (said("RUN"), said("USER"), said("COPY")) == (["scripts/install"], ["nobody"], [". ."])
    assert SCRIPT.stat().st_mode & 0o111


def test_nothing_is_installed_without_its_hash() -> None:
    installing = [line for line in SCRIPT.read_text(encoding="utf-8").splitlines() if "pip install" in line]
    assert len(installing) > 0
    assert [line for line in installing if "--require-hashes" not in line] == []


def test_all_that_is_copied_is_there_and_all_code_of_the_page_is_copied() -> None:
    assert [name for name in COPIED if not (ROOT / name).exists()] == []
    assert {"app.py", "command.py", "inspector", "models", "scripts", ".streamlit/config.toml"} <= set(COPIED)


def test_the_header_of_a_space_names_the_port_that_the_command_listens_on() -> None:
    (header,) = re.findall(r"```\n---\n(.*?)---\n```", (ROOT / "docs" / "frames.md").read_text("utf-8"), re.DOTALL)
    told = dict(line.split(": ") for line in header.splitlines())
    assert (told["sdk"], told["app_port"]) == ("docker", "8501"), "Streamlit's own port, at which the visit below asks"
    assert "--server.port" not in said("CMD")[0]


@pytest.fixture
def copied() -> Iterator[Path]:
    """Copy what the image holds before the script runs into a folder that every user may read."""
    with TemporaryDirectory(prefix="headlight-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for path in COPIED:
            (folder / path).parent.mkdir(exist_ok=True)
            if (ROOT / path).is_dir():
                shutil.copytree(ROOT / path, folder / path, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / path, folder / path)
        yield folder


@pytest.mark.heavy
def test_the_script_installs_and_the_page_runs_as_nobody_without_a_network(
    copied: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if not is_due(request.node.nodeid, of=12):
        pytest.skip("installing torch takes a minute: one round in twelve does")
    if reason := impossible(tmp_path):
        pytest.skip(reason)
    variables = dict(pair.split("=", 1) for line in said("ENV") for pair in line.split())
    variables = {name: value.replace(said("WORKDIR")[0], str(copied)) for name, value in variables.items()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADLIGHT_")}
    # Where an index that the lock names is out of reach, pip would ask again and again for each of its packages.
    own = environment | variables | {"PYTHON": str(interpreter(copied, said("USER")[0])), "PIP_RETRIES": "0"}
    done = subprocess.run([copied / "scripts/install"], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    before = written(copied)
    (user,), (command,) = said("USER"), said("CMD")
    # The copied interpreter has its library beside it; by itself it would look in the home that it came from.
    variables |= {"HOME": "/nonexistent", "LD_LIBRARY_PATH": str(copied / "python" / "lib")}
    told = json.dumps([json.loads(command), str(copied), user, variables])
    visited = subprocess.run(
        ["unshare", "-n", sys.executable, "-W", "ignore", "-c", VISIT, told],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert visited.returncode == 0, visited.stdout + visited.stderr
    assert json.loads(visited.stdout.splitlines()[-1]) == {
        "health": "ok",
        "routes": False,
        "as": pwd.getpwnam(user).pw_uid,
        "read": True,
        "refused": False,
    }
    assert written(copied) == before, "the page wrote into its own folder"
    assert "Traceback" not in visited.stderr


def interpreter(folder: Path, user: str) -> Path:
    """Give this Python for a user who may not enter the home that it may lie in: itself, or a copy in the folder."""
    base = Path(sys.base_prefix)
    python = base / "bin" / "python3.11"
    try:
        subprocess.run([python, "-c", ""], user=user, check=True)
        return python
    except PermissionError:
        left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__", "share", "include", "*.a")
        shutil.copytree(base, folder / "python", symlinks=True, ignore=left_out)
        return folder / "python" / "bin" / "python3.11"


def impossible(folder: Path) -> str:
    """Say why the script cannot run here, or its command not apart from the network; "" where both can."""
    if sys.platform != "linux" or os.uname().machine != "x86_64" or sys.version_info[:2] != (3, 11):
        return "the lock is for Linux on x86-64 with Python 3.11"
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode:
        return "unshare -n is not permitted here, nor to become another user"
    lines = lock.PATH.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "two.lock").write_text("".join(line for line in lines if line.startswith(("--", "idna=", "torch="))))
    asked = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--require-hashes"]
    done = subprocess.run(
        [*asked, "-r", str(folder / "two.lock")],
        env={**os.environ, "PIP_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return "pip reaches no index that has the locked packages" if "No matching distribution" in done.stderr else ""


def written(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if not path.is_dir()}
