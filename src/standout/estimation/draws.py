"""Draws from the posterior of all means: from evidence to thresholds and tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.population.chain import sample
from standout.core.population.population import Limits, Population, new_population
from standout.core.problem import Problem, Side
from standout.core.typing import Flags, Floats
from standout.estimation.evidence import Readings

STARTS = ((1, False), (4, True), (3, False), (2, True))
"""The number of groups at the start of each chain, and whether they are atoms."""
MOST_DRAWS, FEWEST_DRAWS = 40, 20
"""Draws of a chain, with few and with many arms."""
DRAW_EFFORT = 20_000
"""The approximate product of arms and draws of a chain."""
FEW_CHAINS = 2_000
"""With more arms there are only two chains."""
REACH = 1.0
"""Scale of the prior of places, in spreads of the estimates."""
BEYOND = 3.0
"""Groups lie at most this many spreads beyond the estimates."""
NARROWEST = 1.0
"""Width of the narrowest bell, in standard errors; data of few arms cannot distinguish narrower
bells from atoms."""
FEW_ARMS = 50.0
"""With more arms narrower bells can be distinguished: the squared width falls like 1/sqrt(n)."""
FINEST = 1e-4
"""The error of a known mean, as a share of the narrowest bell's width."""
WIDEST_ANGLE = 0.45
"""Width of the widest beta distribution, in angles: wider ones have less than one pseudo-reward."""
KNOWN_REWARDS = 1e4
"""A known share counts as the mean of this many rewards."""
TIED = 2.0
"""Weight of a draw in which more than half of the arms have the same mean: a Dirichlet process
alone makes that rarer than it is."""
_GOLDEN = 0.6180339887498949
_NORMAL = 1.4826


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of all means.

    `tails` has one row per draw and one column per arm: the arm's chance to stand out, given the
    others. `thetas` has one row per side. `scales` are standard deviations of the means, in places.
    `is_tied` marks draws in which more than half of the means are equal. `weights` are 1 or `TIED`.
    """

    tails: Floats
    thetas: Floats
    scales: Floats
    is_tied: Flags
    weights: Floats

    def mean(self, values: Floats) -> Floats:
        """The weighted mean over draws, along the first axis."""
        # Not `@`: the order in which BLAS adds depends on the place of a column.
        return np.asarray((values.T * self.weights).T.sum(axis=0) / self.weights.sum())

    def quantiles(self, values: Floats, shares: list[float]) -> list[float]:
        """Weighted quantiles of one value per draw."""
        order = np.argsort(values, kind="stable")
        weights = self.weights[order] / self.weights.sum()
        places = np.cumsum(weights) - 0.5 * weights
        return [float(each) for each in np.interp(shares, places, values[order])]

    def mean_of_worst(self, values: Floats, share: float) -> float:
        """The mean of the largest values, of draws that have this share of the weight."""
        order = np.argsort(-values, kind="stable")
        weights = self.weights[order] / self.weights.sum()
        taken = np.clip(share - (np.cumsum(weights) - weights), 0.0, weights)
        return float((taken * values[order]).sum()) / share


def draws_of(readings: Readings, problem: Problem, seed: int) -> Draws:
    """Draws from the posterior, given the evidence."""
    sides = problem.sides()
    is_mirrored = problem.side is Side.LOW
    if is_mirrored:
        readings = readings.mirrored()
    signs = [-1.0 if side is Side.LOW and not is_mirrored else 1.0 for side in sides]
    factors = np.array([problem.factor_of(side) for side in sides])
    # Arms in an order that depends on the evidence alone; the first of them represent all.
    n = len(readings.place)
    ranks = np.argsort(np.arange(n) * _GOLDEN % 1.0, kind="stable")
    order = readings.order()[ranks]
    middle, unit = _middle_and_unit(readings)
    population = _population(readings.take(order), middle, unit)
    size = int(np.clip(DRAW_EFFORT // n, FEWEST_DRAWS, MOST_DRAWS))
    starts = STARTS if n <= FEW_CHAINS else STARTS[:2]
    tails = np.empty((size * len(starts), n))
    thetas = np.empty((len(sides), len(tails)))
    scales, ties = np.empty(len(tails)), np.empty(len(tails))
    rng = np.random.default_rng(seed)
    for number, (groups, is_of_atoms) in enumerate(starts):
        rows = slice(number * size, (number + 1) * size)
        population.members[:] = ranks
        some = np.empty((len(sides), size))
        sample(
            population, groups, is_of_atoms, np.array(signs), factors, tails[rows], some,
            scales[rows], ties[rows], rng,
        )  # fmt: skip
        thetas[:, rows] = some
    back = np.empty_like(tails)
    back[:, order] = tails
    is_tied = ties > 0.5
    return Draws(
        back,
        _restored(thetas, readings, is_mirrored, middle, unit),
        scales * unit,
        is_tied,
        np.where(is_tied, TIED, 1.0),
    )


def _restored(
    thetas: Floats, readings: Readings, is_mirrored: bool, middle: float, unit: float
) -> Floats:
    """Thresholds in the rewards' unit."""
    if readings.is_angle:
        return 1.0 - thetas if is_mirrored else thetas
    thetas = middle + unit * thetas
    return -thetas if is_mirrored else thetas


