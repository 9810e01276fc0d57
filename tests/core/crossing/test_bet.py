"""The crossing bet against its definition: tables, cells, and bounds over boxes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import Problem
from standout.core import robust
from standout.core.compile import IS_COMPILED
from standout.core.crossing.cells import SHARE
from standout.core.crossing.gains import KAPPA
from standout.core.crossing.record import KEPT, POINTS, STAGES
from standout.core.crossing.stages import begin_stage, log_stage_part
from standout.core.joint import bounds
from standout.core.joint.costs import use_scale
from standout.core.joint.pricing import CROSSING, prepare, price
from standout.core.run import Run
from standout.core.state import forget_bets
from tests.naive import crossing as naive
from tests.naive.joint import is_flipped

pytestmark = pytest.mark.kernel
as_python = pytest.mark.skipif(
    IS_COMPILED, reason="runs with the kernels as plain Python: three families to compile otherwise"
)
NOISES = ("gaussian:0.5", "bernoulli", "bounded:0,1")


def draw(noise: str, mean: float, count: int, rng: np.random.Generator) -> np.ndarray:
    if noise == "bernoulli":
        return rng.binomial(1, mean, count).astype(float)
    if noise.startswith("bounded"):
        return rng.beta(4 * mean, 4 * (1 - mean), count)
    return rng.normal(mean, 0.5, count)


def told(
    problem: Problem, means: np.ndarray, rng: np.random.Generator, rounds: int = 6
) -> tuple[Run, list[np.ndarray]]:
    """A run with a stage that began after its first rewards, and the rewards."""
    noise = problem.noise.spec()
    run = Run(problem, [str(i) for i in range(len(means))], "combined", rng)
    rewards = [np.zeros(0) for _ in means]
    for number in range(rounds):
        for arm in range(len(means)):
            drawn = draw(noise, means[arm], int(rng.integers(1, 12)) + 9 * (number == 0), rng)
            for reward in drawn:
                run.tell(str(arm), float(reward))
            rewards[arm] = np.concatenate([rewards[arm], drawn])
        run.update()
        if number == 0:
            begin_stage(run.spec, run.state)
    use_scale(run.state, CROSSING)
    for side in range(len(run.state.signs)):
        prepare(run.spec, run.state, side)
    return run, rewards


def ends_of(run: Run, arm: int, stage: int = 0) -> list[int]:
    bet = run.state.crossing
    return [int(n) for n in bet.batch_pulls[arm, bet.first[stage, arm] : bet.batches[arm]]]


@as_python
@pytest.mark.parametrize("noise", NOISES)
def test_tables_are_those_of_the_definition(noise: str) -> None:
    rng = np.random.default_rng(3)
    run, rewards = told(Problem(noise=noise, k=2), np.array([0.2, 0.4, 0.5, 0.9]), rng)
    bet = run.state.crossing
    for arm in range(4):
        assert len(ends_of(run, arm)) > 2
        points = naive.points_of(run.state, 0, arm)
        for j in rng.integers(0, POINTS, 30):
            low, high = naive.evidence(
                noise.partition(":")[0], rewards[arm].tolist(), ends_of(run, arm), points[j], 0.5,
                KAPPA,
            )  # fmt: skip
            assert bet.too_low[arm, j] == pytest.approx(low, abs=1e-6, rel=1e-6)
            assert bet.too_high[arm, j] == pytest.approx(high, abs=1e-6, rel=1e-6)


@as_python
def test_tables_follow_from_what_is_kept() -> None:
    run, _ = told(Problem(noise="gaussian:0.5", k=2), np.full(4, 0.3), np.random.default_rng(4))
    before = {name: array.copy() for name, array in run.state.crossing.arrays().items()}
    for name, array in run.state.crossing.arrays().items():
        if name not in KEPT:
            array[...] = 0
    prepare(run.spec, run.state, 0)
    for name in ("too_low", "too_high", "least_low", "least_high", "low", "step"):
        assert (getattr(run.state.crossing, name) == before[name]).all(), name


@as_python
def test_no_alternative_is_below_the_bound() -> None:
    # Any means, any box around their median and MAD, any multipliers: also ties, a MAD of 0, a
    # threshold below median + MAD, tolerances and low outliers.
    rng = np.random.default_rng(11)
    tried = 0
    for case in range(30):
        noise = NOISES[case % 3]
        n = int(rng.integers(3, 8))
        means = rng.uniform(0.1, 0.9, n)
        problem = Problem(
            noise=noise,
            k=float(rng.choice([1.0, 2.0, 4.0])),
            mad_scale=float(rng.choice([0.3, 1.0, 1.4826])),
            tolerance=float(rng.choice([0.0, 0.0, 0.02, 0.3])),
            side=str(rng.choice(["high", "low", "both"])),
        )
        run, _ = told(problem, means, rng, 4)
        spec, state = run.spec, run.state
        side = int(rng.integers(len(state.signs)))
        factor = float(state.factors[side])
        for _ in range(40):
            there = state.estimate[side] + rng.normal(0, rng.choice([0.02, 0.2]), n)
            kind = rng.random()
            if kind < 0.2:  # ties, and a MAD of 0
                there[: n // 2 + 1] = there[0]
            elif kind < 0.6:  # arms on the boundaries of others
                m, d = robust.median(there), robust.mad(there)
                places = np.array([m - d, m, m + d, m + factor * d])
                moved = rng.random(n) < 0.3
                there[moved] = rng.choice(places, int(moved.sum()))
            m, d = robust.median(there), robust.mad(there)
            wide = rng.choice([0.0, 0.01, 0.2], 4) * rng.random(4)
            way = int(rng.integers(2))
            box = m - wide[0], m + wide[1], max(0.0, d - wide[2]), d + wide[3]
            price(spec, state, side, way, *box)
            cost = naive.joint(state, 0, side, there, spec.tolerance, SHARE)
            y, z = rng.normal(0, 3), abs(rng.normal(0, 3))
            assert bounds.bound_of(state, n, way, -1, y, z) <= cost + 1e-9
            for arm in range(n):
                if is_flipped(there, factor, spec.tolerance, arm, way):
                    tried += 1
                    assert bounds.bound_of(state, n, way, arm, y, z) <= cost + 1e-9, (way, arm)
                    better = bounds.tune(state, n, way, arm, y, z)
                    assert bounds.bound_of(state, n, way, arm, *better) <= cost + 1e-9
    assert tried > 300


@as_python
def test_stages_have_delta_together_and_are_spent_once() -> None:
    run, _ = told(Problem(noise="gaussian:0.5", k=2), np.full(4, 0.3), np.random.default_rng(5))
    parts = [math.exp(log_stage_part(run.state, stage)) for stage in range(STAGES)]
    assert sum(parts) == pytest.approx(1.0)
    # Other rewards or another tolerance end what has begun: its part is not given out again.
    for number in range(STAGES):
        assert run.state.crossing.begun[0] == number + 1
        forget_bets(run.state)
        assert run.state.crossing.ended[0] == number + 1
        for arm in range(4):
            run.tell(str(arm), 0.3)
        run.update()
    assert run.state.crossing.begun[0] == run.state.crossing.ended[0] == STAGES
