"""Messages for the components, read back with struct, json and numpy alone."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct

import numpy as np
import pytest

from inspector.components import pack as packing
from inspector.components import standalone
from inspector.row_statistics import RowStatistics

COLOURS = {"light": ("#ffffff", "#8888ff", "#000044"), "dark": ("#101018", "#7070c0", "#f0f0ff")}


def unpack(message: bytes, dtype: str) -> tuple[dict, np.ndarray]:
    (length,) = struct.unpack_from("<I", message)
    start = 4 * math.ceil((4 + length) / 4)
    return json.loads(message[4 : 4 + length].decode("utf-8")), np.frombuffer(message, dtype, offset=start)


def attention(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    weights = np.random.default_rng(queries).dirichlet(np.full(keys, 0.05), (layers, heads, queries))
    return weights.astype(np.float32)


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "abcd", "ü€😀"])
def test_pack_aligns_the_data_whatever_the_header(text):
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    header, values = unpack(packing.pack({"text": text}, data), "<f4")
    assert header == {"text": text}
    np.testing.assert_array_equal(values, data.ravel())


def test_pack_refuses_what_the_browser_would_misread():
    with pytest.raises(ValueError, match="float64"):
        packing.pack({}, np.zeros(2))
    with pytest.raises(ValueError, match="JSON"):
        packing.pack({"vmax": math.nan}, np.zeros(2, np.uint8))


def test_head_is_exact_and_keeps_every_token():
    tokens = ["[CLS]", "<img src=x>", "", "\u200b", "\ud800", "مرحبا", "</script>"]
    weights = attention(1, 1, 7, 7)[0, 0]
    weights[0, 3] = np.nan
    message = packing.head_bytes(weights, queries=tokens, keys=tokens, colours=COLOURS, layer=2, head=5, title="t")
    header, values = unpack(message, "<f4")
    assert (header["queries"], header["keys"]) == (tokens, tokens)
    assert (header["layer"], header["head"], header["vmax"], header["diverging"]) == (2, 5, 1.0, False)
    np.testing.assert_array_equal(values.reshape(7, 7), weights)


def test_head_of_a_transposed_view_keeps_rows_and_columns():
    weights = attention(1, 1, 3, 5)[0, 0]
    message = packing.head_bytes(weights.T, queries=list("abcde"), keys=list("xyz"), colours=COLOURS)
    np.testing.assert_array_equal(unpack(message, "<f4")[1].reshape(5, 3), weights.T)


def test_rows_travel_to_a_millionth_and_512_tokens_stay_small():
    weights = attention(1, 1, 512, 512)[0, 0]
    tokens = [f"##token{position}" for position in range(512)]
    rows = RowStatistics(512, (1.23456789,) * 512, (-12.3456789,) * 512)
    message = packing.head_bytes(weights, queries=tokens, keys=tokens, colours=COLOURS, rows=rows, quantity="score")
    assert len(message) <= 1_200_000
    header, _ = unpack(message, "<f4")
    assert header["rows"] == {"keys": 512, "entropy": [1.234568] * 512, "offset": [-12.345679] * 512}
    assert header["quantity"] == "score"


def test_linked_tokens_travel_with_their_numbers():
    linked = packing.Linked("pair", (None, 3), (0, None))
    weights = np.eye(2, dtype=np.float32)
    arguments = {"queries": ["a", "b"], "keys": ["a", "b"], "colours": COLOURS}
    header, _ = unpack(packing.head_bytes(weights, linked=linked, **arguments), "<f4")
    assert header["linked"] == {"name": "pair", "queries": [None, 3], "keys": [0, None]}
    assert unpack(packing.head_bytes(weights, **arguments), "<f4")[0]["linked"] is None


def test_several_heads_and_the_whole_travel_behind_their_mean():
    maps = attention(1, 2, 3, 5)[0]
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3)
    message = packing.head_bytes(
        maps.mean(axis=0),
        queries=list("abc"),
        keys=list("vwxyz"),
        colours=COLOURS,
        parts=[packing.Part("head 3", maps[0]), packing.Part("head 7", maps[1])],
        whole=packing.Whole(900, 800, picture),
        options=packing.HeadOptions(lines="top3", tokens="\n"),
        segments=packing.Segments((0, 0, 1), (0, 0, 0, 1, 1)),
    )
    header, data = unpack(message, "u1")
    assert [part["name"] for part in header["parts"]] == ["head 3", "head 7"]
    assert set(header["parts"][0]["colours"]) == {"light", "dark"}
    assert header["whole"] == {"queries": 900, "keys": 800, "rows": 2, "cols": 3}
    assert header["options"] == {"lines": "top3", "between": "", "tokens": "\n"}
    assert header["segments"] == {"queries": [0, 0, 1], "keys": [0, 0, 0, 1, 1]}
    numbers = data[: 3 * 60].view("<f4").reshape(3, 3, 5)
    np.testing.assert_array_equal(numbers, [maps.mean(axis=0), *maps])
    np.testing.assert_array_equal(data[3 * 60 :], picture.ravel())


def test_more_heads_than_fit_are_refused_with_the_way_out():
    small, large = np.eye(2, dtype=np.float32), np.zeros((400, 400), np.float32)
    for weights, count in ((small, 7), (large, 2)):
        tokens = ["a"] * len(weights)
        parts = [packing.Part("head", weights)] * count
        with pytest.raises(ValueError, match=r"room for 6 heads and 1,200,000 bytes\. Choose fewer"):
            packing.head_bytes(weights, queries=tokens, keys=tokens, colours=COLOURS, parts=parts)


@pytest.mark.parametrize("option", [{"lines": "top11"}, {"lines": "above-1"}, {"between": "c"}, {"tokens": "a" * 41}])
def test_options_that_there_are_not_are_refused(option):
    with pytest.raises(ValueError, match="is none of"):
        packing.HeadOptions(**option)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"parts": [packing.Part("head 3", np.zeros((2, 3), np.float32))]}, "head 3 has the shape"),
        ({"segments": packing.Segments((0,), (0, 1))}, "segments of 1 queries and 2 keys"),
        ({"keys": ["a"]}, "2 queries and 1 keys"),
        ({"chosen": 2}, "chosen query 2"),
        ({"vmax": 0.0}, "vmax 0.0"),
        ({"diverging": True, "colours": dict.fromkeys(COLOURS, ("#fff", "#000"))}, "odd number"),
        ({"colours": {"light": ("#fff", "#000")}}, "'dark'; it has 0"),
        ({"rows": RowStatistics(2, (0.1,), None)}, "1 rows' numbers for 2 queries"),
        (
            {"linked": packing.Linked("pair", (0,), (0, 1))},
            "linked numbers of 1 queries and 2 keys; the map has 2 and 2",
        ),
    ],
)
def test_head_names_what_does_not_fit(change, complaint):
    arguments = {"queries": ["a", "b"], "keys": ["a", "b"], "colours": COLOURS} | change
    with pytest.raises(ValueError, match=complaint):
        packing.head_bytes(np.eye(2, dtype=np.float32), **arguments)


def pooled(weights: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Max over ceil-sized tiles, by loops."""
    tall, wide = math.ceil(weights.shape[0] / rows), math.ceil(weights.shape[1] / cols)
    tiles = [
        [weights[i : i + tall, j : j + wide].max() for j in range(0, weights.shape[1], wide)]
        for i in range(0, weights.shape[0], tall)
    ]
    return np.array(tiles, np.float64)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (14, 14), (96, 96), (97, 97), (200, 31), (5, 300)])
