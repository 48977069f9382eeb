"""The audience of the page: this machine alone, or strangers too."""

from __future__ import annotations

import streamlit as st

_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1", "[::1]"))


def is_this_machine() -> bool:
    """Return True where the server listens on this machine alone and answers to no other name.

    Behind a proxy the server listens on this machine too, but then its public name stands in server.allowedHosts.
    """
    address, names = st.get_option("server.address"), st.get_option("server.allowedHosts")
    return address in _LOOPBACK and bool(names) and _LOOPBACK.issuperset(names)
