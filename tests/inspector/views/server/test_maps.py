"""Maps that a browser fetches one by one: at a name that cannot be guessed, as long as they are there."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from inspector.views.server import maps


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 299, "headers": []})


def asked(path: str, *, method: str = "GET", kind: str = "http") -> tuple[int, bytes]:
    """Ask for a path, in a thread of its own; status and body of the answer."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "method": method, "headers": []}
    with ThreadPoolExecutor(1) as apart:
        apart.submit(lambda: asyncio.run(maps.Maps(inner)(scope, receive, send))).result()
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:])


def make(row: int, head: int) -> bytes | None:
    return f"{row} {head}".encode() if row < 6 and head < 12 else None


def test_the_map_of_a_head_is_at_its_address() -> None:
    path = maps.offer("a view", make)
    assert re.fullmatch(r"maps/[\w-]{22}/", path)
    assert asked(f"/{path}3/11") == (200, b"3 11")
    assert asked(f"/{path}6/0") == (404, b"")


def test_what_is_no_map_goes_on() -> None:
    path = maps.offer("a view", make)
    for other in (path, f"{path}3", f"{path}3/11/", f"{path}-1/2", f"{path}3/11111", "maps/short/3/11", f"x/{path}3/1"):
        assert asked(f"/{other}")[0] == 299
    assert asked(f"/{path}3/11", method="POST")[0] == 299


def test_a_name_that_was_not_given_is_not_found() -> None:
    assert asked(f"/maps/{'a' * 22}/3/11") == (404, b"")


def test_a_view_keeps_its_name_until_others_take_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "MOST", 2)
    monkeypatch.setattr(maps, "_offered", maps._Offered())
    first = maps.offer("first", make)
    second = maps.offer("second", make)
    assert maps.offer("first", make) == first != second
    maps.offer("third", make)
    assert asked(f"/{first}0/0")[0] == 200
    assert asked(f"/{second}0/0") == (404, b"")
    assert maps.offer("second", make) != second


def test_a_path_below_the_server_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps.config, "get_option", lambda name: "below/here")
    path = maps.offer("a view", make)
    assert asked(f"/below/here/{path}0/1") == (200, b"0 1")
