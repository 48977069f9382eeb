"""Attention in models whose layers mix tokens without softmax: one grid of all layers, each head a signed map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import Trace, export, maps, mixers, record
from inspector.export import notebook, python
from inspector.text import signed
from inspector.trace import mixers as trace_mixers
from inspector.views.shell import caching
from inspector.wording.english.phrases import percent
from tests.closeness import assert_close
from tests.inspector.probe.families import save
from tests.inspector.probe.hybrids import FAMILIES
from tests.inspector.views.hostile import LINK_VALUES
from tests.inspector.views.page import forget, messages, pressed, said
from tests.inspector.views.page import opened as start

TEXT = "the cat sat on the log"
KINDS = {"qwen3_next": "gated delta rule", "kimi_linear": "Kimi delta attention", "falcon_h1": "state space"}
MAMBA = "mamba"  # without softmax attention, a map for each channel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with tiny hybrids of random weights, each looked at and loaded once."""
    root = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_ROOT", str(root))
        forget()
        for name in (*KINDS, MAMBA):
            save(FAMILIES[name], root / name)
            app = start(state={"picker.open": True}, model="own-encoder", text=TEXT)
            app.text_input(key="picker.other").set_value(str(root / name))
            pressed(pressed(app, "look"), "load")
        yield root
        forget()


def opened(folder: Path, page: str = "Attention", text: str = TEXT, **link: str) -> AppTest:
    app = start(page, state={"added": [str(folder)]}, model=str(folder), text=text, **link)
    assert not app.exception
    return app


def recorded(folder: Path, text: str = TEXT) -> Trace:
    return record(models.load(folder), text)


def test_a_gated_head_says_what_its_gate_lets_through(folder: Path) -> None:
    app = opened(folder / "qwen3_next", layer="1", head="2")
    trace = recorded(folder / "qwen3_next")
    shares = trace.output_gate(layer=1, head=2)
    assert shares is not None
    assert f"{percent(shares.mean())} of its length is left on average, {percent(shares.max())} at" in said(app)
    names: dict[str, object] = {}
    exec(python.output_gate(replace(trace, model=str(folder / "qwen3_next")), site=trace.sites[0], head=2), names)
    np.testing.assert_array_equal(names["shares"], shares)
    assert "of its length is left" not in said(opened(folder / "falcon_h1", layer="0", head="2"))  # has no gate


@pytest.mark.parametrize("name", KINDS)
def test_a_head_of_a_mixer_opens_as_a_signed_map(folder: Path, name: str) -> None:
    kind = KINDS[name]
    app = opened(folder / name, layer="0", head="2", mixer=kind)
    header, numbers = messages(app, "head")[0]
    assert header["title"] == f"Layer 0 ({kind}), head 2"
    trace = recorded(folder / name)
    expected = trace.attention(layer=0, head=2, kind=kind)
    np.testing.assert_array_equal(numbers.reshape(expected.shape), expected)
    assert header["diverging"]
    assert_close(header["vmax"], np.abs(expected).max(), relative=1e-6)
    farthest = np.unravel_index(np.abs(expected * (np.arange(len(expected)) > 0)[:, None]).argmax(), expected.shape)
    assert header["marked"] == list(map(int, farthest))
    words = said(app)
    assert f"Layer 0 ({kind}), head 2: " in words
    assert "the weight farthest from 0 is" in words
    assert "rows do not sum to 1" in words
    assert "None of these is in the map" in words
    assert f"{(expected[np.tri(len(expected), dtype=bool)] < 0).mean():.0%}".replace("%", " %") in words


