"""The Generate page through Streamlit's own AppTest: playing, links, bad input, models that do not write."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector import generating, record
from inspector.generating import beams
from inspector.generating.steps import least_sure
from inspector.text import quantity, token_name
from inspector.views.shell import player
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import HOSTILE, messages, opened, pressed, said, sentence, typed, uploaded

TEXT = "My dog sat on the big red chair."


def written(model: str = "translator", **link: str) -> AppTest:
    return opened("Generate", **{"model": model, "text": TEXT, **link})


def figure(app: AppTest, key: str) -> dict[str, Any]:
    """The figure that plotly was given for the chart `key`."""
    found = next(chart.proto for chart in app.get("plotly_chart") if key in chart.proto.id)
    return json.loads(found.spec)


def section(app: AppTest, title: str) -> AppTest:
    """Open a section by the bar."""
    app.segmented_control(key="section").set_value(title).run()
    assert not app.exception
    return app


def text_so_far(app: AppTest) -> dict[str, Any]:
    """Give what the text and the row of its tokens were sent."""
    sent = [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("written")]
    text, tokens = (json.loads(proto.json) for proto in sent)
    return text | tokens


@pytest.fixture(scope="module")
def translator() -> LoadedModel:
    return models.load("translator")


@pytest.fixture(scope="module")
def made(translator: LoadedModel) -> generating.WrittenText:
    return generating.write(translator, TEXT)


def test_the_first_view_is_the_step_of_which_the_model_was_least_sure(made: generating.WrittenText) -> None:
    app = written()
    assert not app.exception
    sure = [step.candidates[0].probability for step in made.steps]
    step = 1 + int(np.argmin(sure))
    assert app.slider[0].value == step
    shown = text_so_far(app)
    assert shown["text"] == made.texts[step - 1]
    assert shown["text"] + shown["rest"] == made.texts[-1]
    assert shown["tokens"] == [token_name(step.chosen.token) for step in made.steps]
    assert sentence(app).startswith(f"At step {step} the model ")
    assert f"Step {step} of {len(made.steps)}" in said(app)
    assert "ms" not in said(app).split()  # a time measured once says nothing
    assert len(app.get("plotly_chart")) == 1  # cache and beams stand in sections of their own


def test_the_cache_has_a_section(made: generating.WrittenText) -> None:
    app = section(written(), "KV cache")
    cached, uncached = sum(step.flops for step in made.steps), sum(made.uncached_flops)
    assert sentence(app) == (
        f"The KV cache saves work and changes nothing: the same text took {uncached / cached:.2f} times fewer FLOPs "
        "than without it."
    )
    ends = [(trace["x"], trace["text"]) for trace in figure(app, "flops")["data"] if "text" in trace]
    assert ends == [([len(made.steps)], [quantity(flops, "FLOPs")]) for flops in (uncached, cached)]
    assert "Same tokens with and without" in said(app)
    assert "4,608 bytes" in said(app)
    assert app.query_params["section"] == "KV cache"
    app.segmented_control(key="flops_of").set_value("each step").run()
    assert not app.exception
    assert not [trace for trace in figure(app, "flops")["data"] if "text" in trace]
    section(app, "Write")
    assert "section" not in app.query_params
    assert text_so_far(app)["tokens"]


def test_the_beams_have_a_section(translator: LoadedModel) -> None:
    app = section(written(), "Beam search")
    grown, greedy = (beams.search(translator, TEXT, beams=width, new_tokens=40) for width in (4, 1))
    gain = beams.gain(beams.texts(translator, grown, greedy=greedy))
    assert f"{gain.best:.3g}".replace("-", "−") in sentence(app)
    assert gain.same == ("greedy decoding writes too" in sentence(app))
    assert figure(app, "tree")["data"]


@pytest.mark.parametrize("model", ["own-decoder", "own-encoder-decoder"])
def test_untrained_models_write_and_say_so(model: str) -> None:
    app = written(model=model)
    assert not app.exception
    assert "Its weights are random, and so is this text." in said(app)
    assert "Cannot be shown" not in said(app)
    assert len(text_so_far(app)["tokens"]) == 40


@pytest.mark.parametrize("model", ["minilm", "own-encoder"])
def test_with_an_encoder_mini_gpt_writes_and_a_click_chooses_it(model: str) -> None:
    app = written(model=model)
    assert not app.exception
    assert "does not write" in said(app)
    assert text_so_far(app)["tokens"]
    assert app.selectbox(key="model").value == model
    pressed(app, "choose stand-in")
    assert not app.exception
    assert app.selectbox(key="model").value == "mini-gpt"
    assert app.text_area(key="text").value == TEXT
    assert text_so_far(app)["tokens"]


def test_a_link_restores_the_step_and_the_head(made: generating.WrittenText) -> None:
    app = written(step="3", gen_layer="1", gen_mean="false", gen_head="2")
    assert not app.exception
    assert app.slider[0].value == 3
    assert text_so_far(app)["text"] == made.texts[2]
    header, numbers = messages(app, "matrix")[-1]
    weights = made.trace.attention(layer=1, head=2, stream="cross")
    assert_close(numbers.reshape(3, -1), weights[:3], relative=1e-6)  # as high as what was written
    place = int(weights[2].argmax())
    assert header["panels"][0]["marked"] == [2]
    assert header["panels"][0]["named"] == [2, place]  # the sentence's cell
    key = made.trace.record_of(1, "cross").site.keys[place]
    assert f"looked most at `{key.removeprefix('▁')}` in the source" in sentence(app)
    assert f"({weights[2, place]:.3f}; layer 1, head 2)" in sentence(app)


def test_it_plays_to_the_last_token_and_stops(made: generating.WrittenText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "_SOON", 0.0)  # every run is a tick
    last = len(made.steps)
    app = written()
    assert app.button(key="play").label == "Play"
    pressed(app, "play")
    seen = [app.slider[0].value]
    while app.session_state["generate.playing"]:
        assert app.button(key="play").label == "Pause"
        app.run()
        seen.append(app.slider[0].value)
    assert seen == list(range(seen[0], last + 1))
    assert seen[0] <= 2  # from the first: no step was chosen
    assert app.button(key="play").label == "Play"
    assert not app.exception


def test_playing_can_be_stopped_and_walked() -> None:
    app = written(step="2")
    pressed(app, "play")
    assert app.session_state["generate.playing"]
    pressed(app, "play")
    assert not app.session_state["generate.playing"]
    at = app.slider[0].value
    pressed(app, "Next")
    assert app.slider[0].value == at + 1
    for _ in range(at + 2):
        pressed(app, "Back")
    assert app.slider[0].value == 1
    app.slider[0].set_value(4).run()
    assert app.slider[0].value == 4
    pressed(app, "play")
    app.slider[0].set_value(6).run()  # stops it
    assert not app.session_state["generate.playing"]
    assert app.slider[0].value == 6
    assert not app.exception


def test_another_text_opens_at_a_step_of_its_own(translator: LoadedModel) -> None:
    app = written(step="2")
    typed(app, "The dog is big.")
    assert not app.exception
    other = generating.write(translator, "The dog is big.")
    assert app.slider[0].value == least_sure(other)


def test_a_large_model_writes_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long writing waits for a click, and the page says how much it is."""
    monkeypatch.setattr("inspector.views.generate.asking.AT_ONCE", 1e6)
    app = written()
    assert not app.exception
    assert "Write takes a while with this model" in said(app)
    assert not [e for e in app.get("bidi_component") if e.proto.component_name.endswith("written")]
    pressed(app, "generate.write.go")
    assert text_so_far(app)["tokens"]
    section(app, "KV cache")  # which reads the text again at every step
    assert "Write takes a while with this model" in said(app)
    section(app, "Beam search")
    assert "Search takes a while" in said(app)
    pressed(app, "generate.search.go")
    assert figure(app, "tree")["data"]
    assert not app.exception


