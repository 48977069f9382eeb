"""Sentences of the page Batch: their numbers are those of the batch, and a leak is said where there is one."""

from __future__ import annotations

import re

import pytest

from inspector import batches
from inspector.batches.spreading import spreading
from inspector.sections.batch.cost import costing
from inspector.sections.batch.fills import drifting, filling
from inspector.sections.batch.packed import packing
from inspector.sections.batch.seen import seeing
from inspector.wording.english import batch as words
from tests.inspector.wording.said import NUMBER, PERCENT, is_number, is_percent
from tests.models.own_models import own

TEXTS = ["the cat sat on the mat because it was tired", "a dog"]


@pytest.mark.parametrize(("fill", "leaks"), [(float("-inf"), False), (-20.0, False), (-3.0, True), ("zero", True)])
def test_a_leak_is_said_where_there_is_one(fill: float | str, leaks: bool) -> None:
    batch = batches.read(own("encoder", mask_fill=fill), TEXTS, layout="right")
    seen = batch.seen(1, layer=1, head=3)
    said = seeing(batch, seen, head="layer 1, head 3")
    assert said.startswith(
        "Padded on the right, 8 of 24 cells hold no text (33 %). Text 1: each token sees 4 keys, and"
    )
    assert ("the mask leaks" in said) == leaks
    if leaks:
        told = re.search(rf"gives {PERCENT} of its weight to padding", said)
        assert told
        assert is_percent(told[1], seen.to_padding)
    elif fill == -20.0:
        assert "to padding, next to nothing" in said
        assert 0 < seen.to_padding < 1e-5
    else:
        assert said.endswith("layer 1, head 3 gives nothing to padding.")


def test_each_layout_is_told_as_it_is() -> None:
    loaded = own("decoder")
    said = {}
    for layout in batches.LAYOUTS:
        batch = batches.read(loaded, TEXTS, layout=layout)
        said[layout] = seeing(batch, batch.seen(1, layer=0, head=0), head="it")
    assert said["left"].startswith("Padded on the left, 8 of 22 cells hold no text (36 %).")
    assert said["packed"].startswith("Packed, 2 texts are one row of 14 cells, none of padding.")
    assert said["packed"].endswith("Text 1: each token sees 1 to 3 keys, and it gives nothing to the other texts.")
    assert said["alone"].startswith("One by one, 2 texts take 2 forwards and 14 cells, none of padding.")
    even = batches.read(loaded, ["a cat", "a dog"], layout="right")
    assert seeing(even, even.seen(0, layer=0, head=0), head="it").startswith(
        "All 2 texts have one length, so no cell is padding."
    )
    table = batches.leaks(even, layer=0, head=0)
    assert filling(table, batch=even, before_scale=False).startswith("Here is no padding")


def test_fills_packing_change_and_cost_are_told_with_their_numbers() -> None:
    loaded = own("encoder")
    batch, alone = (batches.read(loaded, TEXTS, layout=layout) for layout in ("right", "alone"))
    table = batches.leaks(batch, layer=0, head=0)
    said = filling(table, batch=batch, before_scale=False)
    assert said.startswith(
        "After the scale, in float32: −∞, −1e9 and −1e4 leave no weight on padding, −20 next to none; "
    )
    assert said.endswith("−1e9 in float16 raises an error.")
    leak = table.set_index(["fill", "dtype"])["leak"]
    told = re.search(rf"−10 leaves {NUMBER}, × 0 {PERCENT} and no mask {PERCENT}\.", said)
    assert told
    assert is_number(told[1], leak["-10", "float32"])
    assert is_percent(told[2], leak["x 0", "float32"])
    assert is_percent(told[3], leak["no mask", "float32"])
    rows = [
        batches.read(loaded, TEXTS, layout="packed", masked=masked, restart=restart)
        for masked, restart in ((True, True), (True, False), (False, False))
    ]
    tables = [batches.compare(row, alone) for row in rows]
    said = packing(tables)
    assert "equal the texts read alone" in said
    assert f"they would make {words.number(tables[1]['states'].max())}." in said
    drift = batches.drift(loaded, TEXTS, layout="right")
    said = drifting(drift, layout="right")
    moves = drift.set_index("fill")["drift"]
    assert f"where padding is not masked {words.number(moves[batches.UNTOLD])} is." in said
    assert "Of the fills × 0 moves them most" in said
    assert moves["x 0"] == moves.drop(batches.UNTOLD).max()
    left = drifting(batches.drift(loaded, TEXTS, layout="left", refilled=False), layout="left")
    assert "Its mask leaks nothing: padding stands before the text" in left  # its positions are sinusoidal
    turned = own("encoder", positions="rope")
    left = drifting(batches.drift(turned, TEXTS, layout="left", refilled=False), layout="left")
    assert "padding stands before" not in left
    for shape, claim in (("encoder", "tokens before it move too, by"), ("decoder", "no token before it moves at all")):
        spread, put = batches.spread(own(shape), TEXTS[0], token=4)
        assert claim in words.spreading(spreading(spread, token=4, put=put))
    from inspector.costs import clock

    work = batches.work(clock.layer_shape(loaded.config), alone.lengths)
    said = costing(work, texts=2)
    assert said.startswith("Padded, 2 texts make 24 cells, 33 % of them padding: ")
    assert "computes 256 scores a head where 160 are between tokens of one text." in said
