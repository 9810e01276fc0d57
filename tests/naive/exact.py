"""The range of median + F * MAD over all means inside the arms' intervals.

Both bounds are piecewise linear in the median's value mu, with corners only
where two of the lines L_i - mu, mu - U_i (or U_i - mu, mu - L_i) meet: trying
all corners and the ends of the median's interval finds the extremes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.order import kth_largest, median, median_rank


def corners(
    lower: Sequence[float], upper: Sequence[float], left: float, right: float
) -> list[float]:
    points = [*lower, *upper, *((a + b) / 2 for a in lower for b in upper)]
    return [left, right, *(mu for mu in points if left < mu < right)]


def lower_end(lower: Sequence[float], upper: Sequence[float], factor: float) -> float:
    """Exact: every arm moved to the point of its interval that is next to mu."""
    m = median_rank(len(lower))
    left, right = median(lower), median(upper)
    values = []
    for mu in corners(lower, upper, left, right):
        nearest = [max(0.0, a - mu, mu - b) for a, b in zip(lower, upper, strict=True)]
        values.append(mu + factor * kth_largest(nearest, m))
    return min(values)


def upper_end(lower: Sequence[float], upper: Sequence[float], factor: float) -> float:
    """Valid: every arm at the end of its interval that is farther from mu."""
    m = median_rank(len(lower))
    left, right = median(lower), median(upper)
    values = []
    for mu in corners(lower, upper, left, right):
        farthest = [max(b - mu, mu - a) for a, b in zip(lower, upper, strict=True)]
        values.append(mu + factor * kth_largest(farthest, m))
    return max(values)
