"""The joint bet for rewards with a bounded standard deviation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from standout.core.intervals.heavy import SIZE, heavy_step
from standout.core.joint.heavy_tails import WEIGHTS, heavy_evidence
from tests.naive import joint as naive

ALPHA, SIGMA = 1e-3, 0.5


def sums(rewards: np.ndarray) -> np.ndarray:
    """The sums of the interval for an arm's rewards, with an origin of 0."""
    moments, total = np.zeros((1, SIZE)), 0.0
    for pulls, reward in enumerate(rewards.tolist()):
        heavy_step(moments, 0, pulls, total, reward, ALPHA, SIGMA)
        total += reward
    return moments


def evidence(moments: np.ndarray, pulls: int, sign: float, mean: float, rho: float) -> float:
    return float(heavy_evidence(pulls, sign, mean, moments, 0, ALPHA, SIGMA, rho))


def skewed(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Rewards of mean 0 and standard deviation SIGMA: mostly slightly below 0, rarely far above."""
    rare = 0.01
    high = SIGMA * math.sqrt((1 - rare) / rare)
    return np.where(rng.random(size) < rare, high, -high * rare / (1 - rare))


LAWS = {
    "normal": lambda rng, size: rng.normal(0.0, SIGMA, size),
    "t": lambda rng, size: rng.standard_t(3, size) * SIGMA / math.sqrt(3),
    "skewed": skewed,
    "the other way": lambda rng, size: -skewed(rng, size),
}


@pytest.mark.kernel
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rho", [0.5, 20.0, 3000.0])
def test_it_is_a_lower_bound_of_the_definition_and_near_it(law: str, rho: float) -> None:
    rng = np.random.default_rng(1)
    for pulls in (2, 3, 10, 60):
        rewards = LAWS[law](rng, (pulls,))
        moments = sums(rewards)
        for off in (-2.0, -0.5, -0.1, 0.0, 0.1, 0.5, 2.0):
            wanted = math.log(naive.heavy_tails(rewards.tolist(), off, ALPHA, SIGMA, rho))
            found = max(evidence(moments, pulls, sign, off, rho) for sign in (1.0, -1.0))
            assert found <= wanted + 1e-9
            assert found >= wanted - math.log(2) - 0.35


@pytest.mark.kernel
@pytest.mark.parametrize("pulls", [2, 30, 1000])
def test_each_half_changes_in_one_direction(pulls: int) -> None:
    moments = sums(skewed(np.random.default_rng(2), (pulls,)))
    away = np.geomspace(1e-6, 1e6, 60)
    places = np.concatenate([-away[::-1], away])
    for rho in (0.01, 5.0, 1e5):
        low = [evidence(moments, pulls, 1.0, place, rho) for place in places]
        high = [evidence(moments, pulls, -1.0, place, rho) for place in places]
        assert (np.diff(low) <= 1e-9).all()
        assert (np.diff(high) >= -1e-9).all()


def test_no_reward_and_one_reward_say_nothing() -> None:
    for pulls in (0, 1):
        assert evidence(np.zeros((1, SIZE)), pulls, 1.0, -5.0, 20.0) == 0.0


def test_the_weights_are_a_distribution() -> None:
    assert sum(WEIGHTS) <= 1 + 1e-12


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_rule_that_sees_rewards_wins_nothing(law: str, sign: float) -> None:
    # Each arm is left as soon as its evidence against the true mean is large. A supermartingale
    # exceeds 4 standard errors with probability 3e-5 per case.
    rng = np.random.default_rng(3)
    values = []
    for _ in range(1500):
        moments, total, value = np.zeros((1, SIZE)), 0.0, 0.0
        for pulls, reward in enumerate(LAWS[law](rng, (60,)).tolist()):
            heavy_step(moments, 0, pulls, total, reward, ALPHA, SIGMA)
            total += reward
            value = evidence(moments, pulls + 1, sign, 0.0, 20.0)
            if value > 0.0:
                break
        values.append(2 * math.exp(value))  # this half of the bets has half of the capital
    assert np.mean(values) > 0.6
    assert (np.mean(values) - 1) / (np.std(values) / math.sqrt(len(values))) < 4
