"""Readings of guesses by rate, by hand from a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inspector import masked_lm
from inspector.sections.tokens.masking import pooled, rated

TABLE = pd.DataFrame(
    [
        *(
            (0.1, "all", 20, 0.5, 0.03, 2.0),
            (0.1, "masked", 16, 0.25, 0.1, 3.0),
            (0.1, "kept", 0, np.nan, np.nan, np.nan),
        ),
        *((0.3, "all", 60, 0.45, 0.01, 2.5), (0.3, "masked", 48, 0.5, 0.1, 3.5), (0.3, "kept", 6, 1.0, 0.0, 0.1)),
        *((0.5, "all", 100, 0.4, 0.04, 4.0), (0.5, "masked", 80, 0.1, 0.1, 5.0), (0.5, "kept", 10, 0.5, 0.1, 0.2)),
    ],
    columns=["rate", "fate", "count", "top1", "top1_error", "loss"],
)


def test_the_ends_are_the_lowest_and_the_highest_rate_and_fates_are_pooled_by_token() -> None:
    said = rated(TABLE, trained=0.15, model="M")
    assert "With 10 % of the tokens chosen the first guess is right for 50 %, with 50 % for 40 %" in said
    assert "M was trained at 15 %" in said
    assert pooled(TABLE, "masked") == pytest.approx((16 * 0.25 + 48 * 0.5 + 80 * 0.1) / (16 + 48 + 80))
    assert pooled(TABLE, "kept") == pytest.approx((6 * 1.0 + 10 * 0.5) / 16)
    assert np.isnan(pooled(TABLE, "random"))


@pytest.mark.parametrize(
    ("top1", "differs"), [(0.41, False), (0.39, True)]
)  # two errors: 2 sqrt(0.03^2 + 0.04^2) = 0.1
def test_accuracies_differ_where_more_than_two_errors_lie_between(top1: float, differs: bool) -> None:
    table = TABLE.copy()
    table.loc[(table["rate"] == 0.5) & (table["fate"] == "all"), "top1"] = top1
    assert ("the more is hidden" in rated(table, trained=None, model="M")) == differs


def test_the_rates_go_from_a_twentieth_to_a_half() -> None:
    assert (min(masked_lm.RATES), max(masked_lm.RATES)) == (0.05, 0.5)
    assert list(masked_lm.RATES) == sorted(set(masked_lm.RATES))
