"""Padding on the page LayerNorm, in a real browser: its slider moves BatchNorm's numbers and not LayerNorm's."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import rests, visit


def test_the_slider_moves_batch_norm_and_not_layer_norm(page: Page, server: Any) -> None:
    visit(page, server, "/layernorm?section=Another+norm")
    line = page.get_by_text(re.compile("mean in BatchNorm"))
    expect(line).to_be_visible()

    def read() -> dict[str, str]:
        return dict(re.findall(r"(\w+ in (?:Batch|Layer)Norm) ([−\d.e-]+)", line.inner_text()))

    before = read()
    page.get_by_role("slider", name="Columns of padding added").press("End")
    expect(page.get_by_text("48 columns of them added")).to_be_visible()
    rests(page)
    after = read()
    assert len(before) == 4
    assert {name for name in before if before[name] != after[name]} == {"mean in BatchNorm", "deviation in BatchNorm"}
