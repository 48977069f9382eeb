"""The open head on the page: several heads, pins, and what is drawn, each restored by the link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from inspector import record
from models import LoadedModel

ROOT = Path(__file__).parents[4]
TEXT = "The cat sat on the mat because it was tired."


def opened(**link: str | list[str]) -> AppTest:
    app = AppTest.from_file(str(ROOT / "inspector/views/shell/frame.py"), default_timeout=60)
    for name, value in {"text": TEXT, "layer": "1", "head": "7", **link}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def drawn(app: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    """Header and maps [one and its parts, Q, T] of the open head, as they were sent."""
    (data,) = (one.proto.bytes for one in app.get("bidi_component") if one.proto.component_name == "headlight_head")
    start = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:start])
    numbers = np.frombuffer(data, "<f4", offset=start + -start % 4)
    return header, numbers.reshape(-1, len(header["queries"]), len(header["keys"]))


def test_a_link_restores_pins_and_what_is_drawn() -> None:
    link = {"query": "3 5", "lines": "top3", "between": "ab", "tokens": "ca"}
    app = opened(pair="It was happy.", **link)
    header, _ = drawn(app)
    assert header["chosen"] == [3, 5]
    assert header["options"] == {"lines": "top3", "between": "ab", "tokens": "ca"}
    assert set(header["segments"]["queries"]) == {0, 1}
    assert header["rows"]["keys"] == len(header["keys"])
    assert {name: app.query_params[name] for name in link} == link


def test_without_a_pair_there_are_no_segments_and_defaults_stay_out_of_the_link() -> None:
    app = opened()
    header, _ = drawn(app)
    assert header["segments"] is None
    assert header["options"] == {"lines": "", "between": "", "tokens": ""}
    assert not {"lines", "between", "tokens", "heads", "layers", "colours"} & set(app.query_params)


@pytest.mark.parametrize(("name", "value"), [("lines", "top99"), ("between", "cd"), ("query", "3 99")])
def test_a_wrong_link_is_a_sentence(name: str, value: str) -> None:
    app = opened(**{name: value})
    assert any(f"The link asks for {name}" in warning.value for warning in app.warning)


def test_several_heads_are_their_mean_or_in_colours(minilm: LoadedModel) -> None:
    layer = record(minilm, TEXT).attention(layer=1)
    mean = layer[[3, 9]].mean(axis=0, dtype=np.float64).astype(np.float32)
    app = opened()
    app.multiselect(key="heads").set_value([9, 3]).run()
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
    trace = record(minilm, TEXT)
    app = opened(layers="true")
    each = np.stack([trace.attention(layer=layer, head=7) for layer in range(6)])
    header, maps = drawn(app)
    np.testing.assert_allclose(maps[0], each.mean(axis=0, dtype=np.float64), atol=1e-7)
    assert header["title"] == "All layers, mean of head 7"
