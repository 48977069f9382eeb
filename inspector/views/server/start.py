"""The start of the process: what it cannot run under is said in a sentence, and where it is served."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from streamlit import App, config
from streamlit.web.server import server_util

from models import settings


def check() -> None:
    """End the process with a sentence where a setting cannot be read, or where Python dropped all docstrings."""
    if sys.flags.optimize > 1:
        sys.exit("Headlight does not start: python -OO drops docstrings, which transformers reads. Leave -OO out.")
    try:
        settings.check()
    except ValueError as error:
        sys.exit(f"Headlight does not start: {error}")


@asynccontextmanager
async def announced(app: App) -> AsyncIterator[None]:
    """Print the page's address while the server starts; Streamlit's own words would offer to change the folder."""
    send_at_once()
    address = config.get_option("server.address") or "localhost"
    print(f"Headlight is at {server_util.get_url(address)}", flush=True)
    yield


def send_at_once(descriptors: Path = Path("/dev/fd")) -> int:
    """Turn Nagle's algorithm off for the connections that come; returns how many sockets of this process listen.

    asyncio does so by itself, but only for sockets that name TCP as their protocol, and Streamlit's names none. An
    answer in two parts, and the second message of a run, would then wait for the browser to acknowledge the first: up
    to 40 ms each. A connection takes the option from the socket that it came to. descriptors: a folder with a name for
    each open file of this process, which Windows lacks; there nothing changes.
    """
    listening = 0
    for name in os.listdir(descriptors) if descriptors.is_dir() else ():
        with suppress(OSError), socket.socket(fileno=os.dup(int(name))) as opened:  # OSError: a file of another kind
            if opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and opened.type == socket.SOCK_STREAM:
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                listening += 1
    return listening
