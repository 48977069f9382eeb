"""Learning rates against the papers' formulas and torch's own schedulers."""

from __future__ import annotations

import warnings

import pytest
import torch

from models.training.schedules import last_constant, learning_rate
from tests.closeness import assert_close


def test_noam_is_the_papers_equation() -> None:
    """Vaswani et al. 2017, eq. 3: D^-0.5 min(step^-0.5, step warmup^-1.5)."""
    width, warmup = 512, 40
    for step in (1, 7, 39, 40, 41, 200):
        paper = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        own = learning_rate(step, highest=(width * warmup) ** -0.5, warmup=warmup, steps=200, decay="noam")
        assert own == pytest.approx(paper, rel=1e-12)


def test_decays_are_those_of_torch() -> None:
    highest, warmup, steps = 0.5, 10, 60
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=highest)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - warmup)
    linear = torch.optim.lr_scheduler.LinearLR(
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=highest), 1.0, 0.0, steps - warmup
    )
    for step in range(warmup, steps + 1):
        sizes = {"highest": highest, "warmup": warmup, "steps": steps}
        assert_close(learning_rate(step, **sizes, decay="cosine"), cosine.get_last_lr()[0], relative=1e-12)
        assert_close(learning_rate(step, **sizes, decay="linear"), linear.get_last_lr()[0], relative=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no optimizer step between: only the numbers are wanted
            cosine.step()
            linear.step()


def test_warm_up_is_a_straight_line_and_reaches_the_highest() -> None:
    rates = [learning_rate(step, highest=2e-3, warmup=150, steps=3000, decay="linear") for step in range(1, 3001)]
    assert rates[0] == pytest.approx(2e-3 / 150)
    assert rates[74] == pytest.approx(1e-3)
    assert max(rates) == rates[149] == 2e-3
    assert rates[-1] == 0


@pytest.mark.parametrize("step", [0, 11])
def test_a_step_outside_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match=f"step {step} of 10"):
        learning_rate(step, highest=1.0, warmup=2, steps=10, decay="linear")


def test_a_late_decay_is_constant_and_falls_in_the_last_fifth() -> None:
    sizes = {"highest": 0.5, "warmup": 10, "decay": "late"}
    rates = [learning_rate(step, steps=100, **sizes) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([0.05 * step for step in range(1, 11)])
    assert set(rates[9:80]) == {0.5}
    assert rates[80:] == pytest.approx([0.5 * left / 20 for left in range(19, -1, -1)])
    assert last_constant(100) == 80
    longer = [learning_rate(step, steps=300, **sizes) for step in range(1, 101)]
    assert longer[:80] == rates[:80]
