"""Gradients through time against plain products of Jacobians in numpy, and the parts of the shared weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from inspector import distance
from inspector.distance import recurrent
from tests.closeness import assert_close

Floats = NDArray[np.float64]
SMALL = distance.Setting(steps=9, width=5, scale=1.5, seed=3)


def sigmoid(a: Floats) -> Floats:
    return 1 / (1 + np.exp(-a))


def jacobians_of_rnn(w: dict[str, Floats], x: Floats) -> tuple[list[Floats], list[Floats]]:
    """dstate_t / dstate_{t-1} and dstate_t / dx_t; the state is h."""
    h, over_state, over_input = np.zeros(x.shape[1]), [], []
    for now in x:
        h = np.tanh(w["weight_ih_l0"] @ now + w["bias_ih_l0"] + w["weight_hh_l0"] @ h + w["bias_hh_l0"])
        slope = np.diag(1 - h**2)
        over_state.append(slope @ w["weight_hh_l0"])
        over_input.append(slope @ w["weight_ih_l0"])
    return over_state, over_input


def jacobians_of_gru(w: dict[str, Floats], x: Floats) -> tuple[list[Floats], list[Floats]]:
    """r, z = sigmoid(...), n = tanh(W x + b + r (U h + c)), h' = (1 - z) n + z h (Cho et al. 2014, as torch has it)."""
    h, over_state, over_input = np.zeros(x.shape[1]), [], []
    for now in x:
        (wr, wz, wn), (ur, uz, un) = np.split(w["weight_ih_l0"], 3), np.split(w["weight_hh_l0"], 3)
        ar, az, an = np.split(w["weight_ih_l0"] @ now + w["bias_ih_l0"], 3)
        br, bz, bn = np.split(w["weight_hh_l0"] @ h + w["bias_hh_l0"], 3)
        r, z = sigmoid(ar + br), sigmoid(az + bz)
        n = np.tanh(an + r * bn)
        dr, dz, dn = (np.diag(slope) for slope in (r * (1 - r), z * (1 - z), 1 - n**2))

        def step(r_way: Floats, z_way: Floats, n_way: Floats, by: tuple[Floats, ...] = (n, z, h)) -> Floats:
            new, gate, old = by
            return np.diag(1 - gate) @ n_way + np.diag(old - new) @ z_way

        over_state.append(step(dr @ ur, dz @ uz, dn @ (np.diag(bn) @ dr @ ur + np.diag(r) @ un)) + np.diag(z))
        over_input.append(step(dr @ wr, dz @ wz, dn @ (np.diag(bn) @ dr @ wr + wn)))
        h = (1 - z) * n + z * h
    return over_state, over_input


def jacobians_of_lstm(w: dict[str, Floats], x: Floats) -> tuple[list[Floats], list[Floats]]:
    """The state is [h, c]: c' = f c + i g, h' = o tanh(c') (Hochreiter & Schmidhuber 1997; Gers et al. 2000)."""
    width = x.shape[1]
    h, c, over_state, over_input = np.zeros(width), np.zeros(width), [], []
    for now in x:
        a = w["weight_ih_l0"] @ now + w["bias_ih_l0"] + w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        ai, af, ag, ao = np.split(a, 4)
        i, f, g, o = sigmoid(ai), sigmoid(af), np.tanh(ag), sigmoid(ao)
        old, c = c, f * c + i * g
        slopes = (g * i * (1 - i), old * f * (1 - f), i * (1 - g**2))

        def both(matrix: Floats, straight: Floats, slopes: Any = slopes, o: Floats = o, c: Floats = c) -> Floats:
            """[dh', dc'] by what enters through `matrix`, `straight` being dc' past the gates."""
            mi, mf, mg, mo = np.split(matrix, 4)
            cell = np.diag(slopes[0]) @ mi + np.diag(slopes[1]) @ mf + np.diag(slopes[2]) @ mg + straight
            hidden = np.diag(np.tanh(c) * o * (1 - o)) @ mo + np.diag(o * (1 - np.tanh(c) ** 2)) @ cell
            return np.concatenate([hidden, cell])

        by_hidden = both(w["weight_hh_l0"], np.zeros((width, width)))
        by_cell = both(np.zeros_like(w["weight_hh_l0"]), np.diag(f))
        over_state.append(np.concatenate([by_hidden, by_cell], axis=1))
        over_input.append(both(w["weight_ih_l0"], np.zeros((width, width))))
        h = o * np.tanh(c)
    return over_state, over_input


@pytest.mark.parametrize(
    ("kind", "jacobians"),
    [
        ("tanh-RNN", jacobians_of_rnn),
        ("GRU", jacobians_of_gru),
        ("LSTM", jacobians_of_lstm),
        ("open LSTM", jacobians_of_lstm),
    ],
)
def test_a_gradient_is_the_product_of_the_steps_jacobians(kind: recurrent.Kind, jacobians: Callable[..., Any]) -> None:
    found = distance.curves(SMALL)
    norms = []
    for seed in SMALL.seeds:
        weights = {name: value.numpy() for name, value in recurrent.network(kind, SMALL, seed).state_dict().items()}
        over_state, over_input = jacobians(weights, recurrent.inputs(SMALL, seed)[0].numpy())
        back = np.zeros(len(over_state[0]))
        back[: SMALL.width] = 1  # of sum(h_T); a cell state is no output
        by_step = []
        for state, given in zip(reversed(over_state), reversed(over_input), strict=True):
            by_step.append(np.linalg.norm(back @ given))
            back = back @ state
        norms.append(by_step[::-1])
    rows = found[found["network"] == kind]
    assert_close(rows["norm"], np.median(norms, axis=0), relative=1e-10)
    assert_close(rows["most"], np.max(norms, axis=0), relative=1e-10)
    assert rows["distance"].tolist() == list(range(8, -1, -1))


