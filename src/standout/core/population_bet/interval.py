"""The threshold's interval by population bets: the thresholds that no bet refutes."""

from __future__ import annotations

import math

import numpy as np

from standout.core.population_bet.bets import (
    Regions,
    gains,
    places_of,
    ratios,
    region_costs,
    tops,
)
from standout.core.population_bet.bound import least_costs
from standout.core.population_bet.estimate import estimate
from standout.core.population_bet.plan import Cells, make_cells, small_regions
from standout.core.population_bet.rivals import Solver
from standout.core.population_bet.sample import Split, Sums, split, typical_law
from standout.core.typing import Floats

_ROUNDING = 1e-12
"""Relative rounding error allowed for an end."""
SCALE_PART = 0.1
"""Share of delta for the bounds on unknown scales."""


FEWEST = 10
"""Smallest number of arms with a pilot from which a population is estimated."""


def population_interval(
    sums: Sums, factor: float, delta: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Bounds of median + factor * MAD of all means; an end without a bound is infinite.

    The bounds are wrong with probability at most `delta` if the numbers of rewards do not depend
    on the rewards. `rng` splits each arm's rewards into the pilot and the rest.
    """
    risk = SCALE_PART * delta if math.isinf(sums.sigma) else 0.0
    parts = split(sums, rng, risk)
    if (parts.pilot.counts > 0).sum() < FEWEST or not parts.rest:
        return -math.inf, math.inf
    evidence, regions, cells = judge(parts, factor)
    return bounds(evidence, regions, cells, factor, math.log(1.0 / (delta - risk)))


def judge(parts: Split, factor: float) -> tuple[Floats, Regions, Cells]:
    """A lower bound of log E over all means of each small box, by the bet of the box's cell."""
    found = estimate(parts.pilot, typical_law(parts.rest))
    solver = Solver(found, parts.rest)
    cells = make_cells(solver, factor)
    rivals = solver.solve(cells.boxes)
    regions = small_regions(cells)
    costs, gain = [], np.zeros(len(cells.boxes.low))
    for group, place in zip(parts.rest, solver.class_of, strict=True):
        edges, r = ratios(solver, rivals, group, place)
        means = places_of(solver, group)
        costs.append(region_costs(tops(group, means, edges, r), means, regions))
        gain += gains(group, edges, r)
    sizes = [len(group.arms) for group in parts.rest]
    if parts.unseen:
        costs.append(np.zeros_like(costs[0]))
        sizes.append(parts.unseen)
    bound = least_costs(np.array(costs), np.array(sizes, dtype=np.float64), (sum(sizes) + 1) // 2)
    return gain[regions.bet] + bound, regions, cells


def bounds(
    evidence: Floats, regions: Regions, cells: Cells, factor: float, limit: float
) -> tuple[float, float]:
    """The least and the largest threshold that is not refuted."""
    kept = ~(evidence >= limit)  # NaN refutes nothing.
    free = cells.bet < 0
    near = np.minimum(cells.near, cells.far)
    lows = [(regions.m1 + factor * regions.d1)[kept], (cells.low + factor * near)[free]]
    far = np.maximum(cells.near, cells.far)
    highs = [(regions.m2 + factor * regions.d2)[kept], (cells.high + factor * far)[free]]
    lower, upper = float(np.concatenate(lows).min()), float(np.concatenate(highs).max())
    slip = _ROUNDING * (abs(lower) + abs(upper))
    return (lower - slip, upper + slip) if math.isfinite(slip) else (lower, upper)
