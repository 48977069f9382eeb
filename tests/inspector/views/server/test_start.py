"""The start of the process: connections send small answers at once."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from streamlit import App

from inspector.views.server import start


def waits(connection: socket.socket) -> bool:
    """Return True if a connection keeps a small answer back until the one before is acknowledged."""
    return not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def accepted(listening: socket.socket) -> socket.socket:
    with socket.create_connection(listening.getsockname()):
        return listening.accept()[0]


def test_connections_to_a_listening_socket_send_at_once(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET) as listening:  # names no protocol, as Streamlit's
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with accepted(listening) as before:
            assert waits(before), "where a system does it by itself, nothing is to be done"
        app = App("page.py")

        async def begin() -> None:
            async with start.announced(app):
                pass

        with ThreadPoolExecutor(1) as apart:  # a browser's tests leave a loop running in this thread
            apart.submit(asyncio.run, begin()).result()
        with accepted(listening) as after:
            assert not waits(after)


def test_other_files_and_a_system_without_names_for_them_change_nothing(tmp_path: Path) -> None:
    listening = start.send_at_once()
    one, other = socket.socketpair()
    with (tmp_path / "a file").open("w"), one, other, socket.socket() as silent:
        assert start.send_at_once() == listening
        assert waits(silent)
    assert start.send_at_once(tmp_path / "none") == 0
