"""A mixture of bets: bounded rewards, adapting to their whole distribution.

Let the rewards be scaled to [0, 1]. A gambler who bets against a mean of y at strength t >= 0 has,
after s rewards, the capital

    product of (1 + t X_i) / (1 + t y).

If the mean is at most y, the expectation of each factor is at most 1, so the capital is a
supermartingale (Waudby-Smith & Ramdas 2024: the bet lambda = t / (1 + t y) per unit of X - y). In
this form the strength does not depend on y, so only one sum of log(1 + t X) per strength is stored.
The capital is averaged over the strengths 512, 256, ..., with weights that sum to 1, so the average
starts at 1, too. A mean y is rejected as too low when the average reaches 1/alpha. The same bets on
1 - X reject means that are too high.

For very long runs no strength of the grid is small enough. So a small share of alpha goes to the
empirical Bernstein interval, whose width tends to 0.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.typing import Floats

STRENGTHS = 21
STRONGEST = 512.0
_HALF = 0.5
BERNSTEIN_SHARE = 0.05
"""Share of alpha for the empirical Bernstein interval."""
SIZE = 2 + 2 * STRENGTHS
"""Numbers kept per arm: Bernstein's, the sums of the bets on X and those on 1 - X, and the sum of
squares."""
_WEIGHTS = [1.0 / (3.0 + abs(j - 10)) for j in range(STRENGTHS)]
LOG_WEIGHTS = tuple(math.log(weight / sum(_WEIGHTS)) for weight in _WEIGHTS)
"""They fall slowly on both sides of the strength 1/2: that is about the best for a thousand
rewards with a spread of a quarter."""
_NOTHING = 1e-5
_NEAR = 1e-9
"""The rounding error of a mean."""
LOG_TWO = math.log(2.0)
_STEPS = 30
_PRECISION = 1e-3


@part()
def betting_step(moments: Floats, arm: int, pulls: int, total: float, reward: float) -> None:
    """Add one reward in [0, 1] to the sums of an arm that had `pulls`, summing to `total`."""
    moments[arm, 0] = bernstein_step(pulls, total, moments[arm, 0], reward)
    strength = STRONGEST
    for j in range(STRENGTHS):
        moments[arm, 1 + j] += math.log1p(strength * reward)
        moments[arm, 1 + STRENGTHS + j] += math.log1p(strength * (1.0 - reward))
        strength *= _HALF
    moments[arm, SIZE - 1] += reward * reward


@part()
def betting_interval(
    pulls: int, total: float, moments: Floats, arm: int, alpha: float
) -> tuple[float, float]:
    """All means that are not rejected after `pulls` rewards in [0, 1] that sum to `total`."""
    mean = total / pulls
    limit = math.log(2.0 / ((1.0 - BERNSTEIN_SHARE) * alpha))
    radius = bernstein_radius(pulls, moments[arm, 0], BERNSTEIN_SHARE * alpha)
    lower = _end_below(pulls, mean, moments, arm, 1, limit)
    upper = 1.0 - _end_below(pulls, 1.0 - mean, moments, arm, 1 + STRENGTHS, limit)
    lower = max(lower, mean - radius)
    upper = min(upper, mean + radius)
    # Each of the two may be empty or beside the other only if one has failed.
    if not lower <= upper:
        return 0.0, 1.0
    return lower, upper


@part()
def betting_evidence(pulls: int, total: float, moments: Floats, arm: int, share: float) -> float:
    """A lower bound of the logarithm of the average of both bets at a mean of `share`.

    Only the bet against too low (high) a mean counts below (above) the mean of the rewards, where
    it is the larger one; so it grows with the distance.
    """
    mean = total / pulls
    if share < mean - _NEAR:
        return _held(pulls, moments, arm, 1, max(share, 0.0)) - LOG_TWO
    if share > mean + _NEAR:
        return _held(pulls, moments, arm, 1 + STRENGTHS, max(1.0 - share, 0.0)) - LOG_TWO
    low = _held(pulls, moments, arm, 1, mean)
    return min(low, _held(pulls, moments, arm, 1 + STRENGTHS, 1.0 - mean)) - LOG_TWO


@part()
def _held(pulls: int, moments: Floats, arm: int, first: int, y: float) -> float:
    """Logarithm of the total capital of the bets on X (or 1 - X) against a mean of y."""
    most = -math.inf
    total = 0.0
    strength = STRONGEST
    for j in range(STRENGTHS):
        value = moments[arm, first + j] + LOG_WEIGHTS[j] - pulls * math.log1p(strength * y)
        if value > most:
            total = total * math.exp(most - value) + 1.0
            most = value
        else:
            total += math.exp(value - most)
        strength *= _HALF
    return most + math.log(total)


@part()
def _end_below(
    pulls: int, mean: float, moments: Floats, arm: int, first: int, limit: float
) -> float:
    """The largest y, up to the precision, that the bets reject together (or 0)."""
    end = 0.0
    strength = STRONGEST
    for j in range(STRENGTHS):
        # What this bet rejects alone.
        surplus = moments[arm, first + j] + LOG_WEIGHTS[j] - limit
        end = max(end, math.expm1(surplus / pulls) / strength)
        strength *= _HALF
    if end <= 0.0:
        return 0.0
    # The average's logarithm is convex and falls in y: Newton's steps never go too far.
    # Bets with negligible capital are left out, which can only widen the interval.
    low, high = 0, STRENGTHS
    for _ in range(_STEPS):
        total = slope = 0.0
        strength = STRONGEST * _HALF**low
        kept_low, kept_high = high, low
        for j in range(low, high):
            surplus = moments[arm, first + j] + LOG_WEIGHTS[j] - limit
            term = math.exp(surplus - pulls * math.log1p(strength * end))
            if term > _NOTHING:
                total += term
                slope += term * strength / (1.0 + strength * end)
                kept_low, kept_high = min(kept_low, j), j + 1
            strength *= _HALF
        step = math.log(total) * total / (pulls * slope)
        if step <= _PRECISION * (mean - end):
            break
        end += step
        low, high = kept_low, kept_high
    return end
