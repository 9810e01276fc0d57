"""Empirical Bernstein mixture: bounded rewards, adapting to their variance.

With rewards scaled to [0, 1], a predictable guess x_t of the t-th reward and
V = sum (X_t - x_t)^2, exp(lambda (S_s - s y) - psi(lambda) V) with
psi(lambda) = -log(1 - lambda) - lambda is a supermartingale for every lambda in
[0, 1) (Fan, Grama & Liu 2015; Howard et al. 2021, Theorem 4). It is mixed over a fixed grid of
lambda, so that the state per arm is only pulls, sum and V; the smallest of the
grid's radii, each at alpha / 2 shared over the grid, is valid at all times.
"""

from __future__ import annotations

import math

from standout.core.jit import kernel

GRID = 12
"""lambda = 2^-1, 2^-1.75, 2^-2.5, ...: the last is best for V of about 8 million."""
_RATIO = 2.0**-0.75


@kernel
def bernstein_step(pulls: int, total: float, variation: float, reward: float) -> float:
    """V with one more `reward`, given `pulls` rewards before it that sum to `total`."""
    guess = (total + 0.5) / (pulls + 1.0)
    return variation + (reward - guess) ** 2


@kernel
def bernstein_radius(pulls: int, variation: float, alpha: float) -> float:
    """Half-width for rewards scaled to [0, 1]."""
    cost = math.log(2.0 * GRID / alpha)
    best = math.inf
    strength = 0.5
    for _ in range(GRID):
        psi = -math.log1p(-strength) - strength
        best = min(best, (cost + psi * variation) / (strength * pulls))
        strength *= _RATIO
    return best
