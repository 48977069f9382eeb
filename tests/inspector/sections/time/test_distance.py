"""The sentences of Gradient by distance and of RNN, LSTM, GRU: each number is in its table."""

from __future__ import annotations

import pandas as pd
import pytest

from inspector import distance
from inspector.sections.time import reach, recurrent
from inspector.text import named, number
from inspector.wording.english.time import reach as reach_words
from inspector.wording.english.time import recurrent as words

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
    assert reached(table([0.5, 0.25, 1.0, 4.0, 0.0])) == (
        "From the 2nd `b` the gradient reaches 4 of 5 tokens, 1 of them through the last layer alone: 4.00 at the 2nd "
        "`b` itself, 0.625 on average up to 2 tokens off, and 0.500 farther off: distance costs little."
    )
    told = reach_words.scalar(
        "sum", token=named(TOKENS, 3), position=3, width=64, stream="encoder", source=False, least=reach.LEAST
    )
    assert "s = Σ_d out_T[d], the sum of the 64 numbers of out_T" in told
    assert "T = 3" in told


def test_a_text_of_one_token_and_a_gradient_of_nothing() -> None:
    alone = table([2.0])[lambda rows: rows["layer"] == 0].assign(distance=pd.array([0], dtype="Int64"))
    assert reached(alone, tokens=("a",), position=0) == (
        "From `a` the gradient reaches the only token, even through the last layer alone: 2.00 at `a` itself."
    )
    assert reached(table([0.0] * 5)) == (
        "No token of this stream moves the sum of the 2nd `b`: its gradient is 0 everywhere."
    )


def test_a_source_has_no_distance() -> None:
    assert reached(table([1.0, 3.0, 2.0], source=True), tokens=("x", "y", "z", "w")) == (
        "What the decoder makes of `w` reaches back to all 3 tokens of the source: at the input of the encoder's layer "
        "0 the gradient is 2.00 on average, most 3.00 at `a`."
    )


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
    assert "the gradient reaches 3 of 5 tokens" in reached(table(norms))


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
    assert all(number(first[kind]) in said for kind in distance.KINDS)
    assert "explodes" not in said
    (vanishes, gates, *_) = recurrent.claims(curves, setting, radius=distance.radius(setting))
    assert "below 1" in vanishes
    assert "0.881^99 = 3.49e-06" in gates


def test_an_explosion_and_zeros_are_said_and_drawn() -> None:
    wild = distance.Setting(scale=4.0, width=16)
    assert "It explodes in the tanh-RNN." in recurrent.recurrence(distance.curves(wild), wild)
    still = distance.Setting(steps=60, width=4, scale=0.0)
    curves = distance.curves(still)
    assert recurrent.zeros(curves)[0] == "tanh-RNN"  # h_t forgets all before x_t
    assert recurrent.zeros(distance.curves(distance.Setting(steps=5))) == []
    assert "0 in a tanh-RNN" in recurrent.recurrence(curves, still)
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
