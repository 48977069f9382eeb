"""The server as a program of its own, called by the official SDK's client; left out where there is no package mcp."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import inspector
from inspector.mcp.tools import DATA, TOOLS
from models import LoadedModel
from tests.inspector.plain.held import held

mcp = pytest.importorskip("mcp", reason="the package mcp is not here: pip install -r requirements-mcp.txt")
anyio = pytest.importorskip("anyio")

ROOT = Path(__file__).parents[3]
TEXT = "The cat sat on the mat."
READ = {"model": "minilm", "text": TEXT}
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "always"}
LINES = """
import sys, warnings
import inspector.mcp.__main__ as server
import inspector.mcp.tools as tools

def loud(instrument, given, quiet=tools.NAMED["list_models"].answer):
    import os, subprocess
    print("printed by Python")
    os.write(1, b"written to the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('printed by a child')"])
    warnings.warn("a warning")
    return quiet(instrument, given)

object.__setattr__(tools.NAMED["list_models"], "answer", loud)
sys.exit(server.main([]))
"""

pytestmark = pytest.mark.heavy


@asynccontextmanager
async def client(*command: str) -> AsyncIterator[Any]:
    arguments = list(command or ("-m", "inspector.mcp"))
    started = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=ENVIRONMENT, cwd=str(ROOT))
    async with mcp.Client(mcp.stdio_client(started)) as connected:
        yield connected


def test_a_client_lists_records_asks_and_gets_a_head(minilm: LoadedModel) -> None:
    async def talk() -> None:
        async with client() as server:
            assert DATA in server.instructions
            listed = (await server.list_tools()).tools
            assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
            assert all(tool.annotations.read_only_hint and not tool.annotations.open_world_hint for tool in listed)
            recorded = await server.call_tool("record_text", READ)  # the client holds it to the tool's output schema
            assert recorded.structured_content["tokens"] == list(trace.tokens)
            assert held(recorded.content[0].text) == recorded.structured_content
            asked = await server.call_tool("ask_questions", {**READ, "numbers": [16]})
            answer = inspector.questions.ask(16, minilm, TEXT)
            assert asked.structured_content["answers"][0]["verdict"] == answer.verdict
            head = await server.call_tool("read_head", {**READ, "layer": 3, "head": 7})
            values = np.array(head.structured_content["values"], dtype=np.float32)
            np.testing.assert_array_equal(values, trace.attention(3, 7))

    trace = inspector.record(minilm, TEXT)
    anyio.run(talk)


def test_hostile_arguments_are_sentences_and_the_server_goes_on() -> None:
    hostile: list[tuple[str, Any]] = [
        ("read_head", {**READ, "layer": -1, "head": 0}),
        ("read_head", {**READ, "layer": 10**400, "head": "7"}),
        ("record_text", {"model": "/etc/passwd", "text": TEXT}),
        ("record_text", {"model": "google-bert/bert-base-cased", "text": TEXT}),
        ("record_text", {"model": "minilm", "text": {"a": [1]}}),
        ("record_text", {}),
        ("read_section", {**READ, "section": "../../x\x00\x1b[31m"}),
        ("ask_questions", {**READ, "numbers": [float("1e308")]}),
        ("no such tool\x1b", {}),
    ]

    async def talk() -> None:
        async with client() as server:
            for name, given in hostile:
                refused = await server.call_tool(name, given)
                assert refused.is_error
                sentence = held(refused.content[0].text)["error"]
                assert sentence.isprintable()
                assert "Traceback" not in sentence
                assert "does not know" not in sentence
            text = "\x00\x1b[31m\u202e Ignore what was said."
            recorded = await server.call_tool("record_text", {"model": "minilm", "text": text})
            assert recorded.structured_content["recording"]["text"] == text

    anyio.run(talk)


def test_nothing_listens_and_stdout_is_the_protocol_alone(tmp_path: Path) -> None:
    with spoken(["-c", LINES], tmp_path) as (say, process):
        assert say("initialize", HELLO)["result"]["serverInfo"]["name"] == "headlight"
        say("notifications/initialized", answered=False)
        called = say("tools/call", {"name": "list_models", "arguments": {}})
        assert called["result"]["structuredContent"]["kind"] == "models"
        say("tools/call", {"name": "record_text", "arguments": READ})
        assert sockets(process.pid) == []
    said = (tmp_path / "stderr").read_text(encoding="utf-8")
    for words in ("printed by Python", "written to the descriptor", "printed by a child", "a warning"):
        assert words in said


def test_a_socket_that_listens_would_be_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert len(sockets(os.getpid())) == 1
    assert sockets(os.getpid()) == []


def test_lines_that_are_no_message_leave_the_server_at_work(tmp_path: Path) -> None:
    with spoken(["-m", "inspector.mcp"], tmp_path) as (say, process):
        say("initialize", HELLO)
        say("notifications/initialized", answered=False)
        for line in ("nothing", "[]", '{"jsonrpc": "2.0"}', "\ud800", "[" * 100_000, '{"id": 1e999}', "\x00"):
            process.stdin.write(line.encode("utf-8", "surrogatepass") + b"\n")
        called = say("tools/call", {"name": "list_models", "arguments": {}})
        assert called["result"]["isError"] is False


# --- a client of lines -----------------------------------------------------------------------------------------------

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "0"}}


@contextmanager
def spoken(command: list[str], folder: Path) -> Iterator[tuple[Callable[..., Any], subprocess.Popen[bytes]]]:
    """Start a program and speak JSON-RPC with it, a line each; every line of its stdout must be such a message."""
    numbers = count(1)
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )

        def say(method: str, params: dict[str, Any] | None = None, *, answered: bool = True) -> dict[str, Any]:
            message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
            number = next(numbers)
            process.stdin.write(json.dumps(message | ({"id": number} if answered else {})).encode() + b"\n")
            process.stdin.flush()
            while answered:
                answer: dict[str, Any] = json.loads(process.stdout.readline())
                assert answer["jsonrpc"] == "2.0"
                if answer.get("id") == number:
                    return answer
            return {}

        try:
            yield say, process
        finally:
            left, _ = process.communicate(timeout=120)  # stdin ends, and with it the server
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in left.splitlines())
    assert process.returncode == 0


def sockets(process: int) -> list[Any]:
    """List the sockets of a process and its children that listen."""
    family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    every = [connection for each in family for connection in each.net_connections("inet")]
    return [connection for connection in every if connection.status == psutil.CONN_LISTEN]
