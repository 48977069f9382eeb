"""One token in all heads: the grid's small pictures become its rows or its columns, and heads are sorted by a key."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import maps, record
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, HOSTILE, message, opened, said, sentence, typed

IT = 8


def every_map(loaded: LoadedModel) -> np.ndarray:
    trace = record(loaded, EXAMPLE)
    return np.stack([trace.attention(layer=layer) for layer in range(6)])


def as_bytes(weights: np.ndarray) -> np.ndarray:
    return np.rint(255 * np.sqrt(weights))


def test_a_chosen_token_stands_in_every_head(minilm: LoadedModel) -> None:
    app = opened()
    choice = app.selectbox(key="one token")
    assert (choice.value, choice.placeholder) == (None, "One token in all heads")
    choice.set_value(IT).run()
    assert not app.exception
    assert app.query_params["query"] == str(IT)
    header, pictures = message(app, "grid")
    assert (header["rows"], header["cols"]) == (1, 13)
    np.testing.assert_array_equal(pictures.reshape(6, 12, 13), as_bytes(every_map(minilm)[:, :, IT]))
    assert "Beyond its neighbours `it` looks most at" in said(app)
    header = message(app, "head")[0]
    assert header["chosen"] == [IT]
    row = every_map(minilm)[header["layer"], header["head"], IT]
    key = record(minilm, EXAMPLE).tokens[int(row.argmax())]
    assert header["marked"] == [IT, int(row.argmax())]  # what the sentence over the page tells
    assert f"Layer {header['layer']}, head {header['head']}: `it` gives" in sentence(app)
    assert f"`{key}`" in sentence(app)
    app.selectbox(key="one token").set_value(None).run()
    assert "query" not in app.query_params
    assert message(app, "grid")[0]["rows"] == 13


def test_what_it_gets_is_a_column_and_a_link(minilm: LoadedModel) -> None:
    link = {"query": str(IT), "token_side": "gets", "sort": "-query 2"}
    app = opened(**link)
    assert not app.warning
    assert {name: app.query_params[name] for name in link} == link
    header, pictures = message(app, "grid")
    assert (header["rows"], header["cols"]) == (13, 1)
    weights = every_map(minilm)[..., IT]
    np.testing.assert_array_equal(pictures.reshape(6, 12, 13), as_bytes(weights))
    assert header["options"] == {"sort": "query 2 cat", "rising": True, "only": []}
    np.testing.assert_array_equal(np.float32(header["measures"]["query 2 cat"]), weights[..., 2])
    assert header["measures"]["query 3 sat"] is None  # comes once it is asked for
    assert "`it` gets most from" in sentence(app)
    header = message(app, "head")[0]
    assert (header["marked"], header["chosen"]) == ([None, IT], [])  # the column that the sentence is about, and no row


def test_of_an_untrained_model_no_cell_is_told_of_a_pinned_token_either() -> None:
    app = opened(model="own-decoder", query="3")
    assert "has random weights, so what it looks at is chance" in sentence(app)
    assert "marked" not in message(app, "head")[0]


def test_a_head_names_the_keys_that_get_most(minilm: LoadedModel) -> None:
    header, _ = message(opened(query=str(IT)), "grid")
    row = every_map(minilm)[3, 7, IT]
    tokens = record(minilm, EXAMPLE).tokens
    first = int(row.argmax())
    assert header["notes"][3][7].startswith(f"key {first} {tokens[first]}: {row[first]:.3g}, key ")


@pytest.mark.parametrize("sort", ["key 99", "query x", "key -1", "--key 2", "key 2,key 3,beauty", "key ２"])
def test_a_wrong_order_in_a_link_is_a_sentence(sort: str) -> None:
    app = opened(query=str(IT), sort=sort)
    assert not app.exception
    assert message(app, "grid")[0]["options"]["sort"] is None
    assert len(app.warning) == 1
    assert "or of a pinned token key 0 to 12" in app.warning[0].value


def test_an_order_by_a_key_waits_for_a_token() -> None:
    app = opened(sort="key 2")
    assert not app.warning
    assert message(app, "grid")[0]["options"]["sort"] is None
    app.selectbox(key="one token").set_value(IT).run()
    assert message(app, "grid")[0]["options"]["sort"] == "key 2 cat"


def test_hidden_and_merged_tokens_are_those_of_the_map(minilm: LoadedModel) -> None:
    trace = record(minilm, EXAMPLE)
    shown = maps.arrange(trace, hide_special=True, renormalise=True)
    app = opened(query=str(IT), hide="true", renormalise="true", sort="key 2")
    header, _ = message(app, "grid")
    weights = np.stack([shown.apply(layer)[:, IT - 1] for layer in every_map(minilm)])
    assert_close(np.array(header["measures"]["key 2 cat"]), weights[..., 1], relative=1e-6)
    hidden = opened(query="0", hide="true")  # [CLS] is pinned, and not in sight
    assert message(hidden, "grid")[0]["rows"] == 11


def test_a_hostile_text_is_named_letter_by_letter() -> None:
    app = opened(text=HOSTILE)
    app.selectbox(key="one token").set_value(1).run()
    assert not app.exception
    (sentence,) = (one.value for one in app.markdown if "looks most at" in one.value or "other word" in one.value)
    assert "`<`" in sentence
    assert "<" not in sentence.replace("`<`", "")
    typed(app, EXAMPLE)
    assert app.selectbox(key="one token").value is None


def test_the_grid_of_two_texts_shows_what_is_given_alone() -> None:
    app = opened(model="own-encoder-decoder", text="A cat.", target="My dog sat.", stream="cross", query="1")
    assert not app.exception
    header, _ = message(app, "grid")
    assert (header["rows"], header["cols"]) == (1, len(message(app, "head")[0]["keys"]))