def test_thumbnails_are_the_square_root_of_the_largest_weight(queries, keys):
    weights = attention(2, 3, queries, keys)
    pictures = packing.thumbnails(list(weights), count=2, heads=3, queries=queries, keys=keys)
    rows, cols = pictures.shape[2:]
    assert max(rows, cols) <= 96
    expected = pooled(weights[1, 2], rows, cols)
    assert pictures.shape[2:] == expected.shape
    assert np.abs((pictures[1, 2] / 255.0) - np.sqrt(expected)).max() <= 0.5 / 255 + 1e-6


def test_blocks_give_the_same_as_whole_layers():
    weights = attention(2, 3, 250, 250)
    whole = packing.thumbnails(list(weights), count=2, heads=3, queries=250, keys=250)

    def blocks(layer):
        for start in range(0, 250, 64):  # no multiple of the pooling factor 3
            rows = slice(start, min(start + 64, 250))
            yield rows, layer[:, rows]

    again = packing.thumbnails((blocks(layer) for layer in weights), count=2, heads=3, queries=250, keys=250)
    np.testing.assert_array_equal(again, whole)


def test_a_single_bright_cell_in_the_last_corner_stays_visible():
    weights = np.zeros((1, 1, 509, 509), np.float32)
    weights[0, 0, 508, 508] = 1
    pictures = packing.thumbnails(list(weights), count=1, heads=1, queries=509, keys=509)
    assert pictures[0, 0, -1, -1] == 255
    assert np.count_nonzero(pictures) == 1


