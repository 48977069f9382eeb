"""Streamlit's own scripts, styles and fonts, of which a visitor's first page waits for a hundred files.

They are served from memory, and the scripts of the widgets that every page has are named to the browser together with
the page, so that it fetches them while it starts and not one after the other as the widgets come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = Path(streamlit.__file__).parent / "static"
EVERYWHERE = ("BidiComponent", "Selectbox", "TextArea", "Button", "ButtonGroup", "Checkbox")
"""Streamlit's names of the widgets that stand on every page, as its scripts are called."""
_KEPT = "/static/"
_ASKS_FOR_A_PART = {b"range", b"if-range", b"if-none-match", b"if-modified-since"}


def scripts(widgets: Iterable[str], *, folder: Path = STATIC / "static/js") -> list[str]:
    """Give the files of the widgets' scripts and of the scripts that they import, those of Streamlit's frame left out.

    A widget that a version of Streamlit calls by another name is left out: then its script comes with the widget.
    """
    page = (folder.parents[1] / "index.html").read_text(encoding="utf-8")
    of_frame = set(re.findall(r"static/js/([\w.-]+\.js)", page))
    ahead: dict[str, None] = {}
    wanted = [path.name for name in widgets for path in sorted(folder.glob(f"{name}.*.js"))]
    while wanted:
        script = wanted.pop(0)
        if script not in ahead and script not in of_frame:
            ahead[script] = None
            wanted += re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', (folder / script).read_text(encoding="utf-8"))
    return list(ahead)


class Assets:
    """ASGI middleware around Streamlit: keeps the answers that Streamlit calls immutable, and names scripts ahead."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept: dict[str, list[Message]] = {}  # by path: of all files of Streamlit, 26 MB, those that were asked for
        links = (f"<./static/js/{name}>; rel=modulepreload; fetchpriority=low" for name in scripts(EVERYWHERE))
        self.ahead = (b"link", ", ".join(links).encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what is no file of Streamlit's goes on as it came."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not scope["path"].startswith(_KEPT) or not _is_plain(scope):
            await self.app(scope, receive, self._with_links(send))
        elif (answer := self.kept.get(scope["path"])) is not None:
            for message in answer:
                await send(message)
        else:
            await self._kept(scope, receive, send)

    async def _kept(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a file and keep the answer, where it never changes and was sent whole."""
        answer: list[Message] = []

        async def sent(message: Message) -> None:
            answer.append(message)
            await send(message)

        await self.app(scope, receive, sent)
        start, *parts = answer
        headers, body = dict(start["headers"]), b"".join(part.get("body", b"") for part in parts)
        immutable = start["status"] == 200 and b"immutable" in headers.get(b"cache-control", b"")
        if immutable and headers.get(b"content-length") == str(len(body)).encode():
            self.kept[scope["path"]] = [start, {"type": "http.response.body", "body": body}]

    def _with_links(self, send: Send) -> Send:
        """Give a `send` that names the scripts in the answer that is a page."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
                    message = {**message, "headers": [*headers, self.ahead]}
            await send(message)

        return sent


def _is_plain(scope: Scope) -> bool:
    """Return True if a request asks for the whole file, whatever a browser has of it."""
    asked = {name for name, _ in scope["headers"]}
    return scope["method"] == "GET" and not scope["query_string"] and not asked & _ASKS_FOR_A_PART