def test_the_grid_has_all_layers_in_one_order(folder: Path) -> None:
    app = opened(folder / "qwen3_next")
    grid, cells = messages(app, "grid")[0]
    assert grid["names"] == ["layer 0 (delta)", "layer 1 (softmax)"]
    assert grid["widths"] == [4, 4]
    assert "joined" not in grid
    of_channels, _ = messages(opened(folder / MAMBA), "grid")[0]
    assert of_channels["joined"] == {"0": "channels", "1": "channels"}  # whose pictures are of no head
    trace = recorded(folder / "qwen3_next")
    size = len(trace.tokens)
    pictures = cells.reshape(2, 4, size, size).astype(float) / 127.5 - 1
    delta, softmax = trace.attention(layer=0, kind="gated delta rule"), trace.attention(layer=1)
    for head in range(4):
        assert np.abs(pictures[0, head] - delta[head] / np.abs(delta[head]).max()).max() < 0.01
        assert np.abs(pictures[1, head] - softmax[head]).max() < 0.01
    both = messages(opened(folder / "falcon_h1"), "grid")[0][0]
    assert both["names"] == [f"layer {layer} ({kind})" for layer in (0, 1) for kind in ("softmax", "SSM")]


def test_both_kinds_of_a_layer_open_and_stand_in_the_link(folder: Path) -> None:
    app = opened(folder / "falcon_h1", layer="1", head="1")
    assert messages(app, "head")[0][0]["title"] == "Layer 1, head 1"
    other = opened(folder / "falcon_h1", layer="1", head="1", mixer="state space")
    header, _ = messages(other, "head")[0]
    assert header["title"] == "Layer 1 (state space), head 1"
    assert (header["layer"], header["head"]) == (3, 1)  # the row of the grid
    assert "".join(other.query_params["mixer"]) == "state space"


@pytest.mark.parametrize("link", [{"mixer": "x"}, {"layer": "9"}, {"head": "4"}, {"mixer": "state space"}])
def test_a_link_to_what_is_not_there_is_a_sentence(folder: Path, link: dict[str, str]) -> None:
    app = opened(folder / "kimi_linear", **{"layer": "0"} | link)
    ((name, value),) = link.items()
    assert f'The link asks for {name} "{value}"; ' in said(app)
    assert messages(app, "head")


@pytest.mark.parametrize("value", LINK_VALUES)
def test_links_that_strangers_write_open_the_page(folder: Path, value: str) -> None:
    opened(folder / "qwen3_next", layer="0", mixer=value, head=value, query=value, key=value, sort=value)


def test_options_arrange_the_map_and_the_pictures(folder: Path) -> None:
    app = opened(folder / "qwen3_next", layer="0", head="1", words="true", text="the catsat on on logging")
    trace = recorded(folder / "qwen3_next", "the catsat on on logging")
    shown = maps.arrange(trace, merge_words=True)
    assert len(shown.keys.members) < len(trace.tokens)
    expected = shown.apply(trace.attention(layer=0, head=1, kind="gated delta rule"))
    _, numbers = messages(app, "head")[0]
    assert_close(numbers.reshape(expected.shape), expected, relative=1e-6)
    grid, _ = messages(app, "grid")[0]
    assert (grid["rows"], grid["cols"]) == expected.shape
    assert "renormalise" not in [toggle.key for toggle in app.toggle]


def test_a_map_that_is_not_what_the_layer_did_is_refused_with_its_number(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_mixers, "TOLERANCE", 1e-11)
    caching.results.forget()
    app = opened(folder / "qwen3_next", layer="0", head="2")
    words = said(app)
    assert "no map of layer 0 (gated delta rule) is given" in words
    assert "where 1e-11 is allowed" in words
    assert not messages(app, "head")
    assert "no map" in messages(app, "grid")[0][0]["notes"][0][0]
    assert messages(opened(folder / "qwen3_next", layer="1"), "head")
    caching.results.forget()


