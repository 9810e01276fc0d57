"""The bets r = f_P / f_P', and upper bounds of their expectation g over the means of an arm.

For a group of arms with the same law, r is one number per bin of readings. g(x) = E_x[r] is bounded
from above on the intervals between neighbouring grid points. With the natural parameter eta of the
law, log g = L - A, where L is the log of a sum of exponentials of eta and A is the log partition
function. Both are convex. L lies below its chord, and the chord of A exceeds A by at most an eighth
of the squared step times the largest variance (`Law.slack`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.law import Law, bin_of
from standout.core.population_bet.rivals import BIN, MOST_BINS, Rivals, Solver, bins_of, cell_masses
from standout.core.population_bet.sample import Group
from standout.core.typing import Array, Floats, Ints

SMALLEST, LARGEST = 0.01, 100.0
"""Range to which r is clipped."""
_STEP = 0.05
_SLACK = 0.2
"""Nats that all arms together may lose because g is bounded between grid points."""
_MOST_PLACES = 6000
_ROUNDING = 1e-8
"""Relative rounding error allowed for g."""
_CHUNK = 3_000_000
DEAR = 60.0
"""Cost of a region that holds no mean."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Small boxes: medians from `m1` to `m2`, MADs from `d1` to `d2`, and the bet of their cell."""

    bet: Ints
    m1: Floats
    m2: Floats
    d1: Floats
    d2: Floats

    def spans(self) -> tuple[Array, Array]:
        """Lower and upper ends, (regions, 4) each: low far, low near, high near and high far."""
        free = np.full_like(self.m1, np.inf)
        with np.errstate(invalid="ignore"):
            lower = np.stack([-free, self.m1 - self.d2, self.m1, self.m1 + self.d1], axis=1)
            upper = np.stack([self.m2 - self.d1, self.m2, self.m2 + self.d2, free], axis=1)
        return np.nan_to_num(lower, nan=-np.inf), np.nan_to_num(upper, nan=np.inf)


def ratios(solver: Solver, rivals: Rivals, group: Group, place: int) -> tuple[Floats, Floats]:
    """Edges of the bins, and r with one row per bet and one column per bin."""
    law, found = group.law, solver.estimate
    edges = bins_of(found, law, BIN, MOST_BINS)
    cells = cell_masses(found.edges, law, edges)
    own = law.masses(rivals.points.ravel(), edges).reshape(len(rivals.points), 4, -1)
    weights = rivals.weights[place]
    rival = weights[:, :-4] @ cells.T + (weights[:, None, -4:] @ own)[:, 0, :]
    usual = cells @ found.masses
    return edges, np.clip((usual + 1e-13) / (rival + 1e-13), SMALLEST, LARGEST)


def places_of(solver: Solver, group: Group) -> Floats:
    """Grid of means at which g is computed: the range of the bins and a margin on both sides."""
    law = group.law
    widest = max(each.error() for each in group.laws)
    narrowest = min(each.error() for each in group.laws)
    ends = law.even(solver.estimate.edges[[0, -1]]) + np.array([-12.0, 12.0]) * widest
    step = min(_STEP, float(np.sqrt(8.0 * _SLACK / solver.n_arms))) * narrowest
    count = int(np.clip((ends[1] - ends[0]) / step, 50, _MOST_PLACES))
    tiny = law.even(np.array([1e-6, 1.0 - 1e-6]) if law.uneven(np.array([-1.0]))[0] == 0 else ends)
    low, high = max(ends[0], float(tiny[0])), min(ends[1], float(tiny[1]))
    return law.uneven(np.linspace(low, high, count + 1))


def _log_means(law: Law, means: Floats, edges: Floats, r: Floats) -> Floats:
    """Values of log g at these means, (bets, means)."""
    found = np.empty((len(r), len(means)))
    size = max(1, _CHUNK // (len(edges) + 1))
    for first in range(0, len(means), size):
        rows = slice(first, first + size)
        found[:, rows] = r @ law.masses(means[rows], edges).T
    return np.log(found)


def tops(group: Group, means: Floats, edges: Floats, r: Floats) -> Floats:
    """Upper bounds of log g: below the first mean, between neighbours, above the last mean."""
    found = np.full((len(r), len(means) + 1), -np.inf)
    for law in group.laws:
        values = _log_means(law, means, edges, r)
        between = np.maximum(values[:, 1:], values[:, :-1]) + law.slack(means)
        found[:, 1:-1] = np.maximum(found[:, 1:-1], between)
        ends = law.masses(means[[0, -1]], edges)
        for column, bin_, end in ((0, 0, 0), (-1, -1, 1)):
            # Farther out the probability of the outermost bin can only grow.
            beyond = np.log(r[:, bin_] + LARGEST * max(0.0, 1.0 - ends[end, bin_]))
            found[:, column] = np.maximum(found[:, column], beyond)
    return found + group.slack + _ROUNDING


def region_costs(top: Floats, means: Floats, regions: Regions) -> Floats:
    """The minimum of -log g in each region, (regions, 4); `DEAR` where the region is empty."""
    lower, upper = regions.spans()
    # Column i of `top` covers the means from number i - 1 to number i.
    first = np.searchsorted(means, lower, side="left")
    last = np.searchsorted(means, upper, side="right")
    empty = upper < lower
    first, last = np.minimum(first, last), np.maximum(first, last)
    level = np.floor(np.log2(last - first + 1)).astype(int)
    costs = np.empty(lower.shape)
    bet = np.broadcast_to(regions.bet[:, None], lower.shape)
    table = top
    for k in range(int(level.max()) + 1):
        here = level == k
        b, i, j = bet[here], first[here], last[here]
        costs[here] = -np.maximum(table[b, i], table[b, j - (1 << k) + 1])
        if table.shape[1] > (1 << k):
            table = np.maximum(table[:, : -(1 << k)], table[:, 1 << k :])
    costs[empty] = DEAR
    return costs


def gains(group: Group, edges: Floats, r: Floats) -> Floats:
    """The sum of log r over the group's readings, one per bet."""
    counts = np.bincount(bin_of(edges, group.readings), minlength=r.shape[1])
    found: Floats = np.log(r) @ counts.astype(np.float64)
    return found
