"""Which tolerance would end a run now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from standout import Problem, Run, identify
from standout.core import engine
from standout.core.endings import least_tolerance, rounded_up
from standout.core.forecast import Forecaster, pool_like, pool_of
from standout.core.kinds import Verdict
from standout.core.many_rewards import observe_many
from standout.core.robust import threshold
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER, UNDECIDED, copy_state
from tests.naive import endings as naive

NOISES = ("gaussian:0.5", "bernoulli", "gaussian")


def some_run(seed: int, method: str, noise: str, side: str) -> Run:
    rng = np.random.default_rng(seed)
    n_arms = int(rng.integers(3, 12))
    problem = Problem(noise=noise, k=2, side=side)
    run = Run(problem, [f"arm {i}" for i in range(n_arms)], method, rng)
    means = rng.random(n_arms)
    for _ in range(int(rng.integers(1, 5))):
        arms = np.repeat(np.arange(n_arms), int(rng.integers(20, 90)))
        if noise == "bernoulli":
            rewards = (rng.random(len(arms)) < means[arms]).astype(float)
        else:
            rewards = rng.normal(means[arms], 0.5)
        observe_many(run.spec, run.state, arms, rewards)
        run.update()
    return run


@pytest.mark.kernel
@pytest.mark.parametrize("method", ["focus", "roai-lucb:interval=auto"])
@pytest.mark.parametrize("side", ["high", "low", "both"])
def test_it_decides_all_and_hardly_less_does(method: str, side: str) -> None:
    for seed in range(8):
        run = some_run(seed, method, "gaussian:0.5", side)
        state, sides = run.state, range(len(run.state.signs))
        left = np.flatnonzero(state.verdict == 0)
        least = least_tolerance(state)
        if not len(left):
            assert least == 0.0
            continue
        bounds = [
            (state.bounds[s, THRESHOLD_LOWER], state.bounds[s, THRESHOLD_UPPER]) for s in sides
        ]
        arms = [[(state.lower[s, i], state.upper[s, i]) for s in sides] for i in left]
        exact = naive.least_tolerance(arms, bounds)
        assert exact <= least <= rounded_up(rounded_up(exact) * (1 + 1e-6))
        assert _undecided(run, least) == 0
        assert _undecided(run, exact * 0.999) > 0
        assert run.identification().endings[0].tolerance == least


def _undecided(run: Run, tolerance: float) -> int:
    state = copy_state(run.state)
    engine.refresh(replace(run.spec, tolerance=tolerance), state)
    return int(state.counters[UNDECIDED])


def test_nothing_is_said_while_nothing_is_known() -> None:
    run = Run(Problem(noise="gaussian:1"), ["a", "b", "c"], "focus", np.random.default_rng(0))
    assert least_tolerance(run.state) == np.inf
    assert run.identification().endings == ()


@pytest.mark.parametrize("number", [1e-12, 0.0123, 0.0999, 0.1, 0.995, 7.0, 12345.6, 1e12])
def test_rounding_up(number: float) -> None:
    found = rounded_up(number)
    assert number <= found <= 1.1 * number
    assert found == float(f"{found:.1e}")


@pytest.mark.parametrize("noise", NOISES)
def test_smaller_tolerances_take_more_pulls(noise: str) -> None:
    run = some_run(3, "focus", noise, "high")
    rng = np.random.default_rng(0)
    arms = np.repeat(np.arange(len(run.arms)), 50)
    pools = [pool_like(run.spec, run.state), pool_of(run.state, arms, rng.random(len(arms)))]
    for pool in pools:
        found = Forecaster(run.spec, run.state, pool).endings()
        assert found[0].pulls == 0
        pulls = [one.pulls for one in found if one.pulls is not None]
        assert pulls == sorted(pulls)
        tolerances = [one.tolerance for one in found]
        assert tolerances == sorted(tolerances, reverse=True)


def test_a_run_that_does_not_end_says_what_would() -> None:
    """Ads with nearly the same rates, as in the advice for those who wait in vain."""
    rng = np.random.default_rng(1)
    rates = dict(zip("abcdefgh", [*np.linspace(0.049, 0.051, 7), 0.5], strict=True))
    problem = Problem(noise="bernoulli", k=2)
    with pytest.warns(UserWarning, match=r"a tolerance of .* would decide all arms now"):
        found = identify(
            lambda arm: float(rng.random() < rates[arm]), list(rates), problem, budget=12_000
        )
    assert len(found.undecided) > 0
    assert [one.pulls == 0 for one in found.endings][:2] == [True, False]


def test_a_tolerance_chosen_after_looking_is_no_risk() -> None:
    """Whatever tolerance ends a run at any look, what it decides is right for that tolerance.

    At delta .3, 150 runs with a look after every batch: by the guarantee at most 30 % of them
    may have a wrong verdict at any of their looks. That more than 66 have one has probability
    below 1e-4 if it were exactly 30 %; in truth hardly any has.
    """
    rng = np.random.default_rng(5)
    problem = Problem(noise="gaussian:0.5", k=2, delta=0.3)
    failed = 0
    for _ in range(150):
        means = rng.random(7)
        means[0] += rng.choice([0.0, 2.0])
        theta = threshold(means, problem.factor)
        run = Run(problem, [str(i) for i in range(7)], "focus", rng)
        wrong = False
        for _ in range(6):
            arms = np.repeat(np.arange(7), 15)
            observe_many(run.spec, run.state, arms, rng.normal(means[arms], 0.5))
            run.update()
            tolerance = least_tolerance(run.state)
            state = copy_state(run.state)
            engine.refresh(replace(run.spec, tolerance=tolerance), state)
            clear = np.abs(means - theta) > tolerance
            wrong |= bool(((state.verdict == Verdict.OUTLIER) != (means > theta))[clear].any())
        failed += wrong
    assert failed <= 66
