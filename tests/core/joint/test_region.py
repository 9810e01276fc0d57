"""The threshold's interval from the joint region, against means of the region."""

from __future__ import annotations

import numpy as np
import pytest

from standout import Problem
from standout.core import method, robust
from standout.core.compile import IS_COMPILED
from standout.core.joint.costs import cost_at, find_least
from standout.core.joint.region import joint_limit
from standout.core.run import Run
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.threshold.exact import exact_range

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
    limit = joint_limit(spec, state)
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


@pytest.mark.skipif(not IS_COMPILED, reason="whole runs take too long as plain Python")
def test_in_the_end_the_threshold_is_that_of_the_region() -> None:
    # Narrower than the arms' intervals alone leave it, and nothing that is kept lies outside.
    means = np.array([0.0, 0.3, 0.6, 0.9, 3.0])
    rng = np.random.default_rng(9)
    run = Run(Problem(noise="gaussian:0.5", k=2), list("abcde"), "joint", rng)
    while chosen := run.choose():
        for arm, count in chosen:
            for _ in range(count):
                run.tell(arm, float(rng.normal(means["abcde".index(arm)], 0.5)))
        run.update()
    state = run.state
    shown = state.bounds[0, [THRESHOLD_LOWER, THRESHOLD_UPPER]].copy()
    exact_range(run.spec, state, 0)
    boxes = state.bounds[0, [THRESHOLD_LOWER, THRESHOLD_UPPER]]
    assert boxes[0] <= shown[0] < shown[1] <= boxes[1]
    assert shown[1] - shown[0] < 0.9 * (boxes[1] - boxes[0])
    find_least(run.spec, state, 0)
    for _ in range(300):
        there = state.estimate[0] + rng.normal(0, 0.05, 5)
        cost = sum(cost_at(run.spec, state, 0, arm, float(x)) for arm, x in enumerate(there))
        if cost < joint_limit(run.spec, state):
            theta = robust.threshold(there, float(state.factors[0]))
            assert shown[0] - 1e-9 <= theta <= shown[1] + 1e-9
