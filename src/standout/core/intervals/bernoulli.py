"""Beta-binomial mixture: rewards 0 or 1.

For each possible mean q, consider the likelihood ratio of the rewards under a Beta(rho q, rho (1 -
q)) mixture against q itself. It is a martingale if q is the true mean, so q is kept while the ratio
is below 1/alpha (Ville's inequality). A mixture around q with a tuned rho gives a narrower interval
than a mixture over all of [0, 1] (Robbins 1970; Howard et al. 2021, the sub-Bernoulli mixture). The
interval adapts to the variance q (1 - q). As for normal rewards, the ratio is averaged over several
rho (see `mixture`).
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.intervals.mixture import SCALE_RATIO, log_weight, scales_in_use

_EDGE = 1e-12
_MANY = 1e9
"""With more pulls, differences of log-gamma functions lose too many digits."""
_STEPS = 60
_HALF_LOG_TWO_PI = 0.9189385332046727
_THIRDS = 30
_FEW = 5.0
_SECANTS = 12
"""Steps after which halving takes over."""
_PRECISION = 1e-3
"""The relative error of an end's distance from the mean, rounded outwards."""


@part()
def log_ratio(successes: float, failures: float, q: float, rho: float) -> float:
    """Logarithm of mixture likelihood / likelihood under q."""
    if successes + failures > _MANY:
        return _log_ratio_of_many(successes, failures, q, rho)
    a = rho * q
    b = rho * (1.0 - q)
    mixed = (
        math.lgamma(a + successes)
        + math.lgamma(b + failures)
        - math.lgamma(rho + successes + failures)
        - math.lgamma(a)
        - math.lgamma(b)
        + math.lgamma(rho)
    )
    return mixed - successes * math.log(q) - failures * math.log1p(-q)


@part()
def _log_ratio_of_many(successes: float, failures: float, q: float, rho: float) -> float:
    """As `log_ratio`, by Stirling's formula, with large terms combined so that they cancel.

    Let A = rho q + successes, B = rho (1 - q) + failures and N = A + B. The terms in successes and
    failures are s log(A / (N q)) + f log(B / (N (1 - q))), where A / (N q) is
    1 + (s - n q) / (N q).
    """
    pulls = successes + failures
    a = rho * q
    b = rho * (1.0 - q)
    whole = rho + pulls
    off = successes - pulls * q
    likelihoods = successes * math.log1p(off / (whole * q))
    if failures > 0.0:
        likelihoods += failures * math.log1p(-off / (whole * (1.0 - q)))
    mixture = (a - 0.5) * math.log((a + successes) / whole)
    mixture += (b - 0.5) * math.log((b + failures) / whole)
    mixture -= 0.5 * math.log(whole) - _HALF_LOG_TWO_PI
    mixture += _stirling(a + successes) + _stirling(b + failures) - _stirling(whole)
    return likelihoods + mixture - math.lgamma(a) - math.lgamma(b) + math.lgamma(rho)


