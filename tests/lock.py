"""requirements-linux-x86_64.lock: the page's packages with the hash of each file, for hosts. `make lock`.

Run it on Linux on x86-64 with the oldest Python that Headlight supports. Everything comes from PyPI but torch, whose
CPU build comes from PyTorch's own index. Versions are those of constraints.txt. Where that index is out of reach, a
folder with its wheel may stand in: `make lock TORCH="--find-links FOLDER"`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests import constraints

PATH = constraints.ROOT / "requirements-linux-x86_64.lock"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
HEAD = f"""\
# The page's packages for a host: Linux on x86-64, Python {{python}}, torch without CUDA; each file is held to its hash.
#     python{{python}} -m venv .venv && .venv/bin/python -m pip install --require-hashes -r {PATH.name}
# `make lock` writes it, tests/test_constraints.py holds its releases to those of constraints.txt.
--extra-index-url {CPU_INDEX}
--only-binary :all:
"""


def written(packages: Mapping[str, tuple[str, str]]) -> str:
    """Give the text of the lock from the version and the SHA-256 of each package."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = [f"{name}=={version} --hash=sha256:{digest}\n" for name, (version, digest) in sorted(packages.items())]
    return HEAD.format(python=python) + "".join(lines)


def read() -> dict[str, tuple[str, str]]:
    """Read the version and the SHA-256 of each package from the lock, by its canonical name."""
    lines = [line for line in PATH.read_text(encoding="utf-8").splitlines() if not line.startswith(("#", "--"))]
    halves = [line.split(" --hash=sha256:") for line in lines]
    return {name: (version, digest) for pin, digest in halves for name, version in [pin.split("==")]}


def locked(*index: str) -> dict[str, tuple[str, str]]:
    """Ask pip which file of each package it would install; index: pip's options that say where torch is."""
    torch = f"torch=={constraints.read()['torch']}+cpu"
    requirements = str(constraints.ROOT / "requirements.txt")
    found = constraints.reported([*(index or ("--extra-index-url", CPU_INDEX)), "-r", requirements, torch])
    return {
        constraints.canonical(package["metadata"]["name"]): (
            package["metadata"]["version"],
            package["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for package in found
    }


if __name__ == "__main__":
    PATH.write_text(written(locked(*sys.argv[1:])), encoding="utf-8")
