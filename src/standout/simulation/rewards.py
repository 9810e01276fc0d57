"""Drawing rewards from an instance: the only place that knows the true means."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from standout.core.jit import kernel
from standout.core.noise import Bernoulli, Bounded, GaussianUnknown, HeavyTailed, Noise
from standout.core.typing import Floats
from standout.errors import InstanceError

DEFAULT_CONCENTRATION = 4.0
"""a + b of the Beta rewards of a bounded instance without a sigma column."""


class RewardKind(IntEnum):
    """The distribution that rewards are drawn from."""

    GAUSSIAN = 0
    BERNOULLI = 1
    BETA = 2
    STUDENT = 3


class Rewards(NamedTuple):
    """Where a simulated reward comes from. `first` and `second` are per-arm parameters."""

    kind: int
    first: Floats
    second: Floats
    low: float
    width: float


_BERNOULLI = int(RewardKind.BERNOULLI)
_BETA = int(RewardKind.BETA)
_STUDENT = int(RewardKind.STUDENT)


@kernel
def draw(rewards: Rewards, arm: int, rng: np.random.Generator) -> float:
    """One reward of `arm`."""
    if rewards.kind == _BERNOULLI:
        return 1.0 if rng.random() < rewards.first[arm] else 0.0
    if rewards.kind == _BETA:
        if rewards.second[arm] <= 0.0:
            share = rewards.first[arm]
        else:
            share = rng.beta(rewards.first[arm], rewards.second[arm])
        return float(rewards.low + rewards.width * share)
    if rewards.kind == _STUDENT:
        # A t variable with 3 degrees of freedom has variance 3 and no third moment.
        off = rng.standard_normal() / math.sqrt(2.0 * rng.standard_gamma(1.5) / 3.0)
        return float(rewards.first[arm] + rewards.second[arm] * off / math.sqrt(3.0))
    return float(rewards.first[arm] + rewards.second[arm] * rng.standard_normal())


def rewards_of(means: Floats, noise: Noise, sigmas: Floats | None) -> Rewards:
    """The rewards of arms with these means under `noise`.

    Gaussian and heavy-tailed (Student's t with 3 degrees of freedom): each arm's
    own sigma where given. Bounded: Beta on [low, high] with
    the arm's mean and sigma; without a sigma its two parameters sum to 4.
    """
    n = len(means)
    if isinstance(noise, Bernoulli):
        return Rewards(_BERNOULLI, np.array(means), np.zeros(n), 0.0, 1.0)
    if isinstance(noise, Bounded):
        width = noise.high - noise.low
        share = (means - noise.low) / width
        concentration = np.full(n, DEFAULT_CONCENTRATION)
        if sigmas is not None:
            concentration = share * (1 - share) / (sigmas / width) ** 2 - 1
        first, second = share * concentration, (1 - share) * concentration
        # A mean at an end of the range has no noise: keep the share itself, marked by b = 0.
        fixed = (share <= 0) | (share >= 1)
        first[fixed], second[fixed] = share[fixed], 0.0
        return Rewards(int(RewardKind.BETA), first, second, noise.low, width)
    if sigmas is None and isinstance(noise, GaussianUnknown):
        raise InstanceError(
            "to draw rewards whose sigma no method knows, give each arm's in a column sigma"
        )
    scale = np.full(n, noise.sigma) if sigmas is None else sigmas
    kind = _STUDENT if isinstance(noise, HeavyTailed) else int(RewardKind.GAUSSIAN)
    return Rewards(kind, np.array(means), np.array(scale), 0.0, 0.0)
