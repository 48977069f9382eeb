"""The Generate page through Streamlit's own AppTest: playing, links, bad input, models that do not write."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import generating, record
from inspector.views.shell import player
from models import LoadedModel
from tests.inspector.views.page import HOSTILE, opened, pressed, said, typed, uploaded

TEXT = "My dog sat on the big red chair."


def written(model: str = "translator", **link: str) -> AppTest:
    return opened("Generate", **{"model": model, "text": TEXT, **link})


def figure(app: AppTest, key: str) -> dict[str, Any]:
    """What plotly was given of the chart `key`."""
    found = next(chart.proto for chart in app.get("plotly_chart") if key in chart.proto.id)
    return json.loads(found.spec)


def text_so_far(app: AppTest) -> dict[str, Any]:
    return json.loads(
        next(e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("written")).json
    )


@pytest.fixture(scope="module")
def translator() -> LoadedModel:
    return models.load("translator")


@pytest.fixture(scope="module")
def made(translator: LoadedModel) -> generating.Written:
    return generating.write(translator, TEXT)


def test_the_first_view_is_the_finished_text(made: generating.Written) -> None:
    app = written()
    assert not app.exception
    assert app.title[0].value == "Generate"
    assert app.slider[0].value == len(made.steps)
    shown = text_so_far(app)
    assert shown["text"] == made.texts[-1]
    assert shown["tokens"] == [step.chosen.token for step in made.steps]
    assert "Same tokens with and without" in said(app)
    assert "times fewer FLOPs" in said(app)
    assert "4,608 bytes" in said(app)
    assert app.metric[0].value == f"{len(made.steps)} of {len(made.steps)}"


@pytest.mark.parametrize("model", ["own-decoder", "own-encoder-decoder"])
def test_untrained_models_write_and_say_so(model: str) -> None:
    app = written(model=model)
    assert not app.exception
    assert "Untrained" in said(app)
    assert "Cannot be shown" not in said(app)
    assert len(text_so_far(app)["tokens"]) == 40


@pytest.mark.parametrize("model", ["minilm", "own-encoder"])
def test_with_an_encoder_the_translator_writes_and_a_click_chooses_it(model: str) -> None:
    app = written(model=model)
    assert not app.exception
    assert "does not write" in said(app)
    assert text_so_far(app)["tokens"]
    assert app.selectbox(key="model").value == model
    pressed(app, "choose stand-in")
    assert not app.exception
    assert app.selectbox(key="model").value == "translator"
    assert app.text_area(key="text").value == TEXT
    assert text_so_far(app)["tokens"]


def test_a_link_restores_the_step_and_the_head(made: generating.Written) -> None:
    app = written(step="3", gen_layer="1", gen_mean="false", gen_head="2")
    assert not app.exception
    assert app.slider[0].value == 3
    assert text_so_far(app)["text"] == made.texts[2]
    bars, cells = figure(app, "attention-cross")["data"]
    weights = made.trace.attention(layer=1, head=2, stream="cross")
    np.testing.assert_allclose(np.array(values(bars["y"])), weights[2], atol=1e-6)
    assert cells["type"] == "heatmap"


def values(array: Any) -> list[float]:
    """Plotly sends long arrays packed."""
    if isinstance(array, dict):
        return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).tolist()
    return array


def test_it_plays_to_the_last_token_and_stops(made: generating.Written, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert seen[0] <= 2
    assert app.button(key="play").label == "Play"
    assert not app.exception


def test_playing_can_be_stopped_and_walked() -> None:
    app = written(step="2")
    pressed(app, "play")
    assert app.session_state["generate.playing"]
    pressed(app, "play")
    assert not app.session_state["generate.playing"]
    at = app.slider[0].value
    pressed(app, "Next step")
    assert app.slider[0].value == at + 1
    for _ in range(at + 2):
        pressed(app, "Step back")
    assert app.slider[0].value == 1
    app.slider[0].set_value(4).run()
    assert app.slider[0].value == 4
    pressed(app, "play")
    app.slider[0].set_value(6).run()  # stops it
    assert not app.session_state["generate.playing"]
    assert app.slider[0].value == 6
    assert not app.exception


def test_another_text_is_seen_whole() -> None:
    app = written(step="2")
    typed(app, "The dog is big.")
    assert not app.exception
    steps = text_so_far(app)["tokens"]
    assert app.slider[0].value == len(steps)


@pytest.mark.parametrize(
    ("link", "facts"),
    [
        ({"step": "99", "beams": "7"}, ('step "99"; they go from 1 to', 'beams "7"; they go from 1 to 6. You see 4')),
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


def test_a_sampled_text_is_in_the_link(translator: LoadedModel) -> None:
    app = written(decoding="sample", temperature="1.5", top_k="20", top_p="0.9", seed="7", new_tokens="12")
    assert not app.exception
    how = generating.Decoding(True, temperature=1.5, top_k=20, top_p=0.9, seed=7)
    made = generating.write(translator, TEXT, how=how, new_tokens=12)
    assert text_so_far(app)["tokens"] == [step.chosen.token for step in made.steps]


def test_one_token_and_six_beams() -> None:
    app = written(new_tokens="1", beams="6")
    assert not app.exception
    assert "The text ended after one token." in said(app)
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
    assert "tokens are read: this model takes at most" in said(app)
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
        replace(record(translator, "My dog sat."), **changed).save(path)
        app = written(text="Another text.")
        uploaded(app, path.read_bytes(), name=path.name)
        assert not app.exception
        if changed:
            assert "The model of this saved trace is not at hand, so you see" in said(app)
            assert text_so_far(app)["tokens"]
        else:
            assert text_so_far(app)["text"] == generating.write(translator, "My dog sat.").texts[-1]


def test_other_tokens_without_the_cache_would_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generating.Written, "same", False)
    assert "Other tokens without" in said(written())
