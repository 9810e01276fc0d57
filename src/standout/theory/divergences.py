"""The cost per pull of mistaking one mean for another: relative entropy, and bounds on it.

A divergence is computed for many points at once: points are a column, arms are along the last axis.
`rise` and `fall` are lower bounds, over a range of points [low, high], of the cost of a mean *at
least* (at most) there. They are straight lines, given by their value in the middle of the range and
their slope. Where the cost is convex this is a tangent, where it is concave the chord, otherwise a
constant.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from standout.core.noise import Bernoulli, Gaussian, GaussianUnknown, Noise
from standout.core.typing import Floats
from standout.errors import ProblemError

HUGE = 1e200
"""Represents an infinite cost, so that sums and differences stay finite."""

TINY = 1e-15
"""How near to the end of the support a line may touch the cost."""

Line = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Divergence(ABC):
    """KL(mu_a, .) of every arm, as a function of the other mean."""

    means: Floats

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest and the largest mean that an arm could have."""

    @abstractmethod
    def mirrored(self) -> Divergence:
        """The same of the negated rewards."""

    @abstractmethod
    def cost(self, point: Floats) -> Floats:
        """KL(mu_a, point), `HUGE` where it is infinite."""

    @abstractmethod
    def slope(self, point: Floats) -> Floats:
        """Its derivative by `point`, which must lie inside the support."""

    @abstractmethod
    def rise(self, low: Floats, high: Floats) -> Line:
        """A line below the cost of a mean of at least z, for z in [low, high]."""

    def fall(self, low: Floats, high: Floats) -> Line:
        """A line below the cost of a mean of at most z, for z in [low, high]."""
        value, slope = self.mirrored().rise(-high, -low)
        return value, -slope


@dataclass(frozen=True, eq=False)
class GaussianDivergence(Divergence):
    """Gaussian rewards with scales `sigmas`, none of which exceeds the known `cap`.

    A method that does not know an arm's scale must allow for every scale up to `cap`. The cheapest
    is used, v = min(cap^2, sigma^2 + (mu - z)^2): (log(v / sigma^2) + (sigma^2 + (mu - z)^2) / v -
    1) / 2. This is (mu - z)^2 / (2 sigma^2) if sigma is the cap, and log(1 + (mu - z)^2 / sigma^2)
    / 2 if there is no cap.
    """

    sigmas: Floats
    cap: float

    @property
    def support(self) -> tuple[float, float]:
        """All real numbers."""
        return -math.inf, math.inf

    def mirrored(self) -> Divergence:
        """The same of the negated rewards."""
        return GaussianDivergence(-self.means, self.sigmas, self.cap)

    def cost(self, point: Floats) -> Floats:
        """The formula above."""
        return self._of_distance(point - self.means)

    def slope(self, point: Floats) -> Floats:
        """(z - mu) / v: the derivative of v drops out, since v is optimal or the cap."""
        return (point - self.means) / self._variance(point - self.means)

    def rise(self, low: Floats, high: Floats) -> Line:
        """Tangent, chord or constant, see above; constant over infinite ranges."""
        near, far = low - self.means, high - self.means
        is_finite = np.isfinite(near) & np.isfinite(far)
        near_cost = self._of_distance(np.maximum(near, 0.0))
        near, far = np.where(is_finite, near, 0.0), np.where(is_finite, far, 0.0)
        middle = (near + far) / 2
        touch = _touch(near, middle)
        far_cost = self._of_distance(np.maximum(far, 0.0))
        bend, end = self._bends()
        is_convex = is_finite & ((far <= bend) | (near >= end))
        is_concave = is_finite & ~is_convex & (near >= bend) & (far <= end) & (far > near)
        chord = (far_cost - near_cost) / np.where(is_concave, far - near, 1.0)
        steep = touch / self._variance(touch)
        slope = np.where(is_convex, steep, chord * is_concave)
        value = np.where(is_concave, (near_cost + far_cost) / 2, near_cost)
        tangent = self._of_distance(touch) + steep * (middle - touch)
        return np.where(is_convex, tangent, value), slope

    def _variance(self, distance: Floats) -> Floats:
        known: Floats = np.minimum(self.cap**2, self.sigmas**2 + distance**2)
        return known

    def _of_distance(self, distance: Floats) -> Floats:
        own, v = self.sigmas**2, self._variance(distance)
        with np.errstate(over="ignore"):
            found = (np.log(v / own) + ((own - v) + distance**2) / v) / 2
        return np.minimum(np.where(np.isfinite(distance), found, HUGE), HUGE)

    def _bends(self) -> tuple[Floats, Floats]:
        """The distances from which on the cost is concave, and convex again."""
        end = np.sqrt(np.maximum(self.cap**2 - self.sigmas**2, 0.0))
        return np.where(self.sigmas < end, self.sigmas, math.inf), end


