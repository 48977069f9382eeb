"""Pages of models whose grid rows are not the model's layers: links, titles and numbers name the model's layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import inspector
import models
from inspector import Trace, interventions, record
from models.attention.dropping import ModelHead
from tests.inspector.probe.families import save
from tests.inspector.probe.test_model_layers import HYBRIDS, TWICE
from tests.inspector.views.page import forget, messages, pressed, said, uploaded
from tests.inspector.views.page import opened as start

TEXT = "the cat sat on the log"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a hybrid whose layers 1 and 3 attend, and an ALBERT of three layers that attend twice."""
    root = tmp_path_factory.mktemp("root")
    save(HYBRIDS["qwen3_next"][0], root / "hybrid")
    save(TWICE["albert"], root / "twice")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_ROOT", str(root))
        forget()
        for name in ("hybrid", "twice"):  # looked at and loaded once, for all visitors
            app = start(state={"picker.open": True}, model="own-encoder", text=TEXT)
            app.text_input(key="picker.other").set_value(str(root / name))
            pressed(pressed(app, "look"), "load")
        yield root
        forget()


def opened(folder: Path, page: str = "Attention", **link: str) -> AppTest:
    """Follow a link to a model of a folder that this visitor has loaded."""
    app = start(page, state={"added": [str(folder)]}, model=str(folder), text=TEXT, **link)
    assert not app.exception
    return app


def recorded(folder: Path) -> Trace:
    return record(models.load(folder), TEXT)


def test_a_link_names_the_models_layer(folder: Path) -> None:
    app = opened(folder / "hybrid", layer="3", head="2")
    header, numbers = messages(app, "head")[0]
    assert header["title"] == "Layer 3, head 2"
    assert (header["layer"], header["head"]) == (3, 2)  # the row of the grid
    trace = recorded(folder / "hybrid")
    assert (numbers.reshape(len(trace.tokens), -1) == trace.attention(layer=3, head=2)).all()
    grid, _ = messages(app, "grid")[0]
    assert grid["names"] == ["layer 0 (delta)", "layer 1 (softmax)", "layer 2 (delta)", "layer 3 (softmax)"]
    assert not messages(app, "heads")  # maps of another scale are not opened in the browser


@pytest.mark.parametrize("layer", ["4", "9", "x", "-1", ""])
def test_a_link_to_a_layer_that_is_not_there_is_a_sentence(folder: Path, layer: str) -> None:
    app = opened(folder / "hybrid", layer=layer)
    assert not app.exception
    if layer:
        assert f'The link asks for layer "{layer}"; they go from 0 to 3. You see ' in said(app)
    assert messages(app, "head")[0][0]["title"].startswith(("Layer 1,", "Layer 3,"))


def saved_hybrid(folder: Path, tmp_path: Path) -> AppTest:
    """Open a saved trace of the hybrid that holds attention alone, as traces did before other mixers had maps."""
    inspector.save(replace(recorded(folder / "hybrid"), mixers=()), tmp_path / "t.npz")
    app = start(model="own-encoder", text=TEXT)
    uploaded(app, (tmp_path / "t.npz").read_bytes())
    assert not app.exception
    return app


@pytest.mark.parametrize("layer", ["0", "2", "x", "01"])
def test_a_link_to_a_layer_without_attention_is_a_sentence(folder: Path, tmp_path: Path, layer: str) -> None:
    app = saved_hybrid(folder, tmp_path)
    app.query_params["layer"] = layer
    app.run()
    assert f'The link asks for layer "{layer}"; layers 1 and 3 attend. You see ' in said(app)
    assert messages(app, "head")[0][0]["title"].startswith(("Layer 1,", "Layer 3,"))


def test_the_second_attention_of_a_layer_is_opened_and_named(folder: Path) -> None:
    app = opened(folder / "twice", layer="2", call="1", head="3")
    header, numbers = messages(app, "head")[0]
    assert header["title"] == "Layer 2 (2nd attention), head 3"
    trace = recorded(folder / "twice")
    tokens = len(trace.tokens)
    assert (numbers.reshape(tokens, tokens) == trace.attention(layer=2, head=3, call=1)).all()
    grid, _ = messages(app, "grid")[0]
    assert grid["names"][:3] == ["layer 0", "layer 0 (2nd)", "layer 1"]
    assert "A layer that attends more than once has a row for each time." in said(app)
    assert ["".join(app.query_params[name]) for name in ("layer", "call")] == ["2", "1"]
    bad = opened(folder / "twice", layer="2", call="7", head="3")
    assert 'The link asks for call "7"; they go from 0 to 1. You see 0 instead.' in said(bad)


