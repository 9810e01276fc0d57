from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.intervals import betting
from standout.core.intervals.bernoulli import (
    bernoulli_centre,
    bernoulli_evidence,
    bernoulli_interval,
    log_ratio,
)
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.intervals.mixture import mixture_radius, mixture_rho
from standout.core.intervals.student import student_radius, student_step
from tests.naive import anytime

pytestmark = pytest.mark.kernel

alphas = st.sampled_from([0.05, 0.05 / 105, 1e-8])
rhos = st.sampled_from([5.0, 30.0, 100.0])
scales = st.sampled_from([1, 2, 4, 8])


@given(st.integers(1, 10**8), alphas, st.sampled_from([0.5, 1e12, 1e-12]), rhos)
def test_normal_mixture(s: int, alpha: float, sigma: float, rho: float) -> None:
    expected = anytime.mixture_radius(s, alpha, sigma, rho)
    assert mixture_radius(s, alpha, sigma, rho, 1) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 10**8), alphas, st.sampled_from([0.5, 1e12, 1e-12]), rhos, scales)
def test_average_of_normal_mixtures(
    s: int, alpha: float, sigma: float, rho: float, scales: int
) -> None:
    """The radius is rejected, and a little less is not."""
    radius = mixture_radius(s, alpha, sigma, rho, scales)

    def value(part: float) -> float:
        ratio = partial(anytime.mixture_log_ratio, part * radius, s, sigma)
        return anytime.averaged(ratio, s, rho, scales)

    assert value(1 + 1e-9) >= math.log(1 / alpha)
    assert value(1 - 1.5e-4) < math.log(1 / alpha)


@pytest.mark.parametrize(("s", "radius"), [(100, 0.252), (1000, 0.069), (10000, 0.0227)])
def test_known_radii(s: int, radius: float) -> None:
    alpha = 0.05 / 105
    found = mixture_radius(s, alpha, 0.5, mixture_rho(alpha, 1000.0), 1)
    assert found == pytest.approx(radius, rel=0.01)


@given(st.integers(0, 300), st.integers(0, 300), alphas, rhos, scales)
def test_beta_binomial(
    successes: int, failures: int, alpha: float, rho: float, scales: int
) -> None:
    """What lies outside is rejected, all of it; what lies well inside is not."""
    s = successes + failures
    if s == 0:
        return
    lower, upper = bernoulli_interval(s, float(successes), alpha, rho, scales)
    mean = successes / s
    assert 0 <= lower <= mean <= upper <= 1
    limit = math.log(1 / alpha)
    for q in np.linspace(1e-9, 1 - 1e-9, 201).tolist():
        ratio = anytime.averaged(
            partial(anytime.bernoulli_log_ratio, successes, failures, q), s, rho, scales
        )
        if q <= lower or q >= upper:
            assert ratio >= limit - 1e-6
        elif lower + 0.01 < q < upper - 0.01:
            assert ratio < limit


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=60), alphas, rhos, scales)
def test_student(values: list[int], alpha: float, rho: float, scales: int) -> None:
    rewards = [value / 4 for value in values]
    squares, total = 0.0, 0.0
    for t, reward in enumerate(rewards):
        squares = student_step(t, total, squares, reward)
        total += reward
    mean = total / len(rewards)
    expected = sum((x - mean) ** 2 for x in rewards)
    assert squares == pytest.approx(expected, abs=1e-9)
    radius = student_radius(len(rewards), squares, alpha, rho, scales)
    limit = math.log(1 / alpha)

    def value(off: float) -> float:
        return anytime.averaged(
            partial(anytime.student_log_ratio, rewards, mean + off), len(rewards), rho, scales
        )

    if math.isfinite(radius):
        assert value(radius * (1 + 1e-9)) >= limit - 1e-9
        assert value(radius * (1 - 1e-4)) < limit
    elif squares > 0:
        # No rho alone can reject any mean yet, however far away.
        for each, weight in anytime.weights_of(len(rewards), rho, scales):
            far = anytime.student_log_ratio(rewards, mean + 1e9, each)
            assert far + math.log(weight) < limit


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), alphas)
def test_betting(values: list[int], alpha: float) -> None:
    """What lies outside is rejected by bets or by Bernstein's bound, what lies inside is not."""
    rewards = [value / 8 for value in values]
    moments = np.zeros((2, betting.SIZE))
    total = 0.0
    for t, reward in enumerate(rewards):
        betting.betting_step(moments, 1, t, total, reward)
        total += reward
    s, mean = len(rewards), total / len(rewards)
    lower, upper = betting.betting_interval(s, total, moments, 1, alpha)
    assert not moments[0].any()
    assert 0 <= lower <= mean <= upper <= 1
    strengths = [512 / 2**j for j in range(21)]
    limit = math.log(2 / (0.95 * alpha))
    radius = anytime.bernstein_radius(rewards, 0.05 * alpha)
    others = [1 - x for x in rewards]

    def is_rejected(y: float) -> bool:
        held = anytime.betting_log_capital(rewards, y, strengths)
        against = anytime.betting_log_capital(others, 1 - y, strengths)
        return max(held, against) >= limit - 1e-6 or abs(y - mean) >= radius * (1 - 1e-9)

    for y in np.linspace(1e-9, 1 - 1e-9, 101).tolist():
        if y < lower or y > upper:
            assert is_rejected(y)
        elif lower + 0.002 < y < upper - 0.002:
            assert not is_rejected(y)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), alphas)
