from __future__ import annotations

import collections
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standout.core.methods import METHODS
from standout.core.problem import Problem
from standout.core.rules.boundary import boundary_arms, critical_pairs, threshold_arms
from standout.core.state import THRESHOLD, State
from standout.core.threshold import update_threshold
from tests.driving import blank_state
from tests.naive import lucb, order
from tests.naive.threshold import algorithm1
from tests.strategies import interval_lists, quarters

pytestmark = pytest.mark.kernel

PROBLEM = Problem(noise="bernoulli", k=2)
SPEC = METHODS["roai-lucb"].spec(PROBLEM, 3)
Ends = tuple[list[float], list[float]]


def state_with(estimate: list[float], ends: Ends, omega: list[int] | None) -> State:
    state = blank_state("roai-lucb", PROBLEM, len(estimate), omega)
    state.estimate[0] = estimate
    state.lower[0], state.upper[0] = ends
    return state


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], Ends, list[int] | None]:
    ends = draw(interval_lists(max_size=9))
    n = len(ends[0])
    middles = [(low + high) / 2 for low, high in zip(*ends, strict=True)]
    anywhere = st.lists(quarters, min_size=n, max_size=n)
    places = st.lists(st.integers(0, n - 1), min_size=3, unique=True).map(sorted)
    return draw(st.just(middles) | anywhere), ends, draw(st.none() | places)


@given(cases(), st.integers(0, 5))
def test_boundary_arms(case: tuple[list[float], Ends, list[int] | None], seed: int) -> None:
    estimate, ends, omega = case
    state = state_with(estimate, ends, omega)
    update_threshold(replace(SPEC, n_arms=len(estimate)), state, 0)
    found = boundary_arms(state, 0, np.random.default_rng(seed))
    chosen = list(range(len(estimate))) if omega is None else omega
    ranges = algorithm1(*ends, PROBLEM.factor, chosen)
    allowed = lucb.boundary_pairs(estimate, *ends, ranges, chosen)
    for j in range(4):
        assert (found[2 * j], found[2 * j + 1]) in allowed[j]


@given(cases(), st.integers(0, 5))
def test_threshold_arms(case: tuple[list[float], Ends, list[int] | None], seed: int) -> None:
    estimate, ends, omega = case
    state = state_with(estimate, ends, omega)
    spec = replace(SPEC, n_arms=len(estimate))
    update_threshold(spec, state, 0)
    pair = threshold_arms(spec, state, 0, np.random.default_rng(seed))
    found = tuple(None if arm < 0 else arm for arm in pair)
    assert found in lucb.threshold_pairs(estimate, *ends, float(state.bounds[0, THRESHOLD]))


def frequencies(values: list[float], lower: list[float], upper: list[float], rank: int) -> dict:  # type: ignore[type-arg]
    rng = np.random.default_rng(3)
    omega = np.arange(len(values))
    cut = order.kth_largest(values, rank)
    counts: collections.Counter[tuple[int, int]] = collections.Counter()
    arrays = (np.array(values), np.array(lower), np.array(upper))
    for _ in range(4000):
        counts[critical_pairs(*arrays, omega, rank, cut, rng)[2:]] += 1
    return counts


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_when_everything_ties_every_pair_of_arms_is_equally_likely(rank: int) -> None:
    counts = frequencies([0.5] * 4, [0.0] * 4, [1.0] * 4, rank)
    expected = 4000 / 12
    assert len(counts) == 12
    # Each count is binomial; 12 counts beyond 5 standard deviations: P < 1e-5 over seeds.
    assert all(abs(count - expected) < 5 * expected**0.5 for count in counts.values())


def test_ties_at_the_cut_alone() -> None:
    """Two of three tied arms are inside; the one left out is each with probability 1/3."""
    values = [9.0, 5.0, 5.0, 5.0, 1.0]
    lower = [8.0, 4.1, 4.2, 4.3, 0.0]
    upper = [9.5, 6.1, 6.2, 6.3, 2.0]
    counts = frequencies(values, lower, upper, 3)
    assert set(counts) == {(2, 1), (1, 2), (1, 3)}
    assert all(abs(count - 4000 / 3) < 5 * 30 for count in counts.values())


def test_the_pair_before_the_cut() -> None:
    """Rank 2 of the same: one of three tied arms is inside, each with probability 1/3."""
    rng = np.random.default_rng(4)
    values = np.array([9.0, 5.0, 5.0, 5.0, 1.0])
    lower = np.array([8.0, 4.1, 4.2, 4.3, 0.0])
    upper = np.array([9.5, 6.1, 6.2, 6.3, 2.0])
    counts: collections.Counter[tuple[int, int]] = collections.Counter()
    for _ in range(4000):
        counts[critical_pairs(values, lower, upper, np.arange(5), 3, 5.0, rng)[:2]] += 1
    assert set(counts) == {(1, 3), (2, 3), (3, 2)}
    assert all(abs(count - 4000 / 3) < 5 * 30 for count in counts.values())


def test_without_ties_no_random_number_is_drawn() -> None:
    rng = np.random.default_rng(5)
    before = rng.bit_generator.state
    values = np.array([0.4, 0.1, 0.3, 0.2])
    ends = values - 1, values + 1
    assert critical_pairs(values, *ends, np.arange(4), 2, 0.3, rng) == (0, 2, 2, 3)
    assert rng.bit_generator.state == before