def test_python_lines_give_the_numbers_of_the_page(folder: Path) -> None:
    trace = replace(recorded(folder / "qwen3_next"), model=str(folder / "qwen3_next"))
    site = trace.mixer_sites[0]
    whole = maps.arrange(trace)
    names: dict[str, np.ndarray] = {}
    exec(python.mixer(trace, whole, site=site, head=1), names)
    expected = trace.attention(layer=0, head=1, kind=site.kind)
    np.testing.assert_array_equal(names["weights"], expected)
    exec(python.mixer(trace, whole, site=site, head=1, window=(slice(1, 4), slice(0, 3))), names)
    np.testing.assert_array_equal(names["weights"], expected[1:4, :3])


def test_a_model_that_attends_in_all_layers_gets_what_it_got() -> None:
    app = start(model="own-decoder", text=TEXT, mixer="state space")
    assert not app.exception
    header, _ = messages(app, "grid")[0]
    assert not {"widths", "diverging"} & set(header)
    assert messages(app, "head")[0][0]["diverging"] is False


def test_pages_of_shares_say_that_they_read_softmax_attention_alone(folder: Path) -> None:
    for page in ("Scores", "What if"):
        assert "This page reads softmax attention alone" in said(opened(folder / "falcon_h1", page)), page
    assert "Softmax attention alone is measured here" in said(opened(folder / "falcon_h1", "Compare"))
    app = opened(folder / "kimi_linear", "Questions", q="3")
    app.button(key="show 3").click().run()
    assert "Softmax attention alone was measured" in said(app)
    for page in ("Norms", "Costs"):
        assert "softmax attention alone" not in said(opened(folder / "falcon_h1", page)), page
    assert "softmax attention alone" not in said(start("Scores", model="own-decoder", text=TEXT))


def test_no_measure_is_of_a_head_that_mixes_in_another_way(folder: Path) -> None:
    app = opened(folder / "qwen3_next")
    grid, _ = messages(app, "grid")[0]
    assert all(len(of_heads) == 2 for of_heads in grid["measures"].values())
    for of_heads in grid["measures"].values():
        assert of_heads[0] == [None] * 4
    assert grid["roles"]["names"][0] == [""] * 4
    assert "entropy" not in said(opened(folder / "qwen3_next", layer="0")).partition("More:")[0].replace(
        "roles, entropy and rollout do not apply", ""
    )


def test_a_signed_map_stands_beside_one_of_shares(folder: Path) -> None:
    name, kind = "qwen3_next", "gated delta rule"
    app = opened(folder / name, "Compare", a_layer="1", a_head="2", b_mixer=kind, b_layer="0", b_head="3")
    trace = recorded(folder / name)
    (a, shares), (b, numbers) = messages(app, "head")[:2]
    expected = trace.attention(layer=0, head=3, kind=kind)
    np.testing.assert_array_equal(numbers.reshape(expected.shape), expected)
    np.testing.assert_array_equal(shares.reshape(expected.shape), trace.attention(layer=1, head=2))
    assert (b["title"], b["diverging"], a["diverging"]) == (f"B: layer 0 ({kind}), head 3", True, False)
    assert_close(b["vmax"], np.abs(expected).max(), relative=1e-6)
    assert_close(a["vmax"], trace.attention(layer=1, head=2).max(), relative=1e-6)
    words = said(app)
    assert f"and these are of the kinds softmax and {kind}, whose weights have different scales" in words
    assert "Divergence" not in words
    assert len(messages(app, "head")) == 2
    app.selectbox(key="b_mixer").select("softmax").run()
    assert not app.exception
    assert len(messages(app, "head")) == 3


