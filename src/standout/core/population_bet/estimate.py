"""An estimate of the distribution of the means of all arms, from the pilot alone.

The distribution is a histogram over cells that cover all plausible means. EM starts at uniform
masses and takes few steps, which keeps the histogram smooth. The result is mixed with uniform
masses, so no mean has probability 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.law import Law
from standout.core.population_bet.sample import Pilot
from standout.core.typing import Floats

_ROUNDS = 30
_EVEN = 0.003
_FINE = 0.25
"""Width of cells near the middle, in standard errors of a typical arm."""
_COARSE = 0.5
_NEAR = 4.0
"""Cells are narrow up to this many standard errors beyond median - MAD and median + MAD."""
_BEYOND = 2.0
MOST_CELLS = 120
_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class Estimate:
    """A histogram of the means (edges of cells, and their masses), with its median and MAD."""

    edges: Floats
    masses: Floats
    median: float
    mad: float
    law: Law
    """Law of a typical arm; the cells have equal widths on its even scale"""


def estimate(pilot: Pilot, law: Law, most_cells: int = MOST_CELLS) -> Estimate:
    """The estimate, with narrow cells near the median and one MAD away from it."""
    seen = pilot.counts > 0
    places = law.even(pilot.means[seen])
    error = law.error()
    ratio = np.sqrt(_typical(pilot) + 1e-300)
    outer = _BEYOND * max(error, min(ratio, float(np.ptp(places)) + error))
    low, high = float(places.min()) - outer, float(places.max()) + outer
    low, high = _inside(law, low, high)
    first = np.linspace(low, high, 200)
    masses = _masses(pilot, law.uneven(first), _ROUNDS)
    median, mad = _median_and_mad(law.uneven(first), masses)
    ends = law.even(np.array([median - mad, median + mad]))
    edges = law.uneven(_edges(low, high, ends - [_NEAR * error, -_NEAR * error], error, most_cells))
    middle = 0.5 * (edges[1:] + edges[:-1])
    masses = _masses(pilot, middle, _ROUNDS, np.diff(law.even(edges)))
    even = np.diff(law.even(edges))
    masses = (1.0 - _EVEN) * masses + _EVEN * even / even.sum()
    median, mad = _median_and_mad(middle, masses)
    return Estimate(edges, masses, median, mad, law)


def cells_near(means: Floats, law: Law, most_cells: int) -> Floats:
    """Edges of cells for known means."""
    places, error = law.even(means), law.error()
    low, high = _inside(law, float(places.min()) - 2 * error, float(places.max()) + 2 * error)
    median = float(np.median(means))
    mad = float(np.median(np.abs(means - median)))
    ends = law.even(np.array([median - mad, median + mad])) - [_NEAR * error, -_NEAR * error]
    return law.uneven(_edges(low, high, ends, error, most_cells))


def _typical(pilot: Pilot) -> float:
    """The squared standard error of a typical pilot, on the even scale."""
    seen = pilot.counts > 0
    if np.isnan(pilot.spreads[seen]).any():
        return float(0.25 / np.median(pilot.counts[seen]))
    return float(np.median(pilot.spreads[seen]) ** 2)


def _inside(law: Law, low: float, high: float) -> tuple[float, float]:
    ends = law.even(law.uneven(np.array([low, high])))
    return float(ends[0]), float(ends[1])


def _edges(low: float, high: float, near: Floats, error: float, most: int) -> Floats:
    """Edges on the even scale: narrow cells near the middle, wider ones elsewhere."""
    left, right = float(np.clip(near[0], low, high)), float(np.clip(near[1], low, high))
    size = 1.0
    while True:
        parts = [
            np.linspace(start, end, int(np.ceil((end - start) / (size * width * error))) + 1)
            for start, end, width in (
                (low, left, _COARSE), (left, right, _FINE), (right, high, _COARSE)
            )
            if end > start
        ]  # fmt: skip
        found = np.unique(np.concatenate(parts))
        if len(found) - 1 <= most:
            return found
        size *= 1.15


def _masses(pilot: Pilot, means: Floats, rounds: int, start: Floats | None = None) -> Floats:
    masses = np.ones(len(means)) if start is None else start.copy()
    masses /= masses.sum()
    fits = np.exp(pilot.logs(means))
    for _ in range(rounds):
        masses = masses * ((1.0 / (fits @ masses)) @ fits) / len(fits)
    found: Floats = masses / masses.sum()
    return found


def _median_and_mad(means: Floats, masses: Floats) -> tuple[float, float]:
    median = weighted_median(means, masses)
    return median, weighted_median(np.abs(means - median), masses)


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value with half of the weight on each side, interpolated between neighbours."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - 0.5 * weights[order]
    return float(np.interp(0.5 * weights.sum(), below, values[order]))
