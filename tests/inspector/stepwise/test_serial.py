"""FLOPs and waiting, against torch's own counter on torch.nn's layers and against what really changes with a token."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from inspector import stepwise
from inspector.stepwise.timed import COUNTED, RUNS, Layers
from tests.closeness import assert_close, relative_error


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("tokens", "width"), [(5, 32), (12, 128)])
def test_flops_are_torchs(run: stepwise.Run, tokens: int, width: int) -> None:
    layers = Layers.make(width, dtype=torch.float64)  # oneDNN's fused LSTM, which torch does not count, is for float32
    for layer in (layers.lstm, layers.attention, layers.block):
        layer.train()  # the fused layer of eval mode is not counted either; there is no dropout
    call = layers.call(run, layers.text(tokens))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):  # CPU's fused kernel is not counted
        call()
    assert counter.get_total_flops() == stepwise.flops(COUNTED[run], tokens=tokens, width=width)


def test_the_lstm_is_one_function_however_it_is_fed() -> None:
    layers = Layers.make(32, dtype=torch.float64)
    text = layers.text(9)
    with torch.inference_mode():
        whole, steps = layers.lstm_once(text), layers.lstm_steps(text)
        apart = layers.call("lstm_apart", text)()
        by_hand = torch.stack([layers.lstm_once(text[:, at : at + 1])[0, 0] for at in range(9)])
    assert_close(whole, steps, relative=1e-14)
    assert_close(apart[:, 0], by_hand, relative=1e-14)
    assert relative_error(apart[:, 0], whole[0]) > 0.01  # nothing was handed from token to token


def test_a_state_waits_for_all_before_it_and_attention_for_none() -> None:
    layers = Layers.make(32, dtype=torch.float64)
    text = layers.text(7).requires_grad_()
    states = layers.lstm_once(text)
    (handed,) = torch.autograd.grad(states[0, -1].sum(), text)
    assert (handed[0].abs().sum(dim=1) > 0).all()  # through n - 1 states, one after the other
    assert [stepwise.waiting(layer, tokens=7) for layer in stepwise.LAYERS] == [7, 1, 1]


def test_attention_has_as_many_flops_at_twice_the_width() -> None:
    for width in (64, 512):
        length = stepwise.crossing(width=width)
        lstm, attention = (stepwise.flops(layer, tokens=length, width=width) for layer in ("lstm", "attention"))
        assert lstm == attention
        assert stepwise.flops("attention", tokens=length - 1, width=width) < stepwise.flops(
            "lstm", tokens=length - 1, width=width
        )
    found = stepwise.table([4, 8], width=16).set_index(["tokens", "layer"])
    assert found["flops"][8, "lstm"] == 2 * found["flops"][4, "lstm"] == 16 * 8 * 16**2


def test_the_clock_reports_every_turn() -> None:
    progress: list[tuple[int, int]] = []
    turns: list[stepwise.SerialTimes] = []
    timed = stepwise.measure(
        [4, 8], width=16, repeats=2, on_progress=lambda *done: progress.append(done), on_turn=turns.append
    )
    assert [turn.repeats for turn in turns] == [1, 2]
    assert progress[-1] == (30, 30)
    assert set(timed.table["run"]) == set(RUNS)
    assert timed.difference < 1e-6
    seconds = timed.table.set_index(["tokens", "run"])["seconds"]
    assert timed.ratios("lstm_steps", "lstm")[8] == pytest.approx(seconds[8, "lstm_steps"] / seconds[8, "lstm"])
    found = timed.table.set_index(["tokens", "run"])["waiting"]
    assert [found[8, run] for run in RUNS] == [8, 8, 1, 1, 1]


def test_the_clock_refuses_what_takes_too_long_and_ends_when_told() -> None:
    with pytest.raises(ValueError, match="choose 1 to 8,192"):
        stepwise.measure([9000], width=64)
    with pytest.raises(ValueError, match="width 100: choose"):
        stepwise.measure([4], width=100)
    with pytest.raises(ValueError, match="each must be at least 1"):
        stepwise.flops("lstm", tokens=0, width=4)

    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        stepwise.measure([4], width=16, on_progress=stop)
