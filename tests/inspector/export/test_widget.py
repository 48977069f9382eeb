"""The live view of a notebook, its Python side: what it sends, what it takes, and what it refuses."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import inspector
from inspector import maps
from inspector.components import widget as component
from inspector.components.source import script
from inspector.trace import Trace
from models import LoadedModel
from tests.inspector.probe.hybrids import loaded_family

pytest.importorskip("anywidget", reason="anywidget is not installed: pip install -r requirements-notebook.txt")

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, TEXT)


def message(packed: bytes) -> tuple[dict, np.ndarray]:
    """Read a head's message as the browser does."""
    length = int.from_bytes(packed[:4], "little")
    start = -(-(4 + length) // 4) * 4
    return json.loads(packed[4 : 4 + length]), np.frombuffer(packed[start:], "<f4")


def weights(view: inspector.export.widget.HeadView) -> np.ndarray:
    header, data = message(view._open)
    shape = len(header["queries"]), len(header.get("keys", header["queries"]))
    return data[: shape[0] * shape[1]].reshape(shape)


def test_it_sends_the_weights_of_the_open_head_bit_for_bit(trace: Trace) -> None:
    view = inspector.show(trace, layer=1, head=7)
    np.testing.assert_array_equal(weights(view), trace.attention(1, 7))
    view.head = (-1, -1)
    assert view.head == (5, 11)
    assert (view.site.layer, view.site.stream) == (5, "encoder")
    np.testing.assert_array_equal(weights(view), trace.attention(5, 11))
    assert repr(view) == f"<HeadView of {trace!r}: layer 5, head 11>"


def test_what_the_browser_says_comes_to_those_who_observe(trace: Trace) -> None:
    view, seen = inspector.show(trace, layer=1, head=7), []
    view.observe(lambda change: seen.append((change.name, change.new)), ["head", "query"])
    view.set_state({"_row": 2, "head": [2, 5]})  # as a click does
    view.set_state({"query": 4})
    view.set_state({"query": None})
    assert seen == [("head", (2, 5)), ("query", 4), ("query", None)]
    np.testing.assert_array_equal(weights(view), trace.attention(2, 5))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("head", (6, 0), "layer 6 is not in this view: it shows the layers 0, 1, 2, 3, 4, 5"),
        ("head", (-7, 0), "layer -7 is not in this view"),
        ("head", (0, 12), "head 12 is out of range: layer 0 has heads 0 to 11"),
        ("head", "1.7", "head is '1.7': give (layer, head), two whole numbers"),
        ("head", None, "head is 'None': give (layer, head)"),
        ("head", (0, True), "head is 'True', a bool: give a whole number"),
        ("head", ("\x1b[31m", 0), "layer is '\\x1b[31m', a str"),
        ("query", 13, "query 13 is out of range: the text has 13 tokens, from 0"),
        ("query", 1.0, "query is '1.0', a float: give a whole number"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_moves(trace: Trace, name: str, value: object, told: str) -> None:
    view = inspector.show(trace, layer=1, head=7)
    before = view.get_state()
    with pytest.raises(ValueError, match=r".") as error:
        setattr(view, name, value)
    assert told in str(error.value)
    with pytest.raises(ValueError, match=r"."):
        view.set_state({name: value})
    assert view.get_state() == before


def test_a_view_is_small(trace: Trace) -> None:
    state = inspector.show(trace).get_state()
    data, code = ("_grid", "_open"), ("_code", "_esm", "_css")
    assert sum(len(state[name]) for name in data) <= 25_000
    assert sum(len(state[name]) for name in code) <= 75_000


def test_the_code_is_the_components_and_equal_each_time() -> None:
    assert gzip.decompress(component.code()).decode() == script("widget")
    command = "from inspector.components import widget; import sys; sys.stdout.buffer.write(widget.code())"
    again = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True, cwd=Path.cwd()).stdout
    assert again == component.code()


def test_views_of_one_trace_are_linked_and_views_of_two_are_not(minilm: LoadedModel, trace: Trace) -> None:
    names = [
        message(inspector.show(recorded, layer=0, head=head)._open)[0]["linked"]["name"]
        for recorded, head in ((trace, 0), (trace, 1), (inspector.record(minilm, TEXT), 0))
    ]
    assert names[0] == names[1] != names[2]


def test_streams_are_linked_by_the_text_that_they_read(shipped) -> None:
    trace = inspector.record(shipped("translator"), "I love cats.")
    linked = {
        stream: message(inspector.show(trace, layer=0, head=0, stream=stream)._open)[0]["linked"]
        for stream in ("encoder", "decoder", "cross")
    }
    assert linked["cross"]["keys"] == linked["encoder"]["keys"]
    assert linked["cross"]["queries"] == linked["decoder"]["queries"]
    assert not set(linked["encoder"]["queries"]) & set(linked["decoder"]["queries"])


def test_a_long_text_is_sent_in_windows(minilm_own: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 40)
    monkeypatch.setattr(maps, "WINDOW", 16)
    trace = inspector.record(minilm_own, "a cat sat on a mat " * 10)
    view = inspector.show(trace, layer=1, head=7)
    np.testing.assert_array_equal(weights(view), trace.attention(1, 7)[:16, :16])
    view.set_state({"_corner": [20, 4]})
    header, _ = message(view._open[: len(view._open) // 4 * 4])
    assert (header["first"], header["whole"]["queries"]) == ([20, 4], len(trace.tokens))
    view.set_state({"_corner": [10_000, -3]})
    assert view._corner == (len(trace.tokens) - 16, 0)


def test_a_layer_that_mixes_in_another_way_is_shown_by_its_own_map(tmp_path: Path) -> None:
    trace = inspector.record(loaded_family("qwen3_next", tmp_path / "hybrid"), "the cat sat")
    view = inspector.show(trace, layer=0, head=2)
    assert view.site.kind == "gated delta rule"
    np.testing.assert_array_equal(weights(view), trace.attention(layer=0, head=2, kind="gated delta rule"))
    softmax = trace.sites[0]
    view.head = (softmax.layer, 1)
    np.testing.assert_array_equal(weights(view), trace.attention(softmax.layer, 1))


def test_a_map_that_is_not_what_the_layer_did_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = inspector.record(loaded_family("qwen3_next", tmp_path / "hybrid"), "the cat sat")
    view = inspector.show(trace, layer=trace.sites[0].layer, head=0)
    mixer = trace.mixer_sites[0]
    monkeypatch.setitem(view._messages.small, (mixer.layer, mixer.kind), None)
    with pytest.raises(ValueError, match="no matrix that was found is what the layer did"):
        view.head = (mixer.layer, 0)


def test_a_click_on_a_layer_of_two_rows_opens_the_row(tmp_path: Path) -> None:
    """A layer that attends and mixes in another way has a row for each, with heads of its own."""
    trace = inspector.record(loaded_family("falcon_h1", tmp_path / "hybrid"), "the cat sat")
    sites = trace.mixing_sites_of("decoder")
    rows = [at for at, site in enumerate(sites) if site.layer == 0]
    assert len(rows) > 1
    view = inspector.show(trace, layer=0, head=0)
    for row in (*rows, rows[0]):
        view.set_state({"_row": row, "head": [0, 0]})
        assert view.site == sites[row]
    view.set_state({"_row": len(sites), "head": [0, 0]})  # no row
    assert view.site.layer == 0
