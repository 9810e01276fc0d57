"""The bins that all means are thought to lie in: fine where most are, coarse far out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core.typing import Floats
from standout.estimation.evidence import Readings

FINENESS = 25
"""Bins per robust standard deviation of the estimates, near their median."""
BEND = 2.0
"""So many standard deviations out the bins begin to widen."""
REACH = 4.0
"""Bins reach at least so far to both sides."""
FARTHEST = 40.0
"""An estimate farther out counts as if it lay there: it is an outlier either way."""


@dataclass(frozen=True, eq=False)
class Bins:
    """Edges of the bins, and where most estimates lie: `centre`, and how they scatter: `spread`."""

    edges: Floats
    centre: float
    spread: float

    @cached_property
    def middle(self) -> Floats:
        """The middle of each bin."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @cached_property
    def width(self) -> Floats:
        """The width of each bin."""
        return np.diff(self.edges)


def bins_of(readings: Readings, factor: float) -> Bins:
    """Bins for these readings; `factor` is how many MADs out the threshold lies."""
    seen = np.isfinite(readings.error)
    place, error = readings.place[seen], readings.error[seen]
    centre, spread = _centre_and_spread(place, error)
    if not len(place) and np.isfinite(readings.low):
        centre, spread = 0.5 * (readings.low + readings.high), 0.2 * (readings.high - readings.low)
    far = spread * max(FARTHEST, 3.0 * factor)
    reach = spread * REACH
    margin = 3.0 * np.minimum(error, spread)
    low = min(float(np.min(place - margin, initial=centre)), centre - reach)
    high = max(float(np.max(place + margin, initial=centre)), centre + reach)
    low, high = max(low, centre - far, readings.low), min(high, centre + far, readings.high)
    bend = BEND * spread
    first, last = np.arcsinh((low - centre) / bend), np.arcsinh((high - centre) / bend)
    count = int(np.ceil((last - first) * BEND * FINENESS))
    edges = centre + bend * np.sinh(np.linspace(first, last, count + 1))
    edges[0], edges[-1] = low, high
    return Bins(edges, centre, spread)


def _centre_and_spread(place: Floats, error: Floats) -> tuple[float, float]:
    if not len(place):
        return 0.0, 1.0
    centre = float(np.median(place))
    spread = 1.4826 * float(np.median(np.abs(place - centre)))
    if spread <= 0:
        # Most are equal: what they can still differ by, or what the others differ by.
        widest = float(np.max(np.abs(place - centre)))
        noise = float(np.median(error))
        spread = noise if noise > 0 else widest
    smallest = 1e-9 * abs(centre)
    return centre, max(spread, smallest) or 1.0
