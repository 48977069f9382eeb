"""Find a model on the Hugging Face hub and inspect it before anything of it is loaded.

    from models import hub
    from models.untrusted.hub_id import parse
    candidate = hub.describe(parse("google-bert/bert-base-cased"))

A name is validated and resolved to a commit; everything after that uses this commit. Describing a model fetches only
its config.json, and for large models the index of the weight files. The settings of huggingface_hub apply:
HF_ENDPOINT, HF_HOME, HF_TOKEN, HF_HUB_OFFLINE.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import httpx2
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from models.files import write_text
from models.formatting import format_bytes, one_line
from models.limits import UNLIMITED, Limits, variable
from models.untrusted.candidates import (
    CONFIG,
    INDEX,
    MOST_INDEX_BYTES,
    WEIGHTS,
    Candidate,
    ModelFile,
    choose_files,
    notes_on,
    tokenizer_of,
)
from models.untrusted.download import Stop, download, is_cached, storage
from models.untrusted.folders import shards_of, sizes_in
from models.untrusted.hub_id import HubId
from models.untrusted.safe_config import MOST_BYTES, safe_config
from models.untrusted.size import measure

_SECONDS = 10.0  # for the hub to answer
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class _Listing:
    """The files of one commit in bytes, from the hub or, without a network, from the local cache."""

    commit: str
    sizes: Mapping[str, int]
    online: bool


def describe(id: HubId, *, limits: Limits = UNLIMITED) -> Candidate:
    """Describe a model on the hub, with the memory and the download it needs, without fetching a weight.

    Without a network the description comes from the local cache, if the cache holds the complete model.
    Raises ValueError, in one sentence, for anything that keeps the model from being loaded safely.
    """
    if not limits.hub:
        raise ValueError(f"Fetching models from the hub is off here; {variable('hub')}=1 turns it on")
    with _spoken(id):
        listing = _listing(id)
        folder = storage(id.name) / "snapshots" / listing.commit
        for file in _to_look_at(listing.sizes):
            download(id.name, listing.commit, file)
    files = choose_files(listing.sizes, shards_of(folder / INDEX) if _sharded(listing.sizes) else ())
    config, tokenizer = safe_config(folder, limits=limits), tokenizer_of(listing.sizes)
    notes = notes_on(config, tokenizer)
    return Candidate(
        name=id.name,
        files=files,
        cached_bytes=sum(file.size for file in files if is_cached(id.name, listing.commit, file)),
        config=config,
        size=measure(config.config, architecture=config.architecture),
        tokenizer=tokenizer,
        notes=notes if listing.online else ("The hub cannot be reached; this is the local copy.", *notes),
        revision=id.revision,
        commit=listing.commit,
    )


def fetch(
    candidate: Candidate,
    *,
    limits: Limits = UNLIMITED,
    progress: Callable[[int, int], object] = lambda done, total: None,
    stop: Stop = lambda: False,
) -> Path:
    """Fetch the files of a candidate that are missing, at its commit, and return the folder that holds all files.

    limits: downloads_bytes bounds everything that the cache holds or is fetching; it is checked before the first byte.
    progress: called with the bytes on this machine and the bytes of all files. stop: called again and again; True ends
    the fetch. Fetched bytes are kept, and the next fetch continues from them.
    Raises ValueError over the limit, when stopped, when the hub refuses, and for a file with the wrong size or hash.
    """
    if candidate.folder is not None:
        return candidate.folder
    if candidate.commit is None:
        raise ValueError(f"{candidate.name} has neither a folder nor a commit; describe it first")
    id, before, total = HubId(candidate.name, candidate.revision), 0, candidate.bytes
    with _spoken(id):
        _check_disk(candidate)
        with _room(candidate, limits) as arrived:

            def report(done: int, total: int) -> None:
                arrived(done)
                progress(done, total)

            for file in candidate.files:
                download(id.name, candidate.commit, file, progress=_after(before, total, report), stop=stop)
                before += file.size
                report(before, total)
    if id.revision != candidate.commit:  # so that the name resolves without a network
        write_text(storage(id.name) / "refs" / (id.revision or "main"), candidate.commit)
    return storage(id.name) / "snapshots" / candidate.commit


def cached() -> tuple[str, ...]:
    """Return the names of the hub's models that are in the local cache with their weights."""
    configs = Path(constants.HF_HUB_CACHE).glob("models--*--*/snapshots/*/config.json")
    whole = {
        path.parents[2].name for path in configs if (path.parent / WEIGHTS).exists() or (path.parent / INDEX).exists()
    }
    return tuple(sorted(name.removeprefix("models--").replace("--", "/", 1) for name in whole))


_ARRIVING: dict[object, int] = {}  # for each running fetch, the bytes that it has still to download
_COUNTING = Lock()


@contextmanager
def _room(candidate: Candidate, limits: Limits) -> Iterator[Callable[[int], object]]:
    """Reserve room for a candidate's files under the limit on all cached files and all running fetches.

    Yields a function to report how many of the candidate's bytes have arrived.
    """
    fetch, needed = object(), candidate.download_bytes
    with _COUNTING:
        taken = _cache_bytes() + sum(_ARRIVING.values())
        if needed and taken + needed > limits.downloads_bytes:
            raise ValueError(
                f"{candidate.name} would download {format_bytes(needed)}, and the models of the hub on this machine "
                f"take {format_bytes(taken)} of the {format_bytes(limits.downloads_bytes)} that they may take "
                f"together ({variable('downloads_bytes')}); choose a model that is here, or delete some that are"
            )
        _ARRIVING[fetch] = needed

    def arrived(done: int) -> None:
        _ARRIVING[fetch] = max(0, candidate.bytes - done)

    try:
        yield arrived
    finally:
        del _ARRIVING[fetch]


