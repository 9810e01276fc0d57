"""What is true, by slow and obvious means: nothing here is shared with the library."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.naive.order import kth_largest, median, median_rank

Signs = Sequence[float]


def mad(values: Sequence[float]) -> float:
    middle = median(values)
    return median([abs(value - middle) for value in values])


def theta(values: Sequence[float], factor: float) -> float:
    """median + factor * MAD, the m-th largest of each, never an average."""
    return median(values) + factor * mad(values)


def is_right(
    verdict: int, mean: float, thetas: Sequence[float], signs: Signs, tolerance: float, fuzz: float
) -> bool:
    """Whether a certified verdict (1 normal, 2 outlier) agrees with the truth.

    `thetas` are oriented as the sides are: outliers high. An arm within
    `tolerance` of a threshold may go either way, and so may one within `fuzz`,
    which is 0 where the arithmetic is exact.
    """
    free = tolerance + fuzz
    offs = [sign * mean - theta for sign, theta in zip(signs, thetas, strict=True)]
    if verdict == 2:
        return any(off > -free for off in offs)
    return all(off <= free for off in offs)


def slack_needed(
    oriented: Sequence[float], factor: float, samples: Sequence[Sequence[int]]
) -> float:
    """The smallest slack with which the counts of `threshold.sample` hold for all samples.

    At most m - 1 of n means lie above the median and at least m at or above it. How many
    of s drawn do must not be so unlikely that the sample rules it out: the slack is the
    logarithm of one over the chance of as many above, or as many below. The same for the
    distances and the MAD.
    """
    n = len(oriented)
    rank = median_rank(n)
    middle = median(oriented)
    far = [abs(value - middle) for value in oriented]
    needed = 0.0
    for chosen in samples:
        size = len(chosen)
        if size == n:
            continue
        for values, cut in ((oriented, middle), (far, kth_largest(far, rank))):
            above = sum(values[i] > cut for i in chosen)
            below = sum(values[i] < cut for i in chosen)
            needed = max(needed, -log_chance_of_more(n, rank - 1, size, above))
            needed = max(needed, -log_chance_of_more(n, n - rank, size, below))
    return needed


def log_chance_of_more(n: int, marked: int, size: int, count: int) -> float:
    """Logarithm of the chance that `count` or more of `marked` arms are among `size` of n."""

    def log_choose(a: int, b: int) -> float:
        return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)

    if count <= max(0, size - (n - marked)):
        return 0.0
    terms = [
        log_choose(marked, j) + log_choose(n - marked, size - j) - log_choose(n, size)
        for j in range(count, min(marked, size) + 1)
    ]
    most = max(terms)
    return min(0.0, most + math.log(sum(math.exp(term - most) for term in terms)))
