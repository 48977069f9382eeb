"""Atlases at hand: shipped atlases, and atlases that readers built, each held to the model that it is of.

A reader's atlas lies in a folder under its name, where all may see it, or under a key that nobody guesses: then only
who holds the key finds it. Every function takes the `keys` that a reader holds; with None, nothing is hidden.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from inspector.atlas import block, planning, sources
from inspector.atlas import manifest as manifests
from inspector.atlas.beside import take_away
from inspector.atlas.merging import ABOUT, MERGED, MERGING
from inspector.atlas.opened import Atlas, open_atlas
from inspector.atlas.texts import Text
from models import LoadedModel, settings

SHIPPED = Path(__file__).parent / "shipped"
VARIABLE = "HEADLIGHT_ATLASES"
SAME_WEIGHTS = {"minilm-own": "minilm", "smollm2-own": "smollm2"}
"""Models that are another one's weights in the project's own Transformer, and whose maps are equal to 1e-5."""
KEPT = "kept/"
"""Begins the name, among atlases that can be set beside another, of one that a reader built."""
_MOST = 200  # folders of readers' that are looked into
_KEY = re.compile(r"key-[\w-]{22}", re.ASCII)
_PARTS = {manifests.NAME, sources.NAME, planning.TEXTS, block.BLOCKS, MERGING, MERGED}
_HIDDEN = re.compile(
    r"\.(planning|merged|manifest\.json|sources\.json)-.+-\d+"
)  # what a build that was killed leaves among them

Keys = Collection[str] | None


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
    return settings.atlases()


def shipped() -> tuple[str, ...]:
    """The ids of the models that have a shipped atlas."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{ABOUT}")))


def is_key(id: str) -> bool:
    """Return True for the id of an atlas that is in no list."""
    return _KEY.fullmatch(id) is not None


def id_of(atlas: Atlas) -> str:
    """Name an atlas in a link by the folder that a reader's lies in; "" for a shipped one."""
    return "" if str(atlas.folder).startswith(str(SHIPPED)) else atlas.folder.parent.name


def any_of(id: str, *, keys: Keys = None) -> bool:
    """Return True if some atlas is of a model with this id; whether it is of these weights only `of` can say."""
    if (SHIPPED / SAME_WEIGHTS.get(id, id) / ABOUT).is_file():
        return True
    return any(_names(folder, id) for folder in _merged(keys))


def _names(folder: Path, id: str) -> bool:
    try:
        return _opened(folder).manifest.model == id
    except ValueError:  # `of` says so
        return True


def of(loaded: LoadedModel, *, keys: Keys = None) -> Shelf:
    """Find the atlases of a model: shipped, and built by readers.

    One whose weights, configuration or tokenizer were others is named among the problems and not shown. A model under
    changed switches has none, for its heads are others.
    """
    if loaded.card.redrawn is not None:
        return Shelf(())
    id = loaded.card.id
    stands_in = SAME_WEIGHTS.get(id, "")
    atlases: list[Atlas] = []
    problems: list[str] = []
    if (SHIPPED / (stands_in or id) / ABOUT).is_file():
        shipped_atlas = _opened(SHIPPED / (stands_in or id))
        if stands_in or shipped_atlas.manifest.model_hash == manifests.known_hash(loaded):
            atlases.append(shipped_atlas)
        else:
            problems.append(f"The shipped atlas of {id} is of other weights than these, so it is not shown.")
    for folder in _merged(keys):
        try:
            atlas = _opened(folder)
        except (ValueError, OSError) as error:
            problems.append(f"An atlas cannot be read: {without_path(error, folder)}.")
            continue
        if atlas.manifest.model == id and atlas.manifest.model_hash == manifests.known_hash(loaded):
            atlases.append(atlas)
        elif atlas.manifest.model == id:
            problems.append(
                f"The atlas {folder.name} is of another {id}: its weights, configuration or tokenizer have changed "
                "since. Build it again."
            )
    return Shelf(tuple(atlases), tuple(problems), stands_in if atlases else "")


def beside(atlas: Atlas, *, keys: Keys = None) -> dict[str, Atlas]:
    """Find the atlases that can be set beside an open one, by their names in a link: "mini-bert", "kept/my texts".

    First those of the same model over other texts, then the shipped ones, then the readers' of other models. An atlas
    of other weights under the same model's name is left out, and one that cannot be read: `of` tells of both.
    """
    every = {id: _opened(SHIPPED / id) for id in shipped()}
    for folder in _merged(keys):
        try:
            every[f"{KEPT}{folder.name}"] = _opened(folder)
        except (ValueError, OSError):
            continue
    open_one = atlas.manifest
    others = {
        id: other
        for id, other in every.items()
        if other.folder != atlas.folder
        and (other.manifest.model != open_one.model or other.manifest.model_hash == open_one.model_hash)
    }
    return dict(sorted(others.items(), key=lambda entry: entry[1].manifest.model != open_one.model))


