"""The gate that every request passes before Streamlit sees it: headers, foreign sites, the number of visitors.

An ASGI middleware, so that it holds for pages, downloads, uploads, Streamlit's own files and websockets alike.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSIONS = 50  # visitors at once where HEADLIGHT_SESSIONS says nothing
_RETRY = 15  # seconds until a visitor who found no place is asked in again
_STREAM, _METRICS = "/_stcore/stream", "/_stcore/metrics"
_FOREIGN_ORIGIN = 1008  # websocket close code: policy violation
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


def _policy() -> str:
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
        "frame-ancestors": ["'none'"],  # no other site may show Headlight in a frame and lead clicks onto it
    }
    return "; ".join(" ".join([name, *values]) for name, values in sources.items())


def headers() -> dict[str, str]:
    """Give the headers that every answer carries."""
    return {
        "Content-Security-Policy": _policy(),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",  # a link holds the reader's text
    }


@dataclass(frozen=True)
class Rules:
    """The host's decisions: how many visitors at once, and whether /_stcore/metrics answers."""

    sessions: int = SESSIONS
    metrics: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Rules:
        """Read HEADLIGHT_SESSIONS and HEADLIGHT_METRICS; ValueError names the one that is not what it should be."""
        sessions = environment.get("HEADLIGHT_SESSIONS", "").strip() or str(SESSIONS)
        if not re.fullmatch("[1-9][0-9]{0,5}", sessions):
            raise ValueError(f"HEADLIGHT_SESSIONS is {sessions[:100]!a}; write a whole number from 1 to 999999")
        metrics = environment.get("HEADLIGHT_METRICS", "").strip() or "0"
        if metrics not in ("0", "1"):
            raise ValueError(f"HEADLIGHT_METRICS is {metrics[:100]!a}; write 1 or 0")
        return cls(int(sessions), metrics == "1")


class Gate:
    """ASGI middleware around Streamlit: sets the headers, turns foreign sites away, counts visitors."""

    def __init__(self, app: ASGIApp, *, rules: Rules) -> None:
        self.app, self.rules = app, rules
        self.headers = [(name.lower().encode(), value.encode()) for name, value in headers().items()]
        self.visitors = 0  # open websockets; one thread serves them all

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
        if _is_foreign(scope) or self.visitors >= self.rules.sessions:
            await receive()
            await send({"type": "websocket.close", "code": _FOREIGN_ORIGIN})
            return
        self.visitors += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.visitors -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].rstrip("/")
        if path.endswith(_METRICS) and not self.rules.metrics:
            await _text(send, 404, "Metrics are off here; HEADLIGHT_METRICS=1 turns them on.\n")
        elif self.visitors >= self.rules.sessions and b"text/html" in _header(scope, b"accept"):
            page = _FULL.format(sessions=self.rules.sessions, retry=_RETRY)
            await _text(send, 503, page, kind=b"text/html", further=[(b"retry-after", str(_RETRY).encode())])
        else:
            await self.app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        """Give a `send` that puts the headers onto the answer, in place of any that it has of the same names."""
        ours = {name for name, _ in self.headers}

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() not in ours]
                message = {**message, "headers": [*others, *self.headers]}
            await send(message)

        return sent


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _is_foreign(scope: Scope) -> bool:
    """Return True if a page of another host sends the request; a client without an Origin is no browser."""
    origin = _header(scope, b"origin").decode("latin-1")
    return bool(origin) and urlsplit(origin).netloc != _header(scope, b"host").decode("latin-1")


async def _text(
    send: Send, status: int, text: str, *, kind: bytes = b"text/plain", further: list[tuple[bytes, bytes]] | None = None
) -> None:
    start = [(b"content-type", kind + b"; charset=utf-8"), (b"cache-control", b"no-store"), *(further or ())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": text.encode()})
