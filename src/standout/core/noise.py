"""Noise families: what one reward may look like around its arm's mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from standout.errors import ProblemError, RewardError


@dataclass(frozen=True)
class Noise:
    """Base of the families. `sigma` is the sub-Gaussian scale of one reward."""

    name: ClassVar[str] = ""

    @property
    def sigma(self) -> float:
        raise NotImplementedError

    @property
    def support(self) -> tuple[float, float]:
        """Smallest and largest possible reward (and so mean)."""
        return (-math.inf, math.inf)

    def spec(self) -> str:
        """The text that `parse_noise` reads back."""
        return self.name

    def check_reward(self, value: float) -> float:
        """Give `value` back as a float, or say why it cannot be a reward."""
        try:
            reward = float(value)
        except (TypeError, ValueError):
            raise RewardError(f"reward {value!r} is not a number") from None
        if not math.isfinite(reward):
            raise RewardError(f"reward {reward} is not finite")
        low, high = self.support
        if not low <= reward <= high:
            raise RewardError(
                f"reward {reward:g} lies outside [{low:g}, {high:g}]; "
                "rescale it or choose a wider noise family, e.g. bounded:A,B"
            )
        return reward


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian, or any sub-Gaussian, noise with a known scale."""

    scale: float = 1.0
    name: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ProblemError(f"sigma must be a positive number, not {self.scale:g}")

    @property
    def sigma(self) -> float:
        return self.scale

    def spec(self) -> str:
        return f"gaussian:{self.scale!r}"


@dataclass(frozen=True)
class Bernoulli(Noise):
    """Rewards 0 or 1."""

    name: ClassVar[str] = "bernoulli"

    @property
    def sigma(self) -> float:
        return 0.5

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def check_reward(self, value: float) -> float:
        reward = super().check_reward(value)
        if reward not in (0.0, 1.0):
            raise RewardError(
                f"reward {reward:g} is neither 0 nor 1; for values in between use bounded:0,1"
            )
        return reward


@dataclass(frozen=True)
class Bounded(Noise):
    """Any rewards within [low, high]."""

    low: float = 0.0
    high: float = 1.0
    name: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ProblemError(
                f"bounds must be two finite numbers with A < B, not {self.low:g},{self.high:g}"
            )

    @property
    def sigma(self) -> float:
        return (self.high - self.low) / 2

    @property
    def support(self) -> tuple[float, float]:
        return (self.low, self.high)

    def spec(self) -> str:
        return f"bounded:{self.low!r},{self.high!r}"


NOISE_FORMS = "bernoulli, gaussian:SIGMA or bounded:A,B"


def parse_noise(text: str) -> Noise:
    """Read `bernoulli`, `gaussian:0.5` or `bounded:0,10`.

    >>> parse_noise("gaussian:0.5").sigma
    0.5
    """
    family, _, rest = text.strip().partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise ProblemError(
            f"noise {text!r} has a part that is no number; use {NOISE_FORMS}"
        ) from None
    match family.strip().lower(), numbers:
        case "bernoulli", []:
            return Bernoulli()
        case "gaussian", [sigma]:
            return Gaussian(sigma)
        case "bounded", [low, high]:
            return Bounded(low, high)
    raise ProblemError(f"noise {text!r} is not known; use {NOISE_FORMS}")