def _cache_bytes() -> int:
    """Sum the bytes of all models' files in the cache, partial files included."""
    total = 0
    for path in Path(constants.HF_HUB_CACHE).expanduser().glob("models--*/blobs/*"):
        with suppress(FileNotFoundError):  # another fetch has just renamed the finished file
            total += path.stat().st_size
    return total


def _check_disk(candidate: Candidate) -> None:
    disk = Path(constants.HF_HUB_CACHE)
    while not disk.exists():
        disk = disk.parent
    if (free := shutil.disk_usage(disk).free) < candidate.download_bytes:
        raise ValueError(
            f"{candidate.name} would download {format_bytes(candidate.download_bytes)}, and {constants.HF_HUB_CACHE} "
            f"has {format_bytes(free)} free; make room, or set HF_HOME to a larger disk"
        )


def _after(before: int, total: int, progress: Callable[[int, int], object]) -> Callable[[int], object]:
    return lambda done: progress(before + done, total)


@contextmanager
def _spoken(id: HubId) -> Iterator[None]:
    """Turn the hub's refusals into ValueErrors that say what the reader can do."""
    page = f"{constants.ENDPOINT}/{id.name}"
    try:
        yield
    except GatedRepoError as error:
        raise ValueError(
            f"{id.name} is gated: ask for access on {page}, then start Headlight with HF_TOKEN set to your token"
        ) from error
    except DisabledRepoError as error:
        raise ValueError(f"{id.name} was disabled by the hub; choose another model") from error
    except RepositoryNotFoundError as error:
        raise ValueError(
            f"The hub has no model {id.name}, or it is private; check the spelling on {constants.ENDPOINT}, or start "
            "Headlight with HF_TOKEN set to a token that may read it"
        ) from error
    except RevisionNotFoundError as error:
        raise ValueError(f"{id.name} has no revision {id.revision or 'main'}; see {page}/tree/main") from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403):
            raise ValueError(
                f"The hub does not let this machine read {id.name} ({status}); start Headlight with HF_TOKEN set to a "
                "token that may read it"
            ) from error
        raise ValueError(f"The hub answers {status} for {id.name}; try again later, or look at {page}") from error
    except (httpx2.HTTPError, OfflineModeIsEnabled) as error:
        raise ValueError(_offline(id)) from error
    except OSError as error:  # the disk is full, the cache may not be written
        raise ValueError(f"{id} could not be fetched: {one_line(error)}") from error


def _listing(id: HubId) -> _Listing:
    try:
        info = HfApi().model_info(id.name, revision=id.revision, files_metadata=True, timeout=_SECONDS)
    except (httpx2.TransportError, OfflineModeIsEnabled, HfHubHTTPError) as error:
        answered = isinstance(error, HfHubHTTPError) and error.response.status_code < 500
        if answered or (local := _cached_listing(id)) is None:
            raise
        return local
    if info.sha is None or not _COMMIT.fullmatch(info.sha):
        raise ValueError(f"{constants.ENDPOINT} does not answer as a hub does: it names no commit of {id.name}")
    sizes = {file.rfilename: file.size for file in info.siblings or () if file.size is not None}
    return _Listing(info.sha, sizes, online=True)


def _cached_listing(id: HubId) -> _Listing | None:
    """List the snapshot of a revision in the cache; None where the snapshot is incomplete."""
    commit, reference = id.revision or "", storage(id.name) / "refs" / (id.revision or "main")
    if not _COMMIT.fullmatch(commit) and reference.is_file():
        commit = reference.read_text(encoding="utf-8").strip()
    folder = storage(id.name) / "snapshots" / commit
    if not _COMMIT.fullmatch(commit) or not folder.is_dir():
        return None
    sizes = sizes_in(folder)
    whole = WEIGHTS in sizes or (INDEX in sizes and set(shards_of(folder / INDEX)) <= sizes.keys())
    return _Listing(commit, sizes, online=False) if whole else None


def _to_look_at(sizes: Mapping[str, int]) -> Iterator[ModelFile]:
    """Yield the files that a description needs: config.json, and the index where weights lie in several files.

    Raises ValueError for a model that can be refused by its file names and sizes alone, before anything is fetched.
    """
    choose_files(sizes)
    for name, most in ((CONFIG, MOST_BYTES), (INDEX, MOST_INDEX_BYTES)):
        if name == CONFIG or _sharded(sizes):
            if sizes[name] > most:
                raise ValueError(f"{name} has {sizes[name]:,} bytes, over {most:,}; that is no model's")
            yield ModelFile(name, sizes[name])


def _sharded(sizes: Mapping[str, int]) -> bool:
    return WEIGHTS not in sizes and INDEX in sizes


def _offline(id: HubId) -> str:
    why = "HF_HUB_OFFLINE is set" if constants.is_offline_mode() else f"{constants.ENDPOINT} cannot be reached"
    there = cached()
    works = f"On this machine are {', '.join(there[:5])}" if there else "No model of the hub is on this machine"
    return f"{why}, and {id} is not whole in the local cache. {works}; the models that come with Headlight work."
