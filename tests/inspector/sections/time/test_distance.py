"""The sentences of Gradient by distance and of RNN, LSTM, GRU: each number is in its table."""

from __future__ import annotations

import pandas as pd
import pytest

from inspector import distance
from inspector.plots.time import reach as draw
from inspector.sections.time import reach, recurrent
from inspector.text import named, number
from inspector.wording.english.time import reach as reach_words
from inspector.wording.english.time import recurrent as words

NAMED = ("tanh-RNN", "attention")
TOKENS = ("[CLS]", "a", "b", "b", "c")


def table(norms: list[float], *, source: bool = False, stream: str = "encoder") -> pd.DataFrame:
    """Two layers of one scalar, the second with a gradient at T = 3 alone."""
    at = range(len(norms))
    away = pd.array([None if source else 3 - t for t in at], dtype="Int64")
    rows = {"scalar": "sum", "stream": stream, "position": at, "token": TOKENS[: len(norms)], "distance": away}
    return pd.concat(
        [
            pd.DataFrame({**rows, "layer": 0, "norm": norms}),
            pd.DataFrame({**rows, "layer": 1, "norm": [1.0 if t == 3 else 0.0 for t in at]}),
        ]
    )


def reached(norms: pd.DataFrame, *, tokens: tuple[str, ...] = TOKENS, position: int = 3) -> str:
    return reach.reached(norms, token=named(tokens, position), position=position, scalar="sum")


def test_near_and_far_tokens() -> None:
    norms = table([0.5, 0.25, 1.0, 4.0, 0.0])
    assert reached(norms) == (
        "Distance costs the gradient little from the 2nd `b`: tokens more than 2 off get 0.800 times what nearer "
        "tokens get on average."
    )
    assert [(half.distances, half.norm) for half in reach.halves(norms)] == [((1, 2), 0.625), ((3, 3), 0.5)]
    assert reached(table([0.1, 0.25, 1.0, 4.0, 0.0])).startswith("The gradient fades with distance from the 2nd `b`:")
    assert "get 1.60 times what" in (grows := reached(table([1.0, 0.25, 1.0, 4.0, 0.0])))
    assert grows.startswith("The gradient grows with distance")
    assert reach.counted(norms, position=3) == (
        "The gradient reaches 4 of 5 tokens, 1 of them through the last layer alone; T itself gets 4.00."
    )
    told = reach_words.scalar(
        "sum", token=named(TOKENS, 3), position=3, width=64, stream="encoder", source=False, least=reach.LEAST
    )
    assert "s = Σ_d out_T[d], the sum of the 64 numbers of out_T" in told
    assert "T = 3" in told


def test_the_means_of_the_sentence_are_drawn_over_their_tokens() -> None:
    """Near tokens on both sides of T, with a gap at T, and the far ones."""
    norms = table([0.5, 0.25, 1.0, 4.0, 0.25])
    near, far = reach.halves(norms)
    means = [draw.Mean("near", near.norm, near.distances), draw.Mean("far", far.norm, far.distances)]
    *lines, drawn, beyond = draw.by_distance(norms, layers=[0, 1], means=means).data
    assert len(lines) == 2
    assert list(drawn.x) == [0.6, 2.4, None, -1.4, -0.6, None]
    assert set(drawn.y) == {0.5, None}  # of 0.25, 1.0 and 0.25
    assert list(beyond.x) == [2.6, 3.4, None]


def test_a_text_of_one_token_and_a_gradient_of_nothing() -> None:
    alone = table([2.0])[lambda rows: rows["layer"] == 0].assign(distance=pd.array([0], dtype="Int64"))
    assert reached(alone, tokens=("a",), position=0) == (
        "The gradient of `a` stays where it is: 2.00 at the token itself, and the text has no other."
    )
    assert reached(table([0.0, 0.0, 0.0, 2.0, 0.0])) == (
        "The gradient of the 2nd `b` stays where it is: 2.00 at the token itself, and no other token has a part in it."
    )
    assert reached(table([0.0] * 5)) == (
        "No token of this stream moves the sum of the 2nd `b`: its gradient is 0 everywhere."
    )
    assert reached(table([0.0, 0.0, 1.0, 2.0, 0.0])) == (
        "From the 2nd `b` the gradient reaches its neighbours: 1.00 on average, beside 2.00 at the token itself."
    )


def test_far_tokens_alone_are_not_called_near() -> None:
    norms = table([0.5, 0.0, 0.0, 4.0, 0.0])
    assert [half.distances for half in reach.halves(norms)] == [(1, 3)]
    assert "0.500 on average" in reached(norms)


def test_a_source_has_no_distance() -> None:
    norms = table([1.0, 3.0, 2.0], source=True)
    assert reached(norms, tokens=("x", "y", "z", "w")) == (
        "What the decoder makes of `w` goes back most of all to `a`: a gradient of 3.00 there, 2.00 on average over "
        "the source."
    )
    assert reach.halves(norms) == ()


