"""Catoni-type interval: heavy tails, only the variance is bounded.

With psi(x) = sign(x) log(1 + |x| + x^2/2), a predictable centre c_t and any
lambda, exp(sum psi(lambda (X_t - c_t)) - lambda (y - c_t) - lambda^2 (sigma^2 +
(y - c_t)^2)/2) is a supermartingale when the variance is at most sigma^2,
because exp(psi(x)) <= 1 + x + x^2/2 (Catoni 2012; Wang & Ramdas 2023), and the
same holds for -psi. For a fixed lambda it is a quadratic in y, and only sums
are kept: one of psi per lambda of a small grid, and those of c_t and c_t^2. The
interval is the intersection over the grid, which shares alpha. If it is empty,
one of its parts has failed, and the interval is the whole line: nothing is known.

Rewards, and so c_t, come relative to an origin near them: c_t^2 would otherwise
lose what the centres differ by.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.typing import Floats

GRID = 12
"""The last lambda is best for 134 million pulls, which limits how small a radius can become."""
_TUNED_FIRST = 32.0
_TUNED_RATIO = 4.0
CENTRES, CENTRE_SQUARES = GRID, GRID + 1
_CENTRE_INDEX = 3
SIZE = GRID + 2
"""Numbers kept per arm."""


_FAR = 0.5
"""Slope of the coarse bound, in units of 1/lambda of the weakest lambda."""
_HUGE = 1e100


@part()
def grid_strength(index: int, alpha: float, sigma: float) -> float:
    """lambda of the grid: best for 32, 128, 512, ... pulls."""
    cost = math.log(2.0 * (GRID + 1) / alpha)
    return math.sqrt(2.0 * cost / (_TUNED_FIRST * _TUNED_RATIO**index)) / sigma


@part()
def heavy_centre(pulls: int, moments: Floats, arm: int, alpha: float, sigma: float) -> float:
    """A robust estimate of the mean from an arm's sums over `pulls` rewards: the next c_t."""
    strength = grid_strength(_CENTRE_INDEX, alpha, sigma)
    return float((moments[arm, CENTRES] + moments[arm, _CENTRE_INDEX] / strength) / pulls)


@part()
def heavy_step(
    moments: Floats,
    arm: int,
    pulls: int,
    total: float,
    reward: float,
    alpha: float,
    sigma: float,
) -> None:
    """Add one reward to the sums of an arm that had `pulls` rewards, summing to `total`.

    An arm's first reward serves only as the first centre.
    """
    if pulls == 0:
        return
    centre = total if pulls == 1 else heavy_centre(pulls - 1, moments, arm, alpha, sigma)
    off = reward - centre
    for j in range(GRID):
        x = grid_strength(j, alpha, sigma) * off
        moments[arm, j] += math.copysign(_influence(abs(x)), x)
    moments[arm, CENTRES] += centre
    moments[arm, CENTRE_SQUARES] += centre * centre


@part()
def _influence(size: float) -> float:
    """psi(size) = log(1 + size + size^2/2), also where the square would overflow."""
    if size > _HUGE:
        return 2.0 * math.log(size) - math.log(2.0)
    return math.log1p(size + 0.5 * size * size)


@part()
def coarse_radius(pulls: int, alpha: float, sigma: float) -> float:
    """Dubins & Savage 1965: |sample mean - y| at all times, only to rule out far y.

    P(some s: S_s - s y >= a + b s sigma^2) <= 1/(1 + a b), on each of two sides.
    """
    b = _FAR / (grid_strength(GRID - 1, alpha, sigma) * sigma * sigma)
    a = (2.0 * (GRID + 1) / alpha - 1.0) / b
    return a / pulls + b * sigma * sigma


@part()
def heavy_interval(
    pulls: int, mean: float, moments: Floats, arm: int, alpha: float, sigma: float
) -> tuple[float, float]:
    """All y that neither the coarse bound nor any lambda of the grid rejects."""
    cost = math.log(2.0 * (GRID + 1) / alpha)
    radius = coarse_radius(pulls, alpha, sigma)
    lower = mean - radius
    upper = mean + radius
    used = pulls - 1
    if used == 0:
        return lower, upper
    centre = moments[arm, CENTRES] / used
    spread = max(0.0, moments[arm, CENTRE_SQUARES] / used - centre * centre)
    for j in range(GRID - 1, -1, -1):
        strength = grid_strength(j, alpha, sigma)
        shift = moments[arm, j] / (strength * used)
        # With t = y - centre, y is kept if t + lambda/2 t^2 > shift - margin, which holds
        # right of a root, but also far left of centre: use it where the bound so far rules
        # that out, first the coarse one, then that of each weaker lambda. The upper end is
        # the mirror image.
        margin = cost / (strength * used) + 0.5 * strength * (sigma * sigma + spread)
        root = 1.0 + 2.0 * strength * (shift - margin)
        if root >= 0.0 and centre - (1.0 + math.sqrt(root)) / strength <= lower:
            lower = max(lower, centre + (math.sqrt(root) - 1.0) / strength)
        root = 1.0 - 2.0 * strength * (shift + margin)
        if root >= 0.0 and centre + (1.0 + math.sqrt(root)) / strength >= upper:
            upper = min(upper, centre + (1.0 - math.sqrt(root)) / strength)
    if lower > upper:
        return -math.inf, math.inf
    return lower, upper
