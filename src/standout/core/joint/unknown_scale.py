"""A bet on the mean of Gaussian rewards with unknown scale, valid in products over arms.

The t mixture of `standout.core.intervals.student` is a martingale only with respect to the ratios
of the rewards. Rules see the rewards themselves, so a product of t mixtures over arms proves
nothing. Here each scale sigma has its own bet against a mean of x, and the smallest counts:

    M(x) = inf over sigma of M(x, sigma).

M(x, sigma) is the likelihood ratio of a mixture of normal laws (mean m, variance v) against
N(x, sigma^2):

    1 / v ~ Gamma(shape, rate shape sigma^2),    m given v ~ N(x, v / rho).

Validity. Let x and sigma be the true mean and scale of an arm. The mixture is a fixed distribution
of the arm's rewards, which does not depend on the data. The rewards of an arm are independent of
the past. So the next reward multiplies M(x, sigma) by a ratio whose expectation, given *all*
rewards of *all* arms so far, is 1, whichever arm a rule pulls. Hence the product over arms of 1 - q
+ q M(x_a, sigma_a) is a martingale that starts at 1, however the arms are chosen. The product with
M(x_a) is never larger, at any time. Ville's inequality bounds both. The unknown scales take no
share of delta; uncertainty about them makes M(x) smaller.

The infimum. With s rewards, M2 = sum (X - mean)^2, d = (mean - x)^2 and

    r = s^2 d / ((s + rho) M2 + s rho d),      A(z) = log Gamma(z) - z log z + z,

the logarithm of M(x, sigma) is the sum of -1/2 log(1 + s / rho) and a function of sigma^2 that
falls and then rises; the minimum of this function is, with a = shape,

    A(a + s/2) - A(a) + (a + s/2) log(1 + r) - a r      where r <= s / (2 a),

and its limit for large sigma, the same at r = s / (2 a), otherwise. It grows with d.

Two such bets are averaged: the average of two infima is at most the infimum of the average. The
first bets little on the scale and pays little for it: A(a + s/2) - A(a) is about
-1/2 log(1 + s / (2 a)). The second is for arms with few rewards far from the threshold.

While all rewards of an arm are equal (M2 = 0) there is no evidence: such rewards are not Gaussian.
"""

from __future__ import annotations

import math

from standout.core.compile import part

RHOS = (1.0, 0.1)
"""The rho of each bet, in units of the joint bet's rho."""
SHAPES = (8.0, 0.02)
"""The shape of each bet, in the same units."""
PARTS = (0.9, 0.1)
"""The weight of each bet."""
TINY = 1e-280
"""Sums of squares below this have lost digits and count as 0."""
_SERIES_FROM = 20.0


@part()
def unknown_scale_evidence(pulls: int, squares: float, off: float, rho: float) -> float:
    """A lower bound of log M at a distance `off` from the mean of the rewards; M2 = `squares`."""
    if not squares > TINY:
        return -math.inf
    share = off * off / squares
    value = -math.inf
    for i in range(len(PARTS)):
        other = math.log(PARTS[i]) + _least(pulls, share, RHOS[i] * rho, SHAPES[i] * rho)
        most = max(value, other)
        value = most + math.log(math.exp(value - most) + math.exp(other - most))
    return value


@part()
def _least(pulls: int, share: float, rho: float, shape: float) -> float:
    """The minimum of a bet's logarithm over all scales, at d = `share` M2."""
    s = float(pulls)
    excess = s * s / ((s + rho) / share + s * rho) if share > 0.0 else 0.0
    excess = min(excess, 0.5 * s / shape)
    whole = shape + 0.5 * s
    learning = _gap(whole) - _gap(shape) - 0.5 * math.log1p(s / rho)
    return learning + whole * math.log1p(excess) - shape * excess


@part()
def _gap(z: float) -> float:
    """A(z), accurate for large z."""
    if z < _SERIES_FROM:
        return math.lgamma(z) - z * math.log(z) + z
    return 0.5 * math.log(2.0 * math.pi / z) + (1.0 / 12.0 - 1.0 / (360.0 * z * z)) / z
