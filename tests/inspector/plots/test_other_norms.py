"""The cells of a batch: what they draw is what they are given."""

from __future__ import annotations

import numpy as np

from inspector.plots import other_norms


def test_a_batch_is_drawn_with_its_padding() -> None:
    keep = np.array([[True, True], [True, False]])
    (drawn,) = other_norms.cells([["<b>", "a"], ["c", "[PAD]"]], keep).data
    np.testing.assert_array_equal(drawn.z, keep)
    assert [list(row) for row in drawn.text] == [["&lt;b&gt;", "a"], ["c", ""]]
    assert drawn.customdata[1][1] == "padding"
