"""Normal mixture: sub-Gaussian rewards with a known scale.

exp(lambda (S_s - s y)/sigma - lambda^2 s / 2) is a supermartingale for every
lambda; mixed over lambda ~ N(0, 1/rho) it stays one, and Ville's inequality
gives |mean - y| < radius at all s at once with probability 1 - alpha
(Robbins 1970; Howard, Ramdas, McAuliffe & Sekhon 2021, Eq. 14). rho is fixed
in advance and makes the radius tightest around a chosen number of pulls.

An average of such supermartingales is one too. Averaged over several rho, each a
tenth of the one before, the interval is nearly the tightest for whichever number of
pulls turns out to be needed; most of the weight is on the first, which the
question itself suggests.
"""

from __future__ import annotations

import math

from standout.core.compile import part

PULLS_PER_FACTOR = 30.0
"""See `tuned_pulls`."""
MOST_TUNED = 1e9
"""Larger than the pulls of any arm; larger precisions lose digits in the mixtures."""
SCALES = 4
"""The default number of rho that an interval averages over."""
MOST_SCALES = 8
SCALE_RATIO = 0.1
FIRST_WEIGHT = 0.75
"""Weight of the tuned rho; the others share the rest equally."""
PULLS_PER_RHO = 15.0
"""An interval with one rho is tightest after about this multiple of rho pulls."""
_PRECISION = 1e-4
"""The relative error of z, rounded outwards."""
_STEPS = 20


def tuned_pulls(factor: float) -> float:
    """Pulls of an arm at which its interval is to be tightest: 30 (1 + factor)^2.

    Arms that decide the threshold need a number of pulls that grows with the
    square of the factor that multiplies their error (Theorem 2). The radius is
    flat around its optimum: tenfold more pulls than that cost 4 % of its width,
    tenfold fewer 18 %.
    """
    return min(MOST_TUNED, PULLS_PER_FACTOR * (1.0 + factor) ** 2)


def mixture_rho(alpha: float, tuned_for: float) -> float:
    """The mixture's precision that minimises the radius at `tuned_for` pulls (nearly)."""
    log_term = 2.0 * math.log(1.0 / alpha)
    return tuned_for / (log_term + math.log(1.0 + log_term))


@part()
def log_weight(index: int, scales: int) -> float:
    """Logarithm of the weight of the rho with this index, of `scales`."""
    if scales == 1:
        return 0.0
    return math.log(FIRST_WEIGHT if index == 0 else (1.0 - FIRST_WEIGHT) / (scales - 1))


@part()
def scales_in_use(pulls: int, rho: float, scales: int) -> tuple[int, int]:
    """The index of the first rho that matters after `pulls`, and the index after the last.

    Leaving some out can only widen the interval. From the pulls that the tuned one is made for, it
    alone is enough, which spares long runs the cost of the others.
    """
    fitting = 0
    while fitting < scales - 1 and pulls < PULLS_PER_RHO * rho:
        rho *= SCALE_RATIO
        fitting += 1
    if fitting == 0:
        return 0, 1
    return fitting - 1, min(fitting + 2, scales)


@part()
def mixture_radius(pulls: int, alpha: float, sigma: float, rho: float, scales: int) -> float:
    """Half-width of the interval after `pulls` rewards."""
    limit = math.log(1.0 / alpha)
    first, last = scales_in_use(pulls, rho, scales)
    # In terms of z = (pulls * radius / sigma)^2. What one rho rejects alone at its share of
    # alpha, all reject together.
    z = math.inf
    scale = rho * SCALE_RATIO**first
    for j in range(first, last):
        cost = limit - log_weight(j, scales) + 0.5 * math.log1p(pulls / scale)
        z = min(z, 2.0 * ((pulls + scale) * cost))
        scale *= SCALE_RATIO
    if last - first > 1:
        z = _reduced(z, pulls, limit, rho, scales)
    return sigma * math.sqrt(z) / pulls


@part()
def mixture_evidence(pulls: int, off: float, sigma: float, rho: float, scales: int) -> float:
    """Logarithm of the average at a distance `off` from the mean."""
    z = (pulls * off / sigma) ** 2
    first, last = scales_in_use(pulls, rho, scales)
    rho *= SCALE_RATIO**first
    value = _log_term(z, pulls, rho) + log_weight(first, scales)
    for j in range(first + 1, last):
        rho *= SCALE_RATIO
        other = _log_term(z, pulls, rho) + log_weight(j, scales)
        value = max(value, other) + math.log1p(math.exp(-abs(value - other)))
    return value


@part()
def _reduced(z: float, pulls: int, limit: float, rho: float, scales: int) -> float:
    """The z at which the average reaches the limit, from one that is past it.

    Its logarithm is convex in z, so that Newton's steps never go too far.
    """
    first, last = scales_in_use(pulls, rho, scales)
    rho *= SCALE_RATIO**first
    for _ in range(_STEPS):
        most = -math.inf
        scale = rho
        for j in range(first, last):
            most = max(most, _log_term(z, pulls, scale) + log_weight(j, scales))
            scale *= SCALE_RATIO
        total = slope = 0.0
        scale = rho
        for j in range(first, last):
            term = math.exp(_log_term(z, pulls, scale) + log_weight(j, scales) - most)
            total += term
            slope += 0.5 * term / (pulls + scale)
            scale *= SCALE_RATIO
        step = (most + math.log(total) - limit) * total / slope
        if step <= _PRECISION * z:
            break
        z -= step
    return z


@part()
def _log_term(z: float, pulls: int, rho: float) -> float:
    """Logarithm of the mixture with this rho at a distance from the mean given by z."""
    return 0.5 * (z / (pulls + rho) - math.log1p(pulls / rho))
