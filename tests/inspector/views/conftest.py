"""The writer that stands in on the pages: mini-GPT, but in the tests that take SmolLM2's fixture."""

from __future__ import annotations

import pytest

from inspector.views.shell import loaded_models


@pytest.fixture(autouse=True)
def mini_gpt_stands_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let mini-GPT stand in for a model that does not write, as where SmolLM2's package is missing.

    It writes in a tenth of the time, and on every machine.
    """
    if not {"smollm2", "smollm2_installed"} & set(request.fixturenames):
        monkeypatch.setattr(loaded_models, "is_installed", lambda id: not id.startswith("smollm2"))
