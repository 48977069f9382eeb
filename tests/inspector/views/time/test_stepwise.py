"""The sections Serial or parallel, Teacher forcing, and Old keys and queries of the page Time."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector import stepwise
from tests.inspector.views.page import EXAMPLE, messages, numbers, opened, pressed, said, section_opened, sentences


def sentence(app: AppTest) -> str:
    """The sentence at the page's top, as it is read."""
    return unescape(sentences(app)[0])


def test_the_clock_says_what_is_counted_and_measures_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.sections.time.clock.TIMED", (4, 8))
    link = {"section": "Serial or parallel", "serial_tokens": "100", "serial_width": "64"}
    app = opened("Time", state={"clock_more": True}, model="own-encoder", **link)
    first = sentence(app)
    assert "for 100 tokens an LSTM takes as many steps in a row" in first
    assert numbers(app)["LSTM"].startswith("6.55 MFLOPs in 100 steps")  # 16 · 100 · 64²
    assert f"one step with {(8 * 64 + 4 * 100) / (16 * 64):.3f} times the FLOPs" in first
    assert "beyond n = 2d = 128 tokens" in said(app)
    assert "Is that model parallelism?** No." in said(app)
    pressed(app, "measure-serial")
    assert "At 8 tokens the LSTM takes" in said(app)
    assert "Medians of 5 runs that take turns" in said(app)


def test_teacher_forcing_of_the_readers_text() -> None:
    app = opened("Time", model="own-decoder", section="Teacher forcing", forced_tokens="6")
    loaded = models.load("own-decoder")
    found = stepwise.compare(loaded, inspector.record(loaded, EXAMPLE), tokens=6)
    shown = re.search(r"differ by (\S+) at most, its likeliest token at none of 6 positions", sentence(app))
    assert shown
    assert float(shown[1]) == pytest.approx(found.largest, rel=0.6)  # the last digit moves with the machine's threads
    assert "Untrained" in said(app)
    assert float(numbers(app)["in float64"]) < 1e-12
    assert numbers(app)["steps in a row"] == "1 against 6"


def test_an_encoder_is_told_and_a_writer_stands_in() -> None:
    app = opened("Time", model="own-encoder", section="Teacher forcing", text="the cat sat")
    assert "writes nothing step by step, so you see" in said(app)
    assert "mini-GPT's logits differ by" in sentence(app)
    app.session_state["reads"] = True  # a part that is asked once it is open
    section_opened(app, "Old keys and queries")
    assert "A cache would hold wrong keys, for every token sees every token: when one more token" in sentence(app)
    assert "with a causal mask none changes" in sentence(app)
    assert "so the steps are **mini-GPT**'s, on your text" in said(app)
    ((message, read),) = messages(app, "matrix")
    count = len(message["panels"][0]["rows"])
    queries, keys = read.reshape(2, count, count)
    assert np.array_equal(queries, np.eye(count))
    assert np.array_equal(keys, np.tril(np.ones((count, count))))
    assert f"queries are read {count} times" in said(app)
    assert "**A cache in training?**" in said(app)


def test_old_keys_of_a_translator_and_in_chinese() -> None:
    app = opened("Time", model="translator", section="Old keys and queries", later_tokens="2", target="我爱猫。")
    assert "when 2 more tokens come, Translator's encoder's old keys of layer" in sentence(app)
    assert "In Translator's decoder none changes" in sentence(app)
    link = {"model": "mini-bert-zh", "section": "Old keys and queries"}
    app = opened("Time", state={"reads": True}, text="她坐在河边。", **link)
    assert "mini-BERT for Chinese's old keys" in sentence(app)
    assert "on its own example" in said(app)
    app = opened("Time", text="好", **link)
    assert "old keys of layer" in sentence(app)
