"""A server of notebooks, started and ended."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(module: Sequence[str], answers: str, *, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a module with its arguments, {port} filled in, in a folder; yield its address once a path of it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", *(part.format(port=port) for part in module)]
    log, url = folder / "log.txt", f"http://127.0.0.1:{port}"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    try:
        _wait(f"{url}/{answers}", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.25)
    raise AssertionError(f"{url} does not answer:\n{log.read_text()}")
