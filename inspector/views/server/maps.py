"""Maps of heads that a browser fetches one by one, of a text whose maps are too many bytes to be sent together.

The address of a view's maps holds a name that cannot be guessed, and is good as long as the recording is in memory; who
asks too late gets 404, and the page asks for the head in the way of every other click.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING

from streamlit import config

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

Make = Callable[[int, int], bytes | None]
"""Makes the message of a head from its row in the grid and its number; None where it is no longer there."""

FOLDER = "maps"
MOST = 256  # views whose maps can be fetched
_PATH = re.compile(rf"/{FOLDER}/([\w-]{{22}})/(\d{{1,4}})/(\d{{1,4}})")


class _Offered:
    """Views whose maps can be fetched, by name, the last one offered last."""

    def __init__(self) -> None:
        self._makers: OrderedDict[str, Make] = OrderedDict()
        self._names: dict[Hashable, str] = {}
        self._lock = Lock()

    def offer(self, view: Hashable, make: Make) -> str:
        with self._lock:
            name = self._names.setdefault(view, secrets.token_urlsafe(16))
            self._makers[name] = make
            self._makers.move_to_end(name)
            while len(self._makers) > MOST:
                self._makers.popitem(last=False)
            self._names = {view: name for view, name in self._names.items() if name in self._makers}
            return name

    def maker(self, name: str) -> Make | None:
        with self._lock:
            return self._makers.get(name)


_offered = _Offered()


def offer(view: Hashable, make: Make) -> str:
    """Let a browser fetch the maps of a view; return where: the path of a head's is PATH + "ROW/HEAD"."""
    return f"{FOLDER}/{_offered.offer(view, make)}/"


class Maps:
    """ASGI middleware around Streamlit: answers for the maps of heads; all else goes on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        asked = _PATH.fullmatch(_path(scope)) if scope["type"] == "http" and scope["method"] == "GET" else None
        if asked is None:
            await self.app(scope, receive, send)
            return
        name, row, head = asked.groups()
        make = _offered.maker(name)
        # in a thread: meanwhile others are served
        content = None if make is None else await asyncio.to_thread(make, int(row), int(head))
        headers = [
            (b"content-type", b"application/octet-stream"),
            (b"content-length", str(len(content or b"")).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 404 if content is None else 200, "headers": headers})
        await send({"type": "http.response.body", "body": content or b""})


def _path(scope: Scope) -> str:
    """Return a request's path below the one under which the server serves."""
    base = config.get_option("server.baseUrlPath").strip("/")
    path: str = scope["path"]
    return path.removeprefix(f"/{base}") if base else path
