"""Folders that are renamed into their place once they are written, and out of it before they are deleted.

So what stands in a place is always whole.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """Give a hidden name beside a folder, and take away what still has that name at the end.

    The name holds this machine and process, so that two never share one.
    """
    hidden = folder.with_name(f".{folder.name}-{socket.gethostname()}-{os.getpid()}")
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def take_away(folder: Path) -> None:
    """Delete a folder, under another name: who works in it finds nothing, and never a part. It may be gone already."""
    hidden = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}-{socket.gethostname()}-{os.getpid()}")
    try:
        os.rename(folder, hidden)
    except FileNotFoundError:
        return
    shutil.rmtree(hidden, ignore_errors=True)


def sweep(*folders: Path) -> None:
    """Take away what processes of this machine that were killed have left beside the folders in `folders`."""
    left = re.compile(rf"\..+-{re.escape(socket.gethostname())}-(\d+)")
    for path in (path for folder in folders if folder.is_dir() for path in folder.iterdir()):
        match = left.fullmatch(path.name)
        if match and not _alive(int(match[1])):
            shutil.rmtree(path, ignore_errors=True)


def _alive(process: int) -> bool:
    if os.name == "nt":  # there signal 0 is Ctrl-C: nothing is swept
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True
