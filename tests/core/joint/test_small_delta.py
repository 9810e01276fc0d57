"""That the pulls of the joint certificate grow with log(1/delta) down to the smallest delta."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import Problem, simulate
from standout.core.noise import parse_noise
from standout.core.problem import SMALLEST_DELTA
from standout.simulation.instances import FixedFamily, Instance, NumberedArms

DELTAS = (0.5, 0.05, 1e-6, 1e-15, 1e-20, 1e-23, 1e-30, 1e-45, 1e-70, SMALLEST_DELTA)
GAUSSIAN = [*np.linspace(0.0, 2.0, 15).tolist(), 3.6, 3.8]
BERNOULLI = [0.1, 0.12, 0.14, 0.15, 0.16, 0.18, 0.2, 0.7]


@pytest.mark.parametrize(("means", "noise"), [(GAUSSIAN, "gaussian:0.5"), (BERNOULLI, "bernoulli")])
def test_pulls_grow_with_the_logarithm_of_delta(means: list[float], noise: str) -> None:
    # Pulls over log(1/delta) + 20 differ by a factor of 1.6 (Gaussian) and 2.6 (Bernoulli) over all
    # delta with seed 1. Costs that are cut at 40 nats made it 4,000 times as many from 1e-23 on.
    arms = NumberedArms(len(means))
    family = FixedFamily(Instance("drawn", arms, np.array(means), parse_noise(noise), None), 2.0)
    pulls = []
    for delta in DELTAS:
        problem = Problem(noise=noise, k=2.0, delta=delta)
        found = simulate(family, ["joint"], problem, runs=2, seed=1, jobs=1, budget=10**6)
        (result,) = found.results
        assert result.stopped == result.runs
        pulls.append(result.pulls.mean() / (math.log(1 / delta) + 20))
    assert max(pulls) <= 4 * min(pulls)
