"""The exact posterior of two arms in one group or in two, by sums over a grid of widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats

CONCENTRATIONS = (0.5, 1.0, 2.0, 4.0)


def chance_of_one_group(
    places: tuple[float, float], variance: float, reach: float, narrowest: float, widest: float
) -> float:
    """P(both arms are in one group | their estimates), for a prior centred at 0.

    A group is an atom with a chance that is a beta variable (1 atom, 2 bells); the logarithm of a
    bell's width is uniform.
    """
    widths = np.exp(np.linspace(math.log(narrowest), math.log(widest), 201))
    atom, both_atoms = 1 / 3, 1 / 6
    one = sum(1 / (1 + value) for value in CONCENTRATIONS) / len(CONCENTRATIONS)

    def together(width: float) -> float:
        own = variance + width**2
        covariance = np.full((2, 2), reach**2) + own * np.eye(2)
        return float(stats.multivariate_normal([0, 0], covariance).pdf(places))

    def alone(place: float, width: float) -> float:
        return float(stats.norm(0, math.sqrt(reach**2 + variance + width**2)).pdf(place))

    bell = float(np.mean([together(width) for width in widths]))
    joint = atom * together(0.0) + (1 - atom) * bell
    parts = [(alone(y, 0.0), float(np.mean([alone(y, w) for w in widths]))) for y in places]
    chances = {0: both_atoms, 1: atom - both_atoms, 2: 1 - 2 * atom + both_atoms}
    apart = sum(
        chances[first + second] * parts[0][first] * parts[1][second]
        for first, second in itertools.product((0, 1), repeat=2)
    )
    return one * joint / (one * joint + (1 - one) * apart)
