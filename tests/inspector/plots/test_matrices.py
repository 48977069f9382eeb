"""Matrices for a slide: cells in their colours, every label legible, twins on one height, PNG and SVG alike."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from inspector.plots import matrices, theme
from inspector.plots.matrices import Plot
from inspector.plots.scene import SHARP, Box, Cells, Scene, Text, width

SVG = "{http://www.w3.org/2000/svg}"
TOKENS = ["[CLS]", *["the", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired", "."], "[SEP]"]


def slide(*plots: Plot, **changes) -> Scene:
    look = {"title": "T", "row_title": "query", "column_title": "key", "quantity": "weight", "top": 1.0}
    return matrices.slide(plots, **{**look, **changes})


def plot(rows: list[str], columns: list[str], seed: int = 0, **changes) -> Plot:
    values = np.random.default_rng(seed).random((len(rows), len(columns))).astype(np.float32)
    return Plot(values=values, rows=rows, columns=columns, **changes)


def maps(scene: Scene) -> list[Cells]:
    return [mark for mark in scene.marks if isinstance(mark, Cells) and mark.values is not None]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_cell_has_the_colour_of_its_value_in_both_files(mode: theme.Mode) -> None:
    one = plot(TOKENS, TOKENS)
    one.values[0, 0], one.values[12, 12] = 0, 1
    scene = slide(one, mode=mode)
    (cells,) = maps(scene)
    picture = Image.open(io.BytesIO(scene.png()))
    assert picture.size == (SHARP * 1280, SHARP * 720)
    wide, high = cells.width / 13, cells.height / 13
    for row, column, expected in ((0, 0, theme.BACKGROUND[mode]), (12, 12, theme.SEQUENTIAL[mode][-1])):
        place = (SHARP * (cells.x + (column + 0.5) * wide), SHARP * (cells.y + (row + 0.5) * high))
        assert "#{:02x}{:02x}{:02x}".format(*picture.getpixel((round(place[0]), round(place[1])))) == expected
    drawn = [rect for rect in ElementTree.fromstring(scene.svg()).iter(f"{SVG}rect") if len(rect)]
    read = np.array([rect.findtext(f"{SVG}title") for rect in drawn], np.float32).reshape(13, 13)
    np.testing.assert_array_equal(read, one.values)
    assert drawn[-1].get("fill") == theme.SEQUENTIAL[mode][-1]


def test_every_token_stands_beside_its_row_within_the_slide_and_apart_from_the_next() -> None:
    scene = slide(plot(TOKENS, TOKENS))
    labels = [mark for mark in scene.marks if isinstance(mark, Text) and mark.anchor == "end" and mark.text != "query"]
    numbered = [f"the {['1st', '2nd'][TOKENS[:at].count('the')]}" if t == "the" else t for at, t in enumerate(TOKENS)]
    assert TOKENS.count("the") == 2  # tokens that repeat are told apart, as in the page's map
    assert [mark.text for mark in labels] == numbered
    steps = np.diff([mark.y for mark in labels])
    assert (steps >= labels[0].size).all()
    assert all(mark.x - width(mark.text, mark.size) >= 0 for mark in labels)
    for cells in maps(scene):
        assert cells.x + cells.width <= scene.width
        assert cells.y + cells.height <= scene.height


@pytest.mark.parametrize("named", [(2, 3), (None, 3)])
def test_the_named_cell_or_column_is_framed_on_a_slide_and_in_a_file(named: tuple[int | None, int]) -> None:
    shown = plot(TOKENS, TOKENS, named=named)
    file = matrices.picture(shown.values, queries=TOKENS, keys=TOKENS, title="T", named=named)
    for scene in (slide(shown), file):
        (cells,) = maps(scene)
        wide, high = cells.width / 13, cells.height / 13
        (frame,) = (mark for mark in scene.marks if isinstance(mark, Box) and mark.stroke == theme.TEXT["light"])
        row, rows = (0, 13) if named[0] is None else (named[0], 1)
        assert abs(frame.x + frame.width / 2 - (cells.x + 3.5 * wide)) < 1
        assert abs(frame.y + frame.height / 2 - (cells.y + (row + rows / 2) * high)) < 1
        assert wide <= frame.width <= wide + 4
        assert rows * high <= frame.height <= rows * high + 4


def test_a_sentence_stands_whole_between_the_title_and_the_map() -> None:
    sentence = "Layer 3, head 1: ‘cross’ gives two thirds of its attention to ‘street’, more than in any other head."
    file = matrices.picture(plot(TOKENS, TOKENS).values, queries=TOKENS, keys=TOKENS, title="T", caption=sentence)
    for scene in (slide(plot(TOKENS, TOKENS), caption=sentence), file):
        texts = [mark for mark in scene.marks if isinstance(mark, Text)]
        title, first = texts[0], next(mark for mark in texts if mark.text.startswith("Layer 3"))
        lines = texts[texts.index(first) : texts.index(next(mark for mark in texts if mark.text.endswith("head."))) + 1]
        assert " ".join(mark.text for mark in lines) == sentence
        assert title.y < first.y
        assert lines[-1].y < min(mark.y for mark in texts if mark.text == "key")
        assert all(mark.x + width(mark.text, mark.size) <= scene.width for mark in lines)


def test_marks_are_never_turned_and_words_are_where_they_need_it() -> None:
    digits = ["⊢", *"731902", "⊣"]
    assert not any(mark.turned for mark in slide(plot(digits, digits)).marks if isinstance(mark, Text))
    mixed = ["⊢", *"731902", "because", "⊣"] * 3
    turned = {
        mark.text.split()[0] for mark in slide(plot(mixed, mixed)).marks if isinstance(mark, Text) and mark.turned
    }
    assert turned == {"because"}


def test_kinds_of_cells_stand_beside_their_colours_in_place_of_a_scale() -> None:
    cells = Plot(values=np.array([[0.0, 1.0], [2.0, 0.0]]), rows=["a", "b"], columns=["c", "d"])
    scene = slide(cells, kinds=("none", "near", "far"), top=2)
    written = [mark.text for mark in scene.marks if isinstance(mark, Text)]
    assert written[-3:] == ["none", "near", "far"]
    assert "weight" not in written
    (drawn,) = maps(scene)
    swatches = [mark.colours[0, 0] for mark in scene.marks if isinstance(mark, Cells) and mark.values is None]
    for colour, place in zip(swatches, ((0, 0), (0, 1), (1, 0)), strict=True):
        np.testing.assert_array_equal(colour, drawn.colours[place])


def test_twins_have_one_size_and_one_height() -> None:
    left, right = (
        plot(TOKENS, TOKENS, title="before"),
        plot(TOKENS, [*TOKENS[:6], "[MASK]", *TOKENS[7:]], 1, title="after"),
    )
    one, two = maps(slide(left, right))
    assert (one.y, one.width, one.height) == (two.y, two.width, two.height)


def test_a_large_matrix_has_some_labels_at_round_steps() -> None:
    numbers = [str(number) for number in range(384)]
    scene = slide(plot(numbers[:128], numbers, marked=(3,)), diverging=True)
    labels = [int(mark.text) for mark in scene.marks if isinstance(mark, Text) and mark.text in numbers]
    assert len(labels) < 80
    assert len(scene.svg()) < 400_000
    framed = [mark for mark in scene.marks if isinstance(mark, Box) and mark.stroke == theme.PRIMARY["light"]]
    assert len(framed) == 1


def test_text_of_a_stranger_is_text() -> None:
    hostile = ["<script>alert(1)</script>", '"&', "a\u202eb"]
    root = ElementTree.fromstring(slide(plot(hostile, hostile), title="</svg>").svg())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "rect", "text", "title", "image"}
    assert "</svg>" in [text.text for text in root.iter(f"{SVG}text")]


def test_the_grid_has_every_head_in_its_place_within_the_slide() -> None:
    maps = np.zeros((6, 12, 4, 4), np.float32)
    maps[5, 11] = 1
    scene = matrices.grid(maps, rows=[f"layer {layer}" for layer in range(6)], title="minilm", selected=(5, 11))
    cells = [mark for mark in scene.marks if isinstance(mark, Cells)]
    assert len(cells) == 72
    assert len({(mark.x, mark.y) for mark in cells}) == 72
    assert max(mark.x + mark.width for mark in cells) <= scene.width
    assert max(mark.y + mark.height for mark in cells) <= scene.height
    assert (cells[0].colours == 255).all()
    assert "#{:02x}{:02x}{:02x}".format(*cells[-1].colours[0, 0]) == theme.SEQUENTIAL["light"][-1]
    (frame,) = (mark for mark in scene.marks if isinstance(mark, Box) and mark.stroke == theme.PRIMARY["light"])
    assert (frame.x, frame.y) == (cells[-1].x, cells[-1].y)
    maps[5, 11] = np.nan  # a model of fewer heads beside one of more
    fewer = matrices.grid(maps, rows=[f"layer {layer}" for layer in range(6)], title="minilm")
    assert sum(isinstance(mark, Cells) for mark in fewer.marks) == 71
    with pytest.raises(ValueError, match="1 and 12 names do not fit maps of 6 layers and 12 heads"):
        matrices.grid(maps, rows=["layer 0"], title="")
