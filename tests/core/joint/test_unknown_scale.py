"""The joint bet for rewards of an unknown scale, and why it is not the interval's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout import METHODS, Problem
from standout.core.compile import IS_COMPILED
from standout.core.joint.region import joint_limit
from standout.core.joint.unknown_scale import TINY, unknown_scale_evidence
from standout.core.run import Run
from tests.core.joint.test_certificate import is_wrong, joint_cost
from tests.naive import joint as naive

pytestmark = pytest.mark.kernel
evidence = np.vectorize(unknown_scale_evidence)


@pytest.mark.parametrize("pulls", [2, 3, 8, 40])
@pytest.mark.parametrize("rho", [0.1, 5.0, 100.0])
def test_it_is_the_least_over_all_scales(pulls: int, rho: float) -> None:
    rng = np.random.default_rng([pulls, int(10 * rho)])
    rewards = rng.normal(3.0, 0.2, pulls)
    squares = float(((rewards - rewards.mean()) ** 2).sum())
    for off in (0.0, 0.02, 0.1, 0.5, 4.0, -0.3):
        wanted = math.log(naive.unknown_scale(rewards.tolist(), rewards.mean() + off, rho))
        assert unknown_scale_evidence(pulls, squares, off, rho) == pytest.approx(wanted, abs=1e-6)


def test_it_grows_with_the_distance_and_not_with_the_unit() -> None:
    for pulls, rho in ((2, 1.0), (30, 100.0), (10_000, 3.0), (10**9, 3e9)):
        offs = np.geomspace(1e-12, 1e6, 300)
        found = evidence(pulls, 1.0, offs, rho)
        assert (np.diff(found) >= -1e-6).all()
        assert found[0] < 0.01
        for unit in (1e-100, 1e90):
            other = evidence(pulls, unit**2, unit * offs, rho)
            assert np.allclose(found, other, rtol=1e-9, atol=1e-6)


def test_equal_rewards_say_nothing() -> None:
    assert unknown_scale_evidence(50, 0.0, 1.0, 10.0) == -math.inf
    assert unknown_scale_evidence(50, TINY, 1.0, 10.0) == -math.inf
    assert unknown_scale_evidence(50, math.nan, 1.0, 10.0) == -math.inf
    run = Run(Problem(noise="gaussian", k=2), list("abcde"), "joint", np.random.default_rng(0))
    for arm, reward in zip("abcde", (0.0, 1.0, 2.0, 3.0, 1e9), strict=True):
        for _ in range(300):
            run.tell(arm, reward)
    run.update()
    assert not run.state.verdict.any()


def stopped(n_arms: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pulls, M2 and means of arms with a mean of 0, whose scale the one who pulls them knows.

    Each is left as soon as its rewards look too little scattered and far off, from 7 pulls on.
    """
    total, squares, pulls = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    going = np.ones(n_arms, dtype=bool)
    for pull in range(1, 31):
        drawn = rng.standard_normal(np.count_nonzero(going))
        total[going] += drawn
        squares[going] += drawn**2
        pulls[going] = pull
        if pull >= 7:
            going &= ~((squares <= 0.9 * pulls) & (total**2 > 2 * squares))
    return pulls, squares - total**2 / pulls, total / pulls


def excess(values: np.ndarray) -> float:
    """How many standard errors the mean of supermartingales lies above 1."""
    return float((values.mean() - 1) / (values.std() / math.sqrt(len(values))))


@pytest.mark.parametrize("rho", [1.0, 10.0, 40.0])
def test_a_rule_that_sees_rewards_wins_nothing(rho: float) -> None:
    # The same rule beats the t mixture, whose mean lies 6 standard errors above 1 (rho = 40). A
    # supermartingale exceeds 4 with probability 3e-5 per case.
    pulls, squares, off = stopped(100_000, np.random.default_rng(1))
    if rho == 40.0:
        ratio = (pulls * off) ** 2 / (squares + pulls * off**2) / (pulls + rho)
        mixture = np.exp(0.5 * np.log(rho / (pulls + rho)) - 0.5 * pulls * np.log1p(-ratio))
        assert excess(mixture) > 5
    assert excess(np.exp(evidence(pulls.astype(int), squares, off, rho))) < 4


@pytest.mark.skipif(not IS_COMPILED, reason="whole runs take too long as plain Python")
def test_scales_far_apart() -> None:
    # While the true means are in the region, no verdict is wrong. Scales differ by up to 1e6.
    inside = certified = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        sigmas = 10 ** rng.uniform(-6, 0, n) * rng.choice([1e-90, 1.0, 1e80])
        means = rng.normal(0, 3, n) * sigmas.max()
        if seed % 3 == 0:
            means[: n // 2 + 1] = means[0]
        side = str(rng.choice(["high", "low", "both"]))
        problem = Problem(noise="gaussian", k=float(rng.choice([1, 3])), delta=0.3, side=side)
        run = Run(problem, [str(i) for i in range(n)], "joint", rng, budget=1500)
        is_inside = True
        while is_inside and (chosen := run.choose()):
            for arm, count in chosen:
                for reward in rng.normal(means[int(arm)], sigmas[int(arm)], count):
                    run.tell(arm, float(reward))
            run.update()
            state = run.state
            for index, sign in enumerate(state.signs):
                is_inside &= joint_cost(run, index, sign * means) < joint_limit(run.spec, state)
                is_inside &= bool((state.lower[index] <= sign * means).all())
                is_inside &= bool((sign * means <= state.upper[index]).all())
            assert not (is_inside and is_wrong(run, means)), seed
        inside += is_inside
        certified += int((run.state.verdict != 0).sum())
    assert inside > 20
    assert certified > 60


@pytest.mark.parametrize("noise", ["gaussian", "heavy:1"])
@pytest.mark.parametrize("n_arms", [3, 300, 301, 19_999])
def test_there_is_a_joint_bet(n_arms: int, noise: str) -> None:
    problem = Problem(noise=noise, delta=0.1)
    spec = METHODS["joint"].spec(problem, n_arms)
    assert 0 < spec.share < 1
    assert spec.flips == (n_arms <= 300)
    assert not spec.crosses
    assert spec.joint_delta + spec.alpha * n_arms == pytest.approx(0.1)
