"""constraints.txt: the version of every package that the requirements bring, resolved anew. `make constraints`.

Run it on Linux with the oldest Python that Headlight supports: the list is longest there, CUDA libraries included. It
needs nothing but pip, so that it runs where a requirement and the list of before no longer agree.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
PATH = ROOT / "constraints.txt"
FILES = ("requirements.txt", "requirements-cluster.txt", "requirements-dev.txt")
HEAD = """\
# The version of every package that the requirements files bring, and of all that these need in turn; these files read
# this list. `make constraints` writes it, tests/test_constraints.py holds what is installed to it. Resolved on Linux
# with Python {python}; nvidia-*, cuda-* and triton belong to PyPI's build of torch, the CPU build brings none.
# No hashes: one hash makes pip ask for the hash of every package, and torch's wheel differs by platform and by index
# (PyPI, download.pytorch.org); requirements-linux-x86_64.lock has those of a host. Not here: pywin32, which portalocker
# (sacrebleu needs it, for tests) brings on Windows.
"""


def direct(*names: str) -> list[str]:
    """List the requirements that the files name, all or some of them, without comments and options."""
    files = [ROOT / name for name in names or FILES]
    lines = [line.split("#")[0].strip() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("-")]


def canonical(name: str) -> str:
    """Spell a package's name as the index does (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def public(version: str) -> str:
    """Leave out what a version says of its build: 2.13.0+cpu is 2.13.0."""
    return version.split("+")[0]


def resolved(requirements: Iterable[str]) -> dict[str, str]:
    """Ask pip which version of each package it would install today, from PyPI alone."""
    metadata = [package["metadata"] for package in reported(requirements)]
    return {canonical(package["name"]): public(package["version"]) for package in metadata}


def reported(arguments: Iterable[str]) -> list[dict[str, Any]]:
    """Ask pip what it would install today, whatever this machine's pip is set to: a report of each package."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PIP_FIND_LINKS", "PIP_INDEX_URL")}
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        subprocess.run(
            [*command, f"--report={report}", *arguments],
            env={**environment, "PIP_CONFIG_FILE": os.devnull},
            check=True,
        )
        packages: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return packages


def written(versions: Mapping[str, str]) -> str:
    """Give the text of constraints.txt."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return HEAD.format(python=python) + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))


def read() -> dict[str, str]:
    """Read the version of each package from constraints.txt, by its canonical name."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


if __name__ == "__main__":
    PATH.write_text(written(resolved(direct())), encoding="utf-8")
