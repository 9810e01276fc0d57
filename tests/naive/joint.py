"""The joint bet, word for word: every reward of every arm, one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, t

from standout.core import robust
from standout.core.intervals.betting import STRENGTHS, STRONGEST
from standout.core.intervals.heavy import grid_strength
from standout.core.joint.heavy_tails import WEIGHTS
from standout.core.joint.unknown_scale import PARTS, RHOS, SHAPES


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


def unknown_scale(rewards: Sequence[float], mean: float, rho: float) -> float:
    """M: of each bet, the least over all scales; then their average."""
    spread = math.sqrt(np.mean([(reward - mean) ** 2 for reward in rewards]))
    total = 0.0
    for part, times, shape in zip(PARTS, RHOS, SHAPES, strict=True):
        # Beyond 1e12 times the spread nothing changes any more.
        sigmas = spread * np.geomspace(0.01, 1e12, 1000)
        for _ in range(2):
            logs = _log_ratio(rewards, mean, sigmas, times * rho, shape * rho)
            best = sigmas[np.argmin(logs)]
            sigmas = best * np.geomspace(0.96, 1.04, 1000)
        total += part * math.exp(min(logs))
    return total


def _log_ratio(
    rewards: Sequence[float], mean: float, sigma: np.ndarray, rho: float, shape: float
) -> np.ndarray:
    """log M at each scale: a reward's density given those before, over that of N(mean, sigma)."""
    rate, centre, value = shape * sigma**2, mean, np.zeros_like(sigma)
    for reward in rewards:
        scale = np.sqrt(rate * (rho + 1) / (shape * rho))
        value += t.logpdf(reward, 2 * shape, centre, scale) - norm.logpdf(reward, mean, sigma)
        rate += 0.5 * rho / (rho + 1) * (reward - centre) ** 2
        centre = (rho * centre + reward) / (rho + 1)
        rho, shape = rho + 1, shape + 0.5
    return value


def heavy_tails(
    rewards: Sequence[float], mean: float, alpha: float, sigma: float, rho: float
) -> float:
    """M: the average of all bets against means that are too low and too high."""
    strongest = grid_strength(0, alpha, sigma)
    first = round(math.log2(strongest * sigma * math.sqrt(rho))) - 1
    total = 0.0
    for j, weight in enumerate(WEIGHTS, start=min(max(first, 0), 12 - len(WEIGHTS))):
        strength = strongest / 2**j
        up = math.prod(_catoni_factors(rewards, mean, strength, alpha, sigma))
        others = [-reward for reward in rewards]
        down = math.prod(_catoni_factors(others, -mean, strength, alpha, sigma))
        total += weight * (up + down) / 2
    return total


def _catoni_factors(
    rewards: Sequence[float], mean: float, strength: float, alpha: float, sigma: float
) -> list[float]:
    """The factor of each reward after the first against a mean of at most `mean`."""
    factors, steps, centres = [], 0.0, 0.0
    own = grid_strength(3, alpha, sigma)
    for i in range(1, len(rewards)):
        centre = rewards[0] if i == 1 else (centres + steps / own) / (i - 1)
        # Where the parabola in p is least, or at the mean itself.
        p = max(mean, centre - 1 / strength)
        most = 1 + strength * (p - centre) + strength**2 * (sigma**2 + (p - centre) ** 2) / 2
        factors.append(math.exp(psi(strength * (rewards[i] - centre))) / most)
        steps += psi(own * (rewards[i] - centre))
        centres += centre
    return factors


def psi(x: float) -> float:
    """Catoni's bounded influence."""
    return math.copysign(math.log(1 + abs(x) + x * x / 2), x)


def joint(values: Sequence[float], share: float) -> float:
    """J of all arms' M."""
    return sum(math.log(1 - share + share * value) for value in values)


def is_flipped(means: np.ndarray, factor: float, tolerance: float, arm: int, way: int) -> bool:
    """Whether these means contradict the claim that `arm` stands out (0) or does not (1)."""
    theta = robust.threshold(means, factor)
    if way == 0:
        return bool(means[arm] <= theta - tolerance)
    return bool(means[arm] > theta + tolerance)
