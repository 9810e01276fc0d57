"""How often the checks warn: seldom without a fault, nearly always with one.

`python -m tests.analysis.checks.measure_checks` does the same at length.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.analysis.checks import noise as noise_checks
from standout.analysis.checks import order as order_checks
from standout.analysis.checks import ranks as checks
from standout.analysis.checks.ranks import ALPHA, sort_rewards
from standout.core.problem import Problem
from standout.core.typing import Floats, Ints
from tests.analysis.checks.measure_checks import p_values
from tests.report import played
from tests.report.played import Log


def most_allowed(studies: int, level: float) -> float:
    """As many alarms as chance brings once in 10,000 times."""
    return studies * level + 4 * math.sqrt(studies * level * (1 - level))


def fixed_log(seed: int, kind: str) -> Log:
    """Rewards whose number nobody chose by looking at them."""
    rng = np.random.default_rng([seed, 9])
    n_arms = int(rng.integers(3, 30))
    arm = rng.choice(n_arms, int(rng.integers(100, 800)), p=rng.dirichlet(np.ones(n_arms)))
    reward = {
        "bernoulli": lambda: (rng.random(len(arm)) < (0.1 + 0.8 * arm / n_arms)).astype(float),
        "gaussian:1": lambda: rng.normal(arm, 1.0),
        "gaussian": lambda: rng.normal(arm, 1.0 + arm),
        "heavy:1": lambda: arm + rng.standard_t(3, len(arm)) / math.sqrt(3),
    }[kind]()
    return Log(arm, reward, rng.integers(0, rng.integers(2, 40), len(arm)), n_arms)


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian:1", "gaussian", "heavy:1"])
def test_fixed_studies_without_fault(kind: str) -> None:
    studies = 300
    found = [p_values(fixed_log(seed, kind), kind) for seed in range(studies)]
    for check in found[0]:
        p = np.array([values[check] for values in found])
        for level in (0.1, 0.02):
            assert np.count_nonzero(p < level) <= most_allowed(studies, level), (check, level)
        assert p.min() > ALPHA / 10, check


@pytest.mark.parametrize("shifts", [False, True])
@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("bernoulli", "focus"),
        ("bernoulli", "roai-lucb"),
        ("gaussian:1", "focus"),
        ("gaussian", "focus"),
    ],
)
def test_adaptive_studies_without_fault(kind: str, method: str, shifts: bool) -> None:
    """The same where pulls follow the rewards, and workers come one after the other."""
    studies = 10
    is_binary = kind == "bernoulli"
    draw = played.bernoulli if is_binary else played.gaussian
    found = []
    for seed in range(studies):
        means = (played.rates if is_binary else played.levels)(15, seed)
        log = played.play(
            Problem(noise=kind, k=3), method, means, draw,  # type: ignore[arg-type]
            budget=2500, shifts=shifts, seed=seed,
        )  # fmt: skip
        found.append(p_values(log, kind))
    for check in found[0]:
        p = np.array([values[check] for values in found])
        assert np.count_nonzero(p < 0.1) <= most_allowed(studies, 0.1), check
        assert p.min() > ALPHA / 2, check


def test_ten_thousand_arms_pulled_adaptively() -> None:
    """So many arms that the little which adaptive pulling does would show without leeway."""
    means = np.random.default_rng(1).normal(1, 0.2, 10_000)
    means[:40] += 3
    log = played.play(
        Problem(noise="gaussian:0.2", k=4),  # type: ignore[arg-type]
        "focus", means, lambda rng, m, who, gone: rng.normal(m, 0.2),
        budget=300_000, shifts=True,
    )  # fmt: skip
    assert min(p_values(log, "gaussian:0.2", 0.2).values()) > 0.01


def alarms(check: str, draw: played.Draw, noise: str, studies: int = 8, **options: bool) -> int:
    """How many of some studies with a fault are warned about."""
    is_binary = noise == "bernoulli"
    count = 0
    for seed in range(studies):
        means = (played.rates if is_binary else played.levels)(15, seed)
        log = played.play(
            Problem(noise=noise, k=3), "focus", means, draw,  # type: ignore[arg-type]
            budget=4000, seed=seed, **options,
        )  # fmt: skip
        count += p_values(log, noise)[check] < ALPHA
    return count


def test_a_drift_is_seen() -> None:
    def tiring(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
        return (rng.random(len(means)) < means * (1 - 0.6 * gone)).astype(np.float64)

    assert alarms("drift", tiring, "bernoulli") >= 7


def test_one_arm_that_drifts_is_named() -> None:
    rng = np.random.default_rng(3)
    arm = rng.integers(0, 20, 6000)
    reward = rng.normal(arm, 1.0)
    mine = np.flatnonzero(arm == 13)
    reward[mine] += np.linspace(0, 2.0, len(mine))
    arms = sort_rewards(arm, reward, 20)
    found = order_checks.trend_of(arms, arms.place / 6000, alone=True)
    assert found.p < ALPHA
    assert found.arms.tolist() == [13]


def test_rewards_that_resemble_their_neighbours_are_seen() -> None:
    """Each reward of an arm keeps a part of the one before it."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        arm = np.repeat(np.arange(10), 150)
        reward = rng.normal(size=1500)
        for k in range(1, 1500):
            reward[k] += 0.25 * reward[k - 1] * (arm[k] == arm[k - 1])
        order = np.argsort(rng.random((150, 10)).cumsum(axis=0).T.ravel(), kind="stable")
        p, correlation = order_checks.neighbours(sort_rewards(arm[order], reward[order], 10))
        assert p < ALPHA
        assert correlation == pytest.approx(0.25, abs=0.1)


