"""The section Memory over segments through AppTest."""

from __future__ import annotations

from tests.inspector.views.page import message, opened, said

SECTION = "Memory over segments"


def test_a_decoder_reads_in_segments_beside_its_one_pass() -> None:
    app = opened("Time", model="mini-gpt", section=SECTION, piece="4", kept="2", shown="1", piece_layer="1")
    assert "Read in 3 segments of 4 tokens with a memory of 2 tokens, the model's last hidden states differ" in said(
        app
    )
    (panel,) = message(app, "matrix")[0]["panels"]
    assert (len(panel["rows"]), len(panel["columns"]), panel["borders"]) == (4, 6, [2])
    assert "= 3 + 14 tokens with L = 4 layers; the text has 8" in said(app)
    app.number_input(key="kept").set_value(0).run()
    assert not app.exception
    assert "with no memory" in said(app)


def test_a_model_that_reads_both_ways_lends_its_text() -> None:
    app = opened("Time", section=SECTION)
    assert "minilm" in said(app)
    assert "So mini-gpt reads the text here" in said(app).replace("&#45;", "-")
    assert message(app, "matrix")
