"""The open head on the page: several heads, pins, and what is drawn, each restored by the link."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from inspector import record
from inspector.wording.english.phrases import percent
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, message, opened, said

PLACE = {"layer": "1", "head": "7"}


def drawn(app: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    """Header and maps [one and its parts, Q, T] of the open head, as they were sent."""
    header, numbers = message(app, "head")
    return header, numbers.reshape(-1, len(header["queries"]), len(header["keys"]))


def test_a_link_restores_pins_and_what_is_drawn() -> None:
    link = {"query": "3 5", "lines": "top3", "between": "ab", "tokens": "ca"}
    app = opened(**PLACE, pair="It was happy.", **link)
    header, _ = drawn(app)
    assert header["chosen"] == [3, 5]
    assert header["options"] == {"lines": "top3", "between": "ab", "tokens": "ca"}
    assert set(header["segments"]["queries"]) == {0, 1}
    assert header["rows"]["keys"] == len(header["keys"])
    assert {name: app.query_params[name] for name in link} == link


def test_without_a_pair_there_are_no_segments_and_defaults_stay_out_of_the_link() -> None:
    app = opened(
        **PLACE,
    )
    header, _ = drawn(app)
    assert header["segments"] is None
    assert header["options"] == {"lines": "", "between": "", "tokens": ""}
    assert not {"lines", "between", "tokens", "heads", "layers", "colours"} & set(app.query_params)


def test_a_wrong_link_is_a_sentence() -> None:
    app = opened(**PLACE, lines="top99", between="cd", query="3 99")
    for name in ("lines", "between", "query"):
        assert any(f"The link asks for {name}" in warning.value for warning in app.warning)


def test_several_heads_are_their_mean_or_in_colours(minilm: LoadedModel) -> None:
    layer = record(minilm, EXAMPLE).attention(layer=1)
    mean = layer[[3, 9]].mean(axis=0, dtype=np.float64).astype(np.float32)
    app = opened(
        **PLACE,
    )
    app.pills(key="heads").set_value([9, 3]).run()
    header, maps = drawn(app)
    np.testing.assert_array_equal(maps, mean[None])
    assert (header["title"], header["quantity"]) == ("Layer 1, mean of heads 3, 9", "mean weight")
    assert header["rows"] is None
    app.toggle(key="colours").set_value(True).run()
    header, maps = drawn(app)
    np.testing.assert_array_equal(maps, [mean, layer[3], layer[9]])
    assert [part["name"] for part in header["parts"]] == ["head 3", "head 9"]
    assert header["vmax"] == float(layer[[3, 9]].max())


def test_the_mean_over_layers(minilm: LoadedModel) -> None:
    trace = record(minilm, EXAMPLE)
    app = opened(**PLACE, layers="true")
    each = np.stack([trace.attention(layer=layer, head=7) for layer in range(6)])
    header, maps = drawn(app)
    assert_close(maps[0], each.mean(axis=0, dtype=np.float64), relative=1e-7)
    assert header["title"] == "All layers, mean of head 7"


def test_the_cell_that_the_sentence_names_is_marked(minilm: LoadedModel) -> None:
    trace = record(minilm, EXAMPLE)
    query, key = trace.tokens.index("on"), trace.tokens.index("mat")
    header, maps = drawn(opened(**PLACE))
    assert header["marked"] == [query, key]
    assert f"`on` gives {percent(maps[0, query, key])} of its attention to `mat`" in said(opened(**PLACE))
    assert drawn(opened(**PLACE, hide="true"))[0]["marked"] == [query - 1, key - 1]
    assert drawn(opened(**PLACE, kind="scores"))[0]["marked"] == [query, key]


def test_the_column_of_a_key_is_marked_where_all_rest_on_it_and_goes_with_the_key() -> None:
    app = opened(layer="3", head="2")
    assert "rests on `[CLS]`" in said(app)
    assert drawn(app)[0]["marked"] == [None, 0]
    assert drawn(opened(layer="3", head="2", hide="true"))[0].get("marked") is None


@pytest.mark.parametrize("link", [{"heads": ["1", "2"]}, {"layers": "true"}])
def test_nothing_is_marked_where_the_sentence_is_of_all_heads(link: dict[str, str | list[str]]) -> None:
    assert drawn(opened(**PLACE, **link))[0].get("marked") is None
