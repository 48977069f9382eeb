"""The addresses and names under which a server is this machine's alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit import config

from inspector.views.server import audience

LOCAL = ["localhost", "127.0.0.1"]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    options = {name: config.get_option(name) for name in ("server.address", "server.allowedHosts")}
    yield
    for name, value in options.items():
        config.set_option(name, value)


@pytest.mark.parametrize(
    ("address", "names", "alone"),
    [
        ("127.0.0.1", LOCAL, True),
        ("localhost", LOCAL, True),
        ("127.0.0.1", [*LOCAL, "headlight.example"], False),
        ("127.0.0.1", [], False),
        ("0.0.0.0", LOCAL, False),
        ("192.168.0.7", LOCAL, False),
        (None, LOCAL, False),
    ],
)
def test_only_loopback_under_its_own_names_is_this_machine_alone(
    address: str | None, names: list[str], alone: bool
) -> None:
    config.set_option("server.address", address)
    config.set_option("server.allowedHosts", names)
    assert audience.is_this_machine() == alone
