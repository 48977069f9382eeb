"""The estimate of a training's time against the products that torch counts, and the defaults of the switches."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from transformers import T5Config

from models.training import lab
from models.training.tiny.experiments import BATCH, LabRun, Switches
from models.training.tiny.solvers import solver

RUN = LabRun(task="sort", length=6, steps=100, learning_rate=0.003, switches=Switches(activation="gelu"), seed=0)


def switched(**switches: object) -> LabRun:
    return replace(RUN, switches=replace(RUN.switches, **switches))


def products(run: LabRun) -> int:
    """Count the FLOPs of a step, forward and backward."""
    torch.manual_seed(0)
    network, texts = solver(run), lab.fresh(run, count=BATCH)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:  # the fused kernel is not counted
        network(texts).sum().backward()
    return counted.get_total_flops()


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ({"ffn_width": 960}, {}),
        ({"activation": "swiglu"}, {}),
        ({"head_size": "full"}, {}),
        ({"width": 96}, {"width": 24}),
    ],
    ids=str,
)
def test_a_step_is_expected_to_take_its_products_at_fifty_gigaflops(
    more: dict[str, object], less: dict[str, object]
) -> None:
    one, other = switched(**more), switched(**less)
    difference = products(one) - products(other)
    if "width" in more:  # the head's, which the estimate leaves out
        difference -= 6 * BATCH * RUN.length * 10 * (96 - 24)
    expected = 1.4 * RUN.steps * difference / 50e9
    assert one.expected_seconds - other.expected_seconds == pytest.approx(expected, rel=1e-6)


def test_what_takes_longer_by_the_layer_is_expected_to() -> None:
    plain = RUN.expected_seconds
    for switches in ({"score": "additive"}, {"positions": "rope"}, {"positions": "xl"}, {"layers": 4}):
        assert switched(**switches).expected_seconds > plain
    assert switched(positions="shaw").expected_seconds > switched(positions="xl").expected_seconds
    assert switched(shape="encoder-decoder").expected_seconds > switched(layers=4).expected_seconds
    writer = replace(RUN, task="repeats")
    whole, pieces = (replace(writer, switches=replace(RUN.switches, segment=n, positions="xl")) for n in (12, 6))
    plain = replace(writer, switches=replace(RUN.switches, positions="xl"))
    assert plain.expected_seconds == whole.expected_seconds < pieces.expected_seconds


def test_buckets_are_t5s() -> None:
    assert Switches().relative_buckets == T5Config().relative_attention_num_buckets