def test_workers_that_differ_are_seen() -> None:
    lean = np.array([-0.15, -0.05, 0.0, 0.05, 0.15])

    def raters(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
        return (rng.random(len(means)) < np.clip(means + lean[who], 0, 1)).astype(np.float64)

    assert alarms("workers", raters, "bernoulli") >= 7


def test_raters_with_tastes_of_their_own_are_seen() -> None:
    """No rater is more generous than another, but each has fixed opinions of the arms."""
    from standout.analysis.checks.workers import compare_workers

    for seed in range(8):
        rng = np.random.default_rng(seed)
        arm, who = rng.integers(0, 12, 3000), rng.integers(0, 30, 3000)
        taste = np.clip(0.4 + rng.normal(0, 0.25, (12, 30)), 0, 1)
        reward = (rng.random(3000) < taste[arm, who]).astype(float)
        found = compare_workers(sort_rewards(arm, reward, 12), who, 30)
        assert found.p_repeat < ALPHA
        assert found.p < ALPHA


def test_one_vandal_among_many_is_named() -> None:
    from standout.analysis.checks.workers import compare_workers

    rng = np.random.default_rng(5)
    arm, who = rng.integers(0, 30, 8000), rng.integers(0, 200, 8000)
    reward = (rng.random(8000) < 0.3).astype(float)
    reward[who == 77] = 1.0
    found = compare_workers(sort_rewards(arm, reward, 30), who, 200)
    assert found.p < ALPHA
    assert found.odd.tolist() == [77]
    assert found.lean[77] == pytest.approx(0.7, abs=0.1)


def test_more_noise_than_assumed_is_seen() -> None:
    def wild(rng: np.random.Generator, means: Floats, who: Ints, gone: Floats) -> Floats:
        return rng.normal(means, 1.25)

    assert alarms("noise", wild, "gaussian:1") >= 7
    # A bound on the variance alone allows far rewards, so that more of them are needed.
    heavy = [noise_checks.heavy_spread(_spread_log(seed, 1.6), 1.0).p < ALPHA for seed in range(8)]
    assert all(heavy)


def _spread_log(seed: int, scale: float) -> checks.Arms:
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 15, 3000)
    return sort_rewards(arm, arm + scale * rng.standard_t(3, 3000) / math.sqrt(3), 15)


def test_one_noisy_arm_and_one_absurd_reward_are_named() -> None:
    rng = np.random.default_rng(6)
    arm = rng.integers(0, 50, 20_000)
    reward = rng.normal(arm, np.where(arm == 7, 1.6, 1.0))
    found = noise_checks.gaussian_spread(sort_rewards(arm, reward, 50), 1.0)
    assert found.p < ALPHA
    assert found.arms.tolist() == [7]
    reward = rng.normal(arm, 1.0)
    reward[123] += 30.0
    found = noise_checks.gaussian_spread(sort_rewards(arm, reward, 50), 1.0)
    assert (found.far, found.p < ALPHA) == (1, True)


@pytest.mark.parametrize("shape", ["skewed", "heavy", "coarse"])
def test_other_shapes_than_gaussian_are_seen(shape: str) -> None:
    rng = np.random.default_rng(7)
    arm = rng.integers(0, 15, 3000)
    noise = {
        "skewed": rng.exponential(size=3000),
        "heavy": rng.standard_t(2, 3000),
        "coarse": np.round(rng.normal(size=3000)),
    }[shape]
    assert noise_checks.gaussian_shape(sort_rewards(arm, arm + noise, 15)).p < ALPHA


def test_slow_answers_that_differ_are_seen() -> None:
    rng = np.random.default_rng(8)
    arm = rng.integers(0, 15, 3000)
    reward = rng.normal(arm, 1.0)
    delay = np.exp(0.2 * (reward - arm) + rng.normal(size=3000))
    arms = sort_rewards(arm, reward, 15)
    assert order_checks.trend_of(
        arms, checks.middle_ranks(arms.arm, delay[arms.place]), alone=False
    ).p < (ALPHA)
    other = rng.permutation(delay)
    clean = order_checks.trend_of(arms, checks.middle_ranks(arms.arm, other[arms.place]))
    assert clean.p > ALPHA
