"""A real server of Streamlit in a process of its own, and sockets into it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).parents[4]


@dataclass(frozen=True)
class Server:
    """A running server: host and port, its log, and the id of its process."""

    host: str
    log: Path
    pid: int

    def socket(self, *, session: str = "", **headers: str) -> ClientConnection:
        """Open a websocket; session: the one that a page takes up again."""
        protocols: Any = ["streamlit", *(["none", session] if session else [])]
        address = f"ws://{self.host}/_stcore/stream"
        return connect(address, subprotocols=protocols, additional_headers=headers, max_size=None, open_timeout=60)


@contextmanager
def served(app: Path, folder: Path, **environment: str) -> Iterator[Server]:
    """Serve an app until the block ends; folder: of the log. HEADLIGHT_ variables are those of `environment` alone,
    but for the place of the cache.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host, log = f"127.0.0.1:{port}", folder / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.headless=true"]
    kept = {name for name in os.environ if not name.startswith("HEADLIGHT_")} | {"HEADLIGHT_CACHE"}
    variables = {name: os.environ[name] for name in kept}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, f"--server.port={port}"],
            cwd=ROOT,
            env=variables | environment,
            stdout=output,
            stderr=output,
        )
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{host}/_stcore/health", timeout=60)
                break
            except OSError:
                sleep(0.05)
        assert process.poll() is None, log.read_text(encoding="utf-8")
        yield Server(host, log, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)
