"""Parts beside the keys of a map: a learned sink as a column of its own, and convolutions by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import record
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save
from tests.inspector.views.page import forget, message, messages, opened, pressed, said

TEXT = "the cat sat on the log"
FAMILIES = {
    family.name: family for family in CAPTURED if family.name in ("gpt_oss", "mimo_v2_flash", "granite_swa", "zaya")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with tiny models that have sinks, each looked at and loaded once."""
    root = tmp_path_factory.mktemp("root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_ROOT", str(root))
        forget()
        for name, family in FAMILIES.items():
            save(family, root / name)
            app = opened(state={"picker.open": True}, model="own-encoder", text=TEXT)
            app.text_input(key="picker.other").set_value(str(root / name))
            pressed(pressed(app, "look"), "load")
        yield root
        forget()


def page(folder: Path, **link: str) -> AppTest:
    app = opened("Attention", state={"added": [str(folder)]}, model=str(folder), text=TEXT, **link)
    assert not app.exception
    return app


def test_rows_sum_to_1_with_the_column(folder: Path) -> None:
    app = page(folder / "gpt_oss", layer="1", head="3")
    header, numbers = message(app, "head")
    trace = record(models.load(folder / "gpt_oss"), TEXT)
    tokens = len(trace.tokens)
    assert header["keys"][-1] == "(sink)"
    assert len(header["keys"]) == tokens + 1
    drawn = numbers[: tokens * (tokens + 1)].reshape(tokens, tokens + 1)
    np.testing.assert_array_equal(drawn[:, :-1], trace.attention(layer=1, head=3))
    assert_close(drawn.sum(axis=1), 1, relative=1e-6)
    assert drawn[:, -1].min() > 0
    assert header["vmax"] == drawn.max()
    assert "with it each whole row sums to 1" in said(app)
    ((every, maps),) = messages(app, "heads")
    maps = maps.reshape(len(every["heads"]), -1)
    np.testing.assert_array_equal(
        maps[trace.sites[0].heads + 3][: len(numbers)], numbers
    )  # then come its rows' numbers


def test_layers_without_a_sink_have_no_column(folder: Path) -> None:
    trace = record(models.load(folder / "mimo_v2_flash"), TEXT)
    with_sinks = [bool(trace.record_of(layer, None).function.sinks) for layer in (0, 1)]
    assert sorted(with_sinks) == [False, True]
    for layer, sink in enumerate(with_sinks):
        app = page(folder / "mimo_v2_flash", layer=str(layer), head="0")
        header, _ = message(app, "head")
        assert (header["keys"][-1] == "(sink)") == sink
        assert not messages(app, "heads")  # whose maps would not be of one width


def test_a_sink_that_is_in_no_row_has_no_column(folder: Path) -> None:
    """Granite takes the sink's part from the output: rows of weights sum to 1."""
    trace = record(models.load(folder / "granite_swa"), TEXT)
    assert trace.sink(layer=0, head=0) is None
    assert "(sink)" not in message(page(folder / "granite_swa", layer="0", head="0"), "head")[0]["keys"]


def test_convolutions_of_the_layer_are_named(folder: Path) -> None:
    words = said(page(folder / "zaya", layer="1", head="0"))
    assert "Convolutions mix neighbouring tokens in this layer too" in words
    assert "`self_attn.qkv_proj.conv_qk_depthwise` (2 tokens)" in words
    assert "neighbouring tokens" not in said(page(folder / "gpt_oss", layer="1", head="0"))
