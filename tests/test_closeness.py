"""The helper that holds numbers to others: what it lets pass, and the planted faults that it sees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from tests.closeness import assert_close, relative_error

EXPECTED = np.array([[191.0, -0.5], [1e-3, 0.0]])
AS = {
    "array": np.asarray,
    "float32 array": np.float32,
    "tensor": torch.tensor,
    "table": pd.DataFrame,
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("kind", AS)
def test_the_largest_entry_gives_the_size(kind: str):
    near, far = EXPECTED.copy(), EXPECTED.copy()
    near[1, 1] += 0.9e-6 * 191
    far[1, 1] += 1.1e-6 * 191
    make = AS[kind]
    assert_close(make(near), make(EXPECTED), relative=1e-6)
    with pytest.raises(AssertionError, match=r"at \[1, 1\]: off by 0\.00021"):
        assert_close(make(far), make(EXPECTED), relative=1e-6)


def test_a_model_in_float64_may_be_twice_or_a_million_times_as_large():
    for size in (1e-6, 1, 1e6):
        assert_close(size * (EXPECTED + 1e-5), size * EXPECTED, relative=1e-7)
        with pytest.raises(AssertionError):
            assert_close(size * (EXPECTED + 1e-4), size * EXPECTED, relative=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_of_every_precision(dtype: torch.dtype):
    numbers = torch.linspace(-1, 1, 9, dtype=dtype, requires_grad=True)
    assert_close(numbers, numbers.clone(), relative=0)
    with pytest.raises(AssertionError):
        assert_close(numbers, -numbers, relative=0.1)
    with pytest.raises(AssertionError, match=r"is not the expected torch\.int64"):
        assert_close(numbers, torch.zeros(9, dtype=torch.int64), relative=9)


def test_a_number_is_expected_of_every_entry():
    assert_close(np.ones((2, 3)), 1, relative=0)
    assert_close(0.5, 0.5000001, relative=1e-6)
    with pytest.raises(AssertionError, match=r"2 is not the expected 1 at \[1\]"):
        assert_close([1, 2], 1, relative=0.5)


@pytest.mark.parametrize(("actual", "expected"), [(np.ones(1), np.ones(2)), (np.ones((2, 1)), np.ones(2)), (1, [1])])
def test_shapes_are_equal(actual, expected):
    with pytest.raises(AssertionError, match="shape"):
        assert_close(actual, expected, relative=1e9)


def test_nan_and_infinity_stand_in_the_same_places():
    places = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert_close(places + 1e-7, places, relative=1e-6)
    for other in ([0, np.inf, -np.inf, 1], [np.nan, -np.inf, -np.inf, 1], [np.nan, np.inf, -np.inf, np.nan]):
        with pytest.raises(AssertionError, match="off by inf"):
            assert_close(other, places, relative=1e9)
    with pytest.raises(AssertionError, match="off by inf"):
        assert_close(places, [0.0, np.inf, -np.inf, 1.0], relative=1e9)


def test_infinities_give_no_size():
    with pytest.raises(AssertionError, match="of the largest, 1,"):
        assert_close([np.inf, 2.0], [np.inf, 1.0], relative=0.5)


def test_what_should_vanish_is_held_to_the_size_of_what_it_is_a_difference_of():
    assert_close(np.zeros(3), np.zeros(3), relative=1e-6)
    with pytest.raises(AssertionError):
        assert_close(np.full(3, 1e-30), np.zeros(3), relative=1e-6)
    assert_close(np.full(3, 1e-5), np.zeros(3), relative=1e-6, scale=EXPECTED)
    with pytest.raises(AssertionError):
        assert_close(np.full(3, 1e-3), np.zeros(3), relative=1e-6, scale=EXPECTED)


def test_nothing_is_close_to_nothing():
    assert_close(np.zeros((0, 4)), np.zeros((0, 4)), relative=0)


def test_the_relative_error_is_a_share_of_the_largest():
    assert relative_error([2.0, 4.0, np.nan], [2.5, 5.0, np.nan]) == pytest.approx(0.2)
    assert relative_error(np.zeros(2), np.zeros(2)) == 0
    assert relative_error(np.ones(2), np.zeros(2)) == np.inf
