"""ADE's threshold, by counting pairs from a log and trying all moments on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def radius(pairs: int, delta: float) -> float:
    """Four tails exp(-2 m r^2), together 6 delta / (pi^2 m^2)."""
    return math.sqrt(math.log(4 / (6 * delta / (math.pi**2 * pairs**2))) / (2 * pairs))


def pairs_of(log: Sequence[tuple[bool, list[float]]]) -> list[tuple[float, float]]:
    """The first two rewards of each draw; a draw goes on over rounds until it has two."""
    pairs, first = [], None
    for drawn, rewards in log:
        if not drawn:
            continue
        for reward in rewards:
            if first is None:
                first = reward
            else:
                pairs.append((first, reward))
                first = None
                break
    return pairs


def theta_range(
    pairs: Sequence[tuple[float, float]], k: float, delta: float, sign: int = 1, grid: int = 400
) -> tuple[float, float]:
    """Least and largest sign * mu + k * std over a grid of all mu and nu that are left."""
    r = radius(len(pairs), delta)
    mean = np.mean([(x + y) / 2 for x, y in pairs])
    # Of the means' distances from 1/2: products of rewards in [-1/2, 1/2] have half the range.
    square = np.mean([(x - 0.5) * (y - 0.5) for x, y in pairs])
    low, high = max(0.0, square - r / 2), min(0.25, square + r / 2)
    mu = np.linspace(max(0.0, mean - r), min(1.0, mean + r), grid) - 0.5
    # Besides the grid, the least nu there can be for each mu: no spread at all.
    nu = np.hstack([np.tile(np.linspace(low, high, grid), (grid, 1)), mu[:, None] ** 2])
    is_left = (nu >= mu[:, None] ** 2) & (low <= nu) & (nu <= high)
    theta = sign * (mu[:, None] + 0.5) + k * np.sqrt(np.maximum(0.0, nu - mu[:, None] ** 2))
    theta[~is_left] = np.nan
    return float(np.nanmin(theta)), float(np.nanmax(theta))
