"""The gate that every request passes before Streamlit sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar

import pytest
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest as Operation
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BackMsg_pb2 import DataframeChunkRequestPayload as DataframeChunk
from streamlit.proto.BackMsg_pb2 import DeferredFileRequestPayload as DeferredFile
from streamlit.proto.BackMsg_pb2 import InstallSkillsRequestPayload as InstallSkills
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import FileURLsRequest

from inspector.views.server import frames
from inspector.views.server.gate import Gate, Rules, headers

T = TypeVar("T")
ROOT = Path(__file__).parents[4]
HOST = b"localhost:8443"
OWN, FOREIGN = (b"origin", b"https://localhost:8443"), (b"origin", b"https://localhost.evil.example")
FTP = (b"origin", b"ftp://localhost:8443")


@pytest.mark.parametrize(
    ("message", "goes_on"),
    [
        (BackMsg(rerun_script=ClientState()), True),
        (BackMsg(stop_script=True), True),
        (BackMsg(file_urls_request=FileURLsRequest()), True),
        (BackMsg(app_heartbeat=True), True),
        (BackMsg(backend_operation_request=Operation(deferred_file=DeferredFile())), True),
        (BackMsg(backend_operation_request=Operation(dataframe_chunk=DataframeChunk())), True),
        (BackMsg(backend_operation_request=Operation(install_skills=InstallSkills())), False),
        (BackMsg(backend_operation_request=Operation()), False),
        (BackMsg(clear_cache=True), False),
        (BackMsg(), False),
    ],
    ids=lambda value: str(value).replace("\n", "")[:60],
)
def test_a_message_that_no_page_needs_does_not_go_on(message: BackMsg, *, goes_on: bool) -> None:
    frame = message.SerializeToString()
    assert frames.needed(frame) == (frame if goes_on else None)


class Inner:
    """An app that answers all and keeps its websockets open until it is told to let go."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.let_go = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await self.let_go.wait()
        else:
            spoken = [(b"content-type", b"text/plain"), (b"X-Frame-Options", b"SAMEORIGIN")]
            await send({"type": "http.response.start", "status": 200, "headers": spoken})
            await send({"type": "http.response.body", "body": b"inner"})


def run(asked: Coroutine[Any, Any, T]) -> T:
    """Run in a thread of its own: where browser tests came before, this thread's loop is Playwright's."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, asked).result()


async def ask(
    gate: Gate,
    path: str,
    *further: tuple[bytes, bytes],
    kind: str = "http",
    host: bytes = HOST,
    query: bytes = b"",
) -> list[dict[str, Any]]:
    """Send the gate one request, and collect its answer."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": f"{kind}.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host), *further]
    await gate({"type": kind, "path": path, "query_string": query, "headers": headers}, receive, send)
    return sent


@pytest.mark.parametrize("path", ["/", "/costs", "/_stcore/health", "/media/x.csv", "/_stcore/metrics"])
def test_every_answer_has_the_headers_once(path: str) -> None:
    start, _ = run(ask(Gate(Inner(), rules=Rules()), path))
    names = [name.lower() for name, _ in start["headers"]]
    for name, value in headers().items():
        assert names.count(name.lower().encode()) == 1
        assert (name.lower().encode(), value.encode()) in start["headers"]


