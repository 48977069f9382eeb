"""A matrix on a page: what its component is sent, its table, and its slide in the chosen mode."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from inspector.components.matrix import MatrixMessage, Panel
from inspector.components.matrix.picture import picture
from inspector.plots import theme
from inspector.views.figures import matrix
from tests.inspector.components.messages import unpack
from tests.inspector.views.page import with_menus


def page(**over: str) -> None:
    import numpy as np

    from inspector.views.figures import matrix

    values = np.array([[0.25, 0.5], [0.125, 1.0]])
    look = {"row_title": "query", "column_title": "key", "name": "m", "key": "m"}
    panel = matrix.Panel(values, rows=("a", "=b"), columns=("c", "d"), title="One head")
    matrix.show(panel, python="weights = 1", **look, **over)


def test_a_page_sends_the_values_and_offers_files_lines_and_a_slide() -> None:
    at = with_menus(AppTest.from_function(page, default_timeout=60).run())
    assert not at.exception
    header, data = unpack(at.get("bidi_component")[0].proto.bytes, "<f4")
    np.testing.assert_array_equal(data, [0.25, 0.5, 0.125, 1.0])
    assert header["vmax"] == 1.0
    assert [button.proto.label for button in at.get("download_button")] == ["PNG", "SVG", "CSV"]
    assert [code.value for code in at.code] == ["weights = 1"]
    (slide,) = (button for button in at.button if button.label == "Slide")
    slide.click().run()
    assert not at.exception
    (screen,) = (part for part in at.get("bidi_component") if part.proto.component_name == "headlight_slide")
    assert "<svg" in screen.proto.json


@pytest.mark.parametrize(
    ("over", "title"),
    [
        ({"heading": "Weights of `the`"}, "Weights of ‘the’"),
        ({"sentence": "**Attention to the source**: more."}, "Attention to the source"),
        ({"sentence": "No title."}, "One head"),
    ],
    ids=str,
)
def test_a_slide_has_the_title_that_stands_over_the_figure(over: dict[str, str], title: str) -> None:
    at = with_menus(AppTest.from_function(page, default_timeout=60, kwargs=over).run())
    next(button for button in at.button if button.label == "Slide").click().run()
    (screen,) = (part for part in at.get("bidi_component") if part.proto.component_name == "headlight_slide")
    assert f">{title}</text>" in json.loads(screen.proto.json)["svg"]


def test_a_picture_is_as_dark_as_the_page_that_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Callable[[], bytes]] = {}

    def keep(file: str, make: Callable[[], bytes], *_: object, **__: object) -> None:
        made[file] = make

    monkeypatch.setattr("inspector.views.shell.downloads.button", keep)
    with monkeypatch.context() as dark:
        dark.setattr("inspector.views.shell.appearance.mode", lambda: "dark")
        assert not with_menus(AppTest.from_function(page, default_timeout=60).run()).exception
    picture = Image.open(io.BytesIO(made["m.png"]()))  # after the run, as when the reader clicks
    assert "#{:02x}{:02x}{:02x}".format(*picture.getpixel((0, 0))) == theme.BACKGROUND["dark"]


def message(*panels: Panel) -> MatrixMessage:
    return MatrixMessage(panels, row_title="query", column_title="key")


def test_a_matrix_as_a_table_reads_back_to_its_numbers() -> None:
    values = np.random.default_rng(0).random((2, 3)).astype(np.float32)
    panel = Panel(values, rows=("a", "=b"), columns=range(3))
    rows = list(csv.reader(io.StringIO(matrix._csv(message(panel)).decode())))
    assert rows[0] == ["query / key", "0", "1", "2"]
    assert [row[0] for row in rows[1:]] == ["0 a", "1 =b"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows[1:]], np.float32), values)


def test_two_matrices_as_a_table_have_a_row_for_each_cell() -> None:
    left = Panel(np.array([[0.5]]), rows=("a",), columns=("b",), title="=before")
    right = Panel(np.array([[0.25, 0.75]]), rows=("a",), columns=("b", "c"), title="after")
    rows = list(csv.reader(io.StringIO(matrix._csv(message(left, right)).decode())))
    assert rows[1:] == [
        ["'=before", "0 a", "0 b", "0.5"],
        ["after", "0 a", "0 b", "0.25"],
        ["after", "0 a", "1 c", "0.75"],
    ]


def test_the_slide_is_drawn_in_the_mode_that_was_asked_for() -> None:
    panel = Panel(np.eye(2), rows=("a", "b"), columns=("a", "b"))
    for mode in ("light", "dark"):
        assert theme.BACKGROUND[mode] in picture(message(panel), title="T", mode=mode).svg().splitlines()[1]
