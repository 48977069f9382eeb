from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from models.transformer.positions import LearnedPositions, Rotary, SinusoidalPositions, sinusoidal
from tests.closeness import assert_close


@pytest.mark.parametrize(("positions", "width"), [(40, 16), (9, 7), (3, 1), (1, 2)])
def test_table_equals_the_formula_cell_by_cell(positions, width):
    table = sinusoidal(positions, width)
    assert table.dtype == torch.float64
    expected = np.empty((positions, width))
    for p in range(positions):
        for feature in range(width):
            angle = p / 10000 ** (2 * (feature // 2) / width)
            expected[p, feature] = math.sin(angle) if feature % 2 == 0 else math.cos(angle)
    assert_close(table.numpy(), expected, relative=1e-13)


@pytest.mark.parametrize("shift", [1, 5, 17])
def test_a_shift_is_a_rotation_that_depends_on_the_shift_alone(shift):
    width = 12
    table = sinusoidal(60, width).numpy()
    rotation = np.zeros((width, width))
    for i in range(0, width, 2):
        turn = shift / 10000 ** (i / width)
        rotation[i : i + 2, i : i + 2] = [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]
    assert_close(table[shift:], table[:-shift] @ rotation.T, relative=1e-12)


def test_the_fixed_table_is_neither_learned_nor_saved_nor_rounded():
    module = SinusoidalPositions(20, 6).float()
    assert module.state_dict() == {}
    assert list(module.parameters()) == []
    assert_close(module(7), sinusoidal(20, 6)[:7], relative=0)


def test_the_learned_table_is_a_parameter():
    module = LearnedPositions(20, 6)
    assert dict(module.named_parameters())["table"].shape == (20, 6)
    assert_close(module(7), module.table[:7], relative=0)


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
def test_a_text_longer_than_the_table_is_refused_with_both_numbers(kind):
    module = kind(20, 6)
    assert module(20).shape == (20, 6)
    with pytest.raises(ValueError, match="the text has 21 tokens, the model has 20 positions; cut the text"):
        module(21)


@pytest.mark.parametrize("kind", [sinusoidal, LearnedPositions])
def test_empty_tables_are_refused(kind):
    with pytest.raises(ValueError, match="a table of 0 positions and width 6"):
        kind(0, 6)
    with pytest.raises(ValueError, match="a table of 4 positions and width 0"):
        kind(4, 0)


def test_rope_turns_each_pair_of_features_as_a_complex_number():
    """x_2i + j x_2i+1 is multiplied by e^(j p w), w = base^(-2i/E) (Su et al. 2021, eq. 12)."""
    torch.manual_seed(0)
    x = torch.randn(1, 1, 4, 6, dtype=torch.float64)
    turned = Rotary(6, base=100.0)(x, 3)
    for row in range(4):
        for i in range(0, 6, 2):
            number = complex(*x[0, 0, row, i : i + 2].tolist())
            turn = complex(math.cos((3 + row) * 100 ** (-i / 6)), math.sin((3 + row) * 100 ** (-i / 6)))
            expected = number * turn
            assert_close(turned[0, 0, row, i : i + 2].tolist(), [expected.real, expected.imag], relative=1e-12)


def test_rope_scores_depend_on_distance_alone():
    torch.manual_seed(1)
    query, key = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    turn = Rotary(8, base=10000.0)
    for distance in (-7, 0, 1, 40):
        scores = [float(turn(query, p + 50) @ turn(key, p + 50 + distance).mT) for p in range(0, 2000, 97)]
        assert_close(scores, scores[0], relative=1e-11, scale=query.norm() * key.norm())
    near, far = (float(turn(query, 0) @ turn(key, distance).mT) for distance in (1, 40))
    assert abs(near - far) > 1e-3


def test_rope_of_an_odd_head_is_refused():
    with pytest.raises(ValueError, match="a head of 5 features has no pairs to turn"):
        Rotary(5, base=10000.0)
