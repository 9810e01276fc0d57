"""How often the true means leave the region that a guarantee rests on: hardly less than allowed.

Answers are wrong far less often than delta, since a region that misses the true means mostly
gives the right answer all the same: a test of answers would pass with an alpha that is a hundred
times too large. Here the event itself is counted. Every arm is pulled in turn, up to MOST pulls,
and the region is looked at whenever the pulls have grown by GROWTH. By Ville's inequality the
true means ever leave it with probability at most `nominal`. The constructions are tight but for
what is left to come after MOST pulls and for steps that overshoot: in 600 runs of seed 1 the means
left the boxes in .60 (Gaussian), .65 (0/1) and .66 (unknown scale) of the nominal rate, and the
joint region in .54 (Gaussian) and .28 (unknown scale: the least over all scales counts).

A test fails with probability 1e-4 if the rate is exactly `nominal`, and surely if it is a fifth of
what was seen. An alpha that is SPOILT times too large gives about 1.5 times the nominal rate, which
fails with probability .999; the last test shows it.

The events of `combined` are these two and that of the crossing bet, which is counted in
`tests/core/crossing/test_validity.py`; it divides delta among them (`test_combined.py`).

A further region is one kernel `left(spec, state, means)` and one entry in `REGIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from standout import METHODS, Problem
from standout.core.compile import kernel
from standout.core.engine import observe
from standout.core.intervals import arm_interval
from standout.core.joint.costs import cost_at, find_least, use_scale
from standout.core.joint.region import joint_limit
from standout.core.kinds import IntervalKind
from standout.core.run import start_state
from standout.core.state import Spec
from standout.simulation.rewards import draw, rewards_of

DELTA = 0.3
RUNS = 600
N_ARMS = 3
MOST = 20_000
GROWTH = 1.03
SPOILT = 3.0


@kernel("interval")
def boxes_left(spec, state, means):  # type: ignore[no-untyped-def]
    """Whether a mean lies outside its arm's interval."""
    for arm in range(spec.n_arms):
        lower, upper = arm_interval(spec, state, arm)
        if not lower <= means[arm] <= upper:
            return True
    return False


@kernel("interval")
def joint_left(spec, state, means):  # type: ignore[no-untyped-def]
    """Whether the joint bet rejects the means at any of its scales."""
    for scale in range(SCALES):
        use_scale(state, scale)
        find_least(spec, state, 0)
        total = 0.0
        for arm in range(spec.n_arms):
            total += cost_at(spec, state, 0, arm, means[arm])
        if total >= joint_limit(spec, state):
            return True
    return False


@kernel("interval")
def turn(spec, state, rewards, amount, rng):  # type: ignore[no-untyped-def]
    """Pull every arm so often."""
    for arm in range(spec.n_arms):
        for _ in range(amount):
            observe(spec, state, arm, draw(rewards, arm, rng))


@dataclass(frozen=True)
class Region:
    """What is looked at, and the probability with which the true means may leave it."""

    method: str
    left: Callable[..., bool]
    nominal: Callable[[Spec], float]


def any_box(spec: Spec) -> float:
    return 1 - (1 - spec.alpha) ** spec.n_arms


REGIONS = {
    "boxes": Region("focus", boxes_left, any_box),
    "joint": Region("joint", joint_left, lambda spec: spec.joint_delta),
}
SCALES = 5
"""Scales of the joint bet."""


def count_left(region: Region, noise: str, spoilt: float = 1.0, seed: int = 0) -> tuple[int, float]:
    """In how many of RUNS runs the true means left the region, and the nominal rate."""
    problem = Problem(noise=noise, delta=DELTA)
    means = np.full(N_ARMS, 0.3)
    given = METHODS[region.method].spec(problem, N_ARMS)
    spec = replace(given, alpha=spoilt * given.alpha, joint_delta=spoilt * given.joint_delta)
    law = Problem(noise="gaussian:1").noise if noise == "gaussian" else problem.noise
    rewards = rewards_of(means, law, None)
    left = 0
    for run in range(RUNS):
        rng = np.random.default_rng((seed, run))
        left += is_left(region, spec, problem, rewards, means, rng)
    return left, region.nominal(given)


def is_left(
    region: Region, spec: Spec, problem: Problem, rewards: Any, means: np.ndarray, rng: Any
) -> bool:
    state = start_state(problem, METHODS[region.method], N_ARMS, rng)
    pulls = 0
    while pulls < MOST:
        amount = max(1, int((GROWTH - 1) * pulls))
        turn(spec, state, rewards, amount, rng)
        pulls += amount
        if region.left(spec, state, means):
            return True
    return False


CASES = [
    ("boxes", "gaussian:1", 0.2),
    ("boxes", "bernoulli", 0.2),
    ("boxes", "gaussian", 0.2),
    ("joint", "gaussian:1", 0.2),
    ("joint", "bernoulli", 0.2),
    ("joint", "gaussian", 0.1),
    ("joint", "heavy:1", 0.1),
]


@pytest.mark.parametrize(("name", "noise", "least"), CASES)
def test_the_true_means_leave_the_region_as_often_as_they_may(
    name: str, noise: str, least: float
) -> None:
    left, nominal = count_left(REGIONS[name], noise)
    assert left <= binom.isf(1e-4, RUNS, nominal)
    assert left > binom.isf(1e-3, RUNS, least * nominal)


@pytest.mark.parametrize("name", ["boxes", "joint"])
def test_an_alpha_that_is_too_large_is_seen(name: str) -> None:
    left, nominal = count_left(REGIONS[name], "gaussian:1", SPOILT)
    assert left > binom.isf(1e-4, RUNS, nominal)


def test_every_joint_region_is_covered() -> None:
    """The intervals that a joint bet is made of are those looked at here, and betting."""
    from standout.core.joint.costs import EVIDENCE

    assert set(EVIDENCE) == {
        IntervalKind.MIXTURE, IntervalKind.BERNOULLI, IntervalKind.BETTING, IntervalKind.STUDENT,
        IntervalKind.HEAVY,
    }  # fmt: skip
