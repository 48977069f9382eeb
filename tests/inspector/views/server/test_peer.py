"""The origin of a request: what a header says counts only where a named proxy wrote it."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from inspector.views.server import peer

PROXY = (ip_network("10.0.0.0/8"),)
HERE = (ip_network("127.0.0.1"),)


def scope(address: str, port: int = 4711, /, **headers: str) -> dict[str, Any]:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"client": (address, port), "headers": named}


@pytest.mark.parametrize(
    ("seen", "proxies", "address"),
    [
        (scope("192.0.2.1"), (), "192.0.2.1"),
        (scope("192.0.2.1", x_forwarded_for="192.0.2.9"), (), "192.0.2.1"),
        (scope("192.0.2.1", x_forwarded_for="192.0.2.9"), PROXY, "192.0.2.1"),
        (scope("10.0.0.1", x_forwarded_for="192.0.2.9, 192.0.2.2"), PROXY, "192.0.2.2"),
        (scope("10.0.0.1", x_forwarded_for="192.0.2.9, 192.0.2.2, 10.0.0.2"), PROXY, "192.0.2.2"),
        (scope("10.0.0.1"), PROXY, "10.0.0.1"),
        (scope("10.0.0.1", x_forwarded_for="10.0.0.2"), PROXY, "10.0.0.2"),
        (scope("192.0.2.9", 0, x_forwarded_for="192.0.2.9"), (), "127.0.0.1"),  # uvicorn wrote it
        (scope("192.0.2.9", 77, x_forwarded_for="192.0.2.9:77"), PROXY, "127.0.0.1"),
        (scope("192.0.2.9", 0, x_forwarded_for="192.0.2.8, 192.0.2.9"), HERE, "192.0.2.9"),
        ({"client": None, "headers": []}, PROXY, ""),
    ],
)
def test_the_address(seen: dict[str, Any], proxies: Any, address: str) -> None:
    assert peer.address(seen, proxies) == address


@pytest.mark.parametrize(
    ("origin", "proto", "proxies", "tls", "foreign"),
    [
        ("http://a.example", "", (), False, False),
        ("https://a.example", "", (), False, False),  # a proxy that nobody named may speak TLS
        ("https://a.example", "http", (), False, False),  # anybody may have written that header
        ("http://a.example", "", (), True, True),
        ("https://a.example", "", (), True, False),
        ("https://a.example", "https", PROXY, False, False),
        ("http://a.example", "https", PROXY, False, True),
        ("https://a.example", "http", PROXY, False, True),
        ("http://a.example", "https", HERE, False, False),  # not from the proxy: the scheme is this server's
        ("https://a.example", "https", HERE, False, True),
        ("ws://a.example", "", (), False, True),
        ("http://b.example", "", (), False, True),
        ("null", "", (), False, True),
        ("http://[", "", (), False, True),
        ("", "https", PROXY, True, False),  # no browser
    ],
)
def test_a_page_of_another_address_is_foreign(origin: str, proto: str, proxies: Any, tls: bool, foreign: bool) -> None:
    headers = {"host": "a.example"} | ({"origin": origin} if origin else {})
    headers |= {"x_forwarded_proto": proto} if proto else {}
    assert peer.is_foreign(scope("10.0.0.1", **headers), proxies, tls=tls) is foreign
