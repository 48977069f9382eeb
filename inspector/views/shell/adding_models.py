"""Models outside the catalogue, from the hub or a folder: described, then fetched and added to the session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import model_shelf
from inspector.views.shell.available_models import ids
from inspector.views.shell.loaded_models import load
from inspector.views.shell.model_shelf import Fetched, limits, placement, shelf
from models.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from models.untrusted.candidates import Candidate


def look(name: str) -> str:
    """Describe "org/name", "org/name@revision" or a folder without loading a weight; its id.

    Raises ValueError in a sentence for all that keeps it from being loaded safely.
    """
    from models.untrusted import folders, hub, hub_id

    here, name = limits(), name.strip()
    if not name:
        raise ValueError("Nothing is written there; write org/name, such as google-bert/bert-base-cased")
    if name in ids():
        raise ValueError(f"{name} is in the list of models already; choose it there")
    if _is_path(name, here):
        relative = here.root is not None and not Path(name).is_absolute() and not name.startswith("~")
        candidate = folders.local(f"{here.root}/{name}" if relative else name, limits=here)
        id = candidate.name
    else:
        asked = hub_id.parse(name)
        candidate, id = hub.describe(asked, limits=here), str(asked)
    placement().torch_dtype(candidate.config.dtype)
    candidates = shelf().candidates
    candidates[id] = candidate
    for oldest in list(candidates)[: -model_shelf.REMEMBERED]:
        candidates.pop(oldest, None)
    return id


def looked_at(id: str) -> Candidate | None:
    """Return the candidate that `look` found; None before `look`."""
    return shelf().candidates.get(id)


def add(
    id: str, *, progress: Callable[[int, int], object], stop: Callable[[], bool], before: Callable[[], object]
) -> None:
    """Fetch and load what `look` found, and add it to this session's models.

    progress: called with the bytes that are there and the bytes of all files. before: called when loading begins.
    Raises ValueError over a limit, when stopped, and where it cannot be fetched or loaded.
    """
    from models.untrusted import hub
    from models.untrusted.candidates import check

    candidate = looked_at(id)
    if candidate is None:
        raise ValueError(f"{id} has not been looked at; press Look first")
    check(candidate, limits(), placement=placement())
    folder = hub.fetch(candidate, limits=limits(), progress=progress, stop=stop)
    before()
    changed = max(int((folder / file.name).stat().st_mtime_ns) for file in candidate.files)
    fetched, before_it = shelf().fetched, shelf().fetched.get(id)
    fetched[id] = Fetched(candidate, folder, candidate.commit or str(changed))
    try:
        load(id)
    except ValueError:
        del fetched[id]
        if before_it is not None:  # what others look at stays
            fetched[id] = before_it
        raise
    if id not in st.session_state.setdefault("added", []):
        st.session_state["added"].append(id)


def on_this_machine() -> list[str]:
    """List the models that load without a network: those in the hub's cache, and folders right under the root."""
    from models.untrusted.hub import cached

    try:
        here = limits()
    except ValueError:  # said where the field is
        return []
    folders = [] if here.root is None else sorted(path.parent for path in here.root.glob("*/config.json"))
    names = list(cached()) if here.hub else []
    return [name for name in [*names, *map(str, folders)] if name not in ids()]


def _is_path(name: str, here: Limits) -> bool:
    if name.startswith(("/", "./", "../", "~", "\\")) or name[1:3] in (":\\", ":/"):
        return True
    return here.root is not None and "/" not in name and (here.root / name).is_dir()
