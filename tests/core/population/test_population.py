"""The sampler of populations: its parts against SciPy and loops, and its posterior exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from standout.core import robust
from standout.core.population.chain import _step, sample
from standout.core.population.fit import fit, log_erfcx, log_gamma, prepare
from standout.core.population.means import beta_tail, draw_means, judge, tail
from standout.core.population.population import (
    ATOMS,
    CONCENTRATION,
    EMPTY,
    GROUPS,
    Limits,
    Population,
    new_population,
)
from tests.naive.groups import chance_of_one_group


def made(
    place: list[float],
    error: float = 0.5,
    counts: tuple[list[float], list[float]] | None = None,
    limits: tuple[float, float] = (0.2, 4.0),
) -> Population:
    """A population around 0, with a prior of scale 2."""
    n = len(place)
    both = None if counts is None else (np.array(counts[0]), np.array(counts[1]))
    ends = (-50.0, 50.0) if counts is None else (0.0, math.pi / 2)
    return new_population(
        np.array(place),
        np.full(n, error**2),
        np.full(n, np.inf),
        both,
        Limits(*ends, 0.0 if counts is None else 0.7, 2.0, *limits, 1e-12),
    )


@given(st.floats(1e-6, 1e6))
def test_log_gamma(x: float) -> None:
    assert log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-8, abs=1e-8)


@given(st.floats(-30.0, 1e3))
def test_log_erfcx(x: float) -> None:
    exact = math.log(special.erfcx(x)) if x > -20.0 else x * x + math.log(2.0)
    assert log_erfcx(x) == pytest.approx(exact, rel=1e-7, abs=1e-7)


@given(st.floats(1e-3, 2e3), st.floats(1e-3, 2e3), st.floats(-0.1, 1.1))
@settings(max_examples=300)
def test_beta_tail(ones: float, zeros: float, bar: float) -> None:
    assert beta_tail(ones, zeros, bar) == pytest.approx(stats.beta.sf(bar, ones, zeros), abs=1e-5)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("width", [0.0, 0.05, 0.3])
def test_ones_and_zeros_are_beta_binomial(width: float, n: int) -> None:
    """With few arms by the gamma function, with many from tables."""
    ones, zeros = [2.0, 0.0, 12.0] + [1.0] * (n - 3), [9.0, 3.0, 0.0] + [0.0] * (n - 3)
    population = made([0.5] * n, counts=(ones, zeros))
    assert population.is_tabled == (n == 40)
    population.centre[0], population.width[0] = 0.6, width
    prepare(population, 0)
    share = math.sin(0.6) ** 2
    for arm in range(3):
        one, total = ones[arm], ones[arm] + zeros[arm]
        if width == 0.0:
            exact = stats.binom(total, share).logpmf(one)
        else:
            size = 0.25 / width**2 - 1
            exact = stats.betabinom(total, share * size, (1 - share) * size).logpmf(one)
        ways = math.log(math.comb(int(total), int(one)))
        assert fit(population, arm, 0) == pytest.approx(exact - ways, rel=1e-7, abs=1e-7)


def test_estimates_in_a_bell_are_normal() -> None:
    population = made([1.0, -3.0])
    population.centre[0], population.width[0] = 0.4, 1.2
    for arm, place in enumerate([1.0, -3.0]):
        exact = stats.norm(0.4, math.hypot(0.5, 1.2)).logpdf(place)
        assert fit(population, arm, 0) == pytest.approx(exact + 0.5 * math.log(2 * math.pi))


@pytest.mark.parametrize("slope", [1, -1])
@pytest.mark.parametrize("width", [0.05, 1.2, 20.0])
def test_estimates_on_a_slope_are_exponential_with_an_error(width: float, slope: int) -> None:
    places = [1.0, -3.0, 0.39, 30.0]
    population = made(places)
    population.centre[0], population.width[0], population.slope[0] = 0.4, width, slope
    for arm, place in enumerate(places):
        off = slope * (place - 0.4)
        exact = stats.exponnorm(width / 0.5, 0, 0.5).logpdf(off)
        assert fit(population, arm, 0) - 0.5 * math.log(2 * math.pi) == pytest.approx(exact)


def test_ones_and_zeros_on_a_slope_compare_with_those_in_a_beta_distribution() -> None:
    """By sums over the angle; the normal density of the angle costs up to a tenth of it."""
    ones, zeros = [2.0, 12.0, 30.0], [9.0, 5.0, 20.0]
    population = made([0.0] * 3, counts=(ones, zeros))
    population.place[:] = np.arcsin(
        np.sqrt((np.array(ones) + 0.375) / (np.add(ones, zeros) + 0.75))
    )
    population.centre[0], population.width[0], population.slope[0] = 0.3, 0.25, 1
    prepare(population, 0)
    angles = np.linspace(0.3, math.pi / 2, 20_001)
    density = np.exp(-(angles - 0.3) / 0.25) / 0.25
    for arm in range(3):
        likely = np.sin(angles) ** (2 * ones[arm]) * np.cos(angles) ** (2 * zeros[arm])
        exact = math.log(np.trapezoid(likely * density, angles))
        assert fit(population, arm, 0) == pytest.approx(exact, abs=0.1)


@pytest.mark.parametrize("slope", [1, -1])
def test_means_on_a_slope_are_cut_off_at_its_edge(slope: int) -> None:
    """20,000 draws against SciPy: a gap above .016 about once in 10,000 seeds."""
    places = [1.0, -0.2, -2.5]
    population = made(places)
    population.centre[0], population.width[0], population.slope[0] = 0.4, 0.7, slope
    population.group[:] = 0
    rng = np.random.default_rng(7)
    drawn = np.empty((20_000, 3))
    for row in drawn:
        draw_means(population, 3, rng)
        row[:] = population.means
    for arm, place in enumerate(places):
        middle = slope * (place - 0.4) - 0.25 / 0.7
        exact = stats.truncnorm(-middle / 0.5, np.inf, middle, 0.5)
        assert stats.kstest(slope * (drawn[:, arm] - 0.4), exact.cdf).statistic < 0.016
        for bar in (-1.0, 0.3, 0.5, 2.0):
            above = exact.sf(bar - 0.4) if slope > 0 else exact.cdf(0.4 - bar)
            assert tail(population, arm, 1.0, bar) == pytest.approx(above, abs=1e-6)
            assert tail(population, arm, -1.0, -bar) == pytest.approx(1.0 - above, abs=1e-6)


MEANS = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=9)


@given(MEANS, st.sampled_from([0.5, 1.0, 1.4826, 4.4478]), st.sampled_from([1.0, -1.0]))
@settings(deadline=None)
def test_arms_of_which_the_means_are_drawn_stand_out_or_not(
    means: list[float], factor: float, sign: float
) -> None:
    """With no doubt left about any mean, what an arm has to exceed says what its mean says."""
    population = made(means)
    population.means[:] = means
    tails = np.zeros(len(means))
    theta = judge(population, factor, sign, tails)
    signed = sign * np.array(means)
    assert sign * theta == pytest.approx(robust.threshold(signed, factor))
    near = np.abs(signed - sign * theta) < 1e-9
    np.testing.assert_array_equal(tails[~near], robust.outliers(signed, factor)[~near])


def test_two_arms_share_a_group_as_often_as_they_should() -> None:
    """4,000 correlated steps, as good as about 1,000: off by .06 about once in 10,000 seeds."""
    for places in ((0.0, 0.6), (-1.0, 1.5)):
        population = made(list(places))
        rng = np.random.default_rng(3)
        population.now[[GROUPS, CONCENTRATION, ATOMS]] = 1, 0.5, 0.5
        population.group[:], population.counts[0], population.width[0] = 0, 2, 1.0
        for slot in range(1, 1 + EMPTY):
            population.width[slot] = 1.0
        together = 0
        for _ in range(4_000):
            _step(population, 2, rng)
            together += population.group[0] == population.group[1]
        exact = chance_of_one_group(places, 0.25, 2.0, 0.2, 4.0)
        assert together / 4_000 == pytest.approx(exact, abs=0.06)


def test_groups_atoms_and_counts_stay_consistent() -> None:
    rng = np.random.default_rng(5)
    places = np.concatenate([np.zeros(60), rng.normal(0, 3, 60), np.full(30, 9.0)])
    seen = places + rng.normal(0, 0.5, 150)
    seen[7] = np.nan
    population = made(seen.tolist())
    population.variance[7] = np.inf
    tails, thetas = np.empty((20, 150)), np.empty((2, 20))
    population.members[:] = np.argsort(np.argsort(np.nan_to_num(seen)))
    sample(
        population, 3, False, np.array([1.0, -1.0]), np.array([4.0, 4.0]), tails, thetas,
        np.empty(20), np.empty(20), rng,
    )  # fmt: skip
    groups = int(population.now[GROUPS])
    assert 0 <= population.group.min() <= population.group.max() < groups
    counted = np.bincount(population.group, minlength=groups)
    np.testing.assert_array_equal(counted, population.counts[:groups])
    assert (population.width[:groups] >= 0).all()
    assert np.isfinite(tails).all()
    assert (thetas[1] < thetas[0]).all()