def test_weights_are_torch_s_default() -> None:
    """Hold the weights to what torch.nn draws from its own generator."""
    setting = distance.Setting()
    for kind, built in (("tanh-RNN", nn.RNN), ("GRU", nn.GRU), ("LSTM", nn.LSTM)):
        torch.manual_seed(7)
        expected = built(32, 32, dtype=torch.float64).state_dict()
        for name, value in recurrent.network(kind, setting, 7).state_dict().items():  # type: ignore[arg-type]
            assert torch.equal(value, expected[name]), (kind, name)
    opened = recurrent.network("open LSTM", setting, 7).state_dict()
    assert torch.equal((opened["bias_ih_l0"] + opened["bias_hh_l0"])[32:64], torch.full((32,), 2.0).double())
    own, theirs = recurrent.network("attention", setting, 7), nn.MultiheadAttention(32, 1, dtype=torch.float64)
    for name, value in own.state_dict().items():
        assert float(value.std()) == pytest.approx(float(theirs.state_dict()[name].std()), rel=0.1), name


def test_the_curves_of_a_hundred_steps() -> None:
    """The order of issue 18: tanh-RNN < GRU < 1e-15 < LSTM with forget bias 2 < attention, the LSTM near 9e-4."""
    found = distance.curves(distance.Setting(steps=100, width=32))
    first = found[found["step"] == 1].set_index("network")["norm"]
    assert first["tanh-RNN"] < first["GRU"] < 1e-15 < first["open LSTM"] < first["attention"]
    assert 9e-5 < first["open LSTM"] < 9e-3
    assert first["LSTM"] < 1e-15  # gates that are drawn around a half close as fast
    attention = found[found["network"] == "attention"].set_index("step")["norm"]
    assert 0.5 < attention[1] / attention[90] < 2
    exploding = distance.curves(distance.Setting(scale=4.0))
    assert exploding[exploding["step"] == 1].set_index("network")["norm"]["tanh-RNN"] > 1e3


def test_the_parts_of_the_steps_sum_up_to_autograd_s_gradient() -> None:
    found = distance.parts(distance.Setting(steps=30, width=8))
    assert_close(found["off"], 0, relative=1e-13, scale=1)  # a share of the gradient
    by_network = found.set_index(["network", "step"])["norm"]
    totals = found.groupby("network")["total"].first()
    for kind in distance.RECURRENT:
        assert 0 < by_network[kind, 1] < by_network[kind, 30] < 2 * totals[kind]
    assert by_network["tanh-RNN", 1] < 1e-5 * totals["tanh-RNN"]


def test_one_step_s_part_is_a_finite_difference() -> None:
    """The last step's weights alone, moved by 1e-6."""
    setting = distance.Setting(steps=4, width=3)
    parts = []
    for seed in setting.seeds:
        made, x = recurrent.network("tanh-RNN", setting, seed), recurrent.inputs(setting, seed)[0].numpy()
        w = {name: value.numpy() for name, value in made.state_dict().items()}
        h = np.zeros(3)
        for now in x[:-1]:
            h = np.tanh(w["weight_ih_l0"] @ now + w["bias_ih_l0"] + w["weight_hh_l0"] @ h + w["bias_hh_l0"])

        def last(whole: Floats, now: Floats = x[-1], before: Floats = h, w: dict[str, Floats] = w) -> float:
            taken = whole @ np.concatenate([now, before]) + w["bias_ih_l0"] + w["bias_hh_l0"]
            return float(np.tanh(taken).sum())

        whole = np.concatenate([w["weight_ih_l0"], w["weight_hh_l0"]], axis=1)
        slopes = []
        for place in np.ndindex(whole.shape):
            moved = np.zeros_like(whole)
            moved[place] = 1e-6
            slopes.append((last(whole + moved) - last(whole - moved)) / 2e-6)
        parts.append(np.linalg.norm(slopes))
    found = distance.parts(setting)
    row = found[(found["network"] == "tanh-RNN") & (found["step"] == 4)]
    assert row["norm"].item() == pytest.approx(np.median(parts), rel=1e-6)


def test_attention_keeps_no_order_without_positions() -> None:
    change = distance.shuffled(distance.Setting(steps=20, width=16)).set_index("network")["change"]
    assert change["attention"] < 1e-13
    assert all(change[name] > 1e-3 for name in (*distance.RECURRENT, distance.WITH_POSITIONS))


@pytest.mark.parametrize("wrong", [{"steps": 1}, {"steps": 501}, {"width": 129}, {"scale": -1.0}, {"seed": 10_000}])
def test_sizes_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value:,}"):
        distance.Setting(**wrong)
