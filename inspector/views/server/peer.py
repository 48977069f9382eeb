"""The origin of a request: its address, and whether a page of this server sends it.

What a header says of it counts only where a proxy that the host named has written the header.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from models.settings import Network

if TYPE_CHECKING:
    from starlette.types import Scope

_LOOPBACK = "127.0.0.1"


def header(scope: Scope, name: bytes) -> str:
    """Give a header's first value, or ""."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def address(scope: Scope, proxies: Sequence[Network]) -> str:
    """Give the address of a visitor: the peer's, or the last that X-Forwarded-For names before the named proxies."""
    peer, hops = _peer(scope), _hops(scope)
    while hops and _is_inside(peer, proxies):
        peer = hops.pop()
    return peer


def is_foreign(scope: Scope, proxies: Sequence[Network], *, tls: bool) -> bool:
    """Return True if a page of another address sends the request; a client without an Origin is no browser.

    tls: whether this server itself speaks TLS. Where it does not, and no proxy is named that would say so, one may
    stand in front: then the page may be https or http.
    """
    origin = header(scope, b"origin")
    if not origin:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return True
    return parts.netloc != header(scope, b"host") or parts.scheme not in _schemes(scope, proxies, tls=tls)


def _schemes(scope: Scope, proxies: Sequence[Network], *, tls: bool) -> set[str]:
    """Give the schemes that the address of this server's page may have."""
    if tls:
        return {"https"}
    if proxies and not _is_inside(_peer(scope), proxies):
        return {"http"}
    forwarded = header(scope, b"x-forwarded-proto").strip().lower() if proxies else ""
    return {forwarded} if forwarded else {"http", "https"}


def _peer(scope: Scope) -> str:
    """Give the address at the other end of the connection.

    uvicorn writes the one that X-Forwarded-For names in its place where the connection is this machine's own, whoever
    wrote the header: the port is 0 then, or the header's.
    """
    host, port = scope.get("client") or ("", 0)
    if hops := _hops(scope):
        written = {f"{host}:{port}", f"[{host}]:{port}"}
        if port == 0 or written & set(hops):
            return _LOOPBACK
    return str(host)


def _hops(scope: Scope) -> list[str]:
    values = [value.decode("latin-1") for key, value in scope["headers"] if key == b"x-forwarded-for"]
    return [hop.strip() for value in values for hop in value.split(",")]


def _is_inside(host: str, networks: Sequence[Network]) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in networks)