def test_two_maps_of_one_kind_have_a_difference(folder: Path) -> None:
    name, kind = "kimi_linear", "Kimi delta attention"
    app = opened(folder / name, "Compare", a_mixer=kind, b_mixer=kind, a_head="1", b_head="3")
    trace = recorded(folder / name)
    a, b = (trace.attention(layer=0, head=head, kind=kind) for head in (1, 3))
    header, values = messages(app, "head")[2]
    assert_close(values.reshape(a.shape), a.astype(np.float64) - b, relative=1e-6)
    assert header["diverging"]
    row, column = np.unravel_index(np.abs(a.astype(np.float64) - b).argmax(), a.shape)
    assert header["marked"] == [row, column]
    cosine = float((a * b).sum(dtype=np.float64) / np.linalg.norm(a) / np.linalg.norm(b))
    words = said(app)
    assert f"have a cosine of {signed(cosine)} as maps. They differ most at" in words
    assert f"is {signed(float(a[row, column]))} in A and {signed(float(b[row, column]))} in B." in words
    assert "Divergence" not in words
    place = {"trace": replace(trace, model=str(folder / name)), "whole": maps.arrange(trace), "stream": "decoder"}
    panels = (python.ComparedMap(**place, layer=0, head=head, kind=kind) for head in (1, 3))
    names: dict[str, Any] = {}
    exec(python.comparison(*panels), names)
    np.testing.assert_array_equal(names["found"].values, a - b)
    assert_close(names["found"].cosine, cosine, relative=1e-5)


@pytest.mark.parametrize("value", ["x", "state space", "", "softmax,softmax"])
def test_compare_refuses_a_kind_that_is_not_there(folder: Path, value: str) -> None:
    app = opened(folder / "kimi_linear", "Compare", a_mixer=value, a_layer="1")
    assert messages(app, "head")[0][0]["title"].startswith("A: layer 1, head")
    if value:
        assert f'The link asks for a_mixer "{value}"' in said(app)


def test_a_layer_with_a_map_for_each_channel_has_one_picture_and_a_channel_is_chosen(folder: Path) -> None:
    app = opened(folder / MAMBA, layer="1", head="5")
    header, numbers = messages(app, "head")[0]
    assert header["title"] == "Layer 1 (selective scan), channel 5"
    trace = recorded(folder / MAMBA)
    expected = trace.attention(layer=1, head=5, kind="selective scan")
    np.testing.assert_array_equal(numbers.reshape(expected.shape), expected)
    grid, cells = messages(app, "grid")[0]
    assert (grid["widths"], grid["names"]) == ([1, 1], ["layer 0 (scan)", "layer 1 (scan)"])
    average = trace.mixer(layer=1).averaged(side=len(trace.tokens))
    picture = cells.reshape(2, *average.shape)[1].astype(float) / 127.5 - 1
    assert np.abs(picture - average / average.max()).max() < 0.01
    app.number_input(key="Channel of layer 1").set_value(7).run()
    assert messages(app, "head")[0][0]["title"] == "Layer 1 (selective scan), channel 7"
    assert "".join(app.query_params["head"]) == "7"
    merged = opened(folder / MAMBA, layer="1", head="5", words="true")
    assert messages(merged, "grid")[0][0]["rows"] < grid["rows"] or len(trace.tokens) == grid["rows"]


def test_python_lines_of_a_gated_core_hold(folder: Path) -> None:
    trace = replace(recorded(folder / MAMBA), model=str(folder / MAMBA))
    names: dict[str, Any] = {}
    lines = python.mixer(trace, maps.arrange(trace), site=trace.mixer_sites[0], head=3)
    *before, product, shown = lines.splitlines()
    exec("\n".join([*before, f"made = {product}", f"shown = {shown}"]), names)
    where = {"layer": 0, "head": 3, "kind": "selective scan", "stream": "decoder"}
    assert names["shown"].page == export.html(names["trace"], **where, most=notebook.MOST_BYTES)
    assert_close(names["made"], trace.mixer(layer=0).of_head(3).output[:, 0].numpy(), relative=1e-5)


