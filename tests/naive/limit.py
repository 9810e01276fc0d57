"""The cheapest means with another answer, for few arms: every assignment, a grid and zooming in.

Written from the definition of median and MAD, without multipliers, lines or boxes:
for each (M, d) every choice of an arm on M, an arm on M - d or M + d, and a region
for each other arm whose counts are right.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

Cost = Callable[[int, np.ndarray], np.ndarray]
"""Of an arm and other means: the weighted divergence."""

GRID = 17


def cheapest(means: list[float], factor: float, cost: Cost, span: tuple[float, ...]) -> float:
    """The least cost of another answer, with M and d in `span` (M low, M high, d low, d high)."""
    return min(cheapest_flip(means, factor, cost, span, arm) for arm in range(len(means)))


def cheapest_flip(
    means: list[float], factor: float, cost: Cost, span: tuple[float, ...], arm: int
) -> float:
    best, (m0, m1, d0, d1) = math.inf, span
    low, high, top = m0, m1, d1
    for _ in range(7):
        m, d = np.meshgrid(np.linspace(m0, m1, GRID), np.linspace(d0, d1, GRID))
        values = flip_cost(means, factor, cost, m, d, arm)
        place = np.unravel_index(np.argmin(values), values.shape)
        best = min(best, float(values[place]))
        dm, dd = (m1 - m0) / 8, (d1 - d0) / 8
        m0, m1 = max(low, m[place] - dm), min(high, m[place] + dm)
        d0, d1 = max(0.0, d[place] - dd), min(top, d[place] + dd)
    return best


def flip_cost(
    means: list[float], factor: float, cost: Cost, m: np.ndarray, d: np.ndarray, arm: int
) -> np.ndarray:
    n, r = len(means), (len(means) + 1) // 2
    ordered = sorted(means, reverse=True)
    median = ordered[r - 1]
    mad = sorted((abs(x - median) for x in means), reverse=True)[r - 1]
    is_out = means[arm] > median + factor * mad
    best = np.full(m.shape, math.inf)

    def move(a: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        # To the nearest point of [low, high]; the flipped arm also across the edge.
        if a == arm and is_out:
            high = np.minimum(high, m + factor * d)
        elif a == arm:
            low = np.maximum(low, m + factor * d)
        there = np.clip(means[a], low, np.maximum(low, high))
        return np.where(low <= high, cost(a, there), math.inf)

    endless = np.full(m.shape, math.inf)
    ends = {
        "lo": (-endless, m - d), "li": (m - d, m), "hi": (m, m + d), "ho": (m + d, endless),
        "m": (m, m), "left": (m - d, m - d), "right": (m + d, m + d),
    }  # fmt: skip
    prices = {(a, k): move(a, *e) for a in range(n) for k, e in ends.items()}
    for p, q, side in itertools.product(range(n), range(n), ("left", "right")):
        if p == q or (not is_out and (arm == p or (arm == q and factor >= 1))):
            continue
        others = [a for a in range(n) if a not in (p, q)]
        for kinds in itertools.product(("lo", "li", "hi", "ho"), repeat=n - 2):
            highs = sum(kind[0] == "h" for kind in kinds) + (side == "right")
            if highs != r - 1 or sum(kind[1] == "o" for kind in kinds) != r - 1:
                continue
            # Into S means strictly above M, and with F >= 1 strictly farther than d, also where
            # d is 0 and all places are the same.
            own = kinds[others.index(arm)] if arm in others else side
            if not is_out and own not in (("ho",) if factor >= 1 else ("hi", "ho", "right")):
                continue
            total = prices[p, "m"] + prices[q, side]
            for a, kind in zip(others, kinds, strict=True):
                total = total + prices[a, kind]
            best = np.minimum(best, total)
    return best