@pytest.mark.parametrize("model", ["hybrid", "twice"])
@pytest.mark.parametrize("page", ["Compare", "Norms", "Positions", "Scores", "What if"])
def test_every_page_shows_them(folder: Path, model: str, page: str) -> None:
    app = opened(folder / model, page)
    assert "Cannot be shown" not in said(app)


def test_panels_choose_among_the_layers_that_attend(folder: Path) -> None:
    app = opened(folder / "hybrid", "Compare", a_layer="3", b_layer="2", a_head="1", b_head="1", heads_of="A")
    titles = [header["title"] for header, _ in messages(app, "head")]
    assert titles[0] == "A: layer 3, head 1, kv head 0"
    assert 'The link asks for b_layer "2"; layers 1 and 3 attend.' in said(app)
    strips = [header for header, _ in messages(app, "grid")]
    assert strips[0]["labels"] == ["1", "3"]
    assert strips[1]["names"] == ["layer 3"]
    app.selectbox(key="a_layer").select(1).run()
    assert messages(app, "head")[0][0]["title"] == "A: layer 1, head 1, kv head 0"
    app.selectbox(key="fill").select("layers").run()
    assert not app.exception
    twice = opened(folder / "twice", "Compare", a_layer="1", a_call="1", a_head="0")
    assert messages(twice, "head")[0][0]["title"] == "A: layer 1 (2nd attention), head 0"


def test_heads_of_the_models_layer_are_dropped(folder: Path) -> None:
    app = opened(folder / "hybrid", "What if", part="Drop heads", drop="3.2")
    grid, _ = messages(app, "grid")[0]
    assert grid["crossed"] == [[1, 2]]
    assert "layer 3: head 2" in said(app)
    loaded = models.load(folder / "hybrid")
    trace = recorded(folder / "hybrid")
    dropped = interventions.drop(loaded, trace, heads=[ModelHead("decoder", 3, 2)])
    assert np.abs(dropped.after.output - trace.output).max() > 1e-4
    app.pills(key="whole-layers").set_value([0]).run()
    assert "".join(app.query_params["drop"]) == "1.0,1.1,1.2,1.3,3.2"
    twice = opened(folder / "twice", "What if", part="Drop heads", drop="1.2.1 1.3")
    assert messages(twice, "grid")[0][0]["crossed"] == [[2, 3], [3, 2]]
    assert "layer 1 (2nd attention): head 2" in said(twice)


def test_each_head_alone_is_drawn_in_its_row(folder: Path) -> None:
    app = opened(folder / "hybrid", "What if", part="Drop heads")
    app.button(key="alone-start").click().run()
    assert not app.exception
    grid, _ = messages(app, "grid")[-1]
    assert grid["names"] == ["layer 1", "layer 3"]
    assert all("not measured" not in note for row in grid["notes"] for note in row)


def test_rollout_names_the_layers_that_attend(folder: Path) -> None:
    app = opened(folder / "hybrid", kind="rollout")
    assert "what layers of another kind mix between tokens is left out" in said(app)


def test_a_saved_trace_opens_with_the_models_layers(folder: Path, tmp_path: Path) -> None:
    app = saved_hybrid(folder, tmp_path)
    assert messages(app, "grid")[0][0]["names"] == ["layer 1", "layer 3"]
    assert "Layers that have no row do not attend" in said(app)
    every, maps = messages(app, "heads")[0]
    places = [(layer, head) for layer in (1, 3) for head in range(4)]  # in which the keys [ and ] walk
    assert [entry["title"] for entry in every["heads"]] == [f"Layer {layer}, head {head}" for layer, head in places]
    trace = recorded(folder / "hybrid")
    for (layer, head), weights in zip(places, maps.reshape(8, -1), strict=True):
        expected = trace.attention(layer=layer, head=head).ravel()
        assert (weights[: expected.size] == expected).all()  # behind it are its rows' numbers
