"""Pages of attention that was computed elsewhere: maps where weights are enough, a sentence where they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import inspector
from inspector import Trace, maps
from inspector.sections import registry
from tests.inspector.views.page import messages, opened, said, section_opened, titles, turned, uploaded

TOKENS = ["[CLS]", "the", "cat", "sat", "on", "the", "##m", "mat", "[SEP]"]
TARGET = ["le", "chat", "est", "assis", "."]
STREAMS = ("encoder", "decoder", "cross")


def given(stream: str, *, heads: tuple[int, ...] = (4, 2, 3)) -> Trace:
    """Attention of a stream, drawn at random, whose layers have different numbers of heads."""
    rng, queries = np.random.default_rng(0), len(TARGET if stream == "cross" else TOKENS)
    weights = [np.exp(3 * rng.normal(size=(count, queries, len(TOKENS)))) for count in heads]
    if stream == "decoder":
        weights = [np.tril(layer) for layer in weights]
    weights = [(layer / layer.sum(axis=-1, keepdims=True)).astype(np.float32) for layer in weights]
    if stream == "cross":
        return inspector.from_attention(weights, TARGET, key_tokens=TOKENS)
    return inspector.from_attention(weights, TOKENS)


def start(trace: Trace, folder: Path, **link: Any) -> AppTest:
    """Open the trace's file in the app."""
    inspector.save(trace, folder / "t.npz")
    app = uploaded(opened(**link), (folder / "t.npz").read_bytes())
    assert not app.exception
    return app


@pytest.mark.parametrize("stream", STREAMS)
def test_attention_shows_the_weights_and_says_that_they_were_given(stream: str, tmp_path: Path) -> None:
    trace = given(stream)
    app = start(trace, tmp_path, layer="2", head="1")
    header, numbers = messages(app, "head")[0]
    assert header["title"] == "Layer 2, head 1"
    assert (numbers == trace.attention(layer=2, head=1).ravel()).all()
    grid, pictures = messages(app, "grid")[0]
    assert (grid["layers"], grid["heads"], grid["widths"]) == (3, 4, [4, 2, 3])
    assert not pictures.reshape(3, 4, -1)[1, 2:].any()  # layer 1 has two heads
    assert "Given, not held" in said(app)
    assert "These weights were computed elsewhere and given" in said(app)
    assert "as it was given: row = query, column = key" in said(app)
    assert "Cannot be shown" not in said(app)


@pytest.mark.parametrize(("layer", "head"), [(0, 3), (1, 1), (2, 5)])
def test_the_numbers_are_those_of_the_open_head_where_layers_differ_in_heads(
    layer: int, head: int, tmp_path: Path
) -> None:
    trace = given("encoder", heads=(4, 2, 6))
    app = start(trace, tmp_path, layer=str(layer), head=str(head))
    assert "Cannot be shown" not in said(app)
    assert messages(app, "head")[0][0]["title"] == f"Layer {layer}, head {head}"
    told = inspector.heads.measure(trace).set_index(["layer", "head"]).loc[(layer, head), "entropy"]
    assert f"{told:.2f} nats" in said(app) or f"{told:.3g}" in said(app)


def test_a_long_text_opens_in_its_window(tmp_path: Path) -> None:
    raw = np.exp(np.random.default_rng(0).normal(size=(2, maps.WHOLE + 20, maps.WHOLE + 20)))
    trace = inspector.from_attention((raw / raw.sum(axis=-1, keepdims=True)).astype(np.float32))
    app = start(trace, tmp_path, layer="0", head="1")
    header, numbers = messages(app, "head")[0]
    count = len(header["queries"])
    assert count < maps.WHOLE
    assert (numbers.reshape(count, -1) == trace.attention(layer=0, head=1)[:count, : len(header["keys"])]).all()
    assert "Given, not held" in said(app)
    assert "independent check" not in [button.key for button in app.button]


@pytest.mark.parametrize("asked", [{"kind": "scores"}, {"why": "true"}])
def test_scores_of_given_weights_are_a_sentence(asked: dict[str, str], tmp_path: Path) -> None:
    app = start(given("encoder"), tmp_path, **asked)
    assert "has no scores" in said(app)
    assert "record the text in its model" in said(app)


@pytest.mark.parametrize("stream", STREAMS)
def test_compare_sets_two_given_heads_side_by_side(stream: str, tmp_path: Path) -> None:
    trace = given(stream)
    app = turned(start(trace, tmp_path, a_layer="0", a_head="3", b_layer="1", b_head="0"), "Compare")
    assert not app.exception
    (a, first), (b, second), *_ = messages(app, "head")
    assert (a["title"], b["title"]) == ("A: layer 0, head 3", "B: layer 1, head 0")
    assert (first == trace.attention(layer=0, head=3).ravel()).all()
    assert (second == trace.attention(layer=1, head=0).ravel()).all()
    assert "Cannot be shown" not in said(app)
    app.text_area(key="b_text").set_value("Another text.").run()
    assert "no other text can be read" in said(app)


@pytest.mark.heavy
@pytest.mark.parametrize("stream", STREAMS)
def test_every_page_and_section_opens_it(stream: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = start(given(stream), tmp_path)
    for page in registry.PAGES.values():
        turned(app, page.title)
        assert not app.exception, page.title
        assert app.title[0].value == page.title
        entries = () if page.board else registry.sections(page.address).below
        for title in (title for entry in entries for title in titles(entry) if len(entries) > 1):
            section_opened(app, title)
            assert "does not know" not in said(app), title  # how a failure that was not foreseen is told
    assert not [record for record in caplog.records if record.exc_info]
