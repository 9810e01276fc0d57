"""Tails of the distributions that the checks need: normal, chi-square, Student's t.

By textbook series and continued fractions, to about ten digits also far out, where
one minus a probability would be nothing but rounding. Tests compare them with
SciPy, which is too large to be installed for four functions.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from standout.core.typing import Flags, Floats, Ints

_SMALL = 1e-16
"""A term that is so small beside the sum ends a series."""
_TINY = 1e-300
"""Stands for 0 where a continued fraction would divide by it."""
_LARGE = 100.0
"""From here on Stirling's series is exact to the last digit."""
_NEWTON = 8

_erfc = np.frompyfunc(math.erfc, 1, 1)
_lgamma = np.frompyfunc(math.lgamma, 1, 1)


def normal_tail(z: Floats | float) -> Floats:
    """Probability of a standard normal value above `z`."""
    return np.asarray(_erfc(np.asarray(z) / math.sqrt(2)), dtype=np.float64) / 2


def chi_square_tail(x: float, freedom: float) -> float:
    """Probability of a chi-square value above `x`; the degrees of freedom need not be whole."""
    return gamma_tail(freedom / 2, x / 2)


def gamma_tail(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function Q(a, x), a > 0."""
    if math.isnan(x) or x <= 0:
        return math.nan if math.isnan(x) else 1.0
    if math.isinf(x):
        return 0.0
    front = math.exp(_log_front(a, x))
    if x < a + 1:
        return max(0.0, 1 - front * _lower_series(a, x))
    return front * _upper_fraction(a, x)


def _log_front(a: float, x: float) -> float:
    """Logarithm of x^a e^-x / Gamma(a); for a large `a` without losing digits."""
    if a < _LARGE:
        return a * math.log(x) - x - math.lgamma(a)
    off = (x - a) / a
    stirling = 1 / (12 * a) - 1 / (360 * a**3) + 1 / (1260 * a**5)
    return a * (math.log1p(off) - off) + math.log(a / (2 * math.pi)) / 2 - stirling


def _lower_series(a: float, x: float) -> float:
    term = total = 1 / a
    while term > _SMALL * total:
        a += 1
        term *= x / a
        total += term
    return total


def _upper_fraction(a: float, x: float) -> float:
    """Lentz's method, from the front to the back."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    value, i = d, 0
    while True:
        i += 1
        factor = -i * (i - a)
        b += 2
        d = 1 / (factor * d + b or _TINY)
        c = b + factor / c or _TINY
        change = c * d
        value *= change
        if abs(change - 1) <= 4 * _SMALL:
            return value


def shifted_chi_square_tail(x: float, freedom: float, shift: float) -> float:
    """The same with non-centrality `shift`: a mixture with Poisson weights.

    With 2 j more degrees of freedom the tail is larger by one term, so that all are
    sums of positive numbers.
    """
    a, half, rate = freedom / 2, x / 2, shift / 2
    if half <= 0 or rate <= 0:
        return chi_square_tail(x, freedom)
    # Beyond, the weights are nothing beside 1, and they weigh tails of at most 1.
    last = int(rate + 12 * math.sqrt(rate + 1) + half) + 60
    j = np.arange(last + 1.0)
    steps = np.log(np.maximum(j, 1.0)).cumsum()
    weights = np.exp(j * math.log(rate) - rate - steps)
    rising = np.log(a + j).cumsum() + math.lgamma(a)
    terms = np.exp((a + j) * math.log(half) - half - rising)
    tails = gamma_tail(a, half) + np.append(0.0, terms[:-1].cumsum())
    return min(1.0, float((weights * np.minimum(tails, 1.0)).sum()))


def student_tail(t: Floats, freedom: Floats) -> Floats:
    """Probability of a value of Student's t above `t >= 0`, element by element."""
    x, rest = freedom / (freedom + t**2), t**2 / (freedom + t**2)
    far: Flags = x < (freedom + 2) / (freedom + 5)
    half = np.full_like(x, 0.5)
    a, b = np.where(far, freedom / 2, half), np.where(far, half, freedom / 2)
    found = _beta(a, b, np.where(far, x, rest), np.where(far, rest, x)) / 2
    tail: Floats = np.where(far, found, 0.5 - found)
    return tail


def _beta(a: Floats, b: Floats, x: Floats, rest: Floats) -> Floats:
    """The regularised incomplete beta function I_x(a, b) with rest = 1 - x, below its middle."""
    with np.errstate(divide="ignore"):
        front = _logs(_lgamma(a + b)) - _logs(_lgamma(a)) - _logs(_lgamma(b))
        front += a * np.log(x) + b * np.log(rest)
    found: Floats = np.exp(front) / a * _beta_fraction(a, b, x)
    return found


def _logs(values: object) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Lentz's method for all elements until the last of them is exact."""
    c = np.ones_like(x)
    d = 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value, m = d.copy(), 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = np.ones_like(x)
        for factor in (even, odd):
            d = 1 / _nonzero(1 + factor * d)
            c = _nonzero(1 + factor / c)
            change *= c * d
        value *= change
        if not (np.abs(change - 1) > 8 * _SMALL).any():
            return value


def _nonzero(values: Floats) -> Floats:
    return np.where(values == 0, _TINY, values)


def student_quantiles(tails: Floats, freedom: Ints) -> Floats:
    """Values of Student's t with these probabilities (below 1/2) above them, a row per freedom.

    Newton's method. The tail is convex and a normal value is smaller than Student's,
    so that the steps come from one side and never too far.
    """
    normal = np.array([-NormalDist().inv_cdf(tail) for tail in tails.tolist()])
    nu = np.repeat(freedom.astype(np.float64)[:, None], len(tails), axis=1)
    t = np.repeat(normal[None, :], len(freedom), axis=0)
    scale = _logs(_lgamma((nu + 1) / 2)) - _logs(_lgamma(nu / 2)) - np.log(nu * math.pi) / 2
    for _ in range(_NEWTON):
        density = np.exp(scale - (nu + 1) / 2 * np.log1p(t**2 / nu))
        t = t + (student_tail(t, nu) - tails) / density
    return t
