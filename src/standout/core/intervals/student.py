"""t mixture: Gaussian rewards whose variance is not known.

The likelihood ratio of the scale-invariant statistics of the rewards under an
effect size (y' - y)/sigma ~ N(0, 1/c) against y is a martingale whatever sigma
is, starting at 1 (Lai 1976; Wang & Ramdas 2023, the scale-invariant mixture).
With M2 = sum (X_t - mean)^2 and d = (mean - y)^2 it is

    sqrt(c/(s+c)) * ((s+c)(M2 + s d) / ((s+c) M2 + s c d))^(s/2),

which is below 1/alpha just when d < radius^2. With few rewards no y at all can
be rejected and the interval is infinite. So it is while all rewards are equal
(M2 = 0): the formula's radius would be 0, but such rewards are not Gaussian.
"""

from __future__ import annotations

import math

from standout.core.jit import part


@part()
def student_step(pulls: int, total: float, squares: float, reward: float) -> float:
    """M2 with one more `reward`, given `pulls` rewards before it that sum to `total` (Welford)."""
    if pulls == 0:
        return 0.0
    off = reward - total / pulls
    return squares + off * off * pulls / (pulls + 1.0)


@part()
def student_radius(pulls: int, squares: float, alpha: float, c: float) -> float:
    """Half-width after `pulls` rewards with M2 = `squares`."""
    # The ratio less 1, so that a large c does not take its digits away.
    excess = math.expm1(2.0 / pulls * (0.5 * math.log1p(pulls / c) - math.log(alpha)))
    left = pulls - excess * c
    if left <= 0.0 or squares <= 0.0:
        return math.inf
    return math.sqrt(excess * (pulls + c) * squares / (pulls * left))
