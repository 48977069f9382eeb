"""The page Batch: its layouts, what leaks, what it refuses, and a reader's texts that stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel

import inspector
import models
from inspector import record_batch
from models import fetch
from tests.inspector.views.page import message, messages, numbers, opened, pressed, said, sentence, turned, uploaded
from tests.models.own_models import own

FILLED = "mini-bert?mask_fill=-5.0"


def test_the_maps_of_each_layout_and_the_sections() -> None:
    app = opened("Batch", model="mini-bert")
    told = "each token of this text sees 13 keys, and layer 0, head 0 gives nothing to it."
    assert sentence(app) == f"The mask hides padding: {told} Of the batch's 60 cells 30 % hold no text."
    assert message(app, "matrix")[0]["panels"][0]["columns"][13:] == ["padding × 2"]
    app.selectbox(key="list row").set_value(1).run()
    (mask, seen), (weights, shares) = messages(app, "matrix")
    labels = mask["panels"][0]["columns"]
    assert labels == weights["panels"][0]["columns"]
    assert labels[4:] == ["padding × 11"]
    assert set(seen) == {0, 1}
    assert seen.reshape(4, 5)[:, 4].sum() == 0 == shares.reshape(4, 5)[:, 4].sum()
    assert numbers(app)["padding"] == "30 %"
    app.selectbox(key="layout").set_value("packed").run()
    (mask, seen), _ = messages(app, "matrix")
    assert seen.sum() == sum(length**2 for length in (13, 4, 10, 15))
    assert "(0)" in mask["panels"][0]["columns"][0]
    for section, words in {
        "fills": "× 0 leaves",
        "packed": "every packed text reads as it does alone",
        "cost": "times the FLOPs of one by one",
    }.items():
        app.segmented_control(key="section").set_value(section).run()
        assert words in sentence(app)
        assert not app.exception
    pressed(app, "measure-layouts")
    assert "Medians of 7 runs that take turns" in said(app)


def test_a_leaking_fill_is_said_on_the_page() -> None:
    app = opened("Batch", model=FILLED, row="1")
    assert sentence(app).startswith("The mask leaks: in layer 0, head 0 `[SEP]` gives ")
    assert "A masked score is set to −5.00 before the softmax." in said(app)
    _, (weights, shares) = messages(app, "matrix")
    given = shares.reshape(4, 5)[:, 4]
    assert float(numbers(app)["to padding"]) == pytest.approx(float(given.mean()), rel=0.01)
    assert weights["panels"][0]["named"] == [int(given.argmax()), 4]


def test_a_saved_text_of_a_leaking_batch_is_told(tmp_path: Path) -> None:
    loaded = own("encoder", mask_fill=-3.0)
    _, short = record_batch(loaded, ["the cat sat on the mat because it was tired", "a dog"])
    inspector.save(short, tmp_path / "t.npz")
    app = uploaded(opened(), (tmp_path / "t.npz").read_bytes())
    assert f"The mask leaks: up to {short.to_padding:.3g} of a token's weight went to the padding" in said(app)


def test_what_cannot_be_is_said_and_the_texts_stay() -> None:
    app = opened("Batch")  # a model of transformers
    assert "A masked score has the smallest number of its dtype added before the softmax." in said(app)
    app = opened("Batch", model="translator", section="Packed texts")
    assert "An encoder-decoder reads a source and a target, and packs neither; pad its texts." in said(app)
    app.text_area(key="texts").set_value("\n".join(["Yes."] * 9)).run()
    assert "9 lines: the first 7 are read." in said(app)
    many = "\n".join(["好 " * 70] * 4)
    app = opened("Batch", model="mini-bert", texts=many, row="1")
    assert "cells, and 384 are read at most: write fewer or shorter ones." in said(app)
    assert app.text_area(key="texts").value == many
    app.text_area(key="texts").set_value("好。\n狗叫了。").run()
    app.query_params["texts"] = "好。\n狗叫了。"  # as a browser writes what a field of the link holds
    turned(turned(app, "Lab"), "Batch")
    assert app.text_area(key="texts").value == "好。\n狗叫了。"
    header, values = message(app, "matrix")
    assert header["panels"][0]["columns"][:3] == ["[CLS]", "␣", "<0xE5>"]  # a tokenizer with bytes knows every letter
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("model", "layout", "told"), [("minilm", "left", True), ("minilm", "right", False), ("mini-bert", "left", False)]
)
def test_left_padding_says_from_where_positions_count(model: str, layout: str, *, told: bool) -> None:
    """MiniLM in transformers' own forward gives a text behind padding other weights."""
    assert ("default forward counts the padding" in said(opened("Batch", model=model, layout=layout))) == told
    if told:
        loaded = models.load(model)
        short, long = "The cat sat.", "The cat sat on the mat because it was tired."
        trace, _ = record_batch(loaded, [short, long], padding="left")
        bert = AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager")
        padded = loaded.tokenizer([short, long], padding=True, padding_side="left", return_tensors="pt")
        weights = bert(**padded, output_attentions=True).attentions[0][0, :, -len(trace.tokens) :, -len(trace.tokens) :]
        assert np.abs(weights.detach().numpy() - trace.attention(layer=0)).max() > 0.1
