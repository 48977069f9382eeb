"""A visitor's page without a browser: Streamlit's own messages over a websocket, at the price of a few milliseconds.

async with SocketSession.at("http://127.0.0.1:8501/") as session:
    await session.open("costs", text="The cat sat.")
    await session.change({"text": "Another text."}, press="Inspect")
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode, urljoin

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, FileURLsRequest, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect


@dataclass
class SocketSession:
    """One session; `change` and `open` return when the run is over.

    heard: called with each message and its bytes. widgets: by the end of their ids, which is their key, and by their
    label: the id, and the fragment that they belong to.
    """

    socket: ClientConnection
    heard: Callable[[ForwardMsg, bytes], object] = lambda message, content: None
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)
    _states: dict[str, WidgetState] = field(default_factory=dict)
    _page: str = ""
    _query: str = ""
    _session: str = ""
    _address: str = ""

    @classmethod
    @asynccontextmanager
    async def at(cls, address: str) -> AsyncIterator[SocketSession]:
        """Connect to the page at an address, and leave it when the block ends."""
        url = address.replace("http", "ws", 1) + "_stcore/stream"
        # No pings: a server that fifty visitors ask at once answers late, and the visitor is to wait for it.
        async with connect(
            url,
            max_size=None,
            subprotocols=["streamlit"],  # type: ignore[list-item]
            open_timeout=60,
            ping_interval=None,
        ) as socket:
            yield cls(socket, _address=address)

    async def open(self, page: str, **query: str) -> None:
        """Follow a link to a page by its address, in this session."""
        self._page, self._query = page, urlencode(query)
        self._states.clear()
        self.widgets.clear()
        await self._run({}, fragment="")

    async def change(self, values: Mapping[str, str | bool], *, press: str = "") -> None:
        """Set widgets, by key or label, and press a button."""
        fragment = ""
        states = {}
        for name, value in values.items():
            id, fragment = self.widgets[name]
            states[id] = (
                WidgetState(id=id, bool_value=value)
                if value in (True, False)
                else WidgetState(id=id, string_value=str(value))
            )
        self._states |= states
        pressed = {}
        if press:
            id, fragment = self.widgets[press]
            pressed[id] = WidgetState(id=id, trigger_value=True)
        await self._run(pressed, fragment=fragment)

    async def upload(self, name: str, file: str, content: bytes) -> None:
        """Give a file to a field, by its key or label."""
        asked = FileURLsRequest(request_id="upload", file_names=[file], session_id=self._session)
        await self.socket.send(BackMsg(file_urls_request=asked).SerializeToString())
        urls = None
        while urls is None:
            heard = ForwardMsg.FromString(await self.socket.recv(decode=False))
            if heard.WhichOneof("type") == "file_urls_response":
                (urls,) = heard.file_urls_response.file_urls
        await asyncio.to_thread(put, f"{self._address}{urls.upload_url.lstrip('/')}", file, content)
        id, fragment = self.widgets[name]
        info = UploadedFileInfo(name=file, size=len(content), file_id=urls.file_id, file_urls=urls)
        self._states[id] = WidgetState(id=id, file_uploader_state_value=FileUploaderState(uploaded_file_info=[info]))
        await self._run({}, fragment=fragment)

    async def _run(self, pressed: Mapping[str, WidgetState], *, fragment: str) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name, asked.fragment_id = self._query, self._page, fragment
        asked.widget_states.widgets.extend((self._states | pressed).values())
        await self.socket.send(message.SerializeToString())
        while True:
            content = await self.socket.recv()
            assert isinstance(content, bytes)
            heard = ForwardMsg()
            heard.ParseFromString(content)
            self._note(heard)
            self.heard(heard, content)
            ended = heard.WhichOneof("type") == "script_finished"
            if ended and heard.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return

    def _note(self, heard: ForwardMsg) -> None:
        if heard.WhichOneof("type") == "new_session":
            self._session = heard.new_session.initialize.session_id
        if heard.WhichOneof("type") == "page_info_changed":
            self._query = heard.page_info_changed.query_string
        if heard.WhichOneof("type") != "delta":
            return
        delta = heard.delta
        part = delta.new_element if delta.WhichOneof("type") == "new_element" else delta.add_block
        kind = part.WhichOneof("type")
        widget = None if kind is None else getattr(part, kind)
        if widget is None or not getattr(widget, "id", ""):
            return
        place = widget.id, delta.fragment_id
        self.widgets[widget.id.split("-", 2)[-1]] = place
        if getattr(widget, "label", ""):
            self.widgets[widget.label] = place


def put(url: str, file: str, content: bytes) -> None:
    """Send a file to the address that the server gave for it, as the page does."""
    with urllib.request.urlopen(urljoin(url, "/_stcore/health")) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
    edge = "edge-of-the-file"
    start = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'
    body = start.encode() + content + f"\r\n--{edge}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={edge}", "Cookie": cookie}
    headers["X-Xsrftoken"] = cookie.partition("=")[2]
    urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers, method="PUT")).close()
