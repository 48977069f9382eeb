"""The section Memory over segments through AppTest."""

from __future__ import annotations

from tests.inspector.views.page import message, numbers, opened, said

SECTION = "Memory over segments"


def test_a_decoder_reads_in_segments_beside_its_one_pass() -> None:
    link = {"piece": "4", "kept": "2", "shown": "1", "piece_layer": "1"}
    app = opened("Time", state={"segments_more": True}, model="mini-gpt", section=SECTION, **link)
    assert "Read in pieces with a memory of 2 tokens, a text changes: its last states differ" in said(app)
    assert numbers(app)["segments"] == "3 of 4 tokens"
    (panel,) = message(app, "matrix")[0]["panels"]
    assert (len(panel["rows"]), len(panel["columns"]), panel["borders"]) == (4, 6, [2])
    assert "= 3 + 14 tokens with L = 4 layers; the text has 8 before its segment" in said(app)
    app.number_input(key="kept").set_value(0).run()
    assert not app.exception
    assert "with no memory" in said(app)
    app.number_input(key="shown").set_value(2).run()
    app.number_input(key="piece").set_value(12).run()  # one segment alone: what was shown is no more
    assert not app.exception
    assert "there is nothing to remember" in said(app)


def test_a_model_that_reads_both_ways_has_a_stand_in() -> None:
    app = opened("Time", section=SECTION)
    assert "does not read from left to right, so you see" in said(app)
    assert message(app, "matrix")