def test_the_grid_of_a_large_model_stays_small():
    layer = np.zeros((12, 512, 512), np.float32)
    pictures = packing.thumbnails((layer for _ in range(12)), count=12, heads=12, queries=512, keys=512)
    assert len(packing.grid_bytes(pictures, tokens=512, colours=COLOURS)) <= 1_200_000
    layer = np.zeros((64, 300, 300), np.float32)
    pictures = packing.thumbnails((layer for _ in range(40)), count=40, heads=64, queries=300, keys=300)
    assert pictures.nbytes <= 1_200_000


def test_thumbnails_say_what_does_not_fit():
    layer = np.zeros((2, 4, 4), np.float32)
    with pytest.raises(ValueError, match=r"rows 0:4 of shape \(2, 4, 4\).*3 heads"):
        packing.thumbnails([layer], count=1, heads=3, queries=4, keys=4)
    with pytest.raises(ValueError, match="1 layers, fewer than the 2"):
        packing.thumbnails([layer], count=2, heads=2, queries=4, keys=4)
    with pytest.raises(ValueError, match="more layers than the 1"):
        packing.thumbnails([layer, layer], count=1, heads=2, queries=4, keys=4)


def test_grid_header():
    pictures = np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2)
    notes = [["a", "b", "c"], ["d", "e", "f"]]
    message = packing.grid_bytes(pictures, tokens=9, colours=COLOURS, scale="sqrt", selected=(1, 2), notes=notes)
    header, values = unpack(message, "u1")
    assert [header[name] for name in ("layers", "heads", "rows", "cols", "tokens")] == [2, 3, 2, 2, 9]
    assert (header["selected"], header["scale"], header["notes"]) == ([1, 2], "sqrt", notes)
    np.testing.assert_array_equal(values, np.arange(24))
    with pytest.raises(ValueError, match=r"\(2, 0\) is outside 2 layers"):
        packing.grid_bytes(pictures, tokens=9, colours=COLOURS, selected=(2, 0))
    with pytest.raises(ValueError, match="notes need an entry for each of 2 layers of 3 heads"):
        packing.grid_bytes(pictures, tokens=9, colours=COLOURS, notes=[["a"]])


def test_a_script_is_one_module_with_every_file_once():
    for component in ("grid", "head"):
        source = standalone.script(component)
        assert not re.search(r"^import ", source, re.MULTILINE)
        assert re.findall(r"^export (?:\w+ )+(\w+)", source, re.MULTILINE) == ["draw"]
        assert source.count("function unpack(") == 1


def test_a_page_holds_its_data_and_forbids_the_rest():
    hostile = "</script><script>alert(1)</script>"
    tokens = [hostile, "b"]
    head = packing.head_bytes(np.eye(2, dtype=np.float32), queries=tokens, keys=tokens, colours=COLOURS, title=hostile)
    page = standalone.page(hostile, head, facts={hostile: hostile})
    assert "alert(1)</script>" not in page
    (data,) = re.findall(r'<script type="application/octet-stream" class="head">(.*?)</script>', page)
    assert base64.b64decode(data) == head
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    for tag in ("script", "style"):
        (source,) = re.findall(rf"<{tag}(?: type=\"module\")?>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"https?://|\ssrc=|\shref=", page)


def test_a_long_text_s_pictures_have_a_top_that_is_said() -> None:
    cells = np.zeros((1, 2, 50, 50), np.float32)
    cells[0, 0] = np.linspace(0.0004, 0.0011, 2500, dtype=np.float32).reshape(50, 50)  # the other head is masked
    cells[0, 0, 0, :5] = 1.0
    top = packing.readable_top(cells)
    assert top == 0.0011
    assert (cells[cells > 0] < top).mean() >= 0.99
    pictures = packing.thumbnails(cells, count=1, heads=2, queries=50, keys=50, top=top)
    expected = np.rint(255 * np.sqrt(np.minimum(cells.astype(np.float64) / top, 1)))
    assert np.abs(pictures - expected).max() <= 1  # a float32 division may round a tie the other way
    assert pictures[0, 0].min() > 140
    assert packing.readable_top(np.zeros((1, 1, 2, 2), np.float32)) == 1.0
    assert packing.readable_top(np.ones((1, 1, 2, 2), np.float32)) == 1.0


def test_rows_of_the_grid_can_be_named() -> None:
    pictures = np.zeros((2, 1, 3, 3), np.uint8)
    named = packing.grid_bytes(pictures, tokens=3, colours=COLOURS, names=["layer 0", "layer 1 local"])
    assert b'"names":["layer 0","layer 1 local"]' in named
    assert b'"names":["layer 0","layer 1"]' in packing.grid_bytes(pictures, tokens=3, colours=COLOURS)
    with pytest.raises(ValueError, match="1 names don't fit 2 layers"):
        packing.grid_bytes(pictures, tokens=3, colours=COLOURS, names=["layer 0"])
