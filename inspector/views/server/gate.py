"""The gate that every request passes before Streamlit sees it: headers, foreign sites, messages, number of visitors.

An ASGI middleware, so that it holds for pages, downloads, uploads, Streamlit's own files and websockets alike.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit
from streamlit import config, runtime
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from inspector.sections.registry import PAGES
from inspector.views.server import frames, peer
from models import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_RETRY = 15  # seconds until a visitor who found no place is asked in again
_CORE, _NEEDED = "_stcore", {"health", "host-config", "upload_file", "bidi-components"}
_UNUSED = {"auth", "oauth2callback", "component", "app"}
UNKNOWN = "unknown"  # in the link of the first page: a reader asked for a page that there is not
_FILES = {"static", "media", _CORE}
_REFUSED = 1008  # websocket close code: policy violation
_FULL = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="{retry}">
<title>Headlight is full</title>
<p>Headlight has room for {sessions} visitors at once, and all places are taken.
<p>This page asks again every {retry} seconds and opens as soon as a visitor leaves.
</html>
"""


def _policy(ancestors: Sequence[str]) -> str:
    """Give the Content-Security-Policy: each source with what needs it; nothing else is loaded, run or sent.

    Streamlit's frame is on every page. Attention, Compare, What if, Generate and Training have components, all but
    Compare have charts (plotly).
    """
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    inline = re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline]
    sources = {
        "default-src": ["'none'"],
        "script-src": [
            "'self'",  # Streamlit's own modules
            *(f"'sha256-{digest}'" for digest in hashes),  # the one line that stands in its index.html
            "blob:",  # our components: Streamlit hands their JavaScript to import() as a blob
        ],
        "style-src": ["'self'", "'unsafe-inline'"],  # emotion, plotly and our components write <style> elements
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "form-action": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ancestors or ["'none'"],  # another site could lead clicks onto what it shows in a frame
    }
    return "; ".join(" ".join([name, *values]) for name, values in sources.items())


def headers(ancestors: Sequence[str] = ()) -> dict[str, str]:
    """Give the headers that every answer carries. ancestors: origins whose pages may show Headlight in a frame.

    X-Frame-Options knows no list, so it is left out where there are such origins.
    """
    return {
        "Content-Security-Policy": _policy(ancestors),
        **({} if ancestors else {"X-Frame-Options": "DENY"}),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",  # a link holds the reader's text
    }


@dataclass(frozen=True)
class Rules:
    """The host's decisions: how many visitors at once, who says where they come from, whose frames may show the page.

    metrics: whether they answer. per_address: how many visitors from one address, 0 for as many as there are places.
    proxies: whose X-Forwarded-For and X-Forwarded-Proto count. frame_ancestors: origins whose pages may show this one
    in a frame. silence: seconds after which a socket that has asked for nothing is closed.
    """

    sessions: int = settings.NUMBERS["SESSIONS"].default or 0
    metrics: bool = False
    per_address: int = 0
    proxies: tuple[settings.Network, ...] = ()
    frame_ancestors: tuple[str, ...] = ()
    silence: float = 10.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Rules:
        """Read the host's variables; ValueError names the one that is not what it should be."""
        return cls(
            settings.number("SESSIONS", environment),
            settings.metrics(environment),
            settings.number("PER_ADDRESS", environment),
            settings.proxies(environment),
            settings.frame_ancestors(environment),
        )


