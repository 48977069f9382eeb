"""The page Block: its sections, a walk by its buttons, and models that show only a part of it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import inspector
from inspector import block
from models import LoadedModel
from tests.inspector.views.page import EXAMPLE, opened, pressed, said, sentence

SECTIONS = {"One token's way": 1, "What each part adds": 3, "FFN": 1, "Sharing": 1}


def test_the_sections_show_their_figures_and_numbers(minilm: LoadedModel) -> None:
    app = opened("Block", layer="2", token="3")
    trace = inspector.record(minilm, EXAMPLE)
    blocks = inspector.record_blocks(minilm, trace)
    walk = block.walk(trace, blocks, minilm.network, stream="encoder", layer=2, position=3)
    heading = sentence(app)
    lengths = [float(one) for one in re.findall(r"length (\d+(?:\.\d+)?)", heading)]
    want = np.linalg.norm(blocks.of("encoder")[2].enters[3].astype(np.float64))
    assert "`sat` enters layer 2" in heading
    assert lengths[0] == pytest.approx(want, rel=5e-3)
    assert "(post-norm)" in heading
    assert "bit for bit" in said(app)
    assert f"Step 1 of {len(walk.steps)}: **State x**" in said(app)
    pressed(app, "Next")
    assert "**12 x 32**" in said(app)
    assert app.query_params["block_step"] == "1"
    for section, charts in SECTIONS.items():
        app = opened("Block", section=section)
        assert not app.warning
        assert len(app.get("plotly_chart")) == charts, section
        assert app.header
        if section == "FFN":
            assert "for 1 of 13 tokens (that token alone; everywhere else exactly 0 changes)" in said(app)
            assert "for 13 of 13 tokens, in 384 of 384 dimensions" in said(app)
            assert "GELU, this FFN's, makes it" in said(app)


def test_models_of_other_kinds_have_every_section() -> None:
    for model in ("mini-gpt", "translator"):
        for section, charts in SECTIONS.items():
            app = opened(
                "Block", model=model, section=section, **({"block_stream": "decoder"} if model == "translator" else {})
            )
            assert not app.exception
            assert len(app.get("plotly_chart")) == charts + (section == "What each part adds"), (model, section)
