"""A token's way through a layer as it is drawn: every line runs along the way or across it, and ends at a box."""

from __future__ import annotations

import pytest

from inspector import block, record, record_blocks
from inspector.block import Walk
from inspector.plots import block as draw
from models import LoadedModel


@pytest.fixture(scope="module")
def walk(minilm: LoadedModel) -> Walk:
    """The second token's way through the first layer."""
    trace = record(minilm, "The cat sat.")
    blocks = record_blocks(minilm, trace)
    return block.walk(trace, blocks, minilm.network, stream="encoder", layer=0, position=1)


@pytest.mark.parametrize("upright", [False, True])
def test_no_line_is_slanted(walk: Walk, upright: bool) -> None:
    lines = [shape for shape in draw.way(walk, step=3, upright=upright).layout.shapes if shape.type == "line"]
    assert lines
    assert all(line.x0 == line.x1 or line.y0 == line.y1 for line in lines)


def test_keys_and_values_lead_down_into_the_mix(walk: Walk) -> None:
    placed = {step.kind: box for step, box in zip(walk.steps, draw.boxes(walk.steps), strict=True)}
    lines = [shape for shape in draw.way(walk, step=0).layout.shapes if shape.type == "line"]
    drawn = {((line.x0, line.y0), (line.x1, line.y1)) for line in lines}
    mix = placed["mix"].along, placed["mix"].across
    for kind in ("k", "v"):
        corner = mix[0], placed[kind].across
        assert {((placed[kind].along, placed[kind].across), corner), (corner, mix)} <= drawn
