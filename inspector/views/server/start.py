"""The start of the process: what it cannot run under is said in a sentence, and where it is served."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamlit import App, config
from streamlit.web.server import server_util

from models import settings


def check() -> None:
    """End the process with a sentence where a setting cannot be read, or where Python dropped all docstrings."""
    if sys.flags.optimize > 1:
        sys.exit("Headlight does not start: python -OO drops docstrings, which transformers reads. Leave -OO out.")
    try:
        settings.check()
    except ValueError as error:
        sys.exit(f"Headlight does not start: {error}")


@asynccontextmanager
async def announced(app: App) -> AsyncIterator[None]:
    """Print the page's address while the server starts; Streamlit's own words would offer to change the folder."""
    address = config.get_option("server.address") or "localhost"
    print(f"Headlight is at {server_util.get_url(address)}", flush=True)
    yield
