"""The exact posterior of two arms in one group or in two, by sums over a grid of widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats

CONCENTRATIONS = (1.0, 2.0, 4.0, 8.0)
SLOPES = 0.3


def chance_of_one_group(
    places: tuple[float, float], variance: float, reach: float, narrowest: float, widest: float
) -> float:
    """P(both arms are in one group | their estimates), for a prior centred at 0.

    A group is an atom with a chance that is a beta variable (1 atom, 2 bells); others are slopes
    with chance `SLOPES`, up or down alike. The logarithm of a width is uniform.
    """
    widths = np.exp(np.linspace(math.log(narrowest), math.log(widest), 101))
    centres = np.linspace(-8 * reach, 8 * reach, 2001)
    prior = stats.norm(0, reach).pdf(centres)
    prior /= prior.sum()
    error = math.sqrt(variance)
    atom, both_atoms = 1 / 3, 1 / 6
    one = sum(1 / (1 + value) for value in CONCENTRATIONS) / len(CONCENTRATIONS)

    def likely(kind: str, width: float, place: float) -> np.ndarray:
        """The density of an estimate, for each centre."""
        off = place - centres
        if kind == "slope up":
            return np.asarray(stats.exponnorm(width / error, 0, error).pdf(off))
        if kind == "slope down":
            return np.asarray(stats.exponnorm(width / error, 0, error).pdf(-off))
        return np.asarray(stats.norm(0, math.hypot(error, width)).pdf(off))

    def expected(found: np.ndarray) -> float:
        return float((prior * found).sum())

    first, second = places
    shapes = {"bell": 1 - SLOPES, "slope up": SLOPES / 2, "slope down": SLOPES / 2}
    together = {True: expected(likely("atom", 0.0, first) * likely("atom", 0.0, second))}
    alone = {True: [expected(likely("atom", 0.0, place)) for place in places]}
    together[False], alone[False] = 0.0, [0.0, 0.0]
    for kind, share in shapes.items():
        for width in widths:
            each = [likely(kind, float(width), place) for place in places]
            together[False] += share / len(widths) * expected(each[0] * each[1])
            for arm in range(2):
                alone[False][arm] += share / len(widths) * expected(each[arm])
    joint = atom * together[True] + (1 - atom) * together[False]
    chances = {0: both_atoms, 1: atom - both_atoms, 2: 1 - 2 * atom + both_atoms}
    apart = sum(
        chances[2 - one_atom - other_atom] * alone[one_atom][0] * alone[other_atom][1]
        for one_atom, other_atom in itertools.product((True, False), repeat=2)
    )
    return one * joint / (one * joint + (1 - one) * apart)
