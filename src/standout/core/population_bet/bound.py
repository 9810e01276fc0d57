"""A lower bound of the cost of means with a median and a MAD from a box, for groups of arms.

Let r = (n + 1) // 2. At least r means are at or above the median and n - r at or below it. At least
r means have a distance of at least the MAD from it and n - r a distance of at most the MAD. So each
mean can be given two true labels, high or low and far or near, such that r means are high and r are
far. An arm with given labels costs at least the minimum over the region where both labels are true.
The cheapest labelling is bounded from below with the Lagrange multipliers y for high and z for far,

    r y + r z + sum over groups of size * min over labels of (cost - y [high] - z [far]).

The bound holds for any y and z. For given z the best y is a weighted order statistic; z is found by
golden section search. An inexact search only weakens the bound.
"""

from __future__ import annotations

import numpy as np

from standout.core.typing import Array, Floats

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
_ROUNDS = 46
_REACH = 70.0


def least_costs(costs: Floats, sizes: Floats, rank: int) -> Floats:
    """The lower bound for each box.

    Args:
        costs: (groups, boxes, 4), for low far, low near, high near and high far.
        sizes: Number of arms in each group.
        rank: r of the module's docstring.
    """
    low = np.full(costs.shape[1], -_REACH)
    high = np.full(costs.shape[1], _REACH)
    best = np.full(costs.shape[1], -np.inf)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = (_at(costs, sizes, rank, z) for z in (left, right))
    for _ in range(_ROUNDS):
        best = np.maximum(best, np.maximum(at_left, at_right))
        is_left = at_left > at_right
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
        new = np.where(is_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_new = _at(costs, sizes, rank, new)
        left, right = np.where(is_left, new, right), np.where(is_left, left, new)
        at_left, at_right = np.where(is_left, at_new, at_right), np.where(is_left, at_left, at_new)
    return best


def _at(costs: Floats, sizes: Floats, rank: int, z: Floats) -> Floats:
    """The bound at the best y for the given z, one per box."""
    low = np.minimum(costs[:, :, 0] - z, costs[:, :, 1])
    high = np.minimum(costs[:, :, 3] - z, costs[:, :, 2])
    bends = high - low
    if len(bends) == 1:
        y = bends[0]
    else:
        order: Array = np.argsort(bends, axis=0, kind="stable")
        reached = np.cumsum(sizes[order], axis=0) >= rank
        y = np.take_along_axis(bends, order, axis=0)[reached.argmax(axis=0), np.arange(len(z))]
    found: Floats = rank * (y + z) + sizes @ np.minimum(low, high - y)
    return found
