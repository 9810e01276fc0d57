"""The joint bet, word for word: every reward of every arm, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from standout.core import robust
from standout.core.intervals.betting import STRENGTHS, STRONGEST


def gaussian(rewards: Sequence[float], mean: float, sigma: float, rho: float) -> float:
    """M: the mixture over lambda ~ N(0, 1/rho), integrated by adding up."""
    lambdas = np.linspace(-12, 12, 20_001) / math.sqrt(rho)
    logs = -rho * lambdas**2 / 2 + math.log(math.sqrt(rho / (2 * math.pi)))
    for reward in rewards:
        logs += lambdas * (reward - mean) / sigma - lambdas**2 / 2
    return float(np.exp(logs).sum() * (lambdas[1] - lambdas[0]))


def bernoulli(rewards: Sequence[float], mean: float, rho: float) -> float:
    """M: each reward's chance under the beta mixture, given those before, over that of `mean`."""
    ones, zeros, value = rho * mean, rho * (1 - mean), 1.0
    for reward in rewards:
        chance = (ones if reward else zeros) / (ones + zeros)
        value *= chance / (mean if reward else 1 - mean)
        ones, zeros = ones + reward, zeros + 1 - reward
    return value


def betting(rewards: Sequence[float], mean: float) -> float:
    """M: the average of all bets against means that are too low and too high."""
    weights = np.array([1 / (3 + abs(j - 10)) for j in range(STRENGTHS)])
    total = 0.0
    for weight, strength in zip(
        weights / weights.sum(), STRONGEST / 2.0 ** np.arange(21), strict=True
    ):
        up = math.prod((1 + strength * x) / (1 + strength * mean) for x in rewards)
        down = math.prod((1 + strength * (1 - x)) / (1 + strength * (1 - mean)) for x in rewards)
        total += weight * (up + down) / 2
    return total


def joint(values: Sequence[float], share: float) -> float:
    """J of all arms' M."""
    return sum(math.log(1 - share + share * value) for value in values)


def is_flipped(means: np.ndarray, factor: float, tolerance: float, arm: int, way: int) -> bool:
    """Whether these means contradict the claim that `arm` stands out (0) or does not (1)."""
    theta = robust.threshold(means, factor)
    if way == 0:
        return bool(means[arm] <= theta - tolerance)
    return bool(means[arm] > theta + tolerance)
