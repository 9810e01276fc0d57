"""`focus` chooses, and guesses, what its slow twins say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.core import engine
from standout.core.intervals import reward_variance
from standout.core.kinds import Verdict
from standout.core.prior import PriorFacts
from standout.core.problem import Problem, Side
from standout.core.run import Run
from standout.core.state import (
    MEDIAN,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    ROUNDS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from tests.naive import best_guess, exact, focus

pytestmark = pytest.mark.kernel
NOISES = ("gaussian:0.3", "gaussian", "bernoulli", "bounded:0,1")
PLAYED = 40


def seen(spec: Spec, state: State, side: int) -> focus.Side:
    bounds = state.bounds[side]
    return focus.Side(
        lower=state.lower[side].tolist(),
        upper=state.upper[side].tolist(),
        estimate=state.estimate[side].tolist(),
        pulls=state.pulls.tolist(),
        costs=state.costs.tolist(),
        is_undecided=(state.verdict == Verdict.UNDECIDED).tolist(),
        theta=(bounds[THRESHOLD_LOWER], bounds[THRESHOLD_UPPER]),
        centre=bounds[THRESHOLD],
        median=(bounds[MEDIAN_LOWER], bounds[MEDIAN_UPPER]),
        mu=tuple(state.binding[side].tolist()),  # type: ignore[arg-type]
        factor=state.factors[side],
        tolerance=spec.tolerance,
    )


def check_mu(side: focus.Side) -> None:
    """Theta's lower end is reached where it is said to be."""
    mu, m = side.mu[0], exact.median_rank(len(side.lower))
    nearest = [max(0.0, a - mu, mu - b) for a, b in zip(side.lower, side.upper, strict=True)]
    end = mu + side.factor * exact.kth_largest(nearest, m)
    assert math.isclose(end, exact.lower_end(side.lower, side.upper, side.factor), abs_tol=1e-9)


def check_choice(spec: Spec, state: State, chosen: set[int]) -> None:
    sides = [seen(spec, state, side) for side in range(len(state.signs))]
    for side in sides:
        check_mu(side)
    scores = np.max([focus.scores(side) for side in sides], axis=0)
    part = scores / scores.max()
    assert set(np.flatnonzero(part > spec.nearly_best + 1e-9)) <= chosen
    assert chosen <= set(np.flatnonzero(part > spec.nearly_best - 1e-9))


def check_guess(spec: Spec, state: State) -> None:
    guess = np.zeros(spec.n_arms, dtype=np.bool_)
    engine.best_guess(spec, state, guess)
    expected = np.zeros(spec.n_arms, dtype=np.bool_)
    variance = [reward_variance(spec, state, i) for i in range(spec.n_arms)]
    for side in range(len(state.signs)):
        bounds, estimate = state.bounds[side], state.estimate[side].tolist()
        theta, median = best_guess.plug_in(
            estimate, state.pulls.tolist(), variance, state.factors[side], spec.lattice
        )
        theta = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])
        assert math.isclose(theta, bounds[THRESHOLD], rel_tol=1e-12, abs_tol=1e-12)
        assert math.isclose(median, bounds[MEDIAN], rel_tol=1e-12, abs_tol=1e-12)
        drawn = [
            best_guess.drawn_in(e, n, median) for e, n in zip(estimate, state.pulls, strict=True)
        ]
        expected |= np.array(drawn) > bounds[THRESHOLD]
    decided = state.verdict != Verdict.UNDECIDED
    expected[decided] = state.verdict[decided] == Verdict.OUTLIER
    assert (guess == expected).all()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("side", list(Side))
def test_round_by_round(noise: str, side: Side) -> None:
    compared = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, len(noise), len(side)])
        n = int(rng.integers(5, 14))
        means = np.round(rng.uniform(0.1, 0.9, n), 1)  # Some are tied.
        costs = {str(i): float(rng.choice([1, 1, 5])) for i in range(n)}
        problem = Problem(noise=noise, k=2, delta=0.3, side=side, tolerance=0.01 * seed)
        arms = [str(i) for i in range(n)]
        run = Run(problem, arms, "focus:growth=0", rng, given=PriorFacts(costs=costs))
        for _ in range(PLAYED):
            if not (chosen := run.choose()):
                break
            is_open = ~np.isfinite(run.state.upper[0] - run.state.lower[0])
            if run.state.counters[ROUNDS] > 0 and not is_open.any():
                check_choice(run.spec, run.state, {int(arm) for arm, _ in chosen})
                check_guess(run.spec, run.state)
                compared += 1
            for arm, amount in chosen:
                mean = means[int(arm)]
                for _ in range(amount):
                    draw = rng.random() < mean if noise == "bernoulli" else rng.normal(mean, 0.1)
                    run.tell(arm, float(np.clip(draw, 0, 1)))
            run.update()
    assert compared > 50
