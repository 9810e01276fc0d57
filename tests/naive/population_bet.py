"""A population bet with plain loops: E(x) of given means, and the cheapest means of a box."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def binomial_mean(count: int, mean: float, r: Sequence[float]) -> float:
    """E[r[S]] with S ones in `count` rewards; r has a number for each S."""
    return sum(
        math.comb(count, s) * mean**s * (1 - mean) ** (count - s) * r[s] for s in range(count + 1)
    )


def normal_mean(spread: float, mean: float, edges: Sequence[float], r: Sequence[float]) -> float:
    """E[r] of a normal reading; r has a number for each bin between edges, and beyond them."""
    below = [0.5 * math.erfc((mean - edge) / spread / math.sqrt(2)) for edge in edges]
    shares = [b - a for a, b in itertools.pairwise([0.0, *below, 1.0])]
    return sum(share * each for share, each in zip(shares, r, strict=True))


def bin_number(edges: Sequence[float], reading: float) -> int:
    """The first bin whose upper edge is at least the reading."""
    for i, edge in enumerate(edges):
        if reading <= edge:
            return i
    return len(edges)


def median_and_mad(means: Sequence[float]) -> tuple[float, float]:
    """Both the r-th largest, r = (n + 1) // 2."""
    rank = (len(means) + 1) // 2
    median = sorted(means, reverse=True)[rank - 1]
    return median, sorted((abs(mean - median) for mean in means), reverse=True)[rank - 1]


def cheapest(
    costs: Sequence[Sequence[float]], places: Sequence[float], box: Sequence[float]
) -> float:
    """The least cost of means on these places whose median and MAD lie in the box; arms in rows."""
    m1, m2, d1, d2 = box
    least = math.inf
    for chosen in itertools.product(range(len(places)), repeat=len(costs)):
        median, mad = median_and_mad([places[i] for i in chosen])
        if m1 <= median <= m2 and d1 <= mad <= d2:
            least = min(least, sum(cost[i] for cost, i in zip(costs, chosen, strict=True)))
    return least
