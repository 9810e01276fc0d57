"""What rounding may move a threshold by.

Means that are known are mostly decimals, such as .1, that no binary number equals. So an arm
that lies exactly on the threshold in decimals is computed to lie a little beyond it, or before
it. Each of the numbers behind theta = m + F d, where d = |x - m| for some x, is off by at most
u = 2^-53 of its size, and so is each step: in all less than u (7 |theta| + (6 + 2 F) |m|). Any mean
within 8 u (|theta| + (1 + F) |m|) of it counts as on the threshold, and therefore as normal.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.kinds import ROUNDING
from standout.core.state import MEDIAN_LOWER, MEDIAN_UPPER, THRESHOLD_LOWER, THRESHOLD_UPPER
from standout.core.typing import Floats


@part()
def bounds_rounding(bounds: Floats, factor: float) -> float:
    """What the ends of the threshold's interval may be off by; 0 while there is none."""
    theta = min(abs(bounds[THRESHOLD_LOWER]), abs(bounds[THRESHOLD_UPPER]))
    # Only ends that nearly meet need it: a far end must not loosen the near one.
    median = min(abs(bounds[MEDIAN_LOWER]), abs(bounds[MEDIAN_UPPER]))
    # Where the median is not looked at, the threshold is a mean plus some deviations.
    median = median if np.isfinite(median) else theta
    off = ROUNDING * (theta + (1.0 + factor) * median)
    return float(off) if np.isfinite(off) else 0.0
