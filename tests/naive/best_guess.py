"""The best guess before the certificate: theta by plug-in, means drawn to the median."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.naive.order import kth_largest, median_rank

GOLDEN = (math.sqrt(5) - 1) / 2
MAD_OF_NORMAL = 0.4549  # squared


def plug_in(
    estimate: Sequence[float],
    pulls: Sequence[int],
    variance: Sequence[float],
    factor: float,
    step: float,
) -> tuple[float, float]:
    """Theta and the median of arms that all have rewards; `step`: of rewards on a lattice."""
    m = median_rank(len(estimate))
    even = [
        value + step * (i * GOLDEN % 1 - 0.5) / count
        for i, (value, count) in enumerate(zip(estimate, pulls, strict=True))
    ]
    median = kth_largest(even, m)
    mad = kth_largest([abs(value - median) for value in even], m)
    noise = kth_largest([v / count for v, count in zip(variance, pulls, strict=True)], m)
    clean = math.sqrt(max(mad**2 - MAD_OF_NORMAL / 2 * noise, (mad / 2) ** 2))
    return median + factor * clean, median


def drawn_in(estimate: float, pulls: int, median: float) -> float:
    """As if there had been one more reward, at the median."""
    return (pulls * estimate + median) / (pulls + 1)
