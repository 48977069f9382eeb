"""Streamlit's own scripts, styles and fonts, of which a visitor's first page waits for a hundred files.

They are served from memory, compressed once. The scripts of the widgets that every page has are named to the browser
together with the page, so that it fetches them while it starts and not one after the other as the widgets come. Title
and purpose of the page are written into it, and stand until there is more to see.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import posixpath
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

from inspector.sections.registry import PAGES, Page
from inspector.views.components import files
from inspector.wording import pages as words

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = Path(streamlit.__file__).parent / "static"
EVERYWHERE = ("BidiComponent", "Selectbox", "TextArea", "Button", "ButtonGroup", "Checkbox")
"""Streamlit's names of the widgets that stand on every page, as its scripts are called."""
COMPONENTS = ("width", "presses", "terms")
"""Components that stand on every page."""
FIRST = ("grid", "head", "heads", "proof")
"""Components that the first page has besides."""
LEVEL = 6  # of compression: 9 takes twice as long for one part in a hundred
_KEPT = "/static/"
_ASKS_FOR_A_PART = {b"range", b"if-range", b"if-none-match", b"if-modified-since"}
_OF_BODY = {b"content-length", b"etag", b"last-modified"}
_ROOT = b'<div id="root"></div>'
_COMING = """<style>
#coming {{ position: fixed; inset: 0; z-index: 1; padding: 15vh 10vw; pointer-events: none; color-scheme: light dark;
  background: Canvas; color: CanvasText; font: 1rem/1.6 system-ui, sans-serif }}
body:has(.stElementContainer) > #coming {{ display: none }}
</style>
<div id="coming"><h1>{title}</h1><p>{purpose}</p><p>{loading}</p></div>
<div id="root"></div>"""
"""Words over Streamlit's frame until the frame has something to show."""


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
    """ASGI middleware around Streamlit: keeps the answers that Streamlit calls immutable, and names scripts ahead.

    The components' files are served the same way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.kept: dict[tuple[str, bool], list[Message]] = {}
        """Answers by path and whether they are compressed: of all files, 26 MB, those that were asked for."""
        self.ahead = [f"static/js/{name}" for name in scripts(EVERYWHERE)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what is neither a file of Streamlit's nor of a component goes on as it came."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, compressed = scope["path"], b"gzip" in dict(scope["headers"]).get(b"accept-encoding", b"")
        of_component = files.read(path)
        if not (_is_plain(scope) and (of_component is not None or path.startswith(_KEPT))):
            if b"text/html" in dict(scope["headers"]).get(b"accept", b""):  # words are put into the page
                headers = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
                scope = {**scope, "headers": headers}
            await self.app(scope, receive, self._with_page(send, path))
            return
        if (path, compressed) not in self.kept:
            answer = await self._whole(scope, receive) if of_component is None else _script(of_component)
            if not _is_immutable(answer):
                for message in answer:
                    await send(message)
                return
            # in a thread: of plotly it takes a quarter of a second, in which nobody else would be served
            self.kept[path, compressed] = await asyncio.to_thread(_encoded, answer, compressed=compressed)
        for message in self.kept[path, compressed]:
            await send(message)

    async def _whole(self, scope: Scope, receive: Receive) -> list[Message]:
        """Ask Streamlit for a file, and collect its answer."""
        answer: list[Message] = []

        async def collect(message: Message) -> None:
            answer.append(message)

        await self.app(scope, receive, collect)
        return answer

    def _with_page(self, send: Send, path: str) -> Send:
        """Give a `send` that names the scripts in the answer that is a page, and writes into it which page comes."""
        page: list[Message] = []

        async def sent(message: Message) -> None:
            if not page and not (message["type"] == "http.response.start" and _is_html(message)):
                await send(message)
                return
            page.append(message)
            if message["type"] != "http.response.body" or message.get("more_body"):
                return
            body = b"".join(part.get("body", b"") for part in page[1:]).replace(_ROOT, coming(path))
            headers = [(name, value) for name, value in page[0]["headers"] if name not in _OF_BODY or not body]
            if body:  # none is sent to HEAD
                headers.append((b"content-length", str(len(body)).encode()))
            await send({**page[0], "headers": [*headers, self._links(path)]})
            await send({**message, "body": body})

        return sent

    def _links(self, path: str) -> tuple[bytes, bytes]:
        """Name the scripts that the page at a path needs at once, as a header."""
        components = files.paths(*COMPONENTS, *(FIRST if _page(path) is PAGES[""] else ()))
        links = (f"<./{name}>; rel=modulepreload; fetchpriority=low" for name in (*self.ahead, *components))
        return b"link", ", ".join(links).encode()


def coming(path: str) -> bytes:
    """Write what is seen until there is more: title and purpose of the page at a path."""
    page = _page(path)
    texts = {"title": page.title, "purpose": page.purpose, "loading": words.LOADING}
    return _COMING.format(**{name: html.escape(text) for name, text in texts.items()}).encode()


def _page(path: str) -> Page:
    """Return the page at a request's path, below whatever base; the first page where a path names none."""
    return PAGES.get(path.rstrip("/").rpartition("/")[2], PAGES[""])


def _is_html(start: Message) -> bool:
    """Return True if an answer that starts is a page."""
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in start["headers"])


def _is_plain(scope: Scope) -> bool:
    """Return True if a request asks for the whole file by its one name, whatever a browser has of it.

    By further names, as /static/x/../a.js, a stranger could fill the memory with one file.
    """
    asked, path = {name for name, _ in scope["headers"]}, scope["path"]
    is_whole = scope["method"] == "GET" and not scope["query_string"] and not asked & _ASKS_FOR_A_PART
    return is_whole and posixpath.normpath(path) == path


def _script(content: bytes) -> list[Message]:
    """Answer with a script that never changes."""
    headers = [
        (b"content-type", b"text/javascript; charset=utf-8"),
        (b"content-length", str(len(content)).encode()),
        (b"cache-control", b"public, immutable, max-age=31536000"),
    ]
    return [
        {"type": "http.response.start", "status": 200, "headers": headers},
        {"type": "http.response.body", "body": content},
    ]


def _is_immutable(answer: Sequence[Message]) -> bool:
    """Return True if an answer is a file that never changes, sent whole."""
    start, headers = answer[0], dict(answer[0]["headers"])
    length = sum(len(part.get("body", b"")) for part in answer[1:])
    immutable = start["status"] == 200 and b"immutable" in headers.get(b"cache-control", b"")
    return immutable and headers.get(b"content-length") == str(length).encode()


def _encoded(answer: Sequence[Message], *, compressed: bool) -> list[Message]:
    """Return an answer with its body in one part, compressed where that is asked for and gains a tenth."""
    start, body = answer[0], b"".join(part.get("body", b"") for part in answer[1:])
    headers = [*start["headers"], (b"vary", b"accept-encoding")]
    if compressed and len(small := gzip.compress(body, LEVEL, mtime=0)) < 0.9 * len(body):
        changed = {b"content-length": str(len(small)).encode(), b"content-encoding": b"gzip"}
        if tag := dict(headers).get(b"etag"):  # weak: the same file, other bytes
            changed[b"etag"] = tag if tag.startswith(b"W/") else b"W/" + tag
        headers = [*((name, value) for name, value in headers if name not in changed), *changed.items()]
        body = small
    return [{**start, "headers": headers}, {"type": "http.response.body", "body": body}]
