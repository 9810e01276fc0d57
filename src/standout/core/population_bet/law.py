"""The probability of each bin of an arm's rewards at any mean: sums of 0/1, and normal means.

A *reading* is what is seen of an arm: how many of its N rewards are 1, or their mean. `edges` cut
readings into bins, the first and the last without an end; a bin holds its upper edge. Where a
scale is even, a standard error is the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from standout.core.typing import Floats

_FAR = 9.0
"""Standard errors beyond which nothing is seen: 1e-18 of the rewards."""


class Law(Protocol):
    """How an arm's reading depends on its mean."""

    def masses(self, means: Floats, edges: Floats) -> Floats:
        """The bins' probabilities, a row for each mean."""
        ...

    def even(self, means: Floats) -> Floats:
        """Means on the even scale."""
        ...

    def uneven(self, places: Floats) -> Floats:
        """The means at places of the even scale."""
        ...

    def error(self) -> float:
        """The standard error on the even scale."""
        ...

    def edges(self, places: Floats) -> Floats:
        """Edges of bins of readings near these places of the even scale."""
        ...

    def slack(self, means: Floats) -> Floats:
        """By how much the log of any E[r] can exceed its larger end, between neighbours."""
        ...


@dataclass(frozen=True)
class Ones:
    """How many of `count` rewards 0 or 1 are 1."""

    count: int

    def masses(self, means: Floats, edges: Floats) -> Floats:
        """Binomial."""
        from scipy.special import bdtr

        shares = means[:, None]
        middle = edges[None, :] + 0.5
        away = middle - self.count * shares
        spread = np.sqrt(self.count * np.maximum(shares * (1.0 - shares), 4.0 / self.count))
        below = (away > 0).astype(np.float64)
        near = np.abs(away) < _FAR * spread + 6.0
        row, column = np.nonzero(near)
        below[row, column] = bdtr(edges[column], self.count, means[row])
        return _differences(below)

    def even(self, means: Floats) -> Floats:
        """The arcsine of the root, 0 to pi/2."""
        found: Floats = np.arcsin(np.sqrt(np.clip(means, 0.0, 1.0)))
        return found

    def uneven(self, places: Floats) -> Floats:
        """The square of the sine."""
        found: Floats = np.sin(np.clip(places, 0.0, np.pi / 2)) ** 2
        return found

    def error(self) -> float:
        """About 1 / (2 sqrt(N)), wherever the mean is."""
        return float(0.5 / np.sqrt(self.count))

    def edges(self, places: Floats) -> Floats:
        """Whole numbers of ones."""
        found = np.unique(np.floor(self.count * self.uneven(places)))
        return found[(found >= 0) & (found < self.count)]

    def slack(self, means: Floats) -> Floats:
        """An eighth of the squared step of the log odds, times the largest variance."""
        odds = np.log(means) - np.log1p(-means)
        middle = np.clip(0.5, means[:-1], means[1:])
        variance = self.count * middle * (1.0 - middle)
        found: Floats = np.diff(odds) ** 2 / 8.0 * variance
        return found


@dataclass(frozen=True)
class NormalMean:
    """The mean of normal rewards, with standard error `spread`."""

    spread: float

    def masses(self, means: Floats, edges: Floats) -> Floats:
        """Normal."""
        from scipy.special import ndtr

        return _differences(ndtr((edges[None, :] - means[:, None]) / self.spread))

    def even(self, means: Floats) -> Floats:
        """The means themselves."""
        return means

    def uneven(self, places: Floats) -> Floats:
        """The means themselves."""
        return places

    def error(self) -> float:
        """The standard error."""
        return self.spread

    def edges(self, places: Floats) -> Floats:
        """The places themselves."""
        return places

    def slack(self, means: Floats) -> Floats:
        """An eighth of the squared step in standard errors."""
        found: Floats = (np.diff(means) / self.spread) ** 2 / 8.0
        return found


def _differences(below: Floats) -> Floats:
    """From the probabilities of lying below each edge to those of the bins."""
    found: Floats = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return np.maximum(found, 0.0)


def bin_of(edges: Floats, readings: Floats) -> np.ndarray:
    """The number of each reading's bin."""
    return np.searchsorted(edges, readings, side="left")