@pytest.mark.parametrize("name", [*KINDS, MAMBA])
def test_why_rebuilds_the_cell_that_is_chosen(folder: Path, name: str) -> None:
    kind = KINDS.get(name, "selective scan")
    app = opened(folder / name, layer="0", head="1", mixer=kind, why="true", query="4", key="2")
    record = recorded(folder / name).mixer(layer=0, kind=kind)
    size = mixers.read(record, 1).size
    cell = mixers.why(record, head=1, query=4, key=2, size=size)
    words = said(app)
    assert f"Rebuilt: {cell.rebuilt:.7g}; in the map: {cell.weight:.7g}" in words
    assert "Not rebuilt" not in words
    (steps,) = (table.value for table in app.table if "gives" in table.value)
    assert steps["gives"].tolist() == [f"{step.value:.6g}" for step in cell.steps]
    assert ("Erased by" in words) == cell.site.kind.endswith(("delta rule", "delta attention"))
    ahead = opened(folder / name, layer="0", head="1", mixer=kind, why="true", query="1", key="3")
    assert "still to come" in said(ahead)
    names: dict[str, object] = {}
    exec(python.mixer_cell(replace(recorded(folder / name), model=str(folder / name)), cell), names)
    made = names["cell"]
    assert isinstance(made, mixers.MixerCell)
    assert made.rebuilt == cell.rebuilt


@pytest.mark.parametrize("name", [*KINDS, MAMBA])
def test_the_state_stands_below_the_map_when_it_is_asked_for(folder: Path, name: str) -> None:
    kind = KINDS.get(name, "selective scan")
    app = opened(folder / name, layer="0", head="1", mixer=kind)
    assert "The state is largest after" not in said(app)
    app = start(
        state={"added": [str(folder / name)], "state of a head": True},
        **{"model": str(folder / name), "text": TEXT, "layer": "0", "head": "1", "mixer": kind},
    )
    assert not app.exception
    words = said(app)
    assert "The state is largest after" in words
    erases = kind.endswith(("delta rule", "delta attention"))
    assert ("of what was left of" in words) == erases
    trace = replace(recorded(folder / name), model=str(folder / name))
    record = trace.mixer(layer=0, kind=kind)
    expected = {"table": mixers.by_token(record, 1)}
    expected |= {} if record.site.by_channel else {"decays": mixers.decays(record)}
    expected |= {"erased": mixers.erased_by(record, 1)} if erases else {}
    for what, numbers in expected.items():
        names: dict[str, object] = {}
        exec(python.mixer_state(trace, site=record.site, head=1)[what], names)
        np.testing.assert_array_equal(names[what], numbers)


def test_generate_says_that_it_shows_rows_of_softmax_attention_alone(folder: Path) -> None:
    assert "This page reads softmax attention alone" in said(opened(folder / "falcon_h1", "Generate"))


def test_the_badge_has_the_differences_of_mixers_too(folder: Path) -> None:
    app = opened(folder / MAMBA)
    difference = max(record.difference for record in recorded(folder / MAMBA).mixers)
    assert f"Exact on this text, within {difference:.1e}" in said(app)
    helped = " ".join(mark.proto.help for mark in app.markdown)
    assert "2 of 2 layers that mix tokens without softmax attention have maps" in helped
    assert "One token in all heads" not in [box.label for box in app.selectbox]


@pytest.mark.parametrize("name", ["qwen3_next", MAMBA])
def test_a_long_text_is_shown_in_a_window(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    monkeypatch.setattr(maps, "WINDOW", 6)
    caching.results.forget()
    text = "the cat sat on the log because it was tired"
    app = opened(folder / name, layer="0", head="1", text=text, row="3")
    trace = recorded(folder / name, text)
    expected = trace.attention(layer=0, head=1, kind=trace.mixer_sites[0].kind)
    header, numbers = messages(app, "head")[0]
    assert (header["first"], header["whole"]["queries"]) == ([3, 3], len(trace.tokens))
    np.testing.assert_array_equal(numbers[:36].reshape(6, 6), expected[3:9, 3:9])
    words = said(app)
    assert "the weight of its tile that is the farthest from 0" in words
    assert "queries 3 to 8 of" in words
    caching.results.forget()
