from __future__ import annotations

import base64
import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import inspector
from inspector import export
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.hybrids import loaded_family


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, 'The cat said: "=1+2, <b>-3</b>".')


def messages(page: str, kind: str) -> list[tuple[dict[str, object], bytes]]:
    """Header and data of a page's messages: uint32 length, JSON, padding to 4, raw numbers."""
    found = []
    for text in re.findall(rf'<script type="application/octet-stream" class="{kind}">([^<]*)</script>', page):
        message = base64.b64decode(text)
        length = int.from_bytes(message[:4], "little")
        found.append((json.loads(message[4 : 4 + length]), message[-(-(4 + length) // 4) * 4 :]))
    return found


def read(text: str) -> tuple[list[str], list[str], np.ndarray]:
    header, *rows = csv.reader(io.StringIO(text))
    return [row[0] for row in rows], header[1:], np.array([row[1:] for row in rows], dtype=np.float32)


def test_csv_reads_back_to_the_same_float32(trace: Trace, tmp_path: Path) -> None:
    export.write(trace, tmp_path / "map.csv", layer=3, head=7)
    queries, keys, weights = read((tmp_path / "map.csv").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(weights, trace.attention(layer=3, head=7))
    assert queries == keys == [f"{position} {token}" for position, token in enumerate(trace.tokens)]


def test_csv_keeps_the_smallest_weights() -> None:
    weights = np.array([[1e-38, np.nextafter(np.float32(1), np.float32(0))]], np.float32)
    assert (read(export.csv(weights, queries=["a"], keys=["b", "c"]))[2] == weights).all()


@pytest.mark.parametrize("token", ["=1+2", "+1", "-1", "@SUM(A1)", '"', ",", "a\nb", "\t=1"])
def test_no_cell_of_a_csv_is_a_formula(token: str) -> None:
    text = export.csv(np.ones((1, 1), np.float32), queries=[token], keys=[token])
    rows = list(csv.reader(io.StringIO(text)))
    assert [len(row) for row in rows] == [2, 2]
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert not any("\n" in cell for row in rows for cell in row)


def test_npz_reads_back(trace: Trace, tmp_path: Path) -> None:
    export.write(trace, tmp_path / "trace.npz", layer=0, head=0)
    again = inspector.open(tmp_path / "trace.npz")
    assert again.tokens == trace.tokens
    for layer in range(6):
        np.testing.assert_array_equal(again.attention(layer=layer), trace.attention(layer=layer))


def test_png_is_a_picture(trace: Trace, tmp_path: Path) -> None:
    sizes = set()
    for mode, background in (("light", (255, 255, 255)), ("dark", (0x14, 0x15, 0x1A))):
        export.write(trace, tmp_path / "map.PNG", layer=3, head=None, mode=mode)
        with Image.open(tmp_path / "map.PNG") as image:
            assert image.format == "PNG"
            assert image.getpixel((0, 0)) == background
            sizes.add(image.size)
    assert len(sizes) == 1


def test_html_holds_the_head_the_grid_and_the_other_heads(trace: Trace, tmp_path: Path) -> None:
    export.write(trace, tmp_path / "map.html", layer=3, head=7)
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    ((header, data),) = messages(page, "head")
    weights = trace.attention(layer=3, head=7)  # behind them the numbers of rows
    np.testing.assert_array_equal(np.frombuffer(data, "<f4")[: weights.size], weights.ravel())
    assert (header["layer"], header["head"]) == (3, 7)
    assert header["queries"] == list(trace.tokens)
    ((grid, _),) = messages(page, "grid")
    assert (grid["layers"], grid["heads"], grid["selected"]) == (6, 12, [3, 7])
    ((header, data),) = messages(page, "every")
    size = len(trace.tokens)
    numbers = np.frombuffer(data, "<f4").reshape(-1, size * (size + 2))  # map, entropies, offsets
    maps, offsets = numbers[:, : size * size].reshape(-1, size, size), numbers[:, -size:]
    assert [(entry["layer"], entry["head"]) for entry in header["heads"]] == [divmod(at, 12) for at in range(72)]
    for entry, weights, offset in zip(header["heads"], maps, offsets, strict=True):
        where = {"layer": entry["layer"], "head": entry["head"]}
        np.testing.assert_array_equal(weights, trace.attention(**where))
        told = np.log(weights.astype(np.float64)) + offset[:, None]
        assert_close(told, trace.scores(**where), relative=1e-5)


def test_html_shows_the_text_as_text_and_asks_for_nothing(trace: Trace) -> None:
    page = export.html(trace, layer=0, head=0)
    assert "<b>-3</b>" not in page
    assert "&lt;b&gt;-3&lt;/b&gt;" in page
    assert not re.search(r"""(?:src|href)\s*=\s*["']?https?:""", page)


def test_html_of_a_long_text_leaves_the_other_heads_out(minilm: LoadedModel) -> None:
    long = inspector.record(minilm, "cat " * 150)
    page = export.html(long, layer=0, head=0)
    assert len(messages(page, "grid")) == 1
    assert messages(page, "every") == []
    assert len(page) < 3e6


def test_html_of_a_window_holds_its_weights_and_their_places(minilm: LoadedModel) -> None:
    long = inspector.record(minilm, "a cat " * 75)
    page = export.html(long, layer=0, head=3, window=(slice(5, 15), slice(2, 9)))
    ((header, data),) = messages(page, "head")
    cells = np.frombuffer(data, "<f4")[:70].reshape(10, 7)
    np.testing.assert_array_equal(cells, long.attention(0, 3)[5:15, 2:9])
    assert header["first"] == [5, 2]
    assert header["ordinals"]["keys"] == [1, 2, 2, 3, 3, 4, 4]  # cat, then the 2nd a


def test_html_of_a_mean_has_no_grid_to_select_in(trace: Trace) -> None:
    page = export.html(trace, layer=1, head=None)
    ((header, data),) = messages(page, "head")
    assert_close(
        np.frombuffer(data, "<f4"), trace.attention(layer=1).mean(axis=0, dtype=np.float64).ravel(), relative=1e-6
    )
    assert header["head"] is None
    assert messages(page, "grid") == []


def test_a_cut_text_says_so_in_the_page(minilm: LoadedModel) -> None:
    long = inspector.record(minilm, "cat " * 600)
    assert long.cut is not None
    assert str(long.cut) in export.html(long, layer=0, head=None)


HYBRIDS = {"qwen3_next": "gated delta rule", "rwkv": "WKV"}  # beside softmax attention; a map for each channel


@pytest.fixture(scope="module", params=HYBRIDS)
def hybrid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return inspector.record(loaded_family(request.param, tmp_path_factory.mktemp("hybrid")), "the cat sat on the log")


def test_html_has_the_maps_of_layers_without_softmax(hybrid: Trace) -> None:
    (mixer, *_), size = hybrid.mixer_sites, len(hybrid.tokens)
    page = export.html(hybrid, layer=mixer.layer, head=2, kind=mixer.kind)
    ((header, data),) = messages(page, "head")
    expected = hybrid.attention(layer=mixer.layer, head=2, kind=mixer.kind)
    np.testing.assert_array_equal(np.frombuffer(data, "<f4"), expected.ravel())
    assert header["diverging"]
    assert header["title"] == f"Layer 0 ({mixer.kind}), {'channel' if mixer.by_channel else 'head'} 2"
    assert_close(header["vmax"], np.abs(expected).max(), relative=1e-6)
    ((grid, _),) = messages(page, "grid")
    sites = hybrid.mixing_sites_of("decoder")
    assert grid["widths"] == [site.tiles for site in sites]
    assert grid["selected"] == [0, 0 if mixer.by_channel else 2]
    ((entries, numbers),) = messages(page, "every")
    rows = np.frombuffer(numbers, "<f4").reshape(len(entries["heads"]), -1)
    for entry, values in zip(entries["heads"], rows, strict=True):
        site, head = sites[entry["layer"]], entry["head"]
        opened = 2 if mixer.by_channel and site is sites[0] else head
        weights = hybrid.attention(layer=site.layer, head=opened, kind=site.kind)
        np.testing.assert_array_equal(values[: size * size].reshape(size, size), weights)
        assert entry.get("diverging", header["diverging"]) == (site.kind != "softmax")
        assert entry["title"].endswith(f"{'channel' if site.tiles < site.heads else 'head'} {opened}")


def test_a_softmax_head_of_a_hybrid_has_all_layers_beside_it(tmp_path: Path) -> None:
    trace = inspector.record(loaded_family("qwen3_next", tmp_path / "model"), "the cat sat on the log")
    page = export.html(trace, layer=1, head=0)
    ((grid, _),) = messages(page, "grid")
    assert grid["names"] == ["layer 0 (delta)", "layer 1 (softmax)"]
    ((header, _),) = messages(page, "head")
    assert (header["layer"], header["diverging"]) == (1, False)
    for ending in ("png", "csv"):
        export.write(trace, tmp_path / f"map.{ending}", layer=0, head=1, kind="gated delta rule")
    _, _, weights = read((tmp_path / "map.csv").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(weights, trace.attention(layer=0, head=1, kind="gated delta rule"))


def test_a_map_that_is_not_what_the_layer_did_is_in_no_file(tmp_path: Path) -> None:
    trace = inspector.record(loaded_family("qwen3_next", tmp_path), "the cat sat on the log")
    (mixer,) = trace.mixers
    wrong = replace(trace, mixers=(replace(mixer, output=mixer.output * 1.1),))
    page = export.html(wrong, layer=1, head=0)
    ((entries, _),) = messages(page, "every")
    assert {entry["layer"] for entry in entries["heads"]} == {1}
    with pytest.raises(ValueError, match="no map of layer 0"):
        export.html(wrong, layer=0, head=0, kind="gated delta rule")
    with pytest.raises(ValueError, match="has no mean over heads"):
        export.html(trace, layer=0, head=None, kind="gated delta rule")


def test_svg_is_a_whole_picture_with_the_tokens(trace: Trace, tmp_path: Path) -> None:
    export.write(trace, tmp_path / "map.svg", layer=1, head=7)
    drawn = ElementTree.fromstring((tmp_path / "map.svg").read_bytes())
    words = [text for element in drawn.iter() for text in [element.text or ""] if text.strip()]
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert any("layer 1, head 7" in text.lower() or "attention" in text for text in words)
    assert set(trace.tokens) <= {text.strip() for text in words}
    assert not [element.tag for element in drawn.iter() if element.tag.endswith(("script", "foreignObject"))]


@pytest.mark.parametrize("name", ["map.jpg", "map", ".html", "map.html.txt"])
def test_another_ending_is_refused_with_those_there_are(trace: Trace, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"\.html, \.png, \.svg, \.csv, \.npz"):
        export.write(trace, tmp_path / name, layer=0, head=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["map.html", "map.png", "map.svg", "map.csv", "map.npz"])
def test_a_head_out_of_range_writes_nothing(trace: Trace, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="head 12 is out of range"):
        export.write(trace, tmp_path / name, layer=0, head=12)
    assert list(tmp_path.iterdir()) == []
