"""The gate before a real server of Streamlit, asked through real sockets: who comes in, who stays, what goes on."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import sleep

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg, DeferredFileRequestPayload
from streamlit.proto.BackMsg_pb2 import InstallSkillsRequestPayload as InstallSkills
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from tests.inspector.views.server.served import Server
from tests.inspector.views.server.served import served as serve

APP = """
import os
from dataclasses import replace

import streamlit as st
from starlette.middleware import Middleware

from inspector.views.server import gate

rules = replace(gate.Rules.from_environment(), silence=float(os.environ["SILENCE"]))
app = st.App("page.py", middleware=[Middleware(gate.Gate, rules=rules)])
"""
PAGE = """
import streamlit as st


@st.cache_resource
def runs():
    return []


runs().append(None)
st.text(f"run {len(runs())}")
st.download_button("Save", lambda: "made when it is pressed", file_name="made.txt")
"""
RERUN = BackMsg(rerun_script=ClientState())
pytestmark = pytest.mark.heavy


@contextmanager
def served(folder: Path, *, silence: float = 600, **environment: str) -> Iterator[Server]:
    """Serve a small page behind the gate; silence: the seconds that a socket may ask for nothing."""
    (folder / "app.py").write_text(APP, encoding="utf-8")
    (folder / "page.py").write_text(PAGE, encoding="utf-8")
    with serve(folder / "app.py", folder, SILENCE=str(silence), **environment) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("sockets")) as server:
        yield server


def until(opened: ClientConnection, seen: Callable[[ForwardMsg], bool]) -> list[ForwardMsg]:
    """Collect what the server sends, up to the first message that is looked for."""
    messages: list[ForwardMsg] = []
    while not messages or not seen(messages[-1]):
        messages.append(ForwardMsg.FromString(opened.recv(timeout=60, decode=False)))
    return messages


def run(opened: ClientConnection) -> list[ForwardMsg]:
    """Ask for a run of the page, as a browser does, and collect it."""
    opened.send(RERUN.SerializeToString())
    return until(opened, lambda message: message.WhichOneof("type") == "script_finished")


def said(messages: list[ForwardMsg]) -> list[str]:
    elements = [message.delta.new_element for message in messages if message.WhichOneof("type") == "delta"]
    return [element.text.body for element in elements if element.WhichOneof("type") == "text"]


def session_of(messages: list[ForwardMsg]) -> str:
    return next(m.new_session.initialize.session_id for m in messages if m.WhichOneof("type") == "new_session")


def entered(server: Server, stack: ExitStack) -> ClientConnection:
    """Come in as a visitor, as soon as there is a place."""
    while True:
        try:
            opened = stack.enter_context(server.socket())
            run(opened)
            return opened
        except (InvalidStatus, ConnectionClosed):
            sleep(0.05)


def is_closed(opened: ClientConnection) -> bool:
    """Wait for the server's next word; True if it is the end."""
    try:
        opened.recv(timeout=60)
    except ConnectionClosed:
        return True
    return False


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def install(session: str) -> BackMsg:
    request = BackendOperationRequest(request_id="1", session_id=session, install_skills=InstallSkills())
    return BackMsg(backend_operation_request=request)


def test_what_no_page_needs_is_dropped_and_the_page_goes_on(server: Server) -> None:
    with server.socket() as opened:
        first = run(opened)
        before = int(said(first)[0].removeprefix("run "))
        for message in (
            *(BackMsg(clear_cache=True), BackMsg(load_git_info=True), BackMsg(set_run_on_save=True)),
            *(BackMsg(debug_disconnect_websocket=True), BackMsg(debug_shutdown_runtime=True)),
            install(session_of(first)),
        ):
            opened.send(message.SerializeToString())
        for frame in ("text", b"", b"\xff" * 100, b"\xf2\x3f\x03abc", b"\x0a" * 5000):  # the fourth: field 1022
            opened.send(frame)
        again = run(opened)
    assert said(again) == [f"run {before + 1}"], "the cache of all visitors was emptied"
    kinds = {message.WhichOneof("type") for message in again}
    assert not kinds & {"git_info_changed", "backend_operation_response"}
    assert not any(message.session_status_changed.run_on_save for message in again)
    assert server.log.read_text(encoding="utf-8") == "", "nothing of it floods the log"


def test_a_download_that_is_made_when_it_is_pressed_arrives(server: Server) -> None:
    with server.socket() as opened:
        messages = run(opened)
        elements = [message.delta.new_element for message in messages if message.WhichOneof("type") == "delta"]
        file = next(one.download_button.deferred_file_id for one in elements if one.HasField("download_button"))
        asked = BackendOperationRequest(
            request_id="1", session_id=session_of(messages), deferred_file=DeferredFileRequestPayload(file_id=file)
        )
        opened.send(BackMsg(backend_operation_request=asked).SerializeToString())
        answer = until(opened, lambda message: message.WhichOneof("type") == "backend_operation_response")[-1]
        address = answer.backend_operation_response.deferred_file.url
        with urllib.request.urlopen(f"http://{server.host}{address}", timeout=60) as file_of_it:
            assert file_of_it.read() == b"made when it is pressed"