@pytest.mark.parametrize(
    ("link", "facts"),
    [
        ({"step": "99"}, ('step "99"; they go from 1 to',)),
        (
            {"step": "0", "new_tokens": "0", "gen_layer": "3"},
            ('step "0"; they go from 1 to', 'new_tokens "0"; they go from 1 to 127. You see 40', 'gen_layer "3"; they'),
        ),
        (
            {"step": "**x**", "decoding": "sample", "temperature": "-1", "top_p": "1.5", "seed": "x"},
            (
                'step "??x??"',
                'temperature "-1"; they go from 0.05 to 5.0.',
                'top_p "1.5"; they go from 0.05',
                'seed "x"',
            ),
        ),
        ({"decoding": "sample", "temperature": "nan"}, ('temperature "nan"',)),
    ],
)
def test_a_link_out_of_range_is_a_sentence(link: dict[str, str], facts: tuple[str, ...]) -> None:
    app = written(**link)
    for fact in facts:
        assert f"The link asks for {fact}" in said(app)
    assert text_so_far(app)["tokens"]


def test_beams_out_of_range_are_a_sentence_in_their_section() -> None:
    app = written(beams="7")
    assert 'The link asks for beams "7"; they go from 1 to 6. You see 4' in said(app)
    assert figure(app, "tree")["data"]


