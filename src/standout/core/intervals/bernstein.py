"""Empirical Bernstein mixture: bounded rewards, adapting to their variance.

Let the rewards be scaled to [0, 1], x_t a predictable guess of the t-th reward and
V = sum (X_t - x_t)^2. Then, for each lambda in [0, 1),

    exp(lambda (S_s - s y) - psi(lambda) V),    psi(lambda) = -log(1 - lambda) - lambda,

is a supermartingale (Fan, Grama & Liu 2015; Howard et al. 2021, Theorem 4). The radii of lambda =
2^-1, 2^-1.75, 2^-2.5, ... are each valid at their share of alpha / 2; the smallest is used. The
first EQUAL of them share one half of alpha / 2 equally; the last of these is best for V of about 8
million. The others share the other half: the i-th gets 1/(i (i + 1)) of it. So the radius tends to
0. The state per arm is only pulls, sum and V.
"""

from __future__ import annotations

import math

from standout.core.compile import part

EQUAL = 12
_RATIO = 2.0**-0.75


@part()
def bernstein_step(pulls: int, total: float, variation: float, reward: float) -> float:
    """V with one more `reward`, given `pulls` rewards before it that sum to `total`."""
    guess = (total + 0.5) / (pulls + 1.0)
    return variation + (reward - guess) ** 2


@part()
def bernstein_radius(pulls: int, variation: float, alpha: float) -> float:
    """Half-width for rewards scaled to [0, 1]; infinite if `variation` is no finite number."""
    best = math.inf
    if not variation < math.inf:
        return best
    strength = 0.5
    index = 0
    while True:
        past = index - EQUAL + 1
        share = EQUAL if past <= 0 else past * (past + 1)
        cost = math.log(4.0 * share / alpha)
        # From here on the first term alone is too large.
        if cost >= best * strength * pulls:
            return best
        psi = -math.log1p(-strength) - strength
        best = min(best, (cost + psi * variation) / (strength * pulls))
        strength *= _RATIO
        index += 1