def test_the_policy_names_no_foreign_host_and_lets_no_site_frame_it() -> None:
    policy = dict(directive.split(" ", 1) for directive in headers()["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "eval" not in policy["script-src"]
    sources = {source for value in policy.values() for source in value.split()}
    known = {"'none'", "'self'", "'unsafe-inline'", "blob:", "data:"}
    assert all(source in known or source.startswith("'sha256-") for source in sources)


def test_named_sites_may_frame_it_and_no_answer_says_otherwise() -> None:
    """Streamlit's own X-Frame-Options would win in an old browser; the rest of the policy stays."""
    named = ("https://huggingface.co", "https://moodle.example:8443")
    start, _ = run(ask(Gate(Inner(), rules=Rules(frame_ancestors=named)), "/"))
    sent = {name.lower(): value.decode() for name, value in start["headers"]}
    assert b"x-frame-options" not in sent
    closed, opened = headers()["Content-Security-Policy"], sent[b"content-security-policy"]
    assert opened == closed.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(named)}")


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"])
def test_metrics_answer_only_where_asked_for(path: str) -> None:
    closed, open_ = Inner(), Inner()
    start, _ = run(ask(Gate(closed, rules=Rules()), path))
    assert (start["status"], closed.seen) == (404, [])
    start, _ = run(ask(Gate(open_, rules=Rules(metrics=True)), path))
    assert (start["status"], open_.seen) == ((404, []) if path.startswith("/base") else (200, [path]))


def test_each_of_streamlits_routes_is_known() -> None:
    """A later Streamlit may serve more; then this test asks whether a page needs it."""
    served = st.App(str(ROOT / "inspector/views/shell/frame.py"))._build_starlette_app().routes
    paths = {getattr(route, "path", "").replace("{", "").replace(":path}", "").replace("}", "") for route in served}
    needed = {path for path in paths if Gate(Inner(), rules=Rules())._is_needed(path)}
    assert needed == {
        *("", "/_stcore/health", "/_stcore/host-config", "/_stcore/upload_file/session_id/file_id", "/media/file_id"),
        "/_stcore/bidi-components/path",
    }
    assert paths - needed == {
        *("/_stcore/stream", "/_stcore/metrics", "/component/path", "/auth/login", "/auth/logout", "/oauth2callback"),
        *("/_stcore/agent/interact", "/_stcore/agent/openapi.json", "/_stcore/agent/mcp"),
    }, "the first is a websocket"


@pytest.mark.parametrize("host", [b"evil.example", b"localhost.evil.example", b"localhost@evil.example", b""])
@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/static/js/index.js"])
def test_another_name_of_this_machine_gets_no_answer(host: bytes, path: str) -> None:
    inner = Inner()
    start, body = run(ask(Gate(inner, rules=Rules()), path, host=host))
    assert (start["status"], inner.seen) == (421, [])
    assert b"server.allowedHosts" in body["body"]


@pytest.mark.parametrize("origin", [FOREIGN, (b"origin", b"null"), (b"origin", b"https://localhost:9000"), FTP])
def test_a_page_of_another_site_gets_no_websocket(origin: tuple[bytes, bytes]) -> None:
    inner = Inner()
    assert run(ask(Gate(inner, rules=Rules()), "/_stcore/stream", origin, kind="websocket")) == [
        {"type": "websocket.close", "code": 1008}
    ]
    assert inner.seen == []


@pytest.mark.parametrize("further", [[OWN], []])
def test_its_own_page_and_a_client_that_is_no_browser_get_one(further: list[tuple[bytes, bytes]]) -> None:
    inner = Inner()
    inner.let_go.set()
    assert run(ask(Gate(inner, rules=Rules()), "/_stcore/stream", *further, kind="websocket")) == [
        {"type": "websocket.accept"}
    ]


@pytest.mark.parametrize(
    ("base", "path", "query", "location"),
    [
        ("", "/nosuchpage", b"", b"/?unknown=page"),
        ("", "/<b>/costs/", b"layer=2", b"/?layer=2&unknown=page"),
        ("head", "/head/nosuchpage", b"", b"/head/?unknown=page"),
        ("head", "/headline", b"", b"/head/?unknown=page"),
    ],
)
def test_a_page_that_there_is_not_leads_to_the_first_one(
    base: str, path: str, query: bytes, location: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.views.server.gate.config.get_option", {"server.baseUrlPath": base}.get)
    monkeypatch.setattr("inspector.views.server.gate.is_host_allowed", lambda host: True)
    gate, browser = Gate(inner := Inner(), rules=Rules()), (b"accept", b"text/html,*/*")
    start, body = run(ask(gate, path, browser, query=query))
    assert (start["status"], dict(start["headers"])[b"location"], body["body"]) == (307, location, b"")
    before = f"/{base}" if base else ""
    served = [before + rest for rest in ("/", "/costs", "/costs/", "/static/js/a.js", "/media/x", "/favicon.png")]
    for known in [*served, before]:
        assert run(ask(gate, known, browser, query=query))[0]["status"] == 200
    assert run(ask(gate, path, query=query))[0]["status"] == 200  # no browser's address
    assert inner.seen == [*served, before, path]


def test_where_all_places_are_taken_a_visitor_reads_a_sentence_and_is_asked_in_again() -> None:
    async def visit() -> None:
        inner, page = Inner(), (b"accept", b"text/html,*/*")
        gate = Gate(inner, rules=Rules(sessions=2))
        first, second = (asyncio.create_task(ask(gate, "/_stcore/stream", OWN, kind="websocket")) for _ in range(2))
        await asyncio.sleep(0)
        start, body = await ask(gate, "/costs", page)
        assert start["status"] == 503
        assert b"room for 2 visitors" in body["body"]
        assert b'http-equiv="refresh"' in body["body"]
        assert (b"retry-after", b"15") in start["headers"]
        assert (await ask(gate, "/_stcore/health"))[0]["status"] == 200, "those who are here go on"
        assert (await ask(gate, "/_stcore/stream", OWN, kind="websocket"))[0]["type"] == "websocket.close"
        inner.let_go.set()
        await asyncio.gather(first, second)
        assert gate.visitors == {}
        assert (await ask(gate, "/costs", page))[0]["status"] == 200

    run(visit())


def test_a_visitor_whose_connection_breaks_gives_the_place_back() -> None:
    async def breaks(scope: Any, receive: Any, send: Any) -> None:
        raise ConnectionError("gone")

    gate = Gate(breaks, rules=Rules(sessions=1))
    for _ in range(3):
        with pytest.raises(ConnectionError):
            run(ask(gate, "/_stcore/stream", kind="websocket"))
    assert gate.visitors == {}


def test_the_rules_are_read_from_the_environment() -> None:
    defaults = Rules(sessions=50, metrics=False, per_address=0, proxies=(), frame_ancestors=(), silence=10)
    assert Rules.from_environment({}) == defaults
    chosen = {"SESSIONS": " 7 ", "METRICS": "1", "PER_ADDRESS": "3", "PROXY": "127.0.0.1"}
    chosen["FRAME_ANCESTORS"] = "https://a.example"
    assert Rules.from_environment({f"HEADLIGHT_{name}": value for name, value in chosen.items()}) == Rules(
        sessions=7,
        metrics=True,
        per_address=3,
        proxies=(ip_network("127.0.0.1"),),
        frame_ancestors=("https://a.example",),
    )
