"""SVG files, read back by an XML parser: every number, every token, nothing that runs."""

from __future__ import annotations

import base64
import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from inspector.plots import matrices, theme

SVG = "{http://www.w3.org/2000/svg}"


def drawn(weights: np.ndarray, tokens: list[str], mode: theme.Mode = "light") -> ElementTree.Element:
    return ElementTree.fromstring(
        matrices.picture(weights, queries=tokens, keys=tokens, title="a & <b>", mode=mode).svg()
    )


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_each_cell_names_its_weight_and_has_its_colour(mode: theme.Mode) -> None:
    weights = np.random.default_rng(0).random((5, 5), np.float32)
    weights[0, 0], weights[4, 2] = 0, 1.5
    root = drawn(weights, list("abcde"), mode)
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    read = np.array([rect.findtext(f"{SVG}title") for rect in cells], np.float32).reshape(5, 5)
    np.testing.assert_array_equal(read, weights)
    places = {(rect.get("x"), rect.get("y")) for rect in cells}
    assert len(places) == 25
    assert cells[0].get("fill") == theme.BACKGROUND[mode]
    assert cells[22].get("fill") == theme.SEQUENTIAL[mode][-1]


def test_a_large_map_is_one_picture_with_a_pixel_for_each_cell() -> None:
    weights = np.zeros((90, 80), np.float32)
    weights[89, 79] = 1
    text = matrices.picture(weights, queries=["q"] * 90, keys=["k"] * 80, title="large").svg()
    root = ElementTree.fromstring(text)
    picture = next(root.iter(f"{SVG}image"))
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode((picture.get("href") or "").split(",")[1]))))
    assert pixels.shape == (90, 80, 3)
    assert (pixels[:-1] == 255).all()
    assert "#{:02x}{:02x}{:02x}".format(*pixels[89, 79]) == theme.SEQUENTIAL["light"][-1]
    assert texts(root).count("q") < 90  # thinned
    assert len(text) < 20_000


def test_tokens_are_text_and_nothing_else() -> None:
    tokens = ["<script>alert(1)</script>", '"&', "a\u202eb", "x" * 60]
    root = drawn(np.eye(4, dtype=np.float32), tokens)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "rect", "text", "title", "image"}
    written = texts(root)
    assert "<script>alert(1…" in written
    assert '"&' in written
    assert "a & <b>" in written
    assert not any("\u202e" in text for text in written)
    assert max(map(len, written)) <= 24


def test_tokens_have_to_fit() -> None:
    with pytest.raises(ValueError, match=r"\(2, 2\) do not fit 3 queries and 3 keys"):
        drawn(np.eye(2, dtype=np.float32), list("abc"))
