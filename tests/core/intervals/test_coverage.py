"""Each interval holds its mean at all times at once, with probability at least 1 - alpha.

Single arms are pulled 100,000 times. Their interval is looked at after every
pull up to 1,000 and then at about 2,300 more times, each 0.2 % later than the
one before; no interval moves by much in between. A test goes on until it is clear
that an arm is missed at any time with a chance of less than 3 alpha, or of more than
alpha (`tests.sequential`): a false alarm has a probability of at most 1e-6, were the
true chance exactly alpha. The seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
import pytest

from standout.core.compile import kernel
from standout.core.intervals import arm_interval, count_reward
from standout.core.methods import parse_method
from standout.core.problem import Problem
from standout.core.run import start_state
from tests.sequential import Chance, are_settled

ALPHA = 0.05
HORIZON = 100_000
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


def misses(case: Case, told: str | None = None) -> Iterator[bool]:
    """Whether each of ever more arms is missed."""
    problem = Problem(noise=told or case.noise, k=3, delta=ALPHA * ARMS)
    method = parse_method(f"focus:interval={case.interval}")
    spec = method.spec(problem, ARMS)
    assert spec.alpha == pytest.approx(ALPHA)
    for run in count():
        rng = np.random.default_rng((7, run))
        state = start_state(problem, method, ARMS, rng)
        yield is_missed(spec, state, case.kind, case.mean, case.sd, HORIZON, rng)


def count_misses(runs: int) -> dict[str, int]:
    """Arms that were missed, by case."""
    return {name: sum(islice(misses(case), runs)) for name, case in CASES.items()}


def chance(case: Case, told: str | None = None) -> Chance:
    """How often an arm is missed, as far as it has to be known."""
    found = Chance(ALPHA, 3 * ALPHA)
    for missed in misses(case, told):
        found.add(missed)
        if are_settled(found):
            break
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_mean_is_held_at_all_times(case: Case) -> None:
    assert chance(case).is_fair


@pytest.mark.parametrize(("name", "told"), [("mixture", "gaussian:0.3"), ("heavy", "heavy:0.8")])
def test_a_scale_that_is_too_small_shows(name: str, told: str) -> None:
    """The test has power: told too small a scale, an interval misses too often."""
    assert chance(CASES[name], told).is_foul
