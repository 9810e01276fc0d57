from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.methods import METHODS
from standout.core.problem import Problem
from standout.core.state import (
    MAD_LOWER,
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    PULLS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    State,
)
from standout.core.threshold import mean_std, update_threshold
from tests.driving import blank_state
from tests.naive import mean_std as naive_mean_std
from tests.naive.threshold import algorithm1
from tests.strategies import interval_lists, quarters

pytestmark = pytest.mark.kernel

PROBLEM = Problem(noise="bernoulli", k=2)


def state_with(lower: list[float], upper: list[float], omega: list[int] | None) -> State:
    state = blank_state("roai-lucb", PROBLEM, len(lower), omega)
    state.lower[0] = lower
    state.upper[0] = upper
    return state


@given(interval_lists(), st.data())
def test_algorithm1(ends: tuple[list[float], list[float]], data: st.DataObject) -> None:
    lower, upper = ends
    n = len(lower)
    places = st.lists(st.integers(0, n - 1), min_size=1, unique=True).map(sorted)
    omega = data.draw(st.none() | places)
    state = state_with(lower, upper, omega)
    spec = METHODS["roai-lucb"].spec(PROBLEM, n)
    expected = algorithm1(lower, upper, PROBLEM.factor, range(n) if omega is None else omega)
    for _ in range(2):  # the second time from good guesses
        update_threshold(spec, state, 0)
        bounds = state.bounds[0]
        assert (bounds[MEDIAN_LOWER], bounds[MEDIAN_UPPER]) == expected.median
        assert (bounds[MAD_LOWER], bounds[MAD_UPPER]) == expected.mad
        assert (bounds[THRESHOLD_LOWER], bounds[THRESHOLD_UPPER]) == expected.threshold
        assert bounds[THRESHOLD] == expected.estimate
        for i, low in expected.deviation_lower.items():
            assert state.deviation_lower[0, i] == low
            assert state.deviation_upper[0, i] == expected.deviation_upper[i]


@given(interval_lists(), st.data())
def test_the_truth_lies_in_its_intervals(
    ends: tuple[list[float], list[float]], data: st.DataObject
) -> None:
    """Wherever the means lie in the arms' intervals, theta lies in its own (Lemma 1)."""
    lower, upper = ends
    shares = st.lists(st.floats(0, 1), min_size=len(lower), max_size=len(lower))
    means = [
        min(max(low + share * (high - low), low), high)
        for low, high, share in zip(lower, upper, data.draw(shares), strict=True)
    ]
    state = state_with(lower, upper, None)
    update_threshold(METHODS["roai-lucb"].spec(PROBLEM, len(lower)), state, 0)
    exact = algorithm1(means, means, PROBLEM.factor, range(len(means)))
    bounds = state.bounds[0]
    slack = 1e-12 * max(1e-12, *(abs(x) for x in [*lower, *upper]))
    assert bounds[MEDIAN_LOWER] <= exact.median[0] <= bounds[MEDIAN_UPPER]
    assert bounds[MAD_LOWER] - slack <= exact.mad[0] <= bounds[MAD_UPPER] + slack
    theta = exact.threshold[0]
    assert bounds[THRESHOLD_LOWER] - 9 * slack <= theta <= bounds[THRESHOLD_UPPER] + 9 * slack


sizes = st.integers(3, 10**6)
ks = st.floats(1, 5)
deltas = st.floats(1e-6, 0.9)


@given(sizes, ks, deltas)
def test_constants_of_rr_and_wrr(n: int, k: float, delta: float) -> None:
    naive = naive_mean_std
    assert mean_std.variance_constant(n, k) == pytest.approx(naive.g(n, k))
    assert mean_std.threshold_constant(n, k, delta) == pytest.approx(naive.ell(n, k, delta))
    assert mean_std.quota_step(n, k, delta) == pytest.approx(naive.rho(n, k, delta))


def test_known_quota_step() -> None:
    assert mean_std.quota_step(105, 3.0, 0.05) == pytest.approx(9.43, abs=0.005)


@given(st.lists(st.tuples(quarters, st.integers(1, 1000)), min_size=3, max_size=12), ks, deltas)
def test_mean_std_interval(arms: list[tuple[float, int]], k: float, delta: float) -> None:
    means = [mean for mean, _ in arms]
    pulls = [count for _, count in arms]
    problem = Problem(noise="bounded:-5,5", k=k, delta=delta)
    state = blank_state("rr", problem, len(arms))
    state.estimate[0] = means
    state.pulls[:] = pulls
    state.counters[PULLS] = sum(pulls)
    update_threshold(METHODS["rr"].spec(problem, len(arms)), state, 0)
    lower, upper = naive_mean_std.interval(means, pulls, k, delta, sigma=5.0)
    assert state.bounds[0, THRESHOLD_LOWER] == pytest.approx(lower, rel=1e-9, abs=1e-9)
    assert state.bounds[0, THRESHOLD_UPPER] == pytest.approx(upper, rel=1e-9, abs=1e-9)
    assert state.bounds[0, THRESHOLD] == pytest.approx((lower + upper) / 2, abs=1e-9)


@pytest.mark.parametrize("method", ["roai-lucb", "rr"])
def test_without_pulls_nothing_is_known(method: str) -> None:
    state = blank_state(method, PROBLEM, 5)
    update_threshold(METHODS[method].spec(PROBLEM, 5), state, 0)
    assert state.bounds[0, THRESHOLD_LOWER] == -np.inf
    assert state.bounds[0, THRESHOLD_UPPER] == np.inf
    assert np.isnan(state.bounds[0, THRESHOLD])
