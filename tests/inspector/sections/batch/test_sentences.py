"""Sentences of the page Batch: their numbers are those of the batch, and a leak is said where there is one."""

from __future__ import annotations

import re

import pytest

from inspector import batches
from inspector.sections.batch.cost import costing
from inspector.sections.batch.fills import drifting, filling
from inspector.sections.batch.packed import packing
from inspector.sections.batch.seen import Shown, seeing
from inspector.wording.english import batch as words
from tests.closeness import assert_close
from tests.inspector.wording.said import NUMBER, PERCENT, TOKEN, is_number, is_percent
from tests.models.own_models import own

TEXTS = ["the cat sat on the mat because it was tired", "a dog"]


@pytest.mark.parametrize(("fill", "leaks"), [(float("-inf"), False), (-20.0, False), (-3.0, True), ("zero", True)])
def test_a_leak_is_said_where_there_is_one(fill: float | str, leaks: bool) -> None:
    batch = batches.read(own("encoder", mask_fill=fill), TEXTS, layout="right")
    seen = batch.seen(1, layer=1, head=3)
    shown = Shown.of(seen)
    said = seeing(batch, seen, shown, head="layer 1, head 3")
    assert said.endswith(" Of the batch's 24 cells 33 % hold no text.")
    if leaks:
        told = re.match(rf"The mask leaks: in layer 1, head 3 {TOKEN} gives {PERCENT} of its weight to padding\.", said)
        assert told
        given = shown.weights[:, shown.padding]
        assert is_percent(told[2], given.max())
        assert told[1].strip("`") == shown.rows[int(given.argmax())]
    else:
        given = "next to nothing" if fill == -20.0 else "nothing"
        hides = f"each token of this text sees 4 keys, and layer 1, head 3 gives {given} to it."
        assert said.startswith(f"The mask hides padding: {hides}")
        assert (given == "nothing") == (seen.to_padding == 0)
        assert seen.to_padding < 1e-5


def test_each_layout_is_told_as_it_is() -> None:
    loaded = own("decoder")
    said = {}
    for layout in batches.LAYOUTS:
        batch = batches.read(loaded, TEXTS, layout=layout)
        seen = batch.seen(1, layer=0, head=0)
        said[layout] = seeing(batch, seen, Shown.of(seen), head="it")
    sees = "each token of this text sees 1 to 3 keys, and it gives nothing to"
    assert said["left"] == f"The mask hides padding: {sees} it. Of the batch's 22 cells 36 % hold no text."
    assert said["packed"] == (
        f"The mask keeps packed texts apart: {sees} the other texts. The texts make one row of 14 cells."
    )
    alone = "This text has no padding to hide: each token sees 1 to 3 keys."
    assert said["alone"] == f"{alone} One by one, 2 texts take 2 forwards."
    even = batches.read(loaded, ["a cat", "a dog"], layout="right")
    seen = even.seen(0, layer=0, head=0)
    assert seeing(even, seen, Shown.of(seen), head="it").endswith(" All texts have one length.")
    table = batches.leaks(even, layer=0, head=0)
    assert filling(table, batch=even, before_scale=False).startswith("Here is no padding")


def test_fills_packing_change_and_cost_are_told_with_their_numbers() -> None:
    loaded = own("encoder")
    batch, alone = (batches.read(loaded, TEXTS, layout=layout) for layout in ("right", "alone"))
    table = batches.leaks(batch, layer=0, head=0)
    said = filling(table, batch=batch, before_scale=False)
    assert said.endswith(" In float16 −1e9 raises an error.")
    leak = table.set_index(["fill", "dtype"])["leak"]
    told = re.search(rf"−∞ leaves nothing and × 0 leaves {PERCENT} of the weight on padding\.", said)
    assert told
    assert leak["-inf", "float32"] == 0
    assert is_percent(told[1], leak["x 0", "float32"])
    wrong = table.assign(problem=["raises: too large" if fill == "-1e9" else "" for fill in table["fill"]])
    assert filling(wrong, batch=batch, before_scale=True).endswith(" in half precision say so at their bars.")
    rows = [
        batches.read(loaded, TEXTS, layout="packed", masked=masked, restart=restart)
        for masked, restart in ((True, True), (True, False), (False, False))
    ]
    tables = [batches.compare(row, alone) for row in rows]
    said = packing(tables)
    assert "every packed text reads as it does alone" in said
    assert f"Positions running on would move them by {words.number(tables[1]['states'].max())}." in said
    assert f"{words.percent(float(tables[2]['to_others'].mean()))} of the weight goes to other texts" in said
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
    from inspector.costs import clock

    work = batches.work(clock.layer_shape(loaded.config), alone.lengths)
    flops = work.set_index("layout")["flops"]
    told = re.search(
        rf"padded, the texts take {NUMBER} times the FLOPs of one by one, packed {NUMBER} times", costing(work)
    )
    assert told
    assert is_number(told[1], flops["right"] / flops["alone"])
    assert is_number(told[2], flops["packed"] / flops["alone"])
    assert costing(work).endswith("Of the 24 padded cells 33 % hold no text.")
    assert "packed" not in costing(work[work["layout"] != "packed"])


@pytest.mark.parametrize("layout", ["right", "left"])
def test_all_padding_is_one_column_with_its_whole_weight(layout: batches.Layout) -> None:
    batch = batches.read(own("encoder", mask_fill="zero"), TEXTS, layout=layout)
    seen = batch.seen(1, layer=1, head=3)
    shown = Shown.of(seen)
    real, padded = seen.query_owner == 1, seen.key_owner < 0
    assert shown.columns.count(f"padding × {padded.sum()}") == 1
    assert len(shown.columns) == (~padded).sum() + 1
    assert shown.rows == [token for token, text in zip(seen.queries, real, strict=True) if text]
    assert shown.padding == (len(shown.columns) - 1 if layout == "right" else 0)
    assert_close(shown.weights.sum(axis=1), 1, relative=1e-6)
    assert shown.weights[:, shown.padding].mean() == pytest.approx(seen.to_padding, rel=1e-6)
    assert (shown.mask[:, shown.padding] == 0).all()
    row, column = shown.leaking
    assert (shown.weights[row, column], column) == (shown.weights[:, shown.padding].max(), shown.padding)
    full = Shown.of(batch.seen(0, layer=1, head=3))
    assert (full.padding, full.leaking) == (None, None)