def test_sockets_that_ask_for_nothing_give_their_places_back(tmp_path: Path, stack: ExitStack) -> None:
    with served(tmp_path, silence=1, HEADLIGHT_SESSIONS="10") as server:
        visitors = [entered(server, stack) for _ in range(8)]
        silent = [stack.enter_context(server.socket()) for _ in range(2)]
        silent[0].send("text")
        silent[0].send(BackMsg(clear_cache=True).SerializeToString())
        with pytest.raises(InvalidStatus, match="403"):
            stack.enter_context(server.socket())
        assert all(is_closed(opened) for opened in silent)
        visitors += [entered(server, stack) for _ in range(2)]
        with pytest.raises(InvalidStatus, match="403"):
            stack.enter_context(server.socket())
        assert all(said(run(opened)) for opened in visitors), "those who asked once may be silent"


def test_a_page_whose_connection_broke_may_be_silent(tmp_path: Path, stack: ExitStack) -> None:
    """A browser that comes back asks for nothing where its page is whole."""
    with served(tmp_path, silence=1) as server:
        opened = entered(server, stack)
        session = session_of(run(opened))
        opened.close()
        back = stack.enter_context(server.socket(session=session))
        assert is_closed(stack.enter_context(server.socket(session="0" * 36))), "of a session that there is not"
        assert is_closed(stack.enter_context(server.socket()))  # by now the first had twice the time
        assert session_of(run(back)) == session


def test_thirty_visitors_from_one_address_get_in(server: Server, stack: ExitStack) -> None:
    visitors = [stack.enter_context(server.socket()) for _ in range(30)]
    assert all(said(run(opened)) for opened in (visitors[0], visitors[-1]))


def test_visitors_of_an_address_are_counted_where_the_host_asks_for_it(tmp_path: Path, stack: ExitStack) -> None:
    with served(tmp_path, HEADLIGHT_PER_ADDRESS="2") as server:  # no proxy is named: what the header says is ignored
        for forwarded in ("192.0.2.1", "192.0.2.2"):
            run(stack.enter_context(server.socket(**{"X-Forwarded-For": forwarded})))
        with pytest.raises(InvalidStatus, match="403"):
            stack.enter_context(server.socket(**{"X-Forwarded-For": "192.0.2.3"}))
        with pytest.raises(InvalidStatus, match="403"):
            stack.enter_context(server.socket())


def test_behind_a_named_proxy_an_address_is_the_one_that_it_names(tmp_path: Path, stack: ExitStack) -> None:
    with served(tmp_path, HEADLIGHT_PER_ADDRESS="2", HEADLIGHT_PROXY="127.0.0.1") as server:
        for forged in ("192.0.2.8", "192.0.2.9"):  # the visitor's own header, before what the proxy writes
            run(stack.enter_context(server.socket(**{"X-Forwarded-For": f"{forged}, 192.0.2.1"})))
        with pytest.raises(InvalidStatus, match="403"):
            stack.enter_context(server.socket(**{"X-Forwarded-For": "192.0.2.7, 192.0.2.1"}))
        run(stack.enter_context(server.socket(**{"X-Forwarded-For": "192.0.2.2"})))
        with pytest.raises(InvalidStatus, match="403"):  # the proxy says that its visitors come by https
            stack.enter_context(server.socket(**{"Origin": f"http://{server.host}", "X-Forwarded-Proto": "https"}))
        run(stack.enter_context(server.socket(**{"Origin": f"https://{server.host}", "X-Forwarded-Proto": "https"})))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *[("/", 200), ("/costs", 200), ("/_stcore/health", 200), ("/_stcore/host-config", 200), ("/media/none", 404)],
        *[("/auth/login", 404), ("/auth/logout", 404), ("/oauth2callback", 404), ("/oauth2callback/", 404)],
        *[("/_stcore/agent/openapi.json", 404), ("/_stcore/agent/interact", 404), ("/_stcore/agent/mcp", 404)],
        *[("/_stcore/metrics", 404), ("/_stcore/script-health-check", 404), ("/component/none", 404)],
    ],
)
def test_what_no_page_needs_is_not_found(server: Server, path: str, status: int) -> None:
    for host, expected in ((server.host, status), ("headlight.evil.example", 421)):
        with closing(HTTPConnection(server.host, timeout=60)) as connection:
            connection.request("GET", path, headers={"Host": host})
            assert connection.getresponse().status == expected
