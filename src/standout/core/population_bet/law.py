"""The distribution of an arm's reading for any mean: binomial counts, and normal means.

A *reading* summarises an arm's N rewards: the number of ones, or their mean. `edges` cut readings
into bins. The first and the last bin are unbounded; a bin contains its upper edge. On the *even
scale* of a law the standard error is the same for all means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from standout.core.typing import Floats

_FAR = 9.0
"""Standard errors beyond which the binomial tail (about 1e-18) is taken for 0."""


class Law(Protocol):
    """How an arm's reading depends on its mean."""

    def masses(self, means: Floats, edges: Floats) -> Floats:
        """The probabilities of the bins, one row per mean."""
        ...

    def even(self, means: Floats) -> Floats:
        """Means on the even scale."""
        ...

    def uneven(self, places: Floats) -> Floats:
        """The means at these places of the even scale."""
        ...

    def error(self) -> float:
        """The standard error on the even scale."""
        ...

    def edges(self, places: Floats) -> Floats:
        """Edges of bins of readings near these places of the even scale."""
        ...

    def slack(self, means: Floats) -> Floats:
        """How far the log of any E[r] can exceed its larger end between neighbouring means."""
        ...


@dataclass(frozen=True)
class Ones:
    """The number of ones among `count` rewards of 0 or 1."""

    count: int

    def masses(self, means: Floats, edges: Floats) -> Floats:
        """Binomial probabilities."""
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
        """About 1 / (2 sqrt(N)), for all means."""
        return float(0.5 / np.sqrt(self.count))

    def edges(self, places: Floats) -> Floats:
        """Integer numbers of ones."""
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
        """Normal probabilities."""
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
    """The probabilities of the bins, from the cumulative probabilities at the edges."""
    found: Floats = np.diff(below, axis=1, prepend=0.0, append=1.0)
    return np.maximum(found, 0.0)


def bin_of(edges: Floats, readings: Floats) -> np.ndarray:
    """The index of each reading's bin."""
    return np.searchsorted(edges, readings, side="left")
