"""Measures by distance, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import positional, record
from models.loaded import LoadedModel
from tests.closeness import assert_close

RANDOM = np.random.default_rng(0).normal(size=(40, 6))


def test_a_turn_takes_each_position_to_the_next_ones() -> None:
    """Claim: PE(p + k) = M_k PE(p), for the paper's table, and for all sines before all cosines; a learned table has
    no such turn.
    """
    paper = positional.sinusoidal(300, 32)
    for table in (paper, np.concatenate([paper[:, 0::2], paper[:, 1::2]], axis=1)):
        residual = positional.shift_residual(table, distance=17)
        assert residual is not None
        assert residual < 1e-12
    frequency, turned = 10000.0 ** -(np.arange(0, 32, 2) / 32), np.zeros((32, 32))
    for pair, angle in enumerate(17 * frequency):  # the matrix itself
        turned[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [
            [np.cos(angle), np.sin(angle)],
            [-np.sin(angle), np.cos(angle)],
        ]
    assert_close(paper[:-17] @ turned.T, paper[17:], relative=1e-12)
    assert positional.shift_residual(RANDOM, distance=3) is None
    with pytest.raises(ValueError, match="distance is 40; with 40 positions"):
        positional.shift_residual(RANDOM, distance=40)


def test_a_fitted_matrix_holds_where_it_was_fitted() -> None:
    fitted, other = positional.fitted_shift(positional.sinusoidal(40, 64), distance=3)
    assert fitted < 1e-9
    assert other > 1e-3  # more columns than rows: many matrices fit, and only one of them is the turn
    half = RANDOM[:20]
    matrix, *_ = np.linalg.lstsq(half[:-2], half[2:], rcond=None)
    missed = np.sqrt((((RANDOM[20:-2] @ matrix) - RANDOM[22:]) ** 2).mean() / (RANDOM[22:] ** 2).mean())
    assert positional.fitted_shift(RANDOM, distance=2)[1] == pytest.approx(missed)


def test_the_spectrum_shares_out_every_square() -> None:
    for table in (RANDOM, RANDOM[:39]):
        found = positional.spectrum(table)
        assert found["share"].sum() == pytest.approx(1)
    wave = np.cos(2 * np.pi * np.arange(40) / 8)[:, None]
    found = positional.spectrum(wave)
    assert found["wavelength"][found["share"].argmax()] == 8
    assert found["share"].max() == pytest.approx(1)
    assert np.isnan(positional.spectrum(np.ones((5, 2)))["share"]).all()


@pytest.mark.parametrize("special", [True, False])
def test_attention_by_distance_against_a_loop(special: bool, minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat on the mat.")
    heads, found = positional.attention_by_distance(trace, stream="encoder", reach=10, special=special)
    read = [at for at, is_special in enumerate(trace.special) if special or not is_special]
    weights = trace.attention(layer=2, head=5)
    assert len(read) == len(trace.tokens) - (0 if special else 2)
    row = found[heads.index((2, 5))]
    for apart in range(-10, 11):
        cells = [weights[at, at + apart] for at in read if at + apart in read]
        if cells:
            assert_close(row[10 + apart], np.mean(cells, dtype=np.float64), relative=1e-6)
        else:
            assert np.isnan(row[10 + apart])
    with pytest.raises(ValueError, match="reach is 0"):
        positional.attention_by_distance(trace, stream="encoder", reach=0)


def test_products_by_distance_against_a_loop() -> None:
    products = RANDOM @ RANDOM.T
    rows = positional.by_distance(products).set_index("distance")
    cells = [products[at, at - 7] for at in range(7, 40)]
    assert rows.loc[-7, "mean"] == pytest.approx(np.mean(cells))
    assert rows.loc[-7, "std"] == pytest.approx(np.std(cells))
    assert rows.loc[39, "count"] == 1


@pytest.mark.parametrize("rows", [40, 39])
def test_a_wavelengths_share_is_what_its_cosine_and_sine_hold_of_the_table(rows: int) -> None:
    """Projection, in place of the Fourier transform; with an even number of rows the shortest wave has no sine."""
    centred = RANDOM[:rows] - RANDOM[:rows].mean(axis=0)
    shares = []
    for waves in range(1, rows // 2 + 1):
        angle = 2 * np.pi * waves * np.arange(rows) / rows
        wave = [np.cos(angle)] if 2 * waves == rows else [np.cos(angle), np.sin(angle)]
        plane, _ = np.linalg.qr(np.stack(wave, axis=1))
        shares.append(((plane.T @ centred) ** 2).sum() / (centred**2).sum())
    found = positional.spectrum(RANDOM[:rows])
    assert_close(found["share"], shares, relative=1e-12)
    assert_close(found["wavelength"], rows / np.arange(1, rows // 2 + 1), relative=1e-12)