def test_a_sampled_text_is_in_the_link(translator: LoadedModel) -> None:
    app = written(decoding="sample", temperature="1.5", top_k="20", top_p="0.9", seed="7", new_tokens="12")
    assert not app.exception
    how = generating.Decoding(True, temperature=1.5, top_k=20, top_p=0.9, seed=7)
    made = generating.write(translator, TEXT, how=how, new_tokens=12)
    assert text_so_far(app)["tokens"] == [token_name(step.chosen.token) for step in made.steps]


def test_one_token_and_six_beams() -> None:
    app = written(new_tokens="1", step="1", beams="6")
    assert not app.exception
    assert "The text ended after one token." in said(app)
    assert "saves nothing yet" in sentence(section(app, "KV cache"))
    app = written(new_tokens="1", beams="6")
    assert figure(app, "tree")["data"]
    assert app.dataframe[0].value["text"].size == 6


@pytest.mark.parametrize(("text", "sentence"), [("", "The text is empty."), ("\u200b", "no visible character")])
def test_an_unreadable_text_is_a_sentence(text: str, sentence: str) -> None:
    app = written(model="own-decoder")
    typed(app, text)
    assert not app.exception
    assert sentence in said(app)
    assert app.text_area(key="text").value == text


@pytest.mark.parametrize("model", ["translator", "own-decoder"])
def test_a_text_too_long_is_cut_and_said(model: str) -> None:
    app = written(model=model)
    typed(app, "cat " * 600)
    assert not app.exception
    assert "tokens are read: this model takes at most" in html.unescape(said(app))
    assert text_so_far(app)["tokens"]


@pytest.mark.parametrize("model", ["translator", "own-decoder"])
def test_an_unusual_text_is_shown_literally(model: str) -> None:
    app = written(model=model)
    typed(app, HOSTILE)
    assert not app.exception
    for element in [*app.markdown, *app.caption, *app.warning, *app.error, *app.info]:
        assert "onerror" not in element.value


def test_a_saved_trace_is_written_from_where_its_model_is_at_hand(translator: LoadedModel, tmp_path: Path) -> None:
    for name, changed in (("here", {}), ("elsewhere", {"model": "some/model"})):
        path = tmp_path / f"{name}.npz"
        inspector.save(replace(record(translator, "My dog sat."), **changed), path)
        app = written(text="Another text.")
        uploaded(app, path.read_bytes(), name=path.name)
        assert not app.exception
        if changed:
            assert "The model of this saved trace is not at hand, so you see" in said(app)
            assert text_so_far(app)["tokens"]
        else:
            shown = text_so_far(app)
            assert shown["text"] + shown["rest"] == generating.write(translator, "My dog sat.").texts[-1]


def test_other_tokens_without_the_cache_would_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generating.WrittenText, "same_without_cache", False)
    app = section(written(), "KV cache")
    assert "Other tokens without" in said(app)
    assert sentence(app).startswith("Without its KV cache this model wrote other tokens, with ")
