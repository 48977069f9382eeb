from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from transformers import BertConfig

from inspector import costs
from inspector.plots import costs as draw

BASE = BertConfig()  # BERT-base: width 768, FFN 3072, 12 layers


def test_bars_stack_to_the_published_layer() -> None:
    figure = draw.by_layer(costs.breakdown(BASE))(mode="light")
    bars = {bar.name: bar for bar in figure.data}
    assert figure.layout.barmode == "relative"
    assert list(bars["q, k, v and out"].x) == list(range(12))
    # 12 (4 d^2 + 2 d f) with biases and norms: 85,054,464 of BERT-base's 109,482,240 parameters
    assert sum(sum(bar.y) for bar in figure.data) == 85_054_464
    assert bars["FFN matrices"].y[0] == 2 * 768 * 3072 + 3072 + 768
    assert "scores and mix" not in bars  # no parameters: no empty legend entry


def test_a_component_has_a_row_with_its_amount_and_share() -> None:
    table = costs.breakdown(BASE, tokens=128)
    figure = draw.by_component(table, value="flops")(mode="light")
    (bars,) = figure.data
    amounts = dict(zip(bars.y, bars.x, strict=True))
    assert sum(amounts.values()) == table["flops"].sum()
    assert amounts["attention: q"] == 12 * 2 * 128 * 768 * 768
    assert amounts["attention: scores"] == amounts["attention: mix"] == 12 * 2 * 128 * 128 * 768
    texts = dict(zip(bars.y, bars.text, strict=True))
    share = 100 * amounts["FFN: up"] / table["flops"].sum()
    assert texts["FFN: up"] == f"7.25 G, {share:.0f} %"
    assert [name for name in bars.y if name.startswith("FFN")] == ["FFN: up", "FFN, element-wise", "FFN: down"]
    assert len(set(bars.y)) == len(bars.y)
    assert "attention: scores" not in draw.by_component(table, value="parameters")(mode="light").data[0].y
    with pytest.raises(ValueError, match="no stream 'decoder'"):
        draw.by_component(table, stream="decoder")(mode="light")


def test_segments_of_a_stack_are_told_apart() -> None:
    """Neighbours in the stack differ by 15 of CIELAB's lightness or by their hue's part: seven shades do not."""
    for mode in ("light", "dark"):
        bars = draw.by_layer(costs.breakdown(BASE, tokens=128), value="flops")(mode=mode).data
        colours = [bar.marker.color for bar in bars]
        assert len(set(colours)) == len(colours) == 7
        lights = [lightness(colour) for colour in colours[:3]]
        assert min(abs(a - b) for a, b in itertools.pairwise(lights)) > 15


