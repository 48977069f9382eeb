"""Installed packages are those that constraints.txt says, and nothing that the requirements bring is missing there."""

from __future__ import annotations

import re
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from models.fetch.packages import PACKAGES
from tests import constraints, lock


def needed(*files: str) -> dict[str, str]:
    """Walk from the files' requirements through all that they need here: the installed version of each, by its name."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(line) for line in constraints.direct(*files)]
    while waiting:
        requirement = waiting.pop()
        name = constraints.canonical(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            here = distribution(name)
            found[name] = constraints.public(here.version)
            further = [Requirement(line) for line in here.requires or ()]
            waiting += [one for one in further if one.marker is None or one.marker.evaluate({"extra": extra})]
    return found


def test_what_is_installed_is_what_the_constraints_say() -> None:
    pinned = constraints.read()
    assert {name: pinned.get(name) for name in needed()} == needed()


def test_the_walk_reaches_what_is_needed_in_turn() -> None:
    walked = needed()
    assert {"torch", "jinja2", "markupsafe", "starlette", "tokenizers", "pytest", "pluggy"} <= set(walked)
    assert set(walked) <= set(constraints.read())


def test_every_direct_requirement_is_pinned_to_the_same_version() -> None:
    pinned = constraints.read()
    for line in constraints.direct():
        requirement = Requirement(line)
        assert str(requirement.specifier) == f"=={pinned[constraints.canonical(requirement.name)]}"


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_both_requirements_read_the_constraints(file: str) -> None:
    """pip heeds the `-c` of a file that another names by `-r`: every install keeps the versions."""
    text = (constraints.ROOT / file).read_text(encoding="utf-8")
    assert text.splitlines()[1].split("#")[0].strip() in ("-c constraints.txt", "-r requirements.txt")


def test_no_list_names_the_packages_of_weights_and_one_place_pins_them() -> None:
    """Installed, one would bring scikit-learn and the other a compiled library, for code that nothing here runs."""
    lists = [*constraints.ROOT.glob("requirements*"), constraints.PATH]
    code = [path for top in ("models", "inspector", "tests") for path in (constraints.ROOT / top).rglob("*.py")]
    for package in PACKAGES.values():
        assert [path for path in lists if re.search(rf"(?m)^{package.name}==", path.read_text(encoding="utf-8"))] == []
        pinning = [path.name for path in code if package.pin.sha256 in path.read_text(encoding="utf-8")]
        assert pinning == ["packages.py"]
    brought = {"scikit-learn", "sentence-transformers", "joblib", "llama-cpp-python"}
    assert not brought & (set(constraints.read()) | set(needed()))
    assert "scipy" not in needed("requirements.txt")


def test_the_lock_of_hosts_names_the_same_releases() -> None:
    """The lock is of one platform, whatever this machine is, and of the page alone."""
    pinned, locked = constraints.read(), lock.read()
    releases = {name: constraints.public(version) for name, (version, _) in locked.items()}
    assert releases == {name: pinned[name] for name in locked}
    assert locked["torch"][0] == f"{pinned['torch']}+cpu"
    assert not [name for name in locked if name.startswith(("nvidia-", "cuda-", "triton", "pytest"))]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in locked.values())


def test_the_lock_has_what_the_page_needs_in_turn() -> None:
    ours = {name for name in needed("requirements.txt") if not name.startswith(("nvidia-", "cuda-", "triton"))}
    assert ours - set(lock.read()) <= {"colorama"}, "which Windows alone needs"


def test_the_written_lock_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = {"a": ("1.0", "0" * 64), "b-c": ("2.0+cpu", "f" * 64)}
    path = tmp_path / "some.lock"
    path.write_text(lock.written(packages), encoding="utf-8")
    monkeypatch.setattr(lock, "PATH", path)
    assert lock.read() == packages


def test_the_written_list_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    versions = {"a": "1.0", "b-c": "2.0.post1"}
    path = tmp_path / "constraints.txt"
    path.write_text(constraints.written(versions), encoding="utf-8")
    monkeypatch.setattr(constraints, "PATH", path)
    assert constraints.read() == versions
