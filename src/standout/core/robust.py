"""Exact quantities of known values: median, MAD, threshold, outliers (paper, section 2).

They serve known means: the truth of a simulation, plug-in answers, the bounds of the theory. The
kernels compute the same quantities with intervals.

A low threshold is minus the high threshold of the negated values. This matters for an even number
of values, because the m-th largest and the m-th smallest then differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from standout.core.kinds import ROUNDING
from standout.core.problem import Side
from standout.core.typing import Flags, Floats

Indexes = NDArray[np.integer]


def median_rank(n: int) -> int:
    """The paper's m, with n = 2m - 1 or n = 2m: the median is the m-th largest.

    >>> median_rank(5), median_rank(6)
    (3, 3)
    """
    return (n + 1) // 2


def median(values: ArrayLike) -> float:
    """y_(m), the m-th largest value. It never averages two values.

    >>> median([4.0, 1.0, 3.0, 2.0])
    3.0
    """
    array = _values(values)
    place = array.size - median_rank(array.size)
    return float(np.partition(array, place)[place])


def mad(values: ArrayLike) -> float:
    """AD_(m), the median of the absolute deviations from the median, unscaled."""
    array = _values(values)
    return median(np.abs(array - median(array)))


def threshold(
    values: ArrayLike,
    factor: float,
    side: Side = Side.HIGH,
    subset: Indexes | None = None,
) -> float:
    """theta = median + factor * MAD, or its mirror image for low outliers.

    `factor` is `Problem.factor`, k times the MAD's scale. With `subset`
    (the paper's Omega, distinct indexes) only those values count.

    >>> threshold([0.0, 1.0, 2.0, 3.0, 9.0], 2.0)
    4.0
    """
    array = _values(values)
    if subset is not None:
        array = array[subset]
    sign = _sign(side)
    array = sign * array
    return sign * (median(array) + factor * mad(array))


def outliers(
    values: ArrayLike,
    factor: float,
    side: Side = Side.HIGH,
    subset: Indexes | None = None,
) -> Flags:
    """S, as a mask: which values lie strictly beyond the threshold, by more than rounding."""
    array = _values(values)
    theta, slip = _threshold_and_rounding(array, factor, side, subset)
    return array > theta + slip if side is Side.HIGH else array < theta - slip


def min_gap(
    values: ArrayLike,
    factor: float,
    side: Side = Side.HIGH,
    subset: Indexes | None = None,
) -> float:
    """The smallest distance of any value to the threshold; 0 if a value is on it up to rounding."""
    array = _values(values)
    theta, slip = _threshold_and_rounding(array, factor, side, subset)
    gap = float(np.min(np.abs(array - theta)))
    return gap if gap > slip else 0.0


def mean_std_threshold(values: ArrayLike, k: float, side: Side = Side.HIGH) -> float:
    """The threshold of Zhuang et al. (2017): mean + k * population standard deviation."""
    array = _values(values)
    return float(array.mean() + _sign(side) * k * array.std())


def _threshold_and_rounding(
    values: Floats, factor: float, side: Side, subset: Indexes | None
) -> tuple[float, float]:
    middle = median(_sign(side) * (values if subset is None else values[subset]))
    theta = threshold(values, factor, side, subset)
    # The argument is that of `standout.core.threshold.rounding`.
    return theta, ROUNDING * (abs(theta) + (1.0 + factor) * abs(middle))


def _values(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"a flat list of at least one value is needed, not shape {array.shape}")
    return array


def _sign(side: Side) -> float:
    return 1.0 if side is Side.HIGH else -1.0
