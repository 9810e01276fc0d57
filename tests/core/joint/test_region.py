"""The threshold's interval from the joint region, against means of the region."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import Problem
from standout.core import method, robust
from standout.core.jit import IS_COMPILED
from standout.core.joint.costs import cost_at, find_least
from standout.core.run import Run
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER

pytestmark = pytest.mark.kernel
as_python = pytest.mark.skipif(
    IS_COMPILED, reason="runs with the kernels as plain Python: two families to compile otherwise"
)


def told(problem: Problem, name: str, means: np.ndarray, pulls: int, seed: int) -> Run:
    rng = np.random.default_rng(seed)
    run = Run(problem, [str(i) for i in range(len(means))], name, rng)
    for arm, mean in enumerate(means):
        for _ in range(pulls):
            is_one = problem.noise.spec() == "bernoulli"
            reward = float(rng.random() < mean) if is_one else float(rng.normal(mean, 0.3))
            run.tell(str(arm), reward)
    run.update()
    return run


@as_python
@pytest.mark.parametrize("noise", ["gaussian:0.3", "bernoulli"])
@pytest.mark.parametrize("side", ["high", "both"])
def test_no_means_of_the_region_have_a_threshold_outside(
    noise: str, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "MOST_JOINT", 3)  # as if five arms were thousands
    problem = Problem(noise=noise, k=1.5, side=side)
    means = np.array([0.2, 0.3, 0.45, 0.5, 0.8, 0.55])
    run = told(problem, "joint", means, 150, 5)
    spec, state = run.spec, run.state
    assert not spec.flips
    rng = np.random.default_rng(6)
    limit = math.log(1 / spec.joint_delta)
    tried = 0
    for index, factor in enumerate(state.factors):
        find_least(spec, state, index)
        bounds = state.bounds[index]
        for _ in range(150):
            off = rng.normal(0, 1, 6)
            for scale in (0.16, 0.08, 0.04, 0.02):
                there = state.estimate[index] + scale * off
                cost = sum(cost_at(spec, state, index, a, x) for a, x in enumerate(there.tolist()))
                if cost < limit and not (noise == "bernoulli" and abs(there).max() > 1):
                    tried += 1
                    theta = robust.threshold(there, float(factor))
                    assert bounds[THRESHOLD_LOWER] <= theta <= bounds[THRESHOLD_UPPER]
                    break
    assert tried > 100


@as_python
def test_it_is_narrower_than_that_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "MOST_JOINT", 3)
    means = np.random.default_rng(3).normal(0.5, 0.1, 40)
    widths = []
    for name in ("focus", "joint"):
        run = told(Problem(noise="gaussian:0.3", k=2), name, means, 60, 4)
        widths.append(run.state.bounds[0, THRESHOLD_UPPER] - run.state.bounds[0, THRESHOLD_LOWER])
        theta = robust.threshold(means, float(run.state.factors[0]))
        assert run.state.bounds[0, THRESHOLD_LOWER] <= theta <= run.state.bounds[0, THRESHOLD_UPPER]
    assert widths[1] < widths[0] / 1.1