def test_empirical_bernstein(values: list[int], alpha: float) -> None:
    rewards = [value / 8 for value in values]
    variation, total = 0.0, 0.0
    for t, reward in enumerate(rewards):
        variation = bernstein_step(t, total, variation, reward)
        total += reward
    expected = anytime.bernstein_radius(rewards, alpha)
    assert bernstein_radius(len(rewards), variation, alpha) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.9, 1e-110])
@pytest.mark.parametrize(
    "rewards", [[0.0], [1.0], [0.5], [1e-300], [1 - 1e-16], [0.0, 1.0], [1.0] + [0.0] * 39]
)
def test_betting_at_the_ends(rewards: list[float], alpha: float) -> None:
    """Rewards all alike, next to an end, or told with an alpha near 0: finite, around the mean."""
    moments = np.zeros((1, betting.SIZE))
    total = 0.0
    for t in range(40):
        reward = rewards[t % len(rewards)]
        betting.betting_step(moments, 0, t, total, reward)
        total += reward
        lower, upper = betting.betting_interval(t + 1, total, moments, 0, alpha)
        mean = total / (t + 1)
        assert 0.0 <= lower <= mean + 1e-15
        assert mean - 1e-15 <= upper <= 1.0


@pytest.mark.parametrize("alpha", [0.9, 1e-110])
@pytest.mark.parametrize("rho", [1.5, 6e7])
@pytest.mark.parametrize("scales", [1, 4, 8])
def test_averages_at_the_ends(scales: int, rho: float, alpha: float) -> None:
    """From one pull to more than there can be: a number, and never none."""
    for s in (1, 2, 3, 10, 10**4, 10**9, 10**12, 10**15, 4 * 10**18):
        assert 0.0 < mixture_radius(s, alpha, 1.0, rho, scales) < math.inf
        assert student_radius(s, 1.0 * s, alpha, rho, scales) > 0.0
        lower, upper = bernoulli_interval(s, float(s // 3), alpha, rho, scales)
        assert 0.0 <= lower <= upper <= 1.0


@pytest.mark.parametrize("rho", [0.2, 30.0, 2000.0])
@pytest.mark.parametrize("pulls", [1, 3, 60])
def test_the_least_evidence_is_no_more_than_the_ratio_anywhere(pulls: int, rho: float) -> None:
    """Sums below 1 of rewards between 0 and 1 are the hard case: the ratio falls to 0 at an end."""
    near = np.geomspace(1e-11, 0.5, 30)
    for total in (0.0, 0.3, 0.92, 1.0, 1.7, pulls / 2, pulls - 0.92, float(pulls)):
        successes = min(total, float(pulls))
        centre = bernoulli_centre(pulls, successes, rho, 1)
        least = math.exp(bernoulli_evidence(pulls, successes, centre, rho, 1))
        for place in [*near, *(1 - near)]:
            ratio = math.exp(min(99.0, log_ratio(successes, pulls - successes, place, rho)))
            assert least <= ratio + 1e-6
            found = bernoulli_evidence(pulls, successes, place, rho, 1)
            assert least - 1e-6 <= math.exp(min(99.0, found)) <= ratio * (1 + 1e-9)
