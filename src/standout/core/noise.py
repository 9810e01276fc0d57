"""Noise families: how rewards scatter around their arm's mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from standout.errors import ProblemError, RewardError, shown

LARGEST = 1e100
"""Rewards, means and scales beyond this (and scales below its inverse) could overflow a sum
or a square."""
MOST_SIGMAS = 1e12
"""Rounding of a reward this many sigmas from 0 is a ten-thousandth of sigma."""
NARROWEST = 1e-10
"""Smallest width of a range, in units of its ends."""


@dataclass(frozen=True)
class Noise:
    """Base class of the families.

    `sigma` is the scale of one reward: sub-Gaussian if the family has such a scale, infinite if it
    is unknown. `support` has the smallest and the largest possible reward, and therefore mean.
    """

    name: ClassVar[str] = ""
    sigma: ClassVar[float] = math.inf
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def spec(self) -> str:
        """The text that `parse_noise` reads."""
        return self.name

    def check_reward(self, value: object) -> float:
        """The value as a float; raises `RewardError` if it cannot be a reward."""
        if isinstance(value, str | bytes):
            raise RewardError(f"reward {value!r} is not a number")
        try:
            reward = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise RewardError(f"reward {shown(value)} is not a number") from None
        if not math.isfinite(reward):
            raise RewardError(f"reward {reward} is not finite")
        largest = min(LARGEST, MOST_SIGMAS * self.sigma)
        if abs(reward) > largest:
            raise RewardError(
                f"reward {reward:g} is too large: with {self.spec()} noise at most {largest:g} "
                "can be represented precisely; subtract a constant, or choose another unit"
            )
        low, high = self.support
        if not low <= reward <= high:
            raise RewardError(
                f"reward {reward:g} lies outside [{low:g}, {high:g}]; "
                "rescale it or choose a wider noise family, e.g. bounded:A,B"
            )
        return reward

    def check_mean(self, arm: str, mean: float) -> None:
        """Refuse a mean that no arm can have."""
        low, high = self.support
        if not (abs(mean) <= LARGEST and low <= mean <= high):
            raise ProblemError(f"arm {arm!r} cannot have mean {mean:g} with {self.spec()} noise")


@dataclass(frozen=True)
class _Scaled(Noise):
    """A family with a known scale, which is part of its text."""

    sigma: float = 1.0  # type: ignore[misc]  # a constant of the class in other families

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sigma) and self.sigma > 0):
            raise ProblemError(f"sigma must be a positive number, not {self.sigma:g}")
        if not 1 / LARGEST <= self.sigma <= LARGEST:
            raise ProblemError(
                f"sigma must lie between {1 / LARGEST:g} and {LARGEST:g}, not {self.sigma:g}; "
                "choose another unit"
            )

    def spec(self) -> str:
        """`NAME:SIGMA`."""
        return f"{self.name}:{self.sigma!r}"


@dataclass(frozen=True)
class Gaussian(_Scaled):
    """Gaussian, or any sub-Gaussian, noise of known scale.

    Args:
        sigma: The scale, in the rewards' unit.

    Raises:
        ProblemError: The scale is not positive.

    Example:
        >>> Gaussian(0.5).spec()
        'gaussian:0.5'
    """

    name: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class GaussianUnknown(Noise):
    """Gaussian noise with a different, unknown scale for each arm.

    Example:
        >>> GaussianUnknown().spec()
        'gaussian'
    """

    name: ClassVar[str] = "gaussian"


@dataclass(frozen=True)
class HeavyTailed(_Scaled):
    """Any noise with a bounded standard deviation, including outliers.

    Args:
        sigma: The largest standard deviation of an arm's rewards, in their unit.

    Raises:
        ProblemError: The scale is not positive.

    Example:
        >>> HeavyTailed(2.0).spec()
        'heavy:2.0'
    """

    name: ClassVar[str] = "heavy"


@dataclass(frozen=True)
class Bernoulli(Noise):
    """Rewards 0 or 1.

    Example:
        >>> Bernoulli().check_reward(True)
        1.0
    """

    name: ClassVar[str] = "bernoulli"
    sigma: ClassVar[float] = 0.5
    support: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def check_reward(self, value: object) -> float:
        """The value as 0.0 or 1.0; raises `RewardError` if it is neither."""
        reward = super().check_reward(value)
        if reward not in (0.0, 1.0):
            raise RewardError(
                f"reward {reward:g} is neither 0 nor 1; for values in between use bounded:0,1"
            )
        return reward


@dataclass(frozen=True)
class Bounded(Noise):
    """Any rewards within a range.

    Args:
        low: The smallest possible reward.
        high: The largest possible reward.

    Raises:
        ProblemError: The range is empty.

    Example:
        >>> Bounded(1, 7).sigma
        3.0
    """

    low: float = 0.0
    high: float = 1.0
    name: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ProblemError(
                f"bounds must be two finite numbers with A < B, not {self.low:g},{self.high:g}"
            )
        size = max(abs(self.low), abs(self.high))
        if not 1 / LARGEST <= size <= LARGEST:
            raise ProblemError(
                f"bounds must lie within {LARGEST:g}, and not all within {1 / LARGEST:g}, of 0, "
                f"not {self.low:g},{self.high:g}; choose another unit"
            )
        if self.high - self.low < NARROWEST * size:
            raise ProblemError(
                f"between {self.low!r} and {self.high!r} there are too few numbers to measure "
                "with; subtract a constant from bounds and rewards"
            )

    @property
    def sigma(self) -> float:  # type: ignore[override]
        """Half the range (Hoeffding)."""
        return (self.high - self.low) / 2

    @property
    def support(self) -> tuple[float, float]:  # type: ignore[override]
        """The smallest and the largest reward."""
        return (self.low, self.high)

    def spec(self) -> str:
        """`bounded:A,B`."""
        return f"bounded:{self.low!r},{self.high!r}"


NOISE_FORMS = "bernoulli, gaussian:SIGMA, gaussian (sigma unknown), bounded:A,B or heavy:SIGMA"


def parse_noise(text: str) -> Noise:
    """Read `bernoulli`, `gaussian:0.5`, `gaussian`, `bounded:0,10` or `heavy:2`.

    Example:
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
        case "gaussian", []:
            return GaussianUnknown()
        case "bounded", [low, high]:
            return Bounded(low, high)
        case "heavy", [sigma]:
            return HeavyTailed(sigma)
    raise ProblemError(f"noise {text!r} is not known; use {NOISE_FORMS}")