@part()
def _stirling(x: float) -> float:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi)/2)."""
    if x < 10.0:
        return math.lgamma(x) - ((x - 0.5) * math.log(x) - x + _HALF_LOG_TWO_PI)
    square = x * x
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x


@part()
def bernoulli_interval(
    pulls: int, successes: float, alpha: float, rho: float, scales: int
) -> tuple[float, float]:
    """All q that are not rejected at level alpha, as an interval."""
    failures = pulls - successes
    mean = successes / pulls
    limit = -math.log(alpha)
    # The interval for failures is the mirror image of that for successes.
    lower = 0.0 if successes <= 0.0 else _end_below(successes, failures, mean, limit, rho, scales)
    upper = 1.0
    if failures > 0.0:
        upper -= _end_below(failures, successes, 1.0 - mean, limit, rho, scales)
    return lower, upper


@part()
def bernoulli_evidence(
    pulls: int, successes: float, share: float, rho: float, scales: int
) -> float:
    """Logarithm of the averaged ratio at a mean of `share`, or less; at most that at its ends.

    Rewards between 0 and 1 that add up to less than 1 speak against no mean that is smaller: the
    ratio only rises, from 0 on. So it is taken for 0 up to their mean, and likewise for failures.
    """
    failures = pulls - successes
    if 0.0 < successes < 1.0 and share * pulls <= successes:
        return -math.inf
    if 0.0 < failures < 1.0 and share * pulls >= successes:
        return -math.inf
    inside = min(max(share, _EDGE), 1.0 - _EDGE)
    return _averaged_ratio(successes, failures, inside, rho, scales)


@part()
def bernoulli_centre(pulls: int, successes: float, rho: float, scales: int) -> float:
    """The minimum of the averaged ratio: near the mean, slightly nearer to an end of [0, 1].

    It falls up to there and grows from there on.
    """
    failures = pulls - successes
    if successes < 1.0:
        return _EDGE
    if failures < 1.0:
        return 1.0 - _EDGE
    low = _EDGE if successes < _FEW else (successes - 1.0) / pulls
    high = 1.0 - _EDGE if failures < _FEW else (successes + 1.0) / pulls
    for _ in range(_THIRDS):
        third = (high - low) / 3.0
        left = _averaged_ratio(successes, failures, low + third, rho, scales)
        right = _averaged_ratio(successes, failures, high - third, rho, scales)
        if left < right:
            high -= third
        else:
            low += third
    return 0.5 * (low + high)


@part()
def _averaged_ratio(successes: float, failures: float, q: float, rho: float, scales: int) -> float:
    """Logarithm of the average of the ratios over all rho that matter."""
    first, last = scales_in_use(int(successes + failures), rho, scales)
    rho *= SCALE_RATIO**first
    value = log_ratio(successes, failures, q, rho) + log_weight(first, scales)
    for j in range(first + 1, last):
        rho *= SCALE_RATIO
        other = log_ratio(successes, failures, q, rho) + log_weight(j, scales)
        value = max(value, other) + math.log1p(math.exp(-abs(value - other)))
    return value


@part()
def _end_below(
    successes: float, failures: float, mean: float, limit: float, rho: float, scales: int
) -> float:
    """The largest q below `mean`, up to the precision, that is certainly rejected (or 0).

    The square root of the log ratio plus a constant is nearly linear in q, as for a normal
    likelihood, so a few secant steps find the crossing. The rejected end of the bracket is
    returned, so that rounding can only widen the interval.
    """
    pulls = successes + failures
    rejected = _EDGE * min(1.0, mean)
    if _averaged_ratio(successes, failures, rejected, rho, scales) < limit:
        return 0.0
    kept = min(mean, 1.0 - _EDGE)  # at 1 itself the ratio is 0/0
    bend = 0.5 * math.log1p(pulls / rho)
    target = math.sqrt(limit + bend)
    variance = max(mean * (1.0 - mean), 0.25 / pulls)
    guess = mean - target * math.sqrt(2.0 * variance / pulls)
    last_away = 0.0
    last_root = 0.0  # at the mean, nearly
    for step in range(_STEPS):
        if step > _SECANTS or not rejected < guess < kept:
            guess = (rejected + kept) / 2
        value = _averaged_ratio(successes, failures, guess, rho, scales)
        root = math.sqrt(max(value + bend, 0.0))
        away = mean - guess
        past = 0.3 * _PRECISION
        if value >= limit:
            rejected = guess
            past = -past
        else:
            kept = guess
        if kept - rejected <= _PRECISION * (mean - rejected):
            break
        change = (away - last_away) / (root - last_root) if root != last_root else 0.0
        last_away = away
        last_root = root
        # Slightly past the crossing, to close the bracket from the other side.
        guess = mean - (away + (target - root) * change) * (1.0 + past)
    return rejected
