from __future__ import annotations

import math

import pytest
from transformers import BertConfig

from inspector import costs
from inspector.plots import costs as draw
from inspector.plots import theme

BASE = BertConfig()  # BERT-base: width 768, FFN 3072, 12 layers


def test_bars_stack_to_the_published_layer() -> None:
    figure = draw.by_layer(costs.breakdown(BASE))
    bars = {(bar.legendgroup, bar.name): bar for bar in figure.data}
    assert figure.layout.barmode == "stack"
    assert list(bars["attention", "q"].x) == list(range(12))
    # 12 (4 d^2 + 2 d f) with biases and norms: 85,054,464 of BERT-base's 109,482,240 parameters
    assert sum(sum(bar.y) for bar in figure.data) == 85_054_464
    assert bars["FFN", "up"].y[0] == 768 * 3072 + 3072
    assert bars["attention", "q"].marker.color == theme.PART["light"]["q"]
    assert ("attention", "scores") not in bars  # no parameters: no empty legend entry


def test_the_rest_outside_the_layers_is_named() -> None:
    subtitle = draw.by_layer(costs.breakdown(BASE)).layout.title.subtitle.text
    assert subtitle == "outside the layers: embedding 23.8 M, norm 1.54 k, pooler 591 k"


def test_flops_count_everything_once_with_small_parts_merged() -> None:
    table = costs.breakdown(BASE, tokens=128)
    figure = draw.by_layer(table, value="flops", mode="dark")
    assert sum(sum(bar.y) for bar in figure.data) == table.loc[table["layer"].notna(), "flops"].sum()
    names = [(bar.legendgroup, bar.name) for bar in figure.data]
    assert len(names) == len(set(names))
    assert {group for group, _ in names} == {"attention", "FFN", "rest"}
    products = {"q", "k", "v", "scores", "mix", "out", "up", "down"}
    assert sum(sum(bar.y) for bar in figure.data if bar.name in products) == 22_347_251_712
    scores = next(bar for bar in figure.data if bar.name == "scores")
    assert scores.customdata[0] == "25.2 MFLOP"


def test_a_stream_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=r"no stream 'decoder' in the breakdown; it has \['encoder'\]"):
        draw.by_layer(costs.breakdown(BASE), stream="decoder")


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
