"""Streamlit's own files: served from memory after the first time, and named to the browser with the page."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from inspector.views.server.assets import EVERYWHERE, STATIC, Assets, scripts

SCRIPT, FOREVER = b"export default 1;", (b"cache-control", b"public, immutable, max-age=31536000")


class Inner:
    """An app with a page, scripts that never change, one that does, and one that is sent in parts."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        self.seen.append(path)
        kind = b"text/javascript" if path.endswith(".js") else b"text/html; charset=utf-8"
        headers = [(b"content-type", kind), (b"content-length", str(len(SCRIPT)).encode())]
        headers += [] if path.endswith("changes.js") else [FOREVER]
        await send({"type": "http.response.start", "status": 404 if "absent" in path else 200, "headers": headers})
        await send({"type": "http.response.body", "body": SCRIPT[:5], "more_body": True})
        if "broken" not in path:
            await send({"type": "http.response.body", "body": SCRIPT[5:]})


def ask(app: Assets, path: str, *headers: tuple[bytes, bytes], method: str = "GET", query: bytes = b"") -> list[Any]:
    """Send one request, in a thread of its own, and collect the answer."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": method, "query_string": query, "headers": list(headers)}
    with ThreadPoolExecutor(1) as own:
        own.submit(lambda: asyncio.run(app(scope, receive, send))).result()
    return sent


def test_a_file_that_never_changes_is_read_once_and_is_the_same_from_memory() -> None:
    app = Assets(inner := Inner())
    first, second = (ask(app, "/static/js/a.js") for _ in range(2))
    assert inner.seen == ["/static/js/a.js"]
    assert first[0] == second[0]
    assert b"".join(part["body"] for part in first[1:]) == second[1]["body"] == SCRIPT


def test_all_else_is_asked_of_streamlit_each_time() -> None:
    app = Assets(inner := Inner())
    part = (b"range", b"bytes=0-4")
    for path in ("/static/js/changes.js", "/static/absent.js", "/static/broken.js", "/media/a.js", "/costs"):
        for _ in range(2):
            ask(app, path)
        assert inner.seen.count(path) == 2
    ask(app, "/static/js/a.js")
    ask(app, "/static/js/a.js", part)
    ask(app, "/static/js/a.js", query=b"v=1")
    ask(app, "/static/js/a.js", method="HEAD")
    assert inner.seen.count("/static/js/a.js") == 4


def test_the_page_alone_names_the_scripts_of_widgets() -> None:
    app = Assets(Inner())
    named = dict(ask(app, "/")[0]["headers"])[b"link"].decode()
    assert re.findall(r"<\./static/js/([^>]+)>; rel=modulepreload", named) == scripts(EVERYWHERE)
    assert b"link" not in dict(ask(app, "/static/js/a.js")[0]["headers"])


def test_scripts_are_those_of_every_widget_with_what_they_import_beyond_the_frame() -> None:
    found, page = scripts(EVERYWHERE), (STATIC / "index.html").read_text(encoding="utf-8")
    for widget in EVERYWHERE:
        assert any(name.startswith(f"{widget}.") for name in found)
    assert len(set(found)) == len(found)
    assert not any(f"static/js/{name}" in page for name in found)
    for name in found:
        script = (STATIC / "static/js" / name).read_text(encoding="utf-8")
        for other in re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', script):
            assert other in found or f"static/js/{other}" in page
