"""The app itself, asked through real sockets: what one visitor sends or builds takes nothing from the others."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from inspector.atlas.lines import MOST_CHARACTERS
from tests.benchmarks.socket_session import SocketSession
from tests.inspector.views.server.served import ROOT, Server, served

pytestmark = pytest.mark.heavy
PATIENCE = 240  # seconds: a test that passes waits no longer than the page takes


def run(act: Coroutine[None, None, None]) -> None:
    """Run an act of visitors in a thread of its own: after browser tests this thread has Playwright's loop."""
    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, asyncio.wait_for(act, PATIENCE)).result()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("app")
    with served(ROOT / "app.py", folder, HEADLIGHT_TURNS="1", HEADLIGHT_ATLASES=str(folder / "atlases")) as server:
        yield server


@dataclass
class Visitor:
    """A session, and all that it was sent."""

    session: SocketSession
    sent: list[bytes] = field(default_factory=list)

    def hear(self, heard: ForwardMsg, content: bytes) -> None:
        self.sent.append(content)

    def saw(self, words: str) -> bool:
        return any(re.search(words.encode(), content) for content in self.sent)

    async def sees(self, words: str) -> None:
        """Wait until words are sent, while a run goes on."""
        while not self.saw(words):
            await asyncio.sleep(0.05)


@asynccontextmanager
async def visitor(server: Server) -> AsyncIterator[Visitor]:
    async with SocketSession.at(f"http://{server.host}/") as session:
        visitor = Visitor(session)
        session.heard = visitor.hear
        yield visitor


def test_a_small_file_of_gigabytes_is_refused_and_takes_no_memory(server: Server) -> None:
    """5,000 rows of one long text: some hundred bytes, 2 GB as strings."""
    longest = pa.array(["\U0001f600" * (MOST_CHARACTERS - 10)])
    file, rows = io.BytesIO(), pa.DictionaryArray.from_arrays(pa.array([0] * 5000, pa.int32()), longest)
    pq.write_table(pa.table({"text": rows, "target": rows}), file, compression="zstd")
    assert len(file.getvalue()) < 1500

    async def send() -> None:
        async with visitor(server) as one:
            await one.session.open("atlas")
            await one.session.change({"atlas_build_panel": True})
            before = psutil.Process(server.pid).memory_info().rss
            await one.session.upload("atlas_file", "corpus.parquet", file.getvalue())
            assert one.saw("the corpus has more than 500,000 characters, the most that are read here")
            assert psutil.Process(server.pid).memory_info().rss - before < 300 * 2**20

    run(send())


def test_who_builds_an_atlas_keeps_nobody_from_another_model_or_its_switches(server: Server) -> None:
    texts = "\n".join(f"The cat sat on mat number {number} because it was tired." for number in range(1000))

    async def visit() -> None:
        async with visitor(server) as builder:
            await builder.session.open("atlas")
            await builder.session.change({"atlas_build_panel": True})
            await builder.session.change({"atlas_texts": texts})
            build = asyncio.create_task(builder.session.change({}, press="Build"))
            await builder.sees("[0-9] of 1,000 texts")
            async with visitor(server) as reader:
                for model in ("own-encoder", "own-encoder?scale=none"):
                    await reader.session.open("", model=model, text="A dog ran.")
                assert not build.done()
                assert not reader.saw("in the queue")
                assert not reader.saw("Cannot be shown")
            async with visitor(server) as second:
                await second.session.open("lab")
                training = asyncio.create_task(second.session.change({}, press="Start"))
                await second.sees("you are number 1 in the queue.*First: Building an atlas")
                training.cancel()
            build.cancel()

    run(visit())


def test_what_a_named_site_may_frame_says_so_on_every_answer_and_its_cookie_goes_into_the_frame(tmp_path: Path) -> None:
    """Without it browsers keep the cookie back in another site's frame, and each upload there is refused."""
    named = "https://huggingface.co"
    with served(ROOT / "app.py", tmp_path, HEADLIGHT_FRAME_ANCESTORS=named) as open_to_it:
        for path, status in (("/", 200), ("/block", 200), ("/_stcore/health", 200), ("/auth/login", 404)):
            answer = answered(open_to_it, path)
            assert answer.status == status
            assert f"frame-ancestors {named};" in f"{answer.headers['Content-Security-Policy']};"
            assert "X-Frame-Options" not in answer.headers
        assert "SameSite=None; Secure; Partitioned" in answered(open_to_it, "/_stcore/health").headers["Set-Cookie"]


def test_no_site_may_frame_it_where_none_is_named(server: Server) -> None:
    answer = answered(server, "/_stcore/health")
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Set-Cookie"].endswith("SameSite=Lax")


def answered(server: Server, path: str) -> HTTPResponse:
    with closing(HTTPConnection(server.host, timeout=60)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer
