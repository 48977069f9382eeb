from __future__ import annotations

import numpy as np
import pytest

from inspector.components.head import ColouredHead, HeadMessage, HeadOptions, LinkedTokens, Segments, WholeMap
from inspector.plots import theme
from inspector.row_statistics import RowStatistics
from tests.inspector.components.messages import COLOURS, attention, digest, unpack


def test_head_is_exact_and_keeps_every_token():
    tokens = ["[CLS]", "<img src=x>", "", "\u200b", "\ud800", "مرحبا", "</script>"]
    weights = attention(1, 1, 7, 7)[0, 0]
    weights[0, 3] = np.nan
    message = HeadMessage(weights, queries=tokens, keys=tokens, colours=COLOURS, layer=2, head=5, title="t").to_bytes()
    header, values = unpack(message, "<f4")
    assert header["queries"] == tokens
    assert "keys" not in header  # they are the queries' tokens
    assert (header["layer"], header["head"], header["vmax"], header["diverging"]) == (2, 5, 1.0, False)
    np.testing.assert_array_equal(values.reshape(7, 7), weights)


def test_head_of_a_transposed_view_keeps_rows_and_columns():
    weights = attention(1, 1, 3, 5)[0, 0]
    message = HeadMessage(weights.T, queries=list("abcde"), keys=list("xyz"), colours=COLOURS).to_bytes()
    np.testing.assert_array_equal(unpack(message, "<f4")[1].reshape(5, 3), weights.T)


def test_rows_travel_in_single_precision_and_512_tokens_stay_small():
    weights = attention(1, 1, 512, 512)[0, 0]
    tokens = [f"##token{position}" for position in range(512)]
    rows = RowStatistics(512, (1.23456789,) * 512, (-12.3456789,) * 512)
    message = HeadMessage(weights, queries=tokens, keys=tokens, colours=COLOURS, rows=rows, quantity="score").to_bytes()
    assert len(message) <= 1_200_000
    header, numbers = unpack(message, "<f4")
    assert header["rows"] == {"keys": 512}
    np.testing.assert_array_equal(numbers[-1024:], np.repeat(np.float32([1.23456789, -12.3456789]), 512))
    assert header["quantity"] == "score"
    assert len(message) <= weights.nbytes + 20_000  # a click's bytes beside the map


def test_rows_without_scores_have_no_offset():
    rows = RowStatistics(2, (0.5, 0.25), None)
    message = HeadMessage(np.eye(2, dtype=np.float32), queries=["a", "b"], keys=["a", "b"], rows=rows).to_bytes()
    np.testing.assert_array_equal(unpack(message, "<f4")[1][-4:], np.float32([0.5, 0.25, np.nan, np.nan]))


def test_linked_tokens_travel_with_their_numbers():
    linked = LinkedTokens("pair", (None, 3), (0, None))
    weights = np.eye(2, dtype=np.float32)
    arguments = {"queries": ["a", "b"], "keys": ["a", "b"], "colours": COLOURS}
    header, _ = unpack(HeadMessage(weights, linked=linked, **arguments).to_bytes(), "<f4")
    assert header["linked"] == {"name": "pair", "queries": [None, 3], "keys": [0, None]}
    assert unpack(HeadMessage(weights, **arguments).to_bytes(), "<f4")[0]["linked"] is None


def test_several_heads_and_the_whole_travel_behind_their_mean():
    maps = attention(1, 2, 3, 5)[0]
    picture = np.arange(6, dtype=np.uint8).reshape(2, 3)
    message = HeadMessage(
        maps.mean(axis=0),
        queries=list("abc"),
        keys=list("vwxyz"),
        colours=COLOURS,
        parts=[ColouredHead("head 3", maps[0]), ColouredHead("head 7", maps[1])],
        whole=WholeMap(900, 800, picture),
        options=HeadOptions(lines="top3", tokens="\n"),
        segments=Segments((0, 0, 1), (0, 0, 0, 1, 1)),
    ).to_bytes()
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
        parts = [ColouredHead("head", weights)] * count
        with pytest.raises(ValueError, match=r"room for 6 heads and 1,200,000 bytes\. Choose fewer"):
            HeadMessage(weights, queries=tokens, keys=tokens, colours=COLOURS, parts=parts).to_bytes()


@pytest.mark.parametrize("option", [{"lines": "top11"}, {"lines": "above-1"}, {"between": "c"}, {"tokens": "a" * 41}])
def test_options_that_there_are_not_are_refused(option):
    with pytest.raises(ValueError, match="is none of"):
        HeadOptions(**option)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"parts": [ColouredHead("head 3", np.zeros((2, 3), np.float32))]}, "head 3 has the shape"),
        ({"segments": Segments((0,), (0, 1))}, "segments of 1 queries and 2 keys"),
        ({"keys": ["a"]}, "2 queries and 1 keys"),
        ({"chosen": 2}, "chosen query 2"),
        ({"vmax": 0.0}, "vmax 0.0"),
        ({"diverging": True, "colours": dict.fromkeys(COLOURS, ("#fff", "#000"))}, "odd number"),
        ({"colours": {"light": ("#fff", "#000")}}, "'dark'; it has 0"),
        ({"rows": RowStatistics(2, (0.1,), None)}, "1 rows' numbers for 2 queries"),
        (
            {"linked": LinkedTokens("pair", (0,), (0, 1))},
            "linked numbers of 1 queries and 2 keys; the map has 2 and 2",
        ),
    ],
)
def test_head_names_what_does_not_fit(change, complaint):
    arguments = {"queries": ["a", "b"], "keys": ["a", "b"], "colours": COLOURS} | change
    with pytest.raises(ValueError, match=complaint):
        HeadMessage(np.eye(2, dtype=np.float32), **arguments).to_bytes()


def test_a_signed_map_has_the_diverging_scale_and_any_other_the_sequential_scale():
    weights, tokens = np.eye(2, dtype=np.float32), ["a", "b"]
    for diverging, scale in ((False, theme.SEQUENTIAL), (True, theme.DIVERGING)):
        message = HeadMessage(weights, queries=tokens, keys=tokens, diverging=diverging)
        assert (
            message.to_bytes()
            == HeadMessage(weights, queries=tokens, keys=tokens, diverging=diverging, colours=scale).to_bytes()
        )
        header, _ = unpack(message.to_bytes(), "<f4")
        assert header["colours"]["light"] == list(scale["light"])


def test_the_bytes_are_those_of_before():
    """The digests were taken of the function that HeadMessage replaced (head_bytes, a0541a1), without rows' numbers."""
    weights = np.arange(12, dtype=np.float32).reshape(3, 4) / np.float32(12)
    texts = {"queries": ["[CLS]", "ü😀", "</script>"], "keys": ["a", "b", "", "\ud800"]}
    assert digest(HeadMessage(weights, **texts).to_bytes()) == "81367664c0f8d089"
    signed = HeadMessage(
        weights - np.float32(0.5),
        **texts,
        diverging=True,
        vmax=0.5,
        chosen=[2, 0, 2],
        first=(7, 9),
        quantity="difference of weights",
        scale="sqrt",
        layer=1,
        head=2,
        title="t",
    )
    assert digest(signed.to_bytes()) == "68873d0b42afd795"
    full = HeadMessage(
        weights,
        **texts,
        chosen=1,
        linked=LinkedTokens("pair", (None, 1, 2), (0, 1, None, 3)),
        segments=Segments((0, 0, 1), (0, 0, 1, 1)),
        options=HeadOptions("top3", "ab", "a"),
        parts=[ColouredHead("head 1", weights), ColouredHead("head 2", weights)],
        whole=WholeMap(90, 80, np.arange(6, dtype=np.uint8).reshape(2, 3)),
    )
    assert digest(full.to_bytes()) == "f8e247ab2ca2a5a0"


def test_the_marked_cell_or_column_travels_and_is_refused_outside():
    weights, sides = attention(1, 1, 3, 5)[0, 0], {"queries": list("abc"), "keys": list("vwxyz")}
    for marked in ((2, 4), (None, 4)):
        header, _ = unpack(HeadMessage(weights, marked=marked, **sides).to_bytes(), "<f4")
        assert header["marked"] == list(marked)
    assert "marked" not in unpack(HeadMessage(weights, **sides).to_bytes(), "<f4")[0]
    for marked, said in (((3, 4), "query 3 is outside of 3"), ((None, 5), "key 5 is outside of 5")):
        with pytest.raises(ValueError, match=said):
            HeadMessage(weights, marked=marked, **sides)
