"""The narrowest interval of a threshold that any method could prove without an assumption.

If rewards under a population P of means cannot be distinguished from rewards under P', an
interval that is valid for all means contains both thresholds. P is estimated from the rewards. The
result is the least and the largest threshold of a population P' with a bound on n KL(f_P || f_P'),
in nats. It is computed, not proved: P is an estimate, and log(1/delta) nats are what a test needs
on average.

That bound assumes that the means are drawn again. Here they are fixed, and each arm's own rewards
show its mean. So the interval also includes the variation of the threshold from one draw of n means
to the next. This part is subtracted, as a variance. If it is large, the rewards of the arms contain
information that the bound does not use, and the result is None.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.population_bet.estimate import Estimate, cells_near, estimate
from standout.core.population_bet.law import Law, NormalMean, Ones
from standout.core.population_bet.plan import AWAY, error_of, first_look
from standout.core.population_bet.rivals import DOWN, UP, Solver
from standout.core.population_bet.sample import Group, Pilot, Sums, typical_law
from standout.core.typing import Floats

_CELLS = 80
_PLACES = 9
_DRAWS = 100
_MOST_TAKEN = 0.1
"""The largest share of an end's squared distance that may come from drawing the means."""
_REACH = 2.4
"""Distances of the examined medians from the estimate, in standard errors."""


def possible_interval(sums: Sums, factor: float, nats: float) -> tuple[float, float] | None:
    """The interval of median + factor * MAD, or None if it cannot be computed."""
    groups = whole_groups(sums)
    if not groups:
        return None
    typical = typical_law(groups)
    seen = sums.counts > 0
    spreads = _spreads(sums)
    found = estimate(Pilot(np.where(seen, sums.counts, 0.0), sums.means, spreads), typical, _CELLS)
    return _range_of(Solver(found, groups), factor, nats)


def possible_of_means(
    means: Floats, count: int, sigma: float, factor: float, nats: float
) -> tuple[float, float] | None:
    """The interval for known means with `count` rewards each; `sigma` is NaN for 0/1 rewards."""
    law: Law = Ones(count) if math.isnan(sigma) else NormalMean(sigma / math.sqrt(count))
    edges = cells_near(means, law, _CELLS)
    masses = np.histogram(means, edges)[0].astype(np.float64)
    masses = (masses + 1e-3) / (masses + 1e-3).sum()
    median = float(np.median(means))
    found = Estimate(edges, masses, median, float(np.median(np.abs(means - median))), law)
    group = Group(np.arange(len(means)), np.zeros(len(means)), (law,))
    return _range_of(Solver(found, [group]), factor, nats)


def whole_groups(sums: Sums) -> list[Group]:
    """Arms grouped by number of rewards; with unknown scales, one group per arm."""
    found = []
    if math.isinf(sums.sigma):
        for arm in np.flatnonzero((sums.counts > 2) & (sums.squares > 0)).tolist():
            count = int(sums.counts[arm])
            spread = math.sqrt(float(sums.squares[arm]) / (count - 1) / count)
            found.append(Group(np.array([arm]), np.zeros(1), (NormalMean(spread),)))
        return found
    for count in np.unique(sums.counts[sums.counts > 0]).tolist():
        law: Law = (
            Ones(count) if math.isnan(sums.sigma) else NormalMean(sums.sigma / math.sqrt(count))
        )
        arms = np.flatnonzero(sums.counts == count)
        found.append(Group(arms, np.zeros(len(arms)), (law,)))
    return found


def _spreads(sums: Sums) -> Floats:
    if math.isnan(sums.sigma):
        return np.full(len(sums.counts), math.nan)
    counts = np.maximum(sums.counts, 1)
    if math.isinf(sums.sigma):
        usual = np.sqrt(sums.squares / np.maximum(counts - 1, 1) / counts)
        return np.where(usual > 0, usual, np.inf)
    found: Floats = sums.sigma / np.sqrt(counts)
    return found


def _range_of(solver: Solver, factor: float, nats: float) -> tuple[float, float] | None:
    found, error = solver.estimate, error_of(solver)
    theta = found.median + factor * found.mad
    places = found.median + np.linspace(-_REACH, _REACH, _PLACES) * error
    start = np.maximum((theta - places) / factor, 0.0)
    ends = []
    for way in (UP, DOWN):
        roots = first_look(solver, way, places, start, error)
        reached = [theta]
        for place, mad, row in zip(places.tolist(), start.tolist(), roots, strict=True):
            if row[0] ** 2 <= nats:
                away = error * float(np.interp(math.sqrt(nats), row, np.array(AWAY)))
                reached.append(place + factor * max(mad + way * away, 0.0))
        ends.append(max(reached) if way == UP else min(reached))
    taken = 2.0 * nats * _sampling_variance(found, solver.n_arms, factor)
    squares = [(end - theta) ** 2 for end in ends]
    if taken > _MOST_TAKEN * min(squares):
        return None
    above, below = (math.sqrt(square - taken) for square in squares)
    return theta - below, theta + above


def _sampling_variance(found: Estimate, n_arms: int, factor: float) -> float:
    """The variance of the threshold of `n_arms` means drawn from the population."""
    steps = np.concatenate(([0.0], np.cumsum(found.masses)))
    half = np.random.default_rng(0).random((_DRAWS // 2, n_arms))
    drawn = np.interp(np.concatenate((half, 1.0 - half)), steps / steps[-1], found.edges)
    medians = np.median(drawn, axis=1, keepdims=True)
    mads = np.median(np.abs(drawn - medians), axis=1)
    return float(np.var(medians[:, 0] + factor * mads))
