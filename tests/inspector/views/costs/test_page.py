"""The page Costs on any model: loaded ones, known shapes, and configurations that a reader brings."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import models
from inspector.text import quantity
from inspector.views.server import queue
from inspector.views.server.shared import Shared
from inspector.views.server.turns import Turns
from inspector.views.shell import progress
from tests.inspector.views.page import numbers, opened, pressed, said, section_opened, sentence, typed, until

TINY = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 100,
    "vocab_size": 50,
}


def stopping(*, after: int) -> Callable[..., None]:
    """Draw a bar as Streamlit does when the reader presses Stop: it ends the run there, and begins the next one."""

    def draw(self: progress.Bar, done: float, total: float, words: str, *, now: bool = False) -> None:
        if done == after:
            st.rerun()

    return draw


def chosen(app: AppTest, key: str, value: str) -> AppTest:
    """Click one option of a bar."""
    bar = next(one for one in app.button_group if one.key == key)
    bar.set_value(value).run()
    assert not app.exception
    return app


def test_a_model_is_counted_at_the_length_of_the_readers_choice_and_another_text_brings_its_own() -> None:
    app = opened("Costs", text_length="2000")
    assert "At 2,000 tokens" in said(app)
    assert "One forward pass over a text of 2,000 tokens" in said(app)
    app.number_input(key="text_length").set_value(13).run()
    assert "One forward pass over this text of 13 tokens" in said(app)
    typed(app, "Hi.")
    assert app.number_input(key="text_length").value == 4
    assert "One forward pass over this text of 4 tokens" in said(app)


def test_a_crossover_beyond_what_the_model_reads_is_said_so() -> None:
    assert "Attention overtakes it at 768 tokens, beyond the 512 that this model reads." in sentence(opened("Costs"))
    mini = opened("Costs", model="mini-gpt")
    reads = models.load("mini-gpt").max_tokens
    assert f", beyond the {reads} that this model reads." in sentence(mini)
    assert "beyond" not in sentence(opened("Costs", of="A known shape", length="128"))


def test_a_shape_of_seventy_billion_is_told_in_every_section() -> None:
    app = opened("Costs", of="A known shape", length="128", component="attention: k", batch="8")
    assert "Shape: **Llama 2 70B**" in said(app)  # not the sidebar's model
    assert "k: 2 n d K E L = 2 · 128 · 8,192 · 8 · 128 · 80 = 171,798,691,840 FLOPs" in said(app)
    assert numbers(app)["formula"] == numbers(app)["count"] == "171,798,691,840"
    assert "At 128 tokens the FFN takes" in said(app)
    assert "33,792 tokens" in said(app)
    assert "69.0 G parameters and 17.6 T FLOPs" in said(app)
    section_opened(app, "Memory and steps")
    found = numbers(app)
    assert found["a token"] == "327,680 B"
    assert found["with the cache"] == "138 GFLOP"
    assert found["backward"] == "35.3 TFLOP"
    section_opened(app, "Heads")
    assert "4 n² d = 536,870,912 FLOPs, as many as with 1 head" in said(app)
    assert numbers(app)["width of a head"] == "128"
    section_opened(app, "On your card")
    assert "The weights and the KV cache take 1.73 times the memory of A100 80 GB." in said(app)
    assert "At least 2 such cards hold it." in said(app)
    section_opened(app, "How it is counted")
    assert "The closed formula and the count agree: 17,633,525,104,640 FLOPs" in said(app)
    for section in ("The whole model", "Time", "Side by side"):
        section_opened(app, section)
        assert "Cannot be" not in said(app)


def test_a_pasted_config_is_counted_and_a_hostile_one_gets_a_sentence() -> None:
    app = opened("Costs", of="Your config", named="org/name", length="1000000000000")
    assert 'The link asks for length "1000000000000"; they go from 1 to 1000000000' in said(app)
    assert "Press Count it" in said(app)  # a name in a link is asked about, nothing is fetched
    for fields, told in (
        ({**TINY, "num_hidden_layers": 10**9}, "'num_hidden_layers' = 1,000,000,000, over 128"),
        ({**TINY, "hidden_size": "wide"}, "expected int, got str"),
        ({**TINY, "model_type": "none"}, "is not one of transformers"),
        (TINY, "At 128 tokens"),
    ):
        app.text_area(key="pasted").set_value(json.dumps(fields))
        next(button for button in app.button if button.label == "Count it").click().run()
        assert not app.exception
        assert told in said(app)
    assert app.text_area(key="pasted").value == json.dumps(TINY)


def test_a_long_count_waits_for_its_turn_says_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    line, works, bars = Turns(1), list[str](), list[str]()
    taken, draw = line.taken, progress.Bar.draw

    def noted(self: progress.Bar, done: float, total: float, words: str, *, now: bool = False) -> None:
        bars.append(f"{words}, {self.stop}")
        draw(self, done, total, words, now=now)

    monkeypatch.setattr(
        line, "taken", lambda visitor, *, work, tell: works.append(work) or taken(visitor, work=work, tell=tell)
    )
    monkeypatch.setattr(queue, "turns", Shared(lambda: line))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress.Bar, "draw", noted)
    app = opened("Costs", of="Your config")
    app.text_area(key="pasted").set_value(
        json.dumps({**TINY, "model_type": "opt", "architectures": ["OPTForCausalLM"]})
    )
    pressed(app, "Count it")
    assert "At 128 tokens" in said(app)
    assert "Counting this model" in works
    assert "Counting this model: length 1 of 4, stop Counting this model" in bars


def test_the_clock_is_asked_for_and_gives_milliseconds_for_the_same_bars() -> None:
    app = opened("Costs", of="Your config", length="16", counted="Milliseconds")
    app.text_area(key="pasted").set_value(json.dumps(TINY))
    pressed(app, "Count it")
    assert "Configuration: **the pasted llama**" in said(app)
    assert "Milliseconds are measured on this machine" in said(app)
    assert "Press Measure above" in said(app)
    threads = threading.active_count()
    for runs, told in ((3, "before every part was timed once"), (20, "until then is shown: medians of fewer runs")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(progress.Bar, "draw", stopping(after=runs))
            pressed(app, "measure-layers")
        assert f"Stopped after {runs} of 48 runs" in said(app)
        assert told in said(app)
        assert ("Medians of 2 runs" in said(app)) == (runs == 20)
        until(lambda: threading.active_count() <= threads)
    pressed(app, "measure-layers")
    assert "Stopped" not in said(app)
    assert not app.exception
    assert re.search(r"Measured at 16 tokens: in one layer attention takes .* ms and the FFN .* ms", said(app))
    assert "stands for the 2 layers like it" in said(app)
    chosen(app, "kernel", "sdpa")
    for section in ("The whole model", "By layer"):  # which have the kernel that is chosen above
        section_opened(app, section)
        assert "computed in torch's fused kernel" in said(app)
        assert "Cannot be" not in said(app)
        assert "Milliseconds of the whole model" in said(app) or section == "By layer"
    assert not [button for button in app.button if button.label == "Stop"]
    app.selectbox(key="counted").set_value("flops").run()
    app.selectbox(key="component").set_value("FFN: up").run()
    assert "up: 2 n d f L = 2 · 16 · 24 · 100 · 2 = 153,600 FLOPs" in said(app)
    assert "ms a layer" in numbers(app)["clock"]
    section_opened(app, "Heads")
    pressed(app, "measure-heads")
    assert re.search(r"scores, softmax and mix took .* ms with 1 head, .* ms with 24 heads\.", said(app))


def test_a_head_that_is_not_counted_is_said_with_its_parameters() -> None:
    head = models.load("mini-bert").runner.head
    parts = (head.transform, head.norm)
    left_out = head.bias.numel() + sum(own.numel() for part in parts for own in part.parameters())
    assert f"The head that guesses hidden tokens, with {quantity(left_out)} parameters more, is left out" in said(
        opened("Costs", model="mini-bert")
    )
    assert "is left out; of a" not in said(opened("Costs", model="minilm"))