def _middle_and_unit(readings: Readings) -> tuple[float, float]:
    """The origin and the unit of places, so that huge and tiny rewards are treated alike."""
    if readings.is_angle:
        return 0.0, 1.0
    seen = np.isfinite(readings.error)
    place, error = readings.place[seen], readings.error[seen]
    if not len(place):
        return 0.0, 1.0
    middle = float(np.median(place))
    return middle, _spread(place - middle, error) or max(abs(middle), 1.0)


def _spread(off: Floats, error: Floats) -> float:
    """The spread of most estimates; if most are equal, that of the noise or of all estimates."""
    low, high = np.quantile(off, [0.1, 0.9])
    usual = max(_NORMAL * float(np.median(np.abs(off))), float(high - low) / 2.563)
    return max(usual, float(np.median(error))) or float(np.max(np.abs(off)))


def _population(readings: Readings, middle: float, unit: float) -> Population:
    seen = np.isfinite(readings.error)
    place, error = (readings.place - middle) / unit, readings.error / unit
    low, high = (readings.low - middle) / unit, (readings.high - middle) / unit
    centre, spread, typical, farthest = 0.0, 1.0, 1.0, 1.0
    if readings.is_angle:
        centre, spread = np.pi / 4, np.pi / 8
    if seen.any():
        centre = float(np.median(place[seen]))
        off = place[seen] - centre
        spread = _spread(off, error[seen]) or spread
        typical, farthest = float(np.median(error[seen])), float(np.max(np.abs(off)))
        low = max(low, float(np.min(place[seen])) - BEYOND * spread)
        high = min(high, float(np.max(place[seen])) + BEYOND * spread)
    # The narrowest bell that the data can distinguish from an atom: narrower with many arms.
    share = min(NARROWEST, (FEW_ARMS / len(place)) ** 0.25)
    narrowest = share * max(min(typical, spread), 1e-3 * spread)
    widest = max(2.0 * farthest, 3.0 * spread)
    if readings.is_angle:
        widest = WIDEST_ANGLE
        narrowest = min(narrowest, 0.5 * widest)
    low, high = (low, high) if low < high else (centre - spread, centre + spread)
    finest = (FINEST * narrowest) ** 2
    limits = Limits(low, high, centre, REACH * spread, narrowest, widest, finest)
    counts = None
    if readings.ones is not None and readings.zeros is not None:
        known = readings.error == 0
        share_of_ones = np.sin(readings.place) ** 2
        counts = (
            np.where(known, KNOWN_REWARDS * share_of_ones, readings.ones),
            np.where(known, KNOWN_REWARDS * (1.0 - share_of_ones), readings.zeros),
        )
    return new_population(place, error**2, readings.dof, counts, limits)
