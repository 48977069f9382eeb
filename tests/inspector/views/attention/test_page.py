"""The page Attention: what the grid and the open head are sent, and what a link restores."""

from __future__ import annotations

import numpy as np

import models
from inspector import record
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, message, opened, said, typed


def test_the_first_view_needs_no_click(minilm: LoadedModel) -> None:
    app = opened()
    assert not app.exception
    header, numbers = message(app, "head")
    trace = record(minilm, EXAMPLE)
    assert header["queries"] == list(trace.tokens)
    layer, head = header["layer"], header["head"]
    np.testing.assert_array_equal(numbers.reshape(13, 13), trace.attention(layer=layer, head=head))
    grid, pictures = message(app, "grid")
    assert (grid["layers"], grid["heads"]) == (6, 12)
    assert pictures.size == 6 * 12 * 13 * 13
    everything = np.stack([trace.attention(layer=index) for index in range(6)])
    np.testing.assert_array_equal(pictures.reshape(everything.shape), np.rint(255 * np.sqrt(everything)))
    assert "Exact on this text" in said(app)
    assert "13 tokens of at most 512" in said(app)


def test_the_own_transformer_shows_the_same_map() -> None:
    theirs, ours = (message(opened(model=model, layer="4", head="9"), "head")[1] for model in ("minilm", "minilm-own"))
    assert_close(ours, theirs, relative=1e-5)


def test_a_link_restores_the_view(minilm: LoadedModel) -> None:
    link = {"text": "Unbelievable cats.", "layer": "2", "head": "3", "hide": "true", "words": "true", "sqrt": "true"}
    app = opened(**link)
    header, numbers = message(app, "head")
    assert (header["layer"], header["head"], header["scale"]) == (2, 3, "sqrt")
    assert header["queries"] == ["unbelievable", "cats", "."]
    trace = record(minilm, link["text"])
    assert trace.tokens == ("[CLS]", "unbelievable", "cats", ".", "[SEP]")
    np.testing.assert_array_equal(numbers.reshape(3, 3), trace.attention(layer=2, head=3)[1:-1, 1:-1])
    assert {name: app.query_params[name] for name in link} == link


def test_hidden_tokens_renormalised_or_not_is_said() -> None:
    assert "hidden with their weight: rows sum to" in said(opened(hide="true"))
    app = opened(hide="true", renormalise="true")
    assert "divided by what is left, so it sums to 1 again" in said(app)
    assert_close(message(app, "head")[1].reshape(11, 11).sum(axis=1), 1, relative=1e-6)


def test_an_encoder_decoder_shows_three_streams() -> None:
    loaded = models.load("own-encoder-decoder")
    trace = record(loaded, "A cat.", target="My dog sat.")
    for stream in ("encoder", "decoder", "cross"):
        app = opened(
            model="own-encoder-decoder", text="A cat.", target="My dog sat.", stream=stream, layer="1", head="2"
        )
        assert not app.exception
        header, numbers = message(app, "head")
        weights = trace.attention(layer=1, head=2, stream=stream)
        np.testing.assert_array_equal(numbers.reshape(weights.shape), weights)
        assert len(header["keys"]) == weights.shape[1]
    assert header["keys"] == list(trace.tokens)
    assert header["queries"][:2] == ["[CLS] → my", "my → dog"]
    assert "source text" in said(app)


def test_without_a_target_the_model_writes_its_own() -> None:
    app = opened(model="own-encoder-decoder", stream="decoder")
    assert not app.exception
    trace = record(models.load("own-encoder-decoder"), EXAMPLE)
    read = [label.split(" → ")[0] for label in message(app, "head")[0]["queries"]]
    assert tuple(read) == next(site.queries for site in trace.sites if site.stream == "decoder")


def test_a_pin_follows_its_token_and_leaves_with_its_text() -> None:
    app = opened(query="9")
    assert message(app, "head")[0]["chosen"] == [9]
    app.toggle(key="hide").set_value(True).run()
    header = message(app, "head")[0]
    assert (header["chosen"], header["queries"][8]) == ([8], "was")
    typed(app, "Another text with just as many tokens as before here.")
    assert message(app, "head")[0]["chosen"] == []
    assert "query" not in app.query_params


def test_the_grids_order_and_choice_are_a_link() -> None:
    app = opened(sort="-entropy", only="previous,same word")
    header, _ = message(app, "grid")
    assert header["options"] == {"sort": "entropy", "rising": True, "only": ["previous", "same word"]}
    assert app.query_params["only"] == "previous,same word"
    assert not app.warning


def test_an_unknown_order_in_a_link_is_said() -> None:
    app = opened(sort="beauty", only="<script>")
    header, _ = message(app, "grid")
    assert header["options"] == {"sort": None, "rising": False, "only": []}
    assert len(app.warning) == 2
    assert "beauty" in app.warning[0].value
