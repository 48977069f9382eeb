"""The writer that stands in on the pages of all these tests, and the installed packages, read once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from inspector.views.shell import loaded_models


@pytest.fixture(autouse=True)
def mini_gpt_stands_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let mini-GPT stand in for a model that does not write, as where SmolLM2's package is missing.

    It writes in a tenth of the time, and on every machine.
    """
    if not {"smollm2", "smollm2_installed"} & set(request.fixturenames):
        monkeypatch.setattr(loaded_models, "is_installed", lambda id: not id.startswith("smollm2"))


@pytest.fixture(autouse=True, scope="session")
def packages_are_read_once() -> Iterator[None]:
    """Look through the installed packages once: each AppTest would do so anew, longer than its page runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield
