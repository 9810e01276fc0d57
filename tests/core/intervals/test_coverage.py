"""Each interval holds its mean at all times at once, with probability at least 1 - alpha.

Single arms are pulled 100,000 times. Their interval is looked at after every
pull up to 1,000 and then at about 2,300 more times, each 0.2 % later than the
one before; no interval moves by much in between. With X ~ Binomial(RUNS,
ALPHA) a test fails when the count of arms missed at any time exceeds the
quantile with P(X > quantile) <= 1e-6: so likely is a false alarm at most, were
the true rate exactly alpha. The seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from standout.core.intervals import arm_interval, count_reward
from standout.core.jit import kernel
from standout.core.methods import parse_method
from standout.core.problem import Problem
from standout.core.run import start_state

RUNS = 300
ALPHA = 0.05
HORIZON = 100_000
MOST_MISSES = int(binom.isf(1e-6, RUNS, ALPHA))
ARMS = 3

GAUSSIAN, BERNOULLI, BETA, HEAVY, SKEWED, FIXED = range(6)


@kernel()
def draw_reward(kind, mean, sd, rng):  # type: ignore[no-untyped-def]
    """One reward with the given mean and standard deviation (Bernoulli has its own)."""
    if kind == BERNOULLI:
        return 1.0 if rng.random() < mean else 0.0
    if kind == BETA:
        size = mean * (1.0 - mean) / sd**2 - 1.0
        return rng.beta(mean * size, (1.0 - mean) * size)
    if kind == HEAVY:  # Student's t, 3 degrees of freedom
        square = 0.0
        for _ in range(3):
            square += rng.standard_normal() ** 2
        return mean + sd * rng.standard_normal() / math.sqrt(square)
    if kind == SKEWED:  # Pareto with exponent 3: no third moment
        return mean + sd * ((1.0 - rng.random()) ** (-1.0 / 3.0) - 1.5) / math.sqrt(0.75)
    if kind == FIXED:
        return mean
    return mean + sd * rng.standard_normal()


@kernel("interval")
def is_missed(spec, state, kind, mean, sd, horizon, rng):  # type: ignore[no-untyped-def]
    """Whether the interval of arm 0 ever fails to hold `mean`.

    An interval that only looks at the sum is given the sum of all rewards up to
    the next look at once, where that has a distribution with a name.
    """
    pulls, sums = state.pulls, state.sums
    by_sum = state.moments.shape[1] == 0 and kind in (GAUSSIAN, BERNOULLI)
    t = 0
    while t < horizon:
        step = 1 if t < 1000 else int(t * 0.002)
        if by_sum:
            pulls[0] += step
            if kind == BERNOULLI:
                for _ in range(step):
                    sums[0] += 1.0 if rng.random() < mean else 0.0
            else:
                sums[0] += step * mean + math.sqrt(step) * sd * rng.standard_normal()
        else:
            for _ in range(step):
                reward = draw_reward(kind, mean, sd, rng)
                count_reward(spec, state, 0, reward)
        t += step
        lower, upper = arm_interval(spec, state, 0)
        if mean < lower or mean > upper:
            return True
    return False


@dataclass(frozen=True)
class Case:
    interval: str
    noise: str
    kind: int
    mean: float
    sd: float = 0.5


CASES = {
    "mixture": Case("mixture", "gaussian:0.5", GAUSSIAN, 0.3),
    "mixture, bernoulli": Case("mixture", "bernoulli", BERNOULLI, 0.5),
    "mixture, one scale": Case("mixture,scales=1", "gaussian:0.5", GAUSSIAN, 0.3),
    "hoeffding": Case("hoeffding", "gaussian:0.5", GAUSSIAN, 0.3),
    "beta-binomial, .3": Case("beta-binomial", "bernoulli", BERNOULLI, 0.3),
    "beta-binomial, .02": Case("beta-binomial", "bernoulli", BERNOULLI, 0.02),
    "beta-binomial, beta": Case("beta-binomial", "bounded:0,1", BETA, 0.3, 0.4),
    "bernstein, .3": Case("bernstein", "bernoulli", BERNOULLI, 0.3),
    "bernstein, .02": Case("bernstein", "bernoulli", BERNOULLI, 0.02),
    "bernstein, beta": Case("bernstein", "bounded:0,1", BETA, 0.7, 0.02),
    "betting, .02": Case("betting", "bernoulli", BERNOULLI, 0.02),
    "betting, beta": Case("betting", "bounded:0,1", BETA, 0.7, 0.02),
    "student, one scale": Case("student,scales=1", "gaussian", GAUSSIAN, 7.0, 3.0),
    "student": Case("student", "gaussian", GAUSSIAN, 7.0, 3.0),
    "heavy": Case("heavy", "heavy:2", HEAVY, -1.0, 2.0),
    "heavy, skewed": Case("heavy", "heavy:2", SKEWED, -1.0, 2.0),
}


def misses(case: Case, told: str | None = None) -> int:
    problem = Problem(noise=told or case.noise, k=3, delta=ALPHA * ARMS)
    method = parse_method(f"focus:interval={case.interval}")
    spec = method.spec(problem, ARMS)
    assert spec.alpha == pytest.approx(ALPHA)
    missed = 0
    for run in range(RUNS):
        rng = np.random.default_rng((7, run))
        state = start_state(problem, method, ARMS, rng)
        missed += is_missed(spec, state, case.kind, case.mean, case.sd, HORIZON, rng)
    return missed


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_mean_is_held_at_all_times(case: Case) -> None:
    assert misses(case) <= MOST_MISSES


@pytest.mark.parametrize(("name", "told"), [("mixture", "gaussian:0.3"), ("heavy", "heavy:0.8")])
def test_a_scale_that_is_too_small_shows(name: str, told: str) -> None:
    """The test has power: told too small a scale, an interval misses too often."""
    assert misses(CASES[name], told) > MOST_MISSES


def test_at_most_so_many_misses() -> None:
    assert binom.sf(MOST_MISSES, RUNS, ALPHA) <= 1e-6 < binom.sf(MOST_MISSES - 1, RUNS, ALPHA)
