"""What must hold of chances whatever the data: names, units, origin, and more data."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from standout import Problem
from standout.core import robust
from standout.estimation.estimate import estimate
from standout.estimation.evidence import Evidence

FACTOR = Problem(noise="bernoulli", k=3).factor


def chances_of(means: np.ndarray, pulls: np.ndarray, sigma: float) -> np.ndarray:
    n = len(means)
    given_to = Evidence(pulls, means, np.full(n, np.nan), np.zeros(n, dtype=np.bool_))
    problem = Problem(noise=f"gaussian:{sigma!r}", k=3)
    return estimate(problem, given_to, [str(i) for i in range(n)]).chance


@settings(max_examples=15)
@given(st.integers(3, 25), st.integers(0, 10**6), st.integers(-8, 8), st.integers(-50, 50))
def test_order_unit_and_origin_do_not_matter(n: int, seed: int, power: int, shift: int) -> None:
    rng = np.random.default_rng(seed)
    means, pulls = np.round(rng.standard_t(3, n), 3), rng.integers(1, 40, n)
    before = chances_of(means, pulls, 1.0)
    order = rng.permutation(n)
    np.testing.assert_array_equal(chances_of(means[order], pulls[order], 1.0), before[order])
    unit = 2.0**power
    moved = chances_of(unit * (means + shift), pulls, unit)
    np.testing.assert_allclose(moved, before, atol=1e-4)


def test_more_data_never_hurt() -> None:
    """The mean squared difference of chance and truth falls from budget to budget.

    The two falls are 5.1 and 2.9 times their standard errors here, so that correct code would
    fail with about 1 in 500 other seeds.
    """
    rng = np.random.default_rng(11)
    scores = np.zeros(3)
    for _ in range(40):
        means = rng.normal(0, 1, 20)
        means[:2] = rng.uniform(3, 9, 2)
        true = robust.outliers(means, FACTOR)
        total, pulls = np.zeros(20), 0
        for step, more in enumerate((2, 14, 112)):
            total += rng.normal(more * means, 2.0 * np.sqrt(more))
            pulls += more
            chance = chances_of(total / pulls, np.full(20, pulls), 2.0)
            scores[step] += float(((chance - true) ** 2).mean())
    assert (np.diff(scores) < 0).all()
