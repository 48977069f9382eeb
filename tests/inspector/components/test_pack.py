"""Messages read back with struct, json and numpy alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inspector.components.pack import pack, quantise
from tests.inspector.components.messages import unpack


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "abcd", "ü€😀"])
def test_pack_aligns_the_data_whatever_the_header(text):
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    header, values = unpack(pack({"text": text}, data), "<f4")
    assert header == {"text": text}
    np.testing.assert_array_equal(values, data.ravel())


def test_pack_refuses_what_the_browser_would_misread():
    with pytest.raises(ValueError, match="float64"):
        pack({}, np.zeros(2))
    with pytest.raises(ValueError, match="JSON"):
        pack({"vmax": math.nan}, np.zeros(2, np.uint8))


def test_a_byte_is_the_root_of_the_weight_and_what_is_over_the_top_is_the_last_colour():
    weights = np.array([0, 1e-6, 0.01, 0.25, 0.3, 1], np.float32)
    assert quantise(weights).tolist() == [0, 0, 26, 128, 140, 255]
    assert quantise(weights, top=0.25).tolist() == [0, 1, 51, 255, 255, 255]
