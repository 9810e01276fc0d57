"""The least cost of means with a median and a MAD from a box, when arms come in groups.

With r = (n + 1) // 2, at least r means lie at the median or above and n - r at it or below, at
least r are as far from it as the MAD or farther and n - r as near or nearer. So each mean has two
labels, high or low and far or near, that are true of it, with r highs and r fars in all. A group's
arm with given labels costs its least in the region where both are true; the cheapest labelling is
bounded by Lagrange's multipliers y for high and z for far,

    r y + r z + sum over groups of size * min over labels of (cost - y [high] - z [far]),

for any y and z. For given z the best y is a weighted order statistic, and z is found by
golden section: what is found counts, not whether it is best.
"""

from __future__ import annotations

import numpy as np

from standout.core.typing import Array, Floats

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
_ROUNDS = 46
_REACH = 70.0


def least_costs(costs: Floats, sizes: Floats, rank: int) -> Floats:
    """Bounds for each box.

    `costs` are (groups, boxes, 4) for low far, low near, high near and high far; `sizes` are how
    many arms the groups have, `rank` is r.
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
    """The bound at the best y for these z, one per box."""
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
