"""Fetch one file of a model into huggingface_hub's own cache, in pieces that can be stopped and resumed.

Addresses, headers, token, session, lock and cache are huggingface_hub's. The bytes are read here, because
huggingface_hub's download (2.4) reports progress only every 10 MB, starts a broken file anew, and compares no hash.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import httpx2
from filelock import Timeout
from huggingface_hub import constants, get_hf_file_metadata, get_session, hf_hub_download, hf_hub_url
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import WeakFileLock, build_hf_headers, hf_raise_for_status

from models.formatting import format_bytes
from models.untrusted.candidates import ModelFile

_PIECE = 2**18  # bytes between two looks at the stop button
_SECONDS = 10.0  # the longest wait for an answer, and for the next byte
_ETAG = re.compile(r"[0-9A-Za-z_-]{8,128}")  # the ETag becomes a file's name

OnProgress = Callable[[int], object]
Stop = Callable[[], bool]


def storage(name: str) -> Path:
    """Return the folder in which huggingface_hub caches a model (HF_HOME): blobs/, snapshots/COMMIT/ and refs/."""
    return Path(constants.HF_HUB_CACHE).expanduser().resolve() / repo_folder_name(repo_id=name, repo_type="model")


def is_cached(name: str, commit: str, file: ModelFile) -> bool:
    """Return True if the file is in the cache, complete."""
    path = storage(name) / "snapshots" / commit / file.name
    return path.is_file() and path.stat().st_size == file.size


def download(
    name: str,
    commit: str,
    file: ModelFile,
    *,
    progress: OnProgress = lambda done: None,
    stop: Stop = lambda: False,
) -> None:
    """Download a file of a model at its commit into the cache; a file in the cache is not downloaded again.

    progress: called with the number of bytes so far. stop: called again and again, also while another process
    downloads the same file; True ends the download.
    Raises ValueError when stopped, when the connection breaks (both keep the downloaded part), and for a wrong file.
    A refusal by the hub is raised as huggingface_hub's own exception.
    """
    if is_cached(name, commit, file):
        return
    address = hf_hub_url(name, file.name, revision=commit)
    etag = get_hf_file_metadata(address, timeout=_SECONDS).etag
    if etag is None or not _ETAG.fullmatch(etag):
        raise ValueError(f"{constants.ENDPOINT} does not answer as a hub does: {file.name} has no hash")
    blob = storage(name) / "blobs" / etag
    blob.parent.mkdir(parents=True, exist_ok=True)
    lock = storage(name).parent / ".locks" / storage(name).name / f"{etag}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    while not blob.exists():
        try:
            with WeakFileLock(lock, timeout=0.5):
                if not blob.exists():
                    _read(address, blob, file, progress=progress, stop=stop)
        except Timeout:  # another process downloads the file
            _heed(stop, file, done=0)
    hf_hub_download(name, file.name, revision=commit)  # links it into the snapshot


def _read(address: str, blob: Path, file: ModelFile, *, progress: OnProgress, stop: Stop) -> None:
    """Download into BLOB.incomplete; rename it to BLOB once it is complete and has the hash that BLOB's name is."""
    partial = blob.with_name(f"{blob.name}.incomplete")
    done = partial.stat().st_size if partial.exists() else 0
    _heed(stop, file, done=done)
    if done < file.size:
        headers = build_hf_headers() | {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
        try:
            with get_session().stream(
                "GET", address, headers=headers, timeout=_SECONDS, follow_redirects=True
            ) as response:
                hf_raise_for_status(response)
                resumed = response.status_code == 206
                done = done if resumed else 0
                with partial.open("ab" if resumed else "wb") as out:
                    for piece in response.iter_bytes(_PIECE):
                        done += len(piece)
                        if done > file.size:
                            break
                        out.write(piece)
                        progress(done)
                        _heed(stop, file, done=done)
        except httpx2.TransportError as error:
            raise ValueError(
                f"The connection broke after {_of(done, file)}; try again, it goes on from there"
            ) from error
    if done != file.size or not _has_hash(partial, blob.name):
        partial.unlink()
        raise ValueError(f"{file.name} came damaged ({format_bytes(done)}) and was thrown away; try again")
    os.replace(partial, blob)


def _heed(stop: Stop, file: ModelFile, *, done: int) -> None:
    if stop():
        raise ValueError(f"Stopped after {_of(done, file)}; what is there is kept, and the next try goes on from it")


def _of(done: int, file: ModelFile) -> str:
    return f"{format_bytes(done)} of {format_bytes(file.size)} of {file.name}"


def _has_hash(path: Path, etag: str) -> bool:
    """Compare a file with its ETag: the hub's ETag is the sha256 of a large file and git's sha1 of a small file.

    Mirrors of the hub use other tags, which cannot be checked: True.
    """
    if len(etag) == 64:
        digest = hashlib.sha256()
    elif len(etag) == 40:
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    else:
        return True
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest() == etag
