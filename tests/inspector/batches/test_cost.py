"""Costs of layouts: FLOPs as torch counts them, cells by hand, and a clock that can be stopped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector import batches
from inspector.costs import clock
from models import LoadedModel
from tests.models.own_models import own

LENGTHS = (5, 2, 3)


@torch.no_grad()
def test_flops_are_those_that_torch_counts() -> None:
    loaded = own("encoder")
    found = batches.work(clock.layer_shape(loaded.config), LENGTHS, layers=2).set_index("layout")
    keep = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
    runs: dict[str, Callable[[], object]] = {
        "right": lambda: loaded.network(torch.ones(3, 5, dtype=torch.long), keep=keep),
        "left": lambda: loaded.network(torch.ones(3, 5, dtype=torch.long), keep=keep.flip(1)),
        "packed": lambda: loaded.network(torch.ones(1, 10, dtype=torch.long)),  # a plain kernel: nothing is left out
        "alone": lambda: [loaded.network(torch.ones(1, length, dtype=torch.long)) for length in LENGTHS],
    }
    for layout, run in runs.items():
        with FlopCounterMode(display=False) as counted:
            run()
        if layout in ("right", "left"):  # keys hidden from all rows of a block are not multiplied here: none in text 0
            assert counted.get_total_flops() <= found["flops"][layout]
        if layout != "left":
            assert counted.get_total_flops() == found["flops"][layout]
    assert found["cells"].to_dict() == {"right": 15, "left": 15, "packed": 10, "alone": 10}
    assert found["padding"]["right"] == pytest.approx(1 / 3)
    assert found["pairs"].to_dict() == {"right": 75, "left": 75, "packed": 100, "alone": 38}
    assert set(found["needed"]) == {38}
    assert found["score_bytes"]["right"] == 4 * 4 * 75


def test_the_clock_times_each_layout_in_turn_and_can_be_stopped() -> None:
    loaded = own("decoder")
    seen: list[int] = []
    timed = batches.measure(
        loaded, ["a dog ran", "the cat"], repeats=2, on_turn=lambda so_far: seen.append(so_far.repeats)
    )
    assert list(timed.table["layout"]) == ["right", "left", "packed", "alone"]
    assert (seen, timed.repeats, timed.problems) == ([1, 2], 2, {})
    assert timed.table["seconds"].min() > 0

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batches.measure(loaded, ["a dog"], on_progress=stop)


def test_an_encoder_decoder_is_not_timed(shipped: Callable[[str], LoadedModel]) -> None:
    with pytest.raises(ValueError, match="writes a target for each text"):
        batches.measure(shipped("own-encoder-decoder"), ["a dog"])


def test_scores_are_held_at_once_for_a_batch_and_text_by_text_alone() -> None:
    shape = clock.layer_shape(own("encoder").config)
    found = batches.work(shape, LENGTHS, layers=2).set_index("layout")["score_bytes"]
    pairs = {"right": 3 * 5**2, "left": 3 * 5**2, "packed": (5 + 2 + 3) ** 2, "alone": 5**2}
    assert found.to_dict() == {layout: torch.float32.itemsize * shape.heads * count for layout, count in pairs.items()}
