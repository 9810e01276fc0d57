"""Random rewards of an instance: the only module that reads the true means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from standout.core.compile import Struct, dispatch, part
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


@dataclass(frozen=True, eq=False)
class Rewards(Struct):
    """The distribution of simulated rewards; `first` and `second` are parameters per arm."""

    STATIC: ClassVar[tuple[str, ...]] = ("kind",)

    kind: int
    first: Floats
    second: Floats
    low: float
    width: float


_BERNOULLI = int(RewardKind.BERNOULLI)
_STUDENT = int(RewardKind.STUDENT)


@part()
def _draw_bernoulli(rewards: Rewards, arm: int, rng: np.random.Generator) -> float:
    return 1.0 if rng.random() < rewards.first[arm] else 0.0


@part()
def _draw_beta(rewards: Rewards, arm: int, rng: np.random.Generator) -> float:
    if rewards.second[arm] <= 0.0:
        share = rewards.first[arm]
    else:
        share = rng.beta(rewards.first[arm], rewards.second[arm])
    return float(rewards.low + rewards.width * share)


@part()
def _draw_student(rewards: Rewards, arm: int, rng: np.random.Generator) -> float:
    # A t variable with 3 degrees of freedom has variance 3, and no third moment.
    off = rng.standard_normal() / math.sqrt(2.0 * rng.standard_gamma(1.5) / 3.0)
    return float(rewards.first[arm] + rewards.second[arm] * off / math.sqrt(3.0))


@part()
def _draw_gaussian(rewards: Rewards, arm: int, rng: np.random.Generator) -> float:
    return float(rewards.first[arm] + rewards.second[arm] * rng.standard_normal())


_DRAWS = {
    RewardKind.GAUSSIAN: _draw_gaussian,
    RewardKind.BERNOULLI: _draw_bernoulli,
    RewardKind.BETA: _draw_beta,
    RewardKind.STUDENT: _draw_student,
}
draw = dispatch(lambda rewards: _DRAWS[rewards.kind])
"""One reward of `arm`, of (rewards, arm, rng)."""


def rewards_of(means: Floats, noise: Noise, sigmas: Floats | None) -> Rewards:
    """The rewards of arms with these means under `noise`.

    Gaussian and heavy-tailed noise (Student's t with 3 degrees of freedom) use each arm's own
    sigma, if given. Bounded noise is a Beta distribution on [low, high] with the arm's mean and
    sigma; without a sigma, its two parameters sum to 4.
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
        # A mean at an end of the range has no noise: b = 0 marks it, and a holds the value.
        fixed = (share <= 0) | (share >= 1)
        first[fixed], second[fixed] = share[fixed], 0.0
        return Rewards(int(RewardKind.BETA), first, second, noise.low, width)
    if sigmas is None and isinstance(noise, GaussianUnknown):
        raise InstanceError("noise of unknown sigma needs each arm's true sigma, in a column sigma")
    scale = np.full(n, noise.sigma) if sigmas is None else sigmas
    kind = _STUDENT if isinstance(noise, HeavyTailed) else int(RewardKind.GAUSSIAN)
    return Rewards(kind, np.array(means), np.array(scale), 0.0, 0.0)
