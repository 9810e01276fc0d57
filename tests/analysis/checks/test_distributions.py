"""The tails against `scipy.stats`, near the middle and far out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from standout.analysis.checks import distributions as ours
from standout.analysis.checks.workers import Table

FREEDOMS = np.array([3, 4, 5, 8, 21, 100, 999, 25_000, 1_000_000])


def test_normal_tail() -> None:
    z = np.array([-40.0, -3.0, -0.0, 1e-9, 0.5, 2.0, 8.0, 37.0, math.inf, -math.inf])
    np.testing.assert_allclose(ours.normal_tail(z), stats.norm.sf(z), rtol=1e-12)
    assert float(ours.normal_tail(1.5)) == pytest.approx(stats.norm.sf(1.5))
    assert ours.normal_tail(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("freedom", [1e-3, 0.7, 1.0, 2.0, 9.0, 150.5, 1e4, 2e6])
def test_chi_square_tail(freedom: float) -> None:
    spread = math.sqrt(2 * freedom)
    x = np.concatenate(
        [freedom + spread * np.linspace(-6, 12, 37), freedom * np.geomspace(0.1, 9, 9)]
    )
    x = np.append(x[x > 0], 1e-5 * freedom)
    found = [ours.chi_square_tail(value, freedom) for value in x.tolist()]
    np.testing.assert_allclose(found, stats.chi2.sf(x, freedom), rtol=1e-8, atol=1e-290)
    edges = [ours.chi_square_tail(value, freedom) for value in (-1.0, 0.0, math.inf)]
    assert edges == [1.0, 1.0, 0.0]
    assert math.isnan(ours.chi_square_tail(math.nan, freedom))


@pytest.mark.parametrize("shift", [0.0, 0.02, 1.2, 40.0, 4000.0, 40_000.0])
def test_shifted_chi_square_tail(shift: float) -> None:
    mean, spread = 9 + shift, math.sqrt(2 * (9 + 2 * shift))
    for x in (0.0, 1e-6, *(mean + spread * np.linspace(-4, 9, 14))):
        if x < 0:
            continue
        expected = stats.ncx2.sf(x, 9, shift) if shift else stats.chi2.sf(x, 9)
        assert ours.shifted_chi_square_tail(x, 9, shift) == pytest.approx(expected, rel=1e-7), x


def test_shifted_chi_square_tail_by_its_definition() -> None:
    """Nine squares of normal values, of which one is off: counted."""
    rng = np.random.default_rng(1)
    squares = rng.normal([2.0, *[0.0] * 8], size=(200_000, 9)) ** 2
    seen = np.mean(squares.sum(axis=1) > 16)
    assert ours.shifted_chi_square_tail(16, 9, 4.0) == pytest.approx(seen, abs=0.005)


def test_student_tail() -> None:
    t, freedom = np.meshgrid([0.0, 1e-9, 0.3, 1.0, 1.7, 1.8, 3.0, 9.0, 60.0, 1e8], FREEDOMS)
    found = ours.student_tail(t.ravel(), freedom.ravel().astype(float))
    np.testing.assert_allclose(found, stats.t.sf(t, freedom).ravel(), rtol=1e-8, atol=1e-300)
    assert ours.student_tail(np.zeros(0), np.zeros(0)).shape == (0,)


def test_student_quantiles() -> None:
    tails = np.array([0.4, 0.3, 0.2, 0.1])
    found = ours.student_quantiles(tails, FREEDOMS)
    np.testing.assert_allclose(found, stats.t.isf(tails, FREEDOMS[:, None]), rtol=1e-8)


@pytest.mark.parametrize(
    ("rows", "columns", "share"), [(40, 9, 0.5), (9, 60, 0.05), (1200, 30, 0.1)]
)
def test_products_of_tables(rows: int, columns: int, share: float) -> None:
    """Rows with few entries and with many, and some with none."""
    rng = np.random.default_rng(rows)
    full = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < share)
    full[::7] = rng.normal(size=full[::7].shape)
    row, column = np.nonzero(full)
    mixed = rng.permutation(len(row))
    found = Table(row[mixed], column[mixed], full[row, column][mixed]).product(columns)
    np.testing.assert_allclose(found, full.T @ full, atol=1e-12)
    none = np.zeros(0, dtype=np.int64)
    assert not Table(none, none, np.zeros(0)).product(3).any()