@dataclass(frozen=True)
class AtlasFolder:
    """A folder of a reader's: its id, its name, and its atlas.

    atlas: None where it is not built to its end, where it cannot be read, and where a removal left only parts.
    """

    id: str
    name: str
    atlas: Atlas | None


def folders(folder: Path, *, keys: Keys = None) -> list[AtlasFolder]:
    """List what a reader may remove, of every model, finished or not: everything, or what the keys are of."""
    entries = []
    for path in _atlas_folders(folder):
        if keys is not None and path.name not in keys:
            continue
        try:
            entries.append(AtlasFolder(path.name, name_of(path), _opened(path)))
        except (ValueError, OSError):
            entries.append(AtlasFolder(path.name, name_of(path), None))
    return entries[:_MOST]


def name_of(path: Path) -> str:
    """Read the name of a reader's atlas: its folder's, or, under a key, the one that it was given."""
    if not is_key(path.name):
        return path.name
    try:
        return manifests.read(path).corpus
    except (ValueError, OSError):
        return "texts without a name"


def is_begun(folder: Path) -> bool:
    """Return True if a folder holds the plan of an atlas: one that is built, or is being built."""
    return (folder / manifests.NAME).is_file()


def remove(folder: Path, id: str) -> None:
    """Delete one of `folders`; it may be gone already."""
    if any(path.name == id for path in _atlas_folders(folder)):
        take_away(folder / id)


def place(
    folder: Path, loaded: LoadedModel, texts: Sequence[Text], *, name: str, keys: Keys = None
) -> tuple[str, Path]:
    """Find the name and the folder of an atlas to build: the same build's where it was begun, else new ones.

    A name that another atlas has gets a number: "my texts 2". keys: of a reader whose atlas gets a key for a folder;
    names are told apart among the reader's own then.
    """
    taken = {name_of(folder / key): folder / key for key in keys or ()}
    title, number = name, 1
    while True:
        there = folder / title if keys is None else taken.get(title)
        if there is None or not there.exists():
            return title, folder / (title if keys is None else f"key-{secrets.token_urlsafe(16)}")
        if _begun(there, loaded, texts, name=title):
            return title, there
        number += 1
        title = f"{name} {number}"


def _begun(folder: Path, loaded: LoadedModel, texts: Sequence[Text], *, name: str) -> bool:
    """Return True if a folder holds the plan of these texts for this model, made with the same libraries."""
    try:
        plan = manifests.read(folder)
        block.check(plan, loaded)
    except (ValueError, OSError):
        return False
    if plan.format != manifests.FORMAT:
        return False
    return (plan.corpus, plan.corpus_hash) == (name, planning.corpus_hash(texts))


def nbytes(folder: Path, *, without: Path) -> int:
    """Add up the bytes of all that is kept, unlisted and unfinished too, but for one atlas."""
    return sum(
        _size(path)
        for atlas_folder in _atlas_folders(folder)
        if atlas_folder != without
        for path in atlas_folder.rglob("*")
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # it was removed meanwhile
        return 0


def without_path(error: Exception, folder: Path) -> str:
    """Write an error for a reader: an atlas by its name, and no path of this machine."""
    name = "the atlas" if is_key(folder.name) else folder.name
    return str(error).replace(str(folder.resolve()), name).replace(str(folder), name)


def _atlas_folders(folder: Path) -> Iterator[Path]:
    """Find the atlases of a folder, by name, and nothing else that lies in it: of those some may be parts only."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith(".") or path.is_symlink() or not path.is_dir():
            continue
        if (path / manifests.NAME).is_file() or all(
            inside.name in _PARTS or _HIDDEN.fullmatch(inside.name) for inside in path.iterdir()
        ):
            yield path


def _merged(keys: Keys) -> list[Path]:
    """The readers' folders that hold a merged atlas, by name; of those under a key the ones whose key is held."""
    folder = kept()
    if folder is None or not folder.is_dir():
        return []
    merged = sorted(path for path in folder.iterdir() if (path / MERGED / ABOUT).is_file())
    return [path for path in merged if keys is None or not is_key(path.name) or path.name in keys][:_MOST]


def _opened(folder: Path) -> Atlas:
    """Open an atlas once for all readers; again where it was built again."""
    about = folder / MERGED / ABOUT
    about = about if about.is_file() else folder / ABOUT
    if not about.is_file():
        raise ValueError(f"{folder} holds no atlas that is built to its end")
    return _read(folder, about.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read(folder: Path, changed: int) -> Atlas:
    return open_atlas(folder)
