"""Interval kernels beside slow twins; those of a closed form are in test_anytime.py."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standout.core.intervals import heavy
from standout.core.intervals.bernoulli import bernoulli_interval, log_ratio
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.intervals.choice import check_interval
from standout.core.intervals.student import student_radius
from standout.core.kinds import IntervalKind
from standout.core.noise import Gaussian
from standout.errors import MethodError
from tests.naive import anytime

pytestmark = pytest.mark.kernel

alphas = st.sampled_from([0.05, 0.05 / 105, 1e-8])
rhos = st.sampled_from([5.0, 30.0, 100.0, 700.0])
counts = st.integers(0, 40) | st.integers(0, 10**6)


@given(counts, counts, alphas, rhos, st.sampled_from([1, 4]))
def test_beta_binomial_ends(
    successes: int, failures: int, alpha: float, rho: float, scales: int
) -> None:
    """Never inside the true end, and outside by at most 1e-3 of the distance to the mean."""
    s = successes + failures
    if s == 0:
        return
    mean = successes / s
    lower, upper = bernoulli_interval(s, float(successes), alpha, rho, scales)
    true_lower, true_upper = anytime.beta_binomial_ends(successes, failures, alpha, rho, scales)
    # lgamma of a million has an error of about 1e-9, and so has the ratio.
    room = 1e-6 * (true_upper - true_lower)
    assert true_lower - 1.1e-3 * (mean - true_lower) - room <= lower <= true_lower + room
    assert true_upper - room <= upper <= true_upper + 1.1e-3 * (true_upper - mean) + room


@given(st.floats(0, 30), st.floats(0, 30), rhos)
def test_the_beta_binomial_ratio_falls_to_the_mean_and_rises_after_it(
    successes: float, failures: float, rho: float
) -> None:
    """Or stays below 1: then nothing is rejected there. So what is kept is an interval.

    Also for sums of fractions, that is for rewards anywhere in [0, 1].
    """
    if successes + failures < 1:
        return
    mean = successes / (successes + failures)
    points = np.linspace(1e-6, 1 - 1e-6, 101).tolist()
    values = [log_ratio(successes, failures, q, rho) for q in points]
    for q, next_q, value, next_value in zip(points, points[1:], values, values[1:], strict=False):
        if next_q <= mean:
            assert next_value <= max(value, 0.0) + 1e-9
        if q >= mean:
            assert value <= max(next_value, 0.0) + 1e-9


def walk(rewards: list[float], alpha: float, sigma: float) -> np.ndarray:
    moments = np.zeros((2, heavy.SIZE))
    total = 0.0
    for t, reward in enumerate(rewards):
        heavy.heavy_step(moments, 1, t, total, reward, alpha, sigma)
        total += reward
    assert not moments[0].any()
    return moments


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    s=st.integers(2, 400),
    alpha=alphas,
    scale=st.sampled_from([1.0, 1e-6, 1e6]),
    at=st.sampled_from([0.0, 50.0]),
)
def test_heavy(seed: int, s: int, alpha: float, scale: float, at: float) -> None:
    rng = np.random.default_rng(seed)
    sigma = 0.7 * scale
    rewards = [scale * (at + x / 3) for x in rng.standard_t(2.5, s).tolist()]
    moments = walk(rewards, alpha, sigma)
    mean = sum(rewards) / s
    lower, upper = heavy.heavy_interval(s, mean, moments, 1, alpha, sigma)
    strengths = [heavy.grid_strength(j, alpha, sigma) for j in range(heavy.GRID)]
    share = alpha / (2 * (heavy.GRID + 1))
    cost = math.log(1 / share)
    coarse = anytime.dubins_savage(s, share, 0.5 / (strengths[-1] * sigma**2), sigma)
    assert heavy.coarse_radius(s, alpha, sigma) == pytest.approx(coarse)

    def is_kept(y: float) -> bool:
        logs = anytime.heavy_log_ratios(rewards, y, strengths, strengths[3], sigma)
        return abs(mean - y) <= coarse and max(logs) < cost

    assert mean - coarse * (1 + 1e-9) <= lower < upper <= mean + coarse * (1 + 1e-9)
    step = 1e-6 * (upper - lower) + 1e-9 * scale
    # Everything outside is rejected by something ...
    near = coarse * (1 - 1e-9)  # at its very end rounding decides
    for y in np.linspace(mean - near, lower - step, 12).tolist():
        assert y >= lower or not is_kept(y)
    for y in np.linspace(upper + step, mean + near, 12).tolist():
        assert y <= upper or not is_kept(y)
    # ... and nothing at the ends is, once there are pulls enough for every lambda.
    if s >= 200:
        assert is_kept(lower + step)
        assert is_kept(upper - step)


def test_heavy_is_close_to_what_a_known_scale_would_give() -> None:
    """Within 1.5 of sqrt(2 sigma^2 log(2/alpha)/s) from 100 to 100,000 pulls."""
    alpha, sigma = 0.05 / 17, 1.0
    draws = (np.random.default_rng(3).standard_t(3, 100_000) / math.sqrt(3)).tolist()
    for s in (100, 1000, 10_000):
        moments = walk(draws[:s], alpha, sigma)
        lower, upper = heavy.heavy_interval(s, sum(draws[:s]) / s, moments, 1, alpha, sigma)
        ideal = math.sqrt(2 * math.log(2 / alpha) / s)
        assert (upper - lower) / 2 < 1.5 * ideal


def test_one_heavy_reward_rules_out_almost_nothing() -> None:
    moments = walk([3.0], 0.01, 1.0)
    lower, upper = heavy.heavy_interval(1, 3.0, moments, 1, 0.01, 1.0)
    assert upper - 3.0 == pytest.approx(3.0 - lower) == heavy.coarse_radius(1, 0.01, 1.0)
    assert upper - lower > 100


@given(st.integers(1, 10**9), alphas, rhos)
def test_without_variance_the_student_radius_is_zero_or_infinite(
    s: int, alpha: float, rho: float
) -> None:
    assert student_radius(s, 0.0, alpha, rho, 4) in (0.0, math.inf)
    assert student_radius(1, 0.0, alpha, rho, 4) == math.inf


def test_the_student_radius_approaches_that_of_a_known_scale() -> None:
    alpha, c = 0.001, 20.0
    for s in (1000, 100_000):
        known = anytime.mixture_radius(s, alpha, 2.0, c)
        assert student_radius(s, 4.0 * s, alpha, c, 1) == pytest.approx(known, rel=20 / s)


def test_bernstein_adapts_to_the_variance() -> None:
    """At 10,000 pulls near sqrt(2 V log(2/alpha))/s, and that is what Bernoulli(.02) needs."""
    rng = np.random.default_rng(5)
    rewards = (rng.random(10_000) < 0.02).astype(float).tolist()
    variation, total = 0.0, 0.0
    for t, reward in enumerate(rewards):
        variation = bernstein_step(t, total, variation, reward)
        total += reward
    alpha = 0.001
    ideal = math.sqrt(2 * variation * math.log(2 / alpha)) / len(rewards)
    assert ideal < bernstein_radius(len(rewards), variation, alpha) < 1.35 * ideal


def test_bernstein_has_no_smallest_width() -> None:
    """A hundred times the pulls at the same variance: about a tenth of the radius, for ever."""
    radii = [bernstein_radius(10**e, 0.25 * 10**e, 0.001) for e in range(4, 17, 2)]
    for wide, narrow in itertools.pairwise(radii):
        assert 8 < wide / narrow < 12


def test_a_refused_interval_names_all_that_are_valid() -> None:
    with pytest.raises(MethodError, match="valid: hoeffding, released, mixture, heavy"):
        check_interval(IntervalKind.BETTING, Gaussian(1.0))
