"""Atlases at hand: those that are shipped, and those that a reader built, each held to the model that it is of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from inspector.atlas import manifest as manifests
from inspector.atlas.merging import ABOUT, MERGED
from inspector.atlas.opened import Atlas, open_atlas
from models import LoadedModel

SHIPPED = Path(__file__).parent / "shipped"
VARIABLE = "HEADLIGHT_ATLASES"
SAME_WEIGHTS = {"minilm-own": "minilm"}
"""Models that are another one's weights in the project's own Transformer, and whose maps are equal to 1e-5."""
_MOST = 200  # folders of a reader's that are looked into


@dataclass(frozen=True)
class Shelf:
    """The atlases of a model, the shipped one first. problems: a sentence for each that cannot be shown.

    weights_of: the id of the model whose atlas stands in because it has the same weights; "" where it is the model's.
    """

    atlases: tuple[Atlas, ...]
    problems: tuple[str, ...] = ()
    weights_of: str = ""


def kept() -> Path | None:
    """The folder of the reader's own atlases: HEADLIGHT_ATLASES, or a folder of the cache; None where that is "off"."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen.lower() == "off":
        return None
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "headlight" / "atlases"


def shipped() -> tuple[str, ...]:
    """The ids of the models that have a shipped atlas."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{ABOUT}")))


def any_of(id: str) -> bool:
    """Return True if some atlas is of a model with this id; whether it is of these weights only `of` can say."""
    if (SHIPPED / SAME_WEIGHTS.get(id, id) / ABOUT).is_file():
        return True
    return any(_names(folder, id) for folder in _folders())


def _names(folder: Path, id: str) -> bool:
    try:
        return _opened(folder).manifest.model == id
    except ValueError:  # `of` says so
        return True


def of(loaded: LoadedModel) -> Shelf:
    """Find the atlases of a model: shipped, and built by the reader.

    One whose weights, configuration or tokenizer were others is named among the problems and not shown. A model under
    changed switches has none, for its heads are others.
    """
    if loaded.card.redrawn is not None:
        return Shelf(())
    id = loaded.card.id
    stands_in = SAME_WEIGHTS.get(id, "")
    found: list[Atlas] = []
    problems: list[str] = []
    if (SHIPPED / (stands_in or id) / ABOUT).is_file():
        own = _opened(SHIPPED / (stands_in or id))
        if stands_in or own.manifest.model_hash == manifests.known_hash(loaded):
            found.append(own)
        else:
            problems.append(f"The shipped atlas of {id} is of other weights than these, so it is not shown.")
    for folder in _folders():
        try:
            one = _opened(folder)
        except ValueError as error:
            problems.append(f"An atlas cannot be read: {error}.")
            continue
        if one.manifest.model == id and one.manifest.model_hash == manifests.known_hash(loaded):
            found.append(one)
        elif one.manifest.model == id:
            problems.append(
                f"The atlas {folder.name} is of another {id}: its weights, configuration or tokenizer have changed "
                "since. Build it again."
            )
    return Shelf(tuple(found), tuple(problems), stands_in if found else "")


@dataclass(frozen=True)
class Kept:
    """A folder of the reader's: its name, and its atlas; None where that is not built to its end or cannot be read."""

    name: str
    atlas: Atlas | None


def folders(folder: Path) -> list[Kept]:
    """List what a folder of atlases holds, of every model, finished or not."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if not (path / manifests.NAME).is_file():
            continue
        try:
            found.append(Kept(path.name, _opened(path)))
        except (ValueError, OSError):
            found.append(Kept(path.name, None))
    return found[:_MOST]


def _folders() -> list[Path]:
    """The reader's folders that hold a merged atlas, by name."""
    folder = kept()
    if folder is None or not folder.is_dir():
        return []
    merged = sorted(path for path in folder.iterdir() if (path / MERGED / ABOUT).is_file())
    return merged[:_MOST]


def _opened(folder: Path) -> Atlas:
    """Open an atlas once for all readers; again where it was built again."""
    about = folder / MERGED / ABOUT
    about = about if about.is_file() else folder / ABOUT
    return _read(folder, about.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(folder: Path, changed: int) -> Atlas:
    return open_atlas(folder)
