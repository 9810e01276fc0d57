"""Chances by plain loops: what an arm has to exceed, and lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tests.naive.order import kth_largest, median_rank


def threshold(means: Sequence[float], factor: float) -> float:
    """Median + factor * MAD of means that may be infinite."""
    m = median_rank(len(means))
    median = kth_largest(means, m)
    if math.isinf(median):
        return math.inf
    return median + factor * kth_largest([abs(mean - median) for mean in means], m)


def to_exceed(means: Sequence[float], factor: float, arm: int) -> float:
    """The threshold if the arm's own mean were infinite."""
    return threshold([math.inf if i == arm else mean for i, mean in enumerate(means)], factor)


def flagged(chance: Sequence[float], false_share: float) -> list[int]:
    """The longest list, by chance, whose mean chance to be wrong is at most `false_share`."""
    order = sorted(range(len(chance)), key=lambda i: (-chance[i], i))
    best: list[int] = []
    for size in range(1, len(order) + 1):
        wrong = sum(1 - chance[i] for i in order[:size])
        if wrong / size <= false_share + 1e-12:
            best = order[:size]
    return best


def missed_share(chance: list[float], flagged: int) -> float:
    """Expected share of the arms that stand out which is not among the first so many.

    Over all ways in which arms may stand out, each by its own chance; 0 of 0 is 0.
    """
    total = 0.0
    for stands in itertools.product((False, True), repeat=len(chance)):
        weight = math.prod(c if s else 1 - c for c, s in zip(chance, stands, strict=True))
        if any(stands):
            total += weight * sum(stands[flagged:]) / sum(stands)
    return total
