"""t mixture: Gaussian rewards of unknown variance.

The process is the likelihood ratio of the scale-invariant statistics of the rewards, for an effect
size (y' - y)/sigma ~ N(0, 1/c) against y. For any sigma it is a martingale that starts at 1 (Lai
1976; Wang & Ramdas 2023, the scale-invariant mixture). With M2 = sum (X_t - mean)^2 and
d = (mean - y)^2 it is

    sqrt(c/(s+c)) * ((s+c)(M2 + s d) / ((s+c) M2 + s c d))^(s/2),

which is below 1/alpha if and only if d < radius^2. With few rewards no y can be rejected, and the
interval is infinite. It is also infinite while all rewards are equal (M2 = 0): the formula's radius
would be 0, but such rewards are not Gaussian. As for a known scale, the ratio is averaged over
several c (see `mixture`).
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.intervals.mixture import SCALE_RATIO, log_weight, scales_in_use

_PRECISION = 1e-4
_STEPS = 40


@part()
def student_step(pulls: int, total: float, squares: float, reward: float) -> float:
    """M2 with one more `reward`, given `pulls` rewards before it that sum to `total` (Welford)."""
    if pulls == 0:
        return 0.0
    off = reward - total / pulls
    return squares + off * off * pulls / (pulls + 1.0)


@part()
def student_radius(pulls: int, squares: float, alpha: float, c: float, scales: int) -> float:
    """Half-width after `pulls` rewards with M2 = `squares`."""
    if squares <= 0.0:
        return math.inf
    limit = -math.log(alpha)
    # In terms of z = d / M2. What one c rejects alone at its share of alpha, all reject
    # together; what none rejects at alpha, all do not.
    rejected = kept = math.inf
    first, last = scales_in_use(pulls, c, scales)
    scale = c * SCALE_RATIO**first
    for j in range(first, last):
        rejected = min(rejected, _alone(pulls, limit - log_weight(j, scales), scale))
        kept = min(kept, _alone(pulls, limit, scale))
        scale *= SCALE_RATIO
    if last - first > 1 and rejected < math.inf:
        rejected = _reduced(kept, rejected, pulls, limit, c, scales)
    return math.sqrt(rejected * squares)


@part()
def _alone(pulls: int, limit: float, c: float) -> float:
    """The z from which on the mixture with this c alone exceeds the limit."""
    # The ratio less 1, so that a large c does not take its digits away.
    excess = math.expm1(2.0 / pulls * (0.5 * math.log1p(pulls / c) + limit))
    left = pulls - excess * c
    if left <= 0.0:
        return math.inf
    return excess * (pulls + c) / (pulls * left)


@part()
def _reduced(
    kept: float, rejected: float, pulls: int, limit: float, c: float, scales: int
) -> float:
    """The z at which the average reaches the limit, rounded to the rejected side."""
    first, last = scales_in_use(pulls, c, scales)
    c *= SCALE_RATIO**first
    z = rejected
    for _ in range(_STEPS):
        most = -math.inf
        scale = c
        for j in range(first, last):
            most = max(most, _log_term(z, pulls, scale) + log_weight(j, scales))
            scale *= SCALE_RATIO
        total = slope = 0.0
        scale = c
        for j in range(first, last):
            term = math.exp(_log_term(z, pulls, scale) + log_weight(j, scales) - most)
            total += term
            whole = pulls + scale
            slope += term / ((1.0 + pulls * z) * (whole + pulls * scale * z))
            scale *= SCALE_RATIO
        above = most + math.log(total) - limit
        if above >= 0.0:
            rejected = z
        else:
            kept = z
        if rejected - kept <= _PRECISION * rejected:
            break
        step = above * total / (0.5 * float(pulls) ** 3 * slope)
        # A little less far, to come down on the rejected side.
        z -= step - 0.3 * _PRECISION * z
        if not kept < z < rejected:
            z = (kept + rejected) / 2
    return rejected


@part()
def _log_term(z: float, pulls: int, c: float) -> float:
    """Logarithm of the mixture with this c at (mean - y)^2 = z M2."""
    s = float(pulls)  # Its powers exceed what an integer holds.
    return 0.5 * (s * math.log1p(s * s * z / (s + c + s * c * z)) - math.log1p(s / c))
