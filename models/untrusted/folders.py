"""A model in a local folder, inspected before it is loaded.

from models import folders
folders.local("path/of/a/model").size.parameters
"""

from __future__ import annotations

import json
from pathlib import Path

from models.formatting import one_line
from models.limits import UNLIMITED, Limits, variable
from models.untrusted.candidates import INDEX, MOST_INDEX_BYTES, Candidate, choose_files, notes_on, tokenizer_of
from models.untrusted.safe_config import safe_config
from models.untrusted.size import measure


def local(path: str | Path, *, limits: Limits = UNLIMITED) -> Candidate:
    """Describe the model in a folder without loading a weight.

    Raises ValueError for a folder outside limits.root (links followed), and for anything but a transformers model in
    safetensors.
    """
    folder = allowed(path, limits=limits)
    sizes = sizes_in(folder, root=limits.root)
    files = choose_files(sizes, shards_of(folder / INDEX) if INDEX in sizes else ())
    config = safe_config(folder, limits=limits)
    tokenizer = tokenizer_of(sizes)
    return Candidate(
        name=str(folder),
        files=files,
        cached_bytes=sum(file.size for file in files),
        config=config,
        size=measure(config.config, architecture=config.architecture),
        tokenizer=tokenizer,
        notes=notes_on(config, tokenizer),
        folder=folder,
    )


def allowed(path: str | Path, *, limits: Limits) -> Path:
    """Resolve the path of a folder that may be read.

    Raises ValueError where local folders are off, and for a folder that does not exist or lies outside the root. Both
    get the same answer, so that nobody learns which folders this machine has.
    """
    if limits.root is None:
        raise ValueError(f"Local folders are off here; start Headlight with {variable('root')} to allow one")
    root = limits.root.resolve()
    try:
        folder = Path(path).expanduser().resolve()
        readable = folder.is_relative_to(root) and folder.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # no path at all: a zero byte, an unknown user, a loop
        raise ValueError(f"{str(path)[:100]!a} is no path of a folder") from error
    if not readable:
        raise ValueError(
            f"There is no folder {str(path)[:100]!a} under {root}; {variable('root')} sets where models may lie"
        )
    return folder


def sizes_in(folder: Path, *, root: Path | None = None) -> dict[str, int]:
    """Return the sizes of a folder's files in bytes, by name, links followed.

    Raises ValueError for a link that leads out of the root (the loader would follow it), and for a pipe or a device.
    """
    sizes = {}
    for file in folder.iterdir():
        if file.is_dir() or not file.exists():  # a broken link counts as no file
            continue
        if not file.is_file():
            raise ValueError(f"{file.name[:100]!a} is no regular file; put the file itself there")
        if root is not None and not file.resolve().is_relative_to(root.resolve()):
            raise ValueError(f"{file.name[:100]!a} is a link that leads out of {root}; put the file itself there")
        sizes[file.name] = file.stat().st_size
    return sizes


def shards_of(index: Path) -> tuple[str, ...]:
    """Read the names of the weight files from a model.safetensors.index.json.

    Raises ValueError for a damaged index.
    """
    try:
        if index.stat().st_size > MOST_INDEX_BYTES:
            raise ValueError(f"it has over {MOST_INDEX_BYTES:,} bytes")
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{INDEX} is damaged: {one_line(error)}") from error
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{INDEX} names no weight files")
    return tuple(sorted(names))