def lightness(colour: str) -> float:
    """CIELAB's L of a hex colour."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return 116 * luminance ** (1 / 3) - 16


def test_the_rest_outside_the_layers_is_named() -> None:
    subtitle = draw.by_layer(costs.breakdown(BASE))(mode="light").layout.title.subtitle.text
    assert subtitle == "outside the layers: embedding 23.8 M, norm 1.54 k, pooler 591 k"


def test_flops_count_everything_once_with_small_parts_merged() -> None:
    table = costs.breakdown(BASE, tokens=128)
    figure = draw.by_layer(table, value="flops")(mode="dark")
    assert sum(sum(bar.y) for bar in figure.data) == table.loc[table["layer"].notna(), "flops"].sum()
    bars = {bar.name: bar for bar in figure.data}
    assert list(bars) == [
        *("q, k, v and out", "scores and mix", "attention, element-wise", "FFN matrices", "FFN, element-wise"),
        *("residual", "norm"),
    ]
    products = [bars[name] for name in ("q, k, v and out", "scores and mix", "FFN matrices")]
    assert sum(sum(bar.y) for bar in products) == 22_347_251_712
    assert bars["scores and mix"].y[0] == 2 * 2 * 128 * 128 * 768


def test_a_stream_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=r"no stream 'decoder' in the breakdown; it has \['encoder'\]"):
        draw.by_layer(costs.breakdown(BASE), stream="decoder")(mode="light")


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_crossovers_are_drawn_where_the_curves_cross(scale: str) -> None:
    crossovers = costs.crossovers(BASE)
    lengths = [128, 512, 1536, 3072, 6144]
    figure = draw.by_length(costs.by_length(BASE, lengths), crossovers=crossovers, tokens=512, scale=scale)
    lines = {line.name: dict(zip(line.x, line.y, strict=True)) for line in figure.data if line.mode == "lines"}
    # 2d and 4d: there the curves drawn are equal
    assert lines["attention, all"][1536] == lines["FFN"][1536]
    assert lines["scores and mix"][3072] == lines["FFN"][3072]
    assert [shape.x0 for shape in figure.layout.shapes] == [3072, 1536, 512]
    assert [note.text for note in figure.layout.annotations] == [
        "scores and mix = FFN: 3,072",
        "attention = FFN: 1,536",
        "this text: 512",
    ]
    places = [note.x for note in figure.layout.annotations]
    assert places == pytest.approx([math.log10(x) if scale == "log" else x for x in (3072, 1536, 512)])
    points = [(point.x[0], point.y[0]) for point in figure.data if point.mode == "markers"]
    assert points == [(3072, lines["FFN"][3072]), (1536, lines["FFN"][1536])]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == scale


@pytest.mark.parametrize("tokens", [13, 2000])
def test_no_label_covers_a_crossing(tokens: int) -> None:
    config = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    crossovers = costs.crossovers(config)
    table = costs.by_length(config, draw.lengths(crossovers, tokens=tokens))
    figure = draw.by_length(table, crossovers=crossovers, tokens=tokens)
    heights = np.log10([y for line in figure.data if line.mode == "lines" for y in line.y if y > 0])
    first, last = figure.layout.xaxis.range
    points = [(np.log10(point.x[0]), np.log10(point.y[0])) for point in figure.data if point.mode == "markers"]
    crossings = [((x - first) / (last - first), (y - heights.min()) / np.ptp(heights)) for x, y in points]
    assert len(crossings) == 2
    lows = set()
    for note in figure.layout.annotations:
        left = (note.x - first) / (last - first) - 0.4 * (note.xanchor == "right")
        low = note.y - 0.08 * (note.yanchor == "top")
        lows.add(low)
        assert not [x for x, y in crossings if left - 0.02 < x < left + 0.42 and low - 0.03 < y < low + 0.11]
    assert len(lows) == 3  # each in a row of its own


def test_curves_are_the_matrix_products() -> None:
    figure = draw.by_length(costs.by_length(BASE, [128, 512]), crossovers=costs.crossovers(BASE))
    lines = {line.name: list(line.y) for line in figure.data if line.mode == "lines"}
    assert [round(a + f) for a, f in zip(lines["attention, all"], lines["FFN"], strict=True)] == [
        22_347_251_712,
        96_636_764_160,
    ]
    assert [s + p for s, p in zip(lines["scores and mix"], lines["q, k, v and out"], strict=True)] == lines[
        "attention, all"
    ]
    assert not figure.layout.shapes  # both crossovers lie beyond 512 tokens, and no text was given


def test_attention_that_is_dearer_at_any_length_has_no_second_line() -> None:
    config = BertConfig(hidden_size=64, num_attention_heads=2, intermediate_size=96)
    crossovers = costs.crossovers(config)
    lengths = draw.lengths(crossovers, tokens=20)
    figure = draw.by_length(costs.by_length(config, lengths), crossovers=crossovers, tokens=20)
    assert [note.text for note in figure.layout.annotations] == ["scores and mix = FFN: 96", "this text: 20"]


def test_lengths_reach_past_everything_marked() -> None:
    crossovers = costs.crossovers(BASE)
    for tokens in (1, 2, 13, 512, 9000):
        lengths = draw.lengths(crossovers, tokens=tokens)
        assert lengths == sorted(set(lengths))
        assert 1 <= lengths[0] <= tokens
        assert lengths[-1] >= 2 * max(3072, tokens)
        assert len(lengths) <= 60
