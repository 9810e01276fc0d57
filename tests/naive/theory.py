"""Every formula of `standout.core.robust` and `standout.theory` again: slow, plain, obvious.

Written from the paper with loops over Python floats, to be compared with.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tests.naive.order import median


def mad(values: Sequence[float]) -> float:
    centre = median(values)
    return median([abs(y - centre) for y in values])


def threshold(values: Sequence[float], factor: float) -> float:
    return median(values) + factor * mad(values)


def threshold_low(values: Sequence[float], factor: float) -> float:
    """Downwards the median is the m-th smallest."""
    ascending = sorted(values)
    m = (len(values) + 1) // 2
    centre = ascending[m - 1]
    deviations = sorted((abs(y - centre) for y in values), reverse=True)
    return centre - factor * deviations[m - 1]


def mean_std_threshold(values: Sequence[float], k: float) -> float:
    n = len(values)
    mean = sum(values) / n
    variance = sum((y - mean) ** 2 for y in values) / n
    return mean + k * math.sqrt(variance)


def hardness(values: Sequence[float], factor: float, omega: Sequence[int]) -> dict[int, float]:
    """Delta^*_i for the arms in omega, Delta^theta_i for those outside."""
    chosen = [values[i] for i in omega]
    centre, spread, theta = median(chosen), mad(chosen), threshold(chosen, factor)
    nearest = min(abs(theta - y) for y in values)
    result = {}
    for i, y in enumerate(values):
        if i in omega:
            to_mad = abs(spread - abs(y - centre))
            result[i] = max(nearest, min(abs(theta - y), abs(centre - y), to_mad))
        else:
            result[i] = abs(theta - y)
    return result


def upper_bound(
    values: Sequence[float],
    factor: float,
    k: float,
    delta: float,
    constant: float,
    released: bool,
    omega: Sequence[int],
) -> float:
    """Theorem 2 with omega = all arms, else Corollary 1."""
    n = len(values)
    total = 0.0
    for i, gap in hardness(values, factor, omega).items():
        if gap == 0:
            return math.inf
        weight = k if i in omega else 1.0
        inside = n * weight / (delta * gap)
        if released:
            inside = n * weight**2 / (delta * gap**2)
        total += constant * weight**2 * max(0.0, math.log(inside)) / gap**2
    return total


def eta(values: Sequence[float]) -> float:
    m = (len(values) + 1) // 2
    centre = median(values)
    y = [math.nan, *sorted(values, reverse=True)]
    ad = [math.nan, *sorted((abs(v - centre) for v in values), reverse=True)]
    return 0.5 * min(min(y[i] - y[i + 1], ad[i] - ad[i + 1]) for i in (m - 1, m))


def fits(values: Sequence[float], factor: float, rho: float) -> bool:
    """Definition 2, word for word, for one rho."""
    theta = threshold(values, factor)
    if factor < 2 or not eta(values) > 0 or not 0 < rho < eta(values):
        return False
    if any(y == theta for y in values):
        return False
    below = [y for y in values if rho / 2 < theta - y < rho]
    above = [y for y in values if rho / 2 < y - theta < rho]
    within = [y for y in values if abs(y - theta) <= rho / 2]
    return len(below) >= 2 and len(above) >= 2 and not within


def some_rho_fits(values: Sequence[float], factor: float) -> bool:
    """Whether a condition can hold changes only at these points: try between any two."""
    theta = threshold(values, factor)
    points = [0.0, eta(values)]
    for y in values:
        points += [abs(y - theta), 2 * abs(y - theta)]
    points = sorted(set(points))
    middles = [(a + b) / 2 for a, b in itertools.pairwise(points)]
    return any(fits(values, factor, rho) for rho in points + middles)


def theorem3(values: Sequence[float], factor: float, delta: float, sigma: float) -> float:
    total = 0.0
    for gap in hardness(values, factor, range(len(values))).values():
        total += sigma**2 / (5 * gap**2) * math.log(1 / (2.4 * delta))
    return total


def top_arms(values: Sequence[float], factor: float, delta: float, sigma: float) -> float:
    theta = threshold(values, factor)
    y = sorted(values, reverse=True)
    n1 = sum(1 for v in y if v > theta)
    if n1 == 0:
        return 0.0
    total = 0.0
    for i in range(len(y)):
        rival = y[n1] if i < n1 else y[n1 - 1]
        total += 2 * sigma**2 / (y[i] - rival) ** 2
    return total * math.log(1 / (2.4 * delta))


def rr_and_wrr(values: Sequence[float], k: float, delta: float) -> tuple[float, float]:
    n = len(values)
    theta = mean_std_threshold(values, k)
    g = (1 + k * math.sqrt(n - 1)) ** 2 / n
    last = k**2 / (2 * math.log(math.pi**2 * n**3 / (6 * delta)))
    ell = (math.sqrt(g) + math.sqrt(last)) ** 2
    rho = ((n - 1) ** 2 / ell) ** (1 / 3)
    h1 = n / min(abs(y - theta) for y in values) ** 2
    h2 = sum(1 / (y - theta) ** 2 for y in values)
    rr = h1 * (1 + math.sqrt(ell)) ** 2
    wrr = (h1 / rho + (rho - 1) * h2 / rho) * (1 + math.sqrt(ell * rho)) ** 2
    return rr * math.log(n * rr / delta), wrr * math.log(n * wrr / delta)
