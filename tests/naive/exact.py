"""The range of median + F * MAD over all means inside the arms' intervals.

Both bounds are piecewise linear in the median's value mu, with corners only
where two of the lines L_i - mu, mu - U_i (or U_i - mu, mu - L_i) meet: trying
all corners and the ends of the median's interval finds the extremes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.order import kth_largest, median_rank


def corners(
    lower: Sequence[float], upper: Sequence[float], left: float, right: float
) -> list[float]:
    points = [*lower, *upper, *((a + b) / 2 for a in lower for b in upper)]
    return [left, right, *(mu for mu in points if left < mu < right)]


Ranks = tuple[int, int]
"""Counted from the largest: of what is bounded below, and of what is bounded above."""


def median_interval(
    lower: Sequence[float], upper: Sequence[float], ranks: Ranks | None
) -> tuple[float, float, int, int]:
    low, up = ranks or (median_rank(len(lower)),) * 2
    return kth_largest(lower, low), kth_largest(upper, up), low, up


def lower_end(
    lower: Sequence[float], upper: Sequence[float], factor: float, ranks: Ranks | None = None
) -> float:
    """Exact: every arm moved to the point of its interval that is next to mu."""
    left, right, m, _ = median_interval(lower, upper, ranks)
    values = []
    for mu in corners(lower, upper, left, right):
        nearest = [max(0.0, a - mu, mu - b) for a, b in zip(lower, upper, strict=True)]
        values.append(mu + factor * kth_largest(nearest, m))
    return min(values)


def upper_end(
    lower: Sequence[float], upper: Sequence[float], factor: float, ranks: Ranks | None = None
) -> float:
    """Valid: every arm at the end of its interval that is farther from mu."""
    left, right, _, m = median_interval(lower, upper, ranks)
    values = []
    for mu in corners(lower, upper, left, right):
        farthest = [max(b - mu, mu - a) for a, b in zip(lower, upper, strict=True)]
        values.append(mu + factor * kth_largest(farthest, m))
    return max(values)
