"""Every control of a page is pressed once, with one model: no part fails in a way that Headlight does not know.

HEADLIGHT_ROUND (tests/rounds.py) chooses the model and every fourth page, so that runs of CI press all in turn. With
HEADLIGHT_PRESS models are named instead, all pages are pressed, and every figure's menu:

    HEADLIGHT_PRESS=minilm,mini-bert python -m pytest -s tests/browser/test_every_control.py
"""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PAGES, Server
from tests.browser.pressing import press
from tests.rounds import in_turn

MODELS = ("minilm", "mini-bert", "mini-gpt", "translator", "own-encoder")
NAMED = os.environ.get("HEADLIGHT_PRESS", "")
CHOSEN = NAMED.split(",") if NAMED else in_turn(MODELS, of=len(MODELS))
ALL = [path.split("?")[0] for path in PAGES]
PATHS = ALL if NAMED else in_turn(ALL, of=4)


@pytest.mark.parametrize("model", CHOSEN)
@pytest.mark.parametrize("path", PATHS)
def test_nothing_that_is_pressed_fails(page: Page, server: Server, path: str, model: str) -> None:
    pressed = press(page, server.url, f"{path}?model={model}", thorough=bool(NAMED))
    print(f"\n{path} {model}: {dict(pressed.counts)}, {pressed.downloads} downloads came, {pressed.left} left")
    assert pressed.failures == []
    assert pressed.downloads == pressed.counts["download"]
    assert pressed.left == 0
    assert sum(pressed.counts.values()) > 1
