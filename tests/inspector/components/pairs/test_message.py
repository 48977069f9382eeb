from __future__ import annotations

import numpy as np

from inspector.components.pairs import matrix_bytes
from inspector.head_distances import HeadDistances
from tests.inspector.components.messages import digest, unpack


def test_every_distance_travels_with_the_heads_and_the_open_pair() -> None:
    values = np.array([[0, 0.1, 0.2], [0.1, 0, 0.3], [0.2, 0.3, 0]])
    found = HeadDistances(((0, 0), (0, 1), (1, 0)), values, 3, 3, (0, 0, 1))
    message = matrix_bytes(found, selected=(0, 2))
    header, numbers = unpack(message, "<f4")
    assert header["heads"] == [[0, 0], [0, 1], [1, 0, 1]]  # the second attention of its layer is named
    assert (header["selected"], header["vmax"]) == ([0, 2], float(np.float32(0.3)))
    np.testing.assert_array_equal(numbers.reshape(3, 3), values.astype(np.float32))
    assert digest(message) == "767c75dcbac89eaa"  # as plots.head_distances packed it at a0541a1