def test_what_the_residual_carries() -> None:
    rows = table([3.0, 0.0, 4.0, 2.0, 0.0])
    ways = pd.concat(
        rows.assign(way=way, norm=rows["norm"] * factor)
        for way, factor in (("all", 1.0), ("sublayers", 0.01), ("skip", 0.0))
    )
    said = reach.carried(ways, token=named(TOKENS, 3), source=False, parts=4)
    assert "bring 5.00 to the other tokens" in said
    assert "bring 0.0500, 100 times less" in said
    assert "0 beside 2.00 by all ways" in said
    assert "across 4 sublayers of 2 layers" in said
    by_layer = reach.by_layer(ways).set_index(["way", "layer"])["norm"]
    assert by_layer["all", 0] == pytest.approx(29**0.5)
    shares = reach.shares(rows)
    assert shares.loc[0].tolist() == pytest.approx([3 / 9, 0, 4 / 9, 2 / 9, 0])


def test_a_gradient_reaches_a_token_from_the_least_share_on() -> None:
    norms = [1.0, reach.LEAST, reach.LEAST / 2, 0.5, 0.0]
    assert "The gradient reaches 3 of 5 tokens" in reach.counted(table(norms), position=3)


def test_the_sublayers_are_those_of_the_stream() -> None:
    ways = pd.concat([table([3.0, 4.0, 0.0, 2.0]).assign(way=way) for way in ("all", "sublayers", "skip")])
    assert reach.sublayers(ways, stream="encoder") == 2 * 2
    both = pd.concat([ways, ways.assign(stream="decoder")])
    assert reach.sublayers(both, stream="decoder") == 2 * 3  # attention, cross-attention, FFN
    assert reach.sublayers(both, stream="encoder") == 2 * 2


def test_what_is_left_after_a_hundred_steps() -> None:
    setting = distance.Setting()
    curves = distance.curves(setting)
    first = curves[curves["step"] == 1].set_index("network")["norm"]
    said = recurrent.recurrence(curves, setting)
    assert said == (
        f"A tanh-RNN forgets its first input: the gradient there is {number(first['tanh-RNN'])}, and in attention, one "
        f"step away, {number(first['attention'])}. Over 100 steps it vanishes in the tanh-RNN, the GRU and the LSTM."
    )
    chart = recurrent.by_distance(curves, {kind: kind for kind in distance.KINDS}, title="t", quantity="q", named=NAMED)
    dots = [trace for trace in chart(mode="light").data if trace.text is not None]
    assert [(dot.x[0], dot.y[0], dot.text[0]) for dot in dots] == [
        (99, first[kind], number(first[kind])) for kind in distance.KINDS if kind in NAMED
    ]
    (vanishes, gates, *_) = recurrent.claims(curves, setting, radius=distance.radius(setting))
    assert "below 1" in vanishes
    assert "0.881^99 = 3.49e-06" in gates


def test_an_explosion_and_zeros_are_said_and_drawn() -> None:
    wild = distance.Setting(scale=4.0, width=16)
    assert "A tanh-RNN blows up its first input" in recurrent.recurrence(distance.curves(wild), wild)
    still = distance.Setting(steps=60, width=4, scale=0.0)
    curves = distance.curves(still)
    assert recurrent.zeros(curves)[0] == "tanh-RNN"  # h_t forgets all before x_t
    assert recurrent.zeros(distance.curves(distance.Setting(steps=5))) == []
    assert "the gradient there is 0, and in attention" in recurrent.recurrence(curves, still)
    assert "At x₁ it is 0 in float64, below 5e-324, of: tanh-RNN" in words.zeros(still, recurrent.zeros(curves))
    assert words.zeros(still, []) == ""
    names = {kind: words.name(kind, still) for kind in distance.KINDS}
    figure = recurrent.by_distance(curves, names, title="t", quantity="q")(mode="light")
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert marks
    assert all(told == "0" for _, told in marks[0].customdata)
    assert "or 0 in float64" in figure.layout.title.subtitle.text


def test_shared_weights_and_order() -> None:
    setting = distance.Setting(steps=40, width=8)
    parts = distance.parts(setting)
    said = recurrent.shared(parts)
    assert number(parts["total"].iloc[0]) in said
    assert "What vanishes is what the early steps add to it." in said
    assert "rounding" not in said
    assert "blows up rounding too" in recurrent.shared(parts.assign(off=1e-8))
    assert "In attention it does not move" in recurrent.ordered(distance.shuffled(setting))
    paths = words.paths(setting).set_index("Layer")
    assert paths.loc["Self-attention", "Work here"] == 40 * 40 * 8
    assert paths.loc["Recurrence", ["Steps in a row", "Path here"]].tolist() == [40, 40]
    assert paths.loc["Convolution, k = 3", "Path here"] == 4  # 3^3 < 40 <= 3^4
    assert words.methods()["What it is"].str.contains("score function").sum() == 2
