"""The numbers on which kernels dispatch.

A kernel with a function as an argument would never hit Numba's cache; one with an integer does.
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
    """The proved answer for one arm."""

    UNDECIDED = 0
    NORMAL = 1
    OUTLIER = 2


ROUNDING = 2.0**-50
"""Rounding error of theta, relative to theta and to (1 + F) times the median."""
