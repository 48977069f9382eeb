"""A changed token as a figure: how far the states of the tokens before it and after it move."""

from __future__ import annotations

import pandas as pd

from inspector.plots.chart import Chart
from inspector.plots.interventions import moved


def spread(table: pd.DataFrame, *, changed: int) -> Chart:
    """Draw how far each token's state moves, the changed token in rose; table: of `batches.spread`."""
    return moved(
        table["change"].to_numpy(),
        tokens=list(table["token"]),
        masked={changed},
        names=("other tokens", "the changed token"),
        title="One token changed",
        quantity="mean |change| of a number",
    )