class Gate:
    """ASGI middleware around Streamlit: sets headers, counts visitors, lets in what a page of this server needs."""

    def __init__(self, app: ASGIApp, *, rules: Rules) -> None:
        self.app, self.rules = app, rules
        spoken = headers(rules.frame_ancestors).items()
        self.headers = [(name.lower().encode(), value.encode()) for name, value in spoken]
        self.names = {name.lower().encode() for name in headers()}
        self.visitors: Counter[str] = Counter()  # open websockets by address; one thread serves them all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or one websocket."""
        if scope["type"] == "websocket":
            await self._stream(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, self._with_headers(send))
        else:
            await self.app(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in a page of this very server: for any other Streamlit would ask checkip.amazonaws.com who it is."""
        address = peer.address(scope, self.rules.proxies)
        tls = bool(config.get_option("server.sslCertFile"))
        if peer.is_foreign(scope, self.rules.proxies, tls=tls) or self._room(address) == 0:
            await receive()
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        self.visitors[address] += 1
        socket = Socket(scope, receive, silence=self.rules.silence)
        try:
            await self.app(scope, socket.receive, send)
            if socket.is_silent:
                await send({"type": "websocket.close", "code": _REFUSED})
        finally:
            self.visitors[address] -= 1
            self.visitors += Counter()  # forgets those who left

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_host_allowed(peer.header(scope, b"host") or None):
            await _text(send, 421, "Headlight is not served under this name; server.allowedHosts lists its names.\n")
        elif not self._is_needed(scope["path"]):
            await _text(send, 404, "Not found\n")
        elif self._room(peer.address(scope, self.rules.proxies)) == 0 and "text/html" in peer.header(scope, b"accept"):
            page = _FULL.format(sessions=self.rules.sessions, retry=_RETRY)
            await _text(send, 503, page, kind=b"text/html", further=[(b"retry-after", str(_RETRY).encode())])
        elif _is_unknown(scope):
            query = b"&".join(filter(None, (scope.get("query_string", b""), f"{UNKNOWN}=page".encode())))
            await _text(send, 307, "", further=[(b"location", f"{_base()}/?".encode() + query)])
        else:
            await self.app(scope, receive, send)

    def _room(self, address: str) -> int:
        """The number of further visitors from an address for whom there is a place."""
        free = self.rules.sessions - self.visitors.total()
        if self.rules.per_address:
            free = min(free, self.rules.per_address - self.visitors[address])
        return max(0, free)

    def _is_needed(self, path: str) -> bool:
        """Return True for what a page asks for; Streamlit serves more: log-ins, an API for agents, old components."""
        first, _, rest = _within(path).partition("/")
        if first == _CORE:
            name = rest.partition("/")[0]
            return name in _NEEDED or (name == "metrics" and self.rules.metrics)
        return first not in _UNUSED and _CORE not in rest.split("/")

    def _with_headers(self, send: Send) -> Send:
        """Give a `send` that puts the headers onto the answer, in place of any that it has of the same names."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() not in self.names]
                if self.rules.frame_ancestors:
                    others = [
                        (name, _framed(value) if name.lower() == b"set-cookie" else value) for name, value in others
                    ]
                message = {**message, "headers": [*others, *self.headers]}
            await send(message)

        return sent


def _framed(cookie: bytes) -> bytes:
    """Let browsers take a cookie in another site's frame, for each such site apart: without it no upload passes there.

    Secure: the page must be served by https then, but for this machine's own address.
    """
    return cookie.replace(b"SameSite=Lax", b"SameSite=None; Secure; Partitioned")


def _base() -> str:
    """Return the path under which the server serves, with a slash before it; "" for none."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


def _within(path: str) -> str:
    """Return a path without the one under which the server serves, and without slashes around it."""
    return f"{path}/".removeprefix(f"{_base()}/").strip("/")


def _is_unknown(scope: Scope) -> bool:
    """Return True if a browser asks for a page that there is not: Streamlit would say so in words of its own."""
    path = _within(scope["path"])
    first, last = path.partition("/")[0], path.rpartition("/")[2]
    is_page = "text/html" in peer.header(scope, b"accept") and first not in _FILES and "." not in last
    return is_page and path not in PAGES


class Socket:
    """The messages of a websocket that reach Streamlit: those that a page needs, the first one before long."""

    def __init__(self, scope: Scope, receive: Receive, *, silence: float) -> None:
        self._receive, self._silence = receive, silence
        protocols = [protocol.strip() for protocol in peer.header(scope, b"sec-websocket-protocol").split(",")]
        self._session = protocols[2] if len(protocols) > 2 else ""  # a page whose connection broke names its own
        self._has_asked = self.is_silent = False

    async def receive(self) -> Message:
        """Wait for the next message that goes on; a socket that asks for nothing is gone."""
        if self._has_asked:
            return await self._next()
        try:
            async with asyncio.timeout(self._silence):
                message = await self._next()
        except TimeoutError:
            if not _is_session(self._session):
                self.is_silent = True
                return {"type": "websocket.disconnect", "code": _REFUSED}
            message = await self._next()
        self._has_asked = message["type"] != "websocket.connect"
        return message

    async def _next(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            if (frame := frames.needed(message.get("bytes"))) is not None:
                return {"type": "websocket.receive", "bytes": frame}


def _is_session(id: str) -> bool:
    """Return True if a session of this name is connected: Streamlit gave it back to the page, which need not ask."""
    return bool(id) and runtime.exists() and runtime.get_instance().is_active_session(id)


async def _text(
    send: Send, status: int, text: str, *, kind: bytes = b"text/plain", further: list[tuple[bytes, bytes]] | None = None
) -> None:
    start = [(b"content-type", kind + b"; charset=utf-8"), (b"cache-control", b"no-store"), *(further or ())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": text.encode()})
