"""Tails of the distributions that the checks need, from SciPy's special functions.

`scipy.stats` has all of them but takes two seconds to import. Only reports import this module.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from standout.core.typing import Floats, Ints


def normal_tail(z: Floats | float) -> Floats:
    """Probability of a standard normal value above `z`."""
    return np.asarray(special.ndtr(-np.asarray(z)), dtype=np.float64)


def chi_square_tail(x: float, freedom: float) -> float:
    """Probability of a chi-square value above `x`; the degrees of freedom need not be whole."""
    return float(special.gammaincc(freedom / 2, max(x, 0.0) / 2))


def shifted_chi_square_tail(x: float, freedom: float, shift: float) -> float:
    """The same with non-centrality `shift`: a mixture of chi-square tails with Poisson weights.

    It is a sum of positive numbers; `1 - chndtr` loses all digits in the tail.
    """
    rate = shift / 2
    # The remaining weights are negligible, and the tails are at most 1.
    j = np.arange(int(rate + 12 * np.sqrt(rate + 1) + max(x, 0.0) / 2) + 60.0)
    weights = np.exp(special.xlogy(j, rate) - rate - special.gammaln(j + 1))
    tails = special.gammaincc(freedom / 2 + j, max(x, 0.0) / 2)
    return min(1.0, float((weights * tails).sum()))


def student_tail(t: Floats, freedom: Floats) -> Floats:
    """Probability of a value of Student's t above `t`, element by element."""
    return np.asarray(special.stdtr(freedom, -t), dtype=np.float64)


def student_quantiles(tails: Floats, freedom: Ints) -> Floats:
    """Values of Student's t with these upper tail probabilities, one row per freedom."""
    found = -special.stdtrit(freedom[:, None].astype(np.float64), tails)
    return np.asarray(found, dtype=np.float64)
