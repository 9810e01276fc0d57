"""Order statistics. "Largest" counts from 1."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def kth_largest(values: Sequence[float], rank: int) -> float:
    return sorted(values, reverse=True)[rank - 1]


def median_rank(count: int) -> int:
    """m of n = 2m - 1 or n = 2m."""
    m = 1
    while 2 * m < count:
        m += 1
    return m


def median(values: Sequence[float]) -> float:
    return kth_largest(values, median_rank(len(values)))


def possible_tops(values: Sequence[float], arms: Sequence[int], rank: int) -> list[set[int]]:
    """Every set of `rank` arms that has the `rank` largest values: several if values tie."""
    cut = kth_largest([values[i] for i in arms], rank)
    above = {i for i in arms if values[i] > cut}
    tied = [i for i in arms if values[i] == cut]
    return [above | set(some) for some in itertools.combinations(tied, rank - len(above))]


def lowest(values: Sequence[float], arms: set[int]) -> set[int]:
    """All arms that have the smallest value."""
    return {i for i in arms if values[i] == min(values[j] for j in arms)}


def highest(values: Sequence[float], arms: set[int]) -> set[int]:
    return {i for i in arms if values[i] == max(values[j] for j in arms)}
