"""Good multipliers for the bounds of `boxes`: any are valid, some are sharp."""

from __future__ import annotations

import numpy as np

from standout.core.typing import Floats, Ints
from standout.theory.boxes import DEAR, Costs, Flips, cheapest, regions, regions_of_flipped


def tune(
    flips: Flips, costs: Costs, chosen: Ints, y: Floats, z: Floats, *, rounds: int, spread: int
) -> tuple[Floats, Floats]:
    """Better multipliers for flipping one chosen arm per box, by steps along four directions.

    Without p and q, the bound bends only along lines of these four directions, so a point that none
    of them improves is optimal. With p and q it is nearly so: `spread` more bends to either side
    are tried.
    """
    rows = np.arange(chosen.size)
    kinds = [kind.copy() for kind in regions(costs)]
    for kind, own in zip(kinds, regions_of_flipped(flips, costs), strict=True):
        kind[rows, chosen] = own[rows, chosen]
    lo, li, hi, ho = kinds
    at_mid, at_left, at_right = _places_with(flips, costs, chosen)

    def bound(y: Floats, z: Floats) -> Floats:
        base = cheapest((lo, li, hi, ho), y, z)
        p, q = at_mid - base, np.minimum(at_left, at_right - y) - base
        found: Floats = base.sum(axis=1) + (flips.rank - 1) * (y + z)[:, 0] + _pair(p, q)
        return found

    value = bound(y, z)
    for _ in range(rounds):
        for dy, dz in ((1, 0), (0, 1), (1, 1), (1, -1)):
            bends, needed = _bends((lo - z, li, hi - y, ho - y - z), dy, dz, flips.rank)
            first, last = max(needed - 1 - spread, 0), min(needed + spread, bends.shape[1] - 1)
            ordered = np.partition(bends, range(first, last + 1), axis=1)
            start = y, z
            for rank in range(first, last + 1):
                step = ordered[:, rank : rank + 1]
                there = start[0] + dy * step, start[1] + dz * step
                moved = bound(*there)
                better = (moved > value)[:, None]
                y, z = np.where(better, there[0], y), np.where(better, there[1], z)
                value = np.maximum(value, moved)
    return y, z


def _places_with(flips: Flips, costs: Costs, chosen: Ints) -> tuple[Floats, Floats, Floats]:
    """The costs of arms to lie on M, M - d and M + d, with the chosen arm flipped."""
    rows = np.arange(chosen.size)
    at_mid, at_left = costs.up_mid + costs.down_mid, costs.up_left + costs.down_left
    at_right = costs.up_right + costs.down_right
    into = ~flips.answer[chosen]
    at_mid[rows[into], chosen[into]] = DEAR
    at_left[rows[into], chosen[into]] = DEAR
    if flips.factor >= 1:
        at_right[rows[into], chosen[into]] = DEAR
    else:
        at_right[rows[~into], chosen[~into]] += costs.may_collapse[~into, 0]
    return at_mid, at_left, at_right


def _pair(p: Floats, q: Floats) -> Floats:
    """The least p_a + q_b with a != b, of each row."""
    first_p, first_q = (np.argpartition(x, 1, axis=1)[:, :2] for x in (p, q))
    best_p, best_q = (
        np.take_along_axis(x, first, axis=1) for x, first in ((p, first_p), (q, first_q))
    )
    found = np.full(p.shape[0], np.inf)
    for s in range(2):
        for t in range(2):
            same = first_p[:, s] == first_q[:, t]
            found = np.where(same, found, np.minimum(found, best_p[:, s] + best_q[:, t]))
    return found


def _bends(
    kinds: tuple[Floats, Floats, Floats, Floats], dy: int, dz: int, r: int
) -> tuple[Floats, int]:
    """The steps along (dy, dz) at which arms change regions, and the rank of the best one."""
    lo, li, hi, ho = kinds
    if dz == 0:
        return np.minimum(hi, ho) - np.minimum(li, lo), r - 1
    if dy == 0:
        return np.minimum(lo, ho) - np.minimum(li, hi), r - 1
    first, mid, last = (li, np.minimum(lo, hi), ho) if dz == 1 else (lo, np.minimum(li, ho), hi)
    straight = (last - first) / 2
    is_straight = mid - first >= straight
    bends = [
        np.where(is_straight, straight, mid - first),
        np.where(is_straight, straight, last - mid),
    ]
    return np.concatenate(bends, axis=1), 2 * (r - 1) if dz == 1 else lo.shape[1]
