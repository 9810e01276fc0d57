"""The rounding error of a threshold.

Known means are mostly decimals, such as .1, which have no exact binary representation. So an arm
exactly on the threshold in decimals is computed to lie slightly above or below it. Each number in
theta = m + F d, where d = |x - m| for some x, has a relative error of at most u = 2^-53, and so has
each operation: in total less than u (7 |theta| + (6 + 2 F) |m|). Any mean within
8 u (|theta| + (1 + F) |m|) of the threshold counts as on it, and therefore as normal.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.kinds import ROUNDING
from standout.core.state import MEDIAN_LOWER, MEDIAN_UPPER, THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.typing import Floats


@part()
def bounds_rounding(bounds: Floats, factor: float) -> float:
    """The rounding error of the ends of the threshold's interval; 0 while they are infinite."""
    theta = min(abs(bounds[THRESHOLD_LOWER]), abs(bounds[THRESHOLD_UPPER]))
    # Use the nearer end: a far end must not loosen the near one.
    median = min(abs(bounds[MEDIAN_LOWER]), abs(bounds[MEDIAN_UPPER]))
    # Where the median is not looked at, the threshold is a mean plus some deviations.
    median = median if np.isfinite(median) else theta
    off = ROUNDING * (theta + (1.0 + factor) * median)
    return float(off) if np.isfinite(off) else 0.0
