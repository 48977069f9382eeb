"""Costs of score functions: closed forms against FlopCounterMode and the tensors that are made; claims 35 and 38."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from inspector.costs import score_functions
from inspector.costs.score_functions import FUNCTIONS, Function, FunctionTimes, Sizes, cost
from tests.closeness import assert_close


class Largest(TorchDispatchMode):
    """The numbers in the largest tensor that is made, and not only seen in another shape."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and not func.is_view and made.untyped_storage().nbytes() == made.nbytes:
            self.numbers = max(self.numbers, made.numel())
        return made


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "sizes", [Sizes(tokens=9, width=4), Sizes(tokens=5, width=12), Sizes(tokens=7, width=6, heads=3, batch=2)], ids=str
)
def test_closed_forms_are_what_torch_counts(function: Function, sizes: Sizes) -> None:
    given, expected = score_functions._Given(sizes, device="meta"), cost(function, sizes)
    with FlopCounterMode(display=False) as counter, Largest() as largest:
        given.run(function)
    assert counter.get_total_flops() == expected.flops
    assert largest.numbers == expected.largest
    if function != "linear":
        with FlopCounterMode(display=False) as counter:
            given.scores(function)
        assert counter.get_total_flops() == expected.scores
    learned = {"general": given.general, "additive": given.additive, "additive_naive": given.additive}
    assert expected.parameters == sum(one.numel() for one in learned.get(function, {}).values())


def test_claim_35_naive_additive_scores_cost_d_times_a_dot_product() -> None:
    """Batch 2, scores and mix, at n = d = 64 and 256; n = 1000, d = 1024 of the scores alone; one head."""
    counted = {
        size: score_functions.table(Sizes(size, size, batch=2)).set_index("function")["flops"] for size in (64, 256)
    }
    assert f"{counted[64]['additive_naive']:.2e}" == "1.36e+08"
    assert [f"{counted[64][name]:.1e}" for name in ("additive", "dot")] == ["4.2e+06", "2.1e+06"]
    names = ("additive_naive", "additive", "dot")
    assert [f"{counted[256][name]:.1e}" for name in names] == ["3.4e+10", "2.7e+08", "1.3e+08"]
    large = score_functions.table(Sizes(1000, 1024)).set_index("function")
    times = large["scores_flops"] / large["scores_flops"]["dot"]
    assert times["additive_naive"] == 2049
    assert times["additive"] == pytest.approx(1 + 2 * 1024 / 1000)
    assert large["largest_bytes"]["additive"] == 4_096_000_000


def test_claim_38_an_additive_score_learns_2d2_and_2d() -> None:
    """8320 at d = 64; the notes count the bias of nn.Linear(d, 1) too, 8321."""
    own = cost("additive", Sizes(9, 64)).parameters
    layers = torch.nn.Linear(128, 64), torch.nn.Linear(64, 1)
    assert own + 1 == 8321 == sum(one.numel() for layer in layers for one in layer.parameters())


def test_naive_is_the_same_function_and_is_left_out_where_it_takes_too_long() -> None:
    given = score_functions._Given(Sizes(tokens=6, width=8, heads=2))
    assert_close(given.scores("additive_naive"), given.scores("additive"), relative=1e-5)
    turns: list[FunctionTimes] = []
    found = score_functions.measure(Sizes(tokens=4, width=8), repeats=2, on_turn=turns.append)
    assert list(found.seconds) == list(FUNCTIONS)
    assert ([turn.repeats for turn in turns], found.left_out) == ([1, 2], {})
    assert score_functions.left_out(Sizes(128, 64, heads=12)) == {}
    assert list(score_functions.left_out(Sizes(512, 64, heads=12))) == ["additive", "additive_naive"]
    assert list(score_functions.left_out(Sizes(10_000, 64))) == ["dot", "general", "additive", "additive_naive"]
    with pytest.raises(ValueError, match="take too long to be timed"):
        score_functions.measure(Sizes(1_000_000, 64, heads=12))
    with pytest.raises(ValueError, match="stopped"):
        score_functions.measure(Sizes(4, 8), stop=lambda: True)


def test_a_table_of_the_largest_sizes_can_be_sent_to_a_page() -> None:
    largest = Sizes(100_000, 8192, heads=512)
    for table in (score_functions.table(largest), score_functions.by_length(largest, [100_000])):
        assert pa.Table.from_pandas(table).num_rows == len(FUNCTIONS)
        assert table["flops"].max() == 512 * (4 * 10**10 * 8192**2 + 4 * 10**10 * 8192)
