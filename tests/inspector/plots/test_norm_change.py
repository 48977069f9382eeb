"""Figures of the page LayerNorm's sections: what they draw is what the tables hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inspector.plots import norm_change, other_norms

NAMES = {0: "embedding", 1: "0 FFN"}
LEARNED = pd.DataFrame({"norm": 0, "dimension": range(50), "gamma": np.linspace(2, 1, 50), "beta": np.nan})


def test_what_is_drawn_is_what_the_tables_hold() -> None:
    (line,) = norm_change.learned(LEARNED, norm=0, form="sorted").data
    assert list(line.y) == sorted(LEARNED.gamma)
    assert line.customdata[0] == 49
    (counts,) = norm_change.learned(LEARNED, norm=0, form="histogram").data
    assert sum(counts.y) == 50
    with pytest.raises(ValueError, match="norm 3 has neither gamma nor beta, or is not there"):
        norm_change.learned(LEARNED, norm=3, form="sorted")
    columns = [f"{name}_{when}" for name in ("mean", "std", "rms") for when in ("before", "after")]
    statistics = pd.DataFrame({"norm": [0, 0, 0, 1, 1, 1], **{column: [1.0, 2, 9, 4, 5, 6] for column in columns}})
    lines = [line for line in norm_change.by_depth(statistics, names=list(NAMES.values())).data if line.name]
    assert all(list(line.y) == [2, 5] for line in lines)


def test_a_batch_is_drawn_with_its_padding() -> None:
    keep = np.array([[True, True], [True, False]])
    (drawn,) = other_norms.cells([["<b>", "a"], ["c", "[PAD]"]], keep).data
    np.testing.assert_array_equal(drawn.z, keep)
    assert [list(row) for row in drawn.text] == [["&lt;b&gt;", "a"], ["c", ""]]
    assert drawn.customdata[1][1] == "padding"
    depth = pd.DataFrame({"stack": ["a", "a"], "layer": [0, 1], "activation": 1.0, "gradient": 2.0, "cosine": 0.5})
    figure = other_norms.through_depth(depth)
    assert "untrained" in figure.layout.title.subtitle.text
    assert [list(line.y) for line in figure.data] == [[1, 1], [2, 2], [0.5, 0.5]]
    positions = pd.DataFrame({"position": [0, 1], "count": [2, 1], "deviation": [0.5, 0.0]})
    assert list(other_norms.by_position(positions).data[0].y) == [2, 1]
