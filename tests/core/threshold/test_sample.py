"""The threshold of very many arms from a sample of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from standout.core import method
from standout.core.methods import METHODS
from standout.core.order import sort_ends
from standout.core.problem import Problem
from standout.core.run import Run, start_state
from standout.core.state import SIZE, STAGE, THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.threshold import growth, sample, update_threshold
from tests.naive import exact
from tests.naive.threshold import algorithm1

FOCUS = METHODS["focus"]


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of 60, 240, ... arms from 100 arms on, so that small runs go through all stages."""
    monkeypatch.setattr(sample, "FIRST", 60)
    monkeypatch.setattr(method, "SAMPLE_FROM", 100)


def tail_above(n: int, marked: int, s: int, count: int) -> float:
    """P(more than `count` of `marked` arms are among s drawn from n), summed term by term."""

    def log_choose(a: int, b: int) -> float:
        return float(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    most = min(marked, s)
    terms = [
        log_choose(marked, j) + log_choose(n - marked, s - j) - log_choose(n, s)
        for j in range(max(count + 1, s - (n - marked)), most + 1)
    ]
    return float(np.exp(terms).sum()) if terms else 0.0


@pytest.mark.parametrize("n", [20_000, 50_001, 300_000])
def test_the_counts_hold_with_their_probability(n: int) -> None:
    """All of them at all sizes together fail with probability at most half of delta."""
    problem = Problem(noise="bernoulli", delta=0.05)
    spec = FOCUS.spec(problem, n)
    state = start_state(problem, FOCUS, n, np.random.default_rng(0))
    assert spec.alpha == pytest.approx(0.05 / 2 / n)
    middle = (n + 1) // 2
    total = 0.0
    for size in sample.sample_sizes(n)[:-1]:
        state.sampled[SIZE] = size
        low, up = sample.ranks(spec, state)
        assert up < size // 2 < low
        # One closer, and the count would not hold with its probability.
        each = math.exp(-spec.slack)
        assert tail_above(n, middle - 1, size, low - 1) <= each
        assert tail_above(n, middle - 1, size, low - 2) > 0.99 * each
        assert tail_above(n, n - middle, size, size - up) <= each
        assert tail_above(n, n - middle, size, size - up - 1) > 0.99 * each
        # Serfling's bound is wider.
        error = math.sqrt(spec.slack * size * (1 - (size - 1) / n) / 2)
        assert low - size / 2 < 0.92 * error
        # At most m - 1 means lie above the median, at least m at or above; so for distances.
        total += 2 * tail_above(n, middle - 1, size, low - 1)
        total += 2 * tail_above(n, n - middle, size, size - up)
    assert 0.01 < total <= 0.05 / 2


def test_all_arms_need_no_sample() -> None:
    problem = Problem(noise="bernoulli")
    n = sample.FROM
    state = start_state(problem, FOCUS, n, np.random.default_rng(0))
    assert state.sampled[SIZE] == sample.FIRST == (state.stage == 0).sum()
    state.sampled[SIZE] = n
    assert sample.ranks(FOCUS.spec(problem, n), state) == (n // 2, n // 2)
    below = FOCUS.spec(problem, n - 1)
    assert (below.slack, below.alpha) == (0.0, 0.05 / (n - 1))


@given(st.integers(1, 60), st.data(), st.sampled_from([0.1, 1.0, 3.0, 30.0]))
def test_unlikely_counts_of_few_arms(n: int, data: st.DataObject, cost: float) -> None:
    """The smallest count that is unlikely enough, by adding up the whole distribution."""
    marked, s = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    found = sample.unlikely_count(n, marked, s, cost)
    limit = math.exp(-cost)
    assert tail_above(n, marked, s, found - 1) <= limit
    if found > max(0, s - (n - marked)):
        assert tail_above(n, marked, s, found - 2) > limit * (1 - 2e-4)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("seed", range(6))
def test_the_range_is_that_of_two_ranks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 150
    problem = Problem(noise="gaussian:1", k=[1, 1.5, 3][seed % 3], mad_scale=1)
    spec = FOCUS.spec(problem, n)
    state = start_state(problem, FOCUS, n, rng)
    state.pulls[:] = 1
    state.lower[0] = rng.normal(0, 1, n)
    state.upper[0] = state.lower[0] + rng.exponential([0.05, 0.5][seed % 2], n)
    sort_ends(state, 0)
    update_threshold(spec, state, 0)
    members = np.flatnonzero(state.stage <= state.sampled[STAGE])
    assert len(members) == 60
    lower, upper = state.lower[0, members].tolist(), state.upper[0, members].tolist()
    ranks = sample.ranks(spec, state)
    assert ranks[0] > ranks[1]
    found = state.bounds[0, THRESHOLD_LOWER]
    assert found == pytest.approx(exact.lower_end(lower, upper, problem.factor, ranks))
    assert state.bounds[0, THRESHOLD_UPPER] <= 1e-9 + exact.upper_end(
        lower, upper, problem.factor, ranks
    )


@pytest.mark.usefixtures("small_samples")
def test_the_threshold_of_all_arms_lies_inside() -> None:
    """Arms measured without error: only the sample can fail, in 1 of 40 draws, in fact in far
    fewer. 400 draws with 25 failures or more have probability below .0001 at 1 in 40."""
    problem = Problem(noise="gaussian:1", k=3)
    n = 400
    rng = np.random.default_rng(8)
    outside = 0
    for _ in range(400):
        means = rng.gamma(2.0, 1.0, n)
        theta = algorithm1(means, means, problem.factor, range(n)).threshold[0]
        state = start_state(problem, FOCUS, n, rng)
        state.pulls[:] = 1
        state.lower[0] = state.upper[0] = state.estimate[0] = means
        sort_ends(state, 0)
        update_threshold(FOCUS.spec(problem, n), state, 0)
        lower, upper = state.bounds[0, THRESHOLD_LOWER], state.bounds[0, THRESHOLD_UPPER]
        outside += not lower <= theta <= upper
    assert outside < 25


def play(run: Run, means: np.ndarray, sigma: float, rng: np.random.Generator) -> list[int]:
    """Play to the end; the sizes that the sample had."""
    sizes = []
    while chosen := run.choose():
        for arm, amount in chosen:
            for reward in rng.normal(means[int(arm)], sigma, amount):
                run.tell(arm, reward)
        run.update()
        sizes.append(int(run.state.sampled[SIZE]))
    return sizes


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("side", ["high", "both"])
def test_it_grows_to_all_arms_when_it_must(side: str) -> None:
    """A tolerance too small for any sample: all arms join, and the answer is right."""
    n = 200
    means = np.append(np.linspace(0, 1, n - 1), 1.5)
    problem = Problem(noise="gaussian:0.02", k=2, mad_scale=1, side=side, delta=0.1, tolerance=0.02)
    run = Run(problem, [str(i) for i in range(n)], "focus:growth=0.1", np.random.default_rng(3))
    assert run.state.sampled[SIZE] == 60
    sizes = play(run, means, 0.02, np.random.default_rng(4))
    assert sizes == sorted(sizes)
    assert sizes[-1] == n
    assert run.state.sampled[STAGE] == 1
    assert run.is_decided
    theta = algorithm1(means.tolist(), means.tolist(), 2, range(n)).threshold[0]
    found = {int(arm) for arm in run.identification().outliers}
    for i in np.flatnonzero((abs(means - theta) > 0.02) & (means > 0.5)):
        assert (i in found) == (means[i] > theta)


@pytest.mark.usefixtures("small_samples")
def test_a_clear_answer_needs_no_larger_sample() -> None:
    n = 300
    means = np.random.default_rng(1).normal(0, 0.05, n)
    means[7] = 2.0
    problem = Problem(noise="gaussian:0.1", k=3, tolerance=0.2, delta=0.1)
    run = Run(problem, [str(i) for i in range(n)], "focus:growth=0.1", np.random.default_rng(3))
    sizes = play(run, means, 0.1, np.random.default_rng(4))
    assert set(sizes) == {60}
    found = run.identification().outliers
    assert "7" in found
    assert all(means[int(arm)] > 0.1 for arm in found)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("seed", range(4))
def test_its_own_error_is_the_range_of_its_estimates(seed: int) -> None:
    """What the threshold's interval shrinks to, so that a sample too small to end a run grows."""
    rng = np.random.default_rng(seed)
    n = 150
    problem = Problem(noise="gaussian:1", k=[1, 1.5, 3, 20][seed], mad_scale=1)
    spec = FOCUS.spec(problem, n)
    state = start_state(problem, FOCUS, n, rng)
    state.pulls[:] = 1
    means = rng.normal(size=n) if seed % 2 else rng.integers(0, 2, n).astype(float)
    state.estimate[0] = state.lower[0] = state.upper[0] = means
    sort_ends(state, 0)
    update_threshold(spec, state, 0)
    width = state.bounds[0, THRESHOLD_UPPER] - state.bounds[0, THRESHOLD_LOWER]
    assert width > 0
    error = growth._error(spec, state, 0)
    assert error >= width * (1 - 1e-12)
    members = means[state.stage <= state.sampled[STAGE]].tolist()
    ranks = sample.ranks(spec, state)
    ends = (
        find(members, members, problem.factor, ranks) for find in (exact.lower_end, exact.upper_end)
    )
    low, high = ends
    assert error == pytest.approx(high - low)
    state.estimate[0, state.omega[0]] = math.nan
    assert growth._error(spec, state, 0) == math.inf


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(("k", "side"), [(3.0, "high"), (1.0, "high"), (3.0, "both")])
def test_a_run_with_two_groups_of_nearly_half_the_arms_ends(k: float, side: str) -> None:
    """No sample says which of them holds the median: all arms have to join."""
    n = 261
    means = np.array([0.0] * 130 + [1.0] * 130 + [12.0])
    problem = Problem(noise="gaussian:0.05", k=k, mad_scale=1, side=side, delta=0.1)
    run = Run(
        problem, [str(i) for i in range(n)], "focus:growth=0.1", np.random.default_rng(3),
        budget=200 * n,
    )  # fmt: skip
    sizes = play(run, means, 0.05, np.random.default_rng(4))
    assert run.state.sampled[STAGE] > 0
    assert sizes[-1] == n
    assert run.is_decided
    found = run.identification()
    theta = algorithm1(means.tolist(), means.tolist(), k, range(n)).threshold[0]
    assert theta == 1 + k
    assert set(found.outliers) == {str(n - 1)}
