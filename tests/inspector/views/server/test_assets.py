"""Streamlit's own files and the components': served from memory, compressed once, and named to the browser ahead."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from inspector.components.source import COMPONENTS
from inspector.sections.registry import PAGES
from inspector.views.components import files, head
from inspector.views.server import assets
from inspector.views.server.assets import EVERYWHERE, STATIC, Assets, scripts
from tests.inspector.views.page import opened

GZIP = (b"accept-encoding", b"gzip, deflate, br, zstd")
SCRIPT, FOREVER = b"export default 1;", (b"cache-control", b"public, immutable, max-age=31536000")

LARGE = b"export const more = 1;" * 1000


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
        if path.endswith("large.js"):
            headers[1] = (b"content-length", str(len(LARGE)).encode())
            headers.append((b"etag", b'"1"'))
        await send({"type": "http.response.start", "status": 404 if "absent" in path else 200, "headers": headers})
        body = LARGE if path.endswith("large.js") else SCRIPT
        await send({"type": "http.response.body", "body": body[:5], "more_body": True})
        if "broken" not in path:
            await send({"type": "http.response.body", "body": body[5:]})


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


def test_a_file_is_kept_by_one_name() -> None:
    app = Assets(Inner())
    for path in ("/static/js/../js/a.js", "/static//js/a.js", "/static/./js/a.js", "/static/js/a.js/"):
        assert ask(app, path)[0]["status"] == 200
    assert app.kept == {}


def test_the_page_alone_names_the_scripts_of_widgets() -> None:
    app = Assets(Inner())
    named = dict(ask(app, "/")[0]["headers"])[b"link"].decode()
    assert re.findall(r"<\./static/js/([^>]+)>; rel=modulepreload", named) == scripts(EVERYWHERE)
    assert b"link" not in dict(ask(app, "/static/js/a.js")[0]["headers"])


def test_a_page_names_the_files_of_the_components_that_it_draws() -> None:
    for component in (*assets.COMPONENTS, *assets.FIRST):
        import_module(f"inspector.views.components.{component}")  # which declares its file
    app = Assets(Inner())
    for path, expected in (("/", {*assets.COMPONENTS, *assets.FIRST}), ("/costs", {*assets.COMPONENTS})):
        link = dict(ask(app, path)[0]["headers"])[b"link"].decode()
        named = re.findall(r"<\.(/components/[^>]+)>; rel=modulepreload", link)
        assert {Path(name).stem for name in named} == expected
        assert all(files.read(name) for name in named)


def test_the_page_says_what_comes_before_any_script_runs() -> None:
    index = (STATIC / "index.html").read_bytes()
    assert index.count(assets._ROOT) == 1

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", str(len(index)).encode()), (b"etag", b'"1"')]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in (index[:5000], index[5000:]):
            body = b"" if scope["method"] == "HEAD" else part
            await send({"type": "http.response.body", "body": body, "more_body": part == index[:5000]})

    for path, title in (("/", ""), ("/costs", "costs"), ("/base/costs/", "costs"), ("/<b>none", "")):
        start, *parts = ask(Assets(serve), path, (b"accept", b"text/html"), GZIP)
        body = b"".join(part["body"] for part in parts)
        told = dict(start["headers"])
        assert told[b"content-length"] == str(len(body)).encode()
        assert b"etag" not in told  # of other bytes
        assert f"<h1>{PAGES[title].title}</h1><p>{PAGES[title].purpose}</p>".encode() in body
        assert b"<b>" not in body
    start, *parts = ask(Assets(serve), "/", (b"accept", b"text/html"), method="HEAD")
    assert b"".join(part["body"] for part in parts) == b""
    assert dict(start["headers"])[b"content-length"] == str(len(index)).encode()


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


def test_a_file_is_compressed_once_for_who_takes_it_and_reads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    app, compress, pressed = Assets(inner := Inner()), gzip.compress, []
    monkeypatch.setattr(assets.gzip, "compress", lambda *given, **more: pressed.append(1) or compress(*given, **more))
    plain, small, again = (ask(app, "/static/js/large.js", *headers) for headers in ((), (GZIP,), (GZIP,)))
    told = dict(small[0]["headers"])
    assert (told[b"content-encoding"], told[b"vary"], told[b"etag"]) == (b"gzip", b"accept-encoding", b'W/"1"')
    assert told[b"content-length"] == str(len(small[1]["body"])).encode()
    assert len(small[1]["body"]) < len(LARGE) / 10
    assert gzip.decompress(small[1]["body"]) == plain[1]["body"] == LARGE
    assert b"content-encoding" not in dict(plain[0]["headers"])
    assert dict(plain[0]["headers"])[b"vary"] == b"accept-encoding"
    assert again == small
    assert (len(pressed), inner.seen) == (1, ["/static/js/large.js"] * 2)


def test_what_compression_does_not_make_smaller_stays_as_it_is() -> None:
    sent = ask(Assets(Inner()), "/static/js/a.js", GZIP)
    assert b"content-encoding" not in dict(sent[0]["headers"])
    assert sent[1]["body"] == SCRIPT


def addresses(component: str) -> list[str]:
    return [path for path in files._files if path.endswith(f"/{component}.js")]


def test_a_component_is_a_file_that_never_changes_at_an_address_of_its_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (path,) = addresses(head.__name__.rpartition(".")[2])
    sent = ask(Assets(inner := Inner()), f"/{path}", GZIP)
    told = dict(sent[0]["headers"])
    assert inner.seen == []
    assert told[b"cache-control"] == FOREVER[1]
    assert told[b"content-type"].startswith(b"text/javascript")
    source = gzip.decompress(sent[1]["body"])
    assert hashlib.sha256(source).hexdigest().startswith(path.split("/")[1])
    assert (COMPONENTS / "head" / "minimap.js").read_bytes().split(b"export")[-1].strip() in source
    monkeypatch.setattr(files.config, "get_option", {"server.baseUrlPath": "/base/"}.get)
    assert ask(Assets(Inner()), f"/base/{path}", GZIP)[1] == sent[1]


def test_a_component_of_another_content_is_not_there() -> None:
    (head_file,) = addresses("head")
    others = ("components/0000000000000000/head.js", "components/../app.py", "components/", f"other/{head_file}")
    for path in others:
        ask(app := Assets(inner := Inner()), f"/{path}")
        assert inner.seen == [f"/{path}"]  # which Streamlit answers, with its page
        assert app.kept == {}  # else a stranger could fill the memory with the same file under many names


def test_no_message_holds_a_components_source() -> None:
    app = opened()
    protos = [element.proto for element in app.get("bidi_component")]
    assert {proto.component_name for proto in protos} >= {"headlight_head", "headlight_grid", "headlight_width"}
    for proto in protos:
        (path,) = re.findall(r'import\(new URL\("\./(.*?)", document\.baseURI\)', proto.js_content)
        assert path in files._files
        assert len(proto.js_content) + len(proto.css_content) + len(proto.html_content) < 200
