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
from tests.inspector.views.page import EXAMPLE, messages, numbers, opened, pressed, said, sentences


def sentence(app: AppTest) -> str:
    """The sentence at the page's top, as it is read."""
    return unescape(sentences(app)[0])


def test_the_clock_says_what_is_counted_and_measures_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.sections.time.clock.TIMED", (4, 8))
    app = opened("Time", model="own-encoder", section="Serial or parallel", serial_tokens="100", serial_width="64")
    first = sentence(app)
    assert "For 100 tokens of width 64 an LSTM takes 100 steps in a row (6.55 MFLOPs)" in first  # 16 · 100 · 64²
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
    shown = re.search(r"differ by (\S+) at most", sentence(app))
    assert shown
    assert float(shown[1]) == pytest.approx(found.largest, rel=0.6)  # the last digit moves with the machine's threads
    assert "the same at all 6 positions" in sentence(app)
    assert "Untrained" in said(app)
    assert float(numbers(app)["in float64"]) < 1e-12
    assert numbers(app)["steps in a row"] == "1 against 6"


def test_an_encoder_is_told_and_a_writer_stands_in() -> None:
    app = opened("Time", model="own-encoder", section="Teacher forcing", text="the cat sat")
    assert "reads a text at once and writes nothing step by step, so you see" in said(app)
    assert sentence(app).startswith("mini-GPT reads ")
    app.segmented_control(key="section").set_value("past").run()
    assert not app.exception
    assert "every token sees every token, so a cache would hold wrong keys. In " in sentence(app)
    assert "with a causal mask none moves" in sentence(app)
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
    assert "When 2 more tokens come, the keys that Translator's encoder made" in sentence(app)
    assert "In Translator's decoder none moves" in sentence(app)
    app = opened("Time", model="mini-bert-zh", section="Old keys and queries", text="她坐在河边。")
    assert "the keys that mini-BERT" in sentence(app)
    assert "on its own example" in said(app)
    app = opened("Time", model="mini-bert-zh", section="Old keys and queries", text="好")
    assert "made of the old one move" in sentence(app)
