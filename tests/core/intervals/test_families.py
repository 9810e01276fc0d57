from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.intervals.bernoulli import bernoulli_interval
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.intervals.mixture import mixture_radius, mixture_rho
from standout.core.intervals.student import student_radius, student_step
from tests.naive import anytime

pytestmark = pytest.mark.kernel

alphas = st.sampled_from([0.05, 0.05 / 105, 1e-8])
rhos = st.sampled_from([5.0, 30.0, 100.0])


@given(st.integers(1, 10**8), alphas, st.sampled_from([0.5, 1e12, 1e-12]), rhos)
def test_normal_mixture(s: int, alpha: float, sigma: float, rho: float) -> None:
    expected = anytime.mixture_radius(s, alpha, sigma, rho)
    assert mixture_radius(s, alpha, sigma, rho) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("s", "radius"), [(100, 0.252), (1000, 0.069), (10000, 0.0227)])
def test_known_radii(s: int, radius: float) -> None:
    alpha = 0.05 / 105
    found = mixture_radius(s, alpha, 0.5, mixture_rho(alpha, 1000.0))
    assert found == pytest.approx(radius, rel=0.01)


@given(st.integers(0, 300), st.integers(0, 300), alphas, rhos)
def test_beta_binomial(successes: int, failures: int, alpha: float, rho: float) -> None:
    """What lies outside is rejected, all of it; what lies well inside is not."""
    s = successes + failures
    if s == 0:
        return
    lower, upper = bernoulli_interval(s, float(successes), alpha, rho)
    mean = successes / s
    assert 0 <= lower <= mean <= upper <= 1
    limit = math.log(1 / alpha)
    for q in np.linspace(1e-9, 1 - 1e-9, 201).tolist():
        ratio = anytime.bernoulli_log_ratio(successes, failures, q, rho)
        if q <= lower or q >= upper:
            assert ratio >= limit - 1e-6
        elif lower + 0.01 < q < upper - 0.01:
            assert ratio < limit


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=60), alphas, rhos)
def test_student(values: list[int], alpha: float, rho: float) -> None:
    rewards = [value / 4 for value in values]
    squares, total = 0.0, 0.0
    for t, reward in enumerate(rewards):
        squares = student_step(t, total, squares, reward)
        total += reward
    mean = total / len(rewards)
    expected = sum((x - mean) ** 2 for x in rewards)
    assert squares == pytest.approx(expected, abs=1e-9)
    radius = student_radius(len(rewards), squares, alpha, rho)
    if math.isfinite(radius) and squares > 0:
        ratio = anytime.student_log_ratio(rewards, mean + radius, rho)
        assert ratio == pytest.approx(math.log(1 / alpha), rel=1e-6)
    elif not math.isfinite(radius):
        # No mean can be rejected yet, however far away.
        far = anytime.student_log_ratio(rewards, mean + 1e9, rho) if squares else 0.0
        assert far < math.log(1 / alpha)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), alphas)
def test_empirical_bernstein(values: list[int], alpha: float) -> None:
    rewards = [value / 8 for value in values]
    variation, total = 0.0, 0.0
    for t, reward in enumerate(rewards):
        variation = bernstein_step(t, total, variation, reward)
        total += reward
    expected = anytime.bernstein_radius(rewards, alpha)
    assert bernstein_radius(len(rewards), variation, alpha) == pytest.approx(expected, rel=1e-9)
