"""The numbers that kernels dispatch on.

A function passed to a compiled kernel would never hit Numba's cache, an
integer does.
"""

from __future__ import annotations

from enum import IntEnum


class IntervalKind(IntEnum):
    """How an arm's interval is made from its rewards."""

    HOEFFDING = 0
    RELEASED = 1
    ZHUANG = 2
    MIXTURE = 3
    BERNOULLI = 4
    BERNSTEIN = 5
    STUDENT = 6
    HEAVY = 7
    BETTING = 8


class RangeKind(IntEnum):
    """How the threshold's interval is made from the arms' intervals."""

    ALGORITHM1 = 0
    MEAN_STD = 1
    EXACT = 2
    JOINT = 3
    DRAWN = 4
    GAPS = 5


class Verdict(IntEnum):
    """What is certain of one arm."""

    UNDECIDED = 0
    NORMAL = 1
    OUTLIER = 2


ROUNDING = 2.0**-50
"""Part of theta and of (1 + F) times the median that rounding may move theta by."""