@dataclass(frozen=True, eq=False)
class BernoulliDivergence(Divergence):
    """Rewards 0 or 1; `sign` -1 for the negated ones, whose means lie in [-1, 0]."""

    sign: float = 1.0

    @property
    def support(self) -> tuple[float, float]:
        """[0, 1], or its mirror image."""
        return (0.0, 1.0) if self.sign > 0 else (-1.0, 0.0)

    def mirrored(self) -> Divergence:
        """The same of the negated rewards."""
        return BernoulliDivergence(-self.means, -self.sign)

    def cost(self, point: Floats) -> Floats:
        """mu log(mu / z) + (1 - mu) log((1 - mu) / (1 - z))."""
        p, q = self.sign * self.means, self.sign * point
        inside = np.clip(q, 0.0, 1.0)
        found = _share(p, inside) + _share(1 - p, 1 - inside)
        return np.where((q < 0) | (q > 1), HUGE, np.clip(found, 0.0, HUGE))

    def slope(self, point: Floats) -> Floats:
        """(z - mu) / (z (1 - z))."""
        q = self.sign * point
        return (point - self.means) / (q * (1 - q))

    def rise(self, low: Floats, high: Floats) -> Line:
        """A tangent; beyond the support the cost is infinite."""
        least, most = self.support
        start, stop = np.maximum(low, least), np.minimum(high, most)
        # The cost grows without bound towards the end of the support: touch it well inside.
        touch = self.means + _touch(start - self.means, (start + stop) / 2 - self.means)
        touch = np.clip(touch, least + TINY, most - TINY)
        is_up = (touch > self.means) & (low < most) & (high > least)
        slope = np.where(is_up, self.slope(touch), 0.0)
        value = np.where(is_up, self.cost(touch), 0.0) + slope * ((low + high) / 2 - touch)
        is_dear = (low > most) | ((low == most) & (self.means < most))
        return np.where(is_dear, HUGE, value), slope


def _touch(near: Floats, middle: Floats) -> Floats:
    """The distance from the mean at which a tangent touches the cost.

    It is the middle of the range, but no farther out than where a parabola's tangent would turn
    negative at the near end.
    """
    found: Floats = np.minimum(middle, 2 * np.maximum(near, 0.0))
    return np.maximum(found, 0.0)


def _share(p: Floats, q: Floats) -> Floats:
    """p log(p / q), 0 for p = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)


def divergence_of(means: Floats, noise: Noise, sigmas: Floats | None = None) -> Divergence:
    """The divergence of arms with these means, whose rewards have this noise.

    `sigmas` are the arms' own standard deviations, unknown to a method; by default the noise's.
    Raises `ProblemError` if means and noise do not determine the distribution of rewards.
    """
    if isinstance(noise, Bernoulli):
        return BernoulliDivergence(means)
    if not isinstance(noise, Gaussian | GaussianUnknown):
        raise ProblemError(
            f"no limit is known for {noise.name} noise, since it leaves the rewards' distribution "
            "open; that of bernoulli or gaussian:SIGMA rewards is another question"
        )
    if sigmas is None and isinstance(noise, GaussianUnknown):
        raise ProblemError(
            "with gaussian noise of unknown scale the limit depends on each arm's own sigma; "
            "give them in a column sigma"
        )
    own = np.full(means.shape, noise.sigma) if sigmas is None else sigmas
    return GaussianDivergence(means, own, noise.sigma)
