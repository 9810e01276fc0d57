"""Bounds for the threshold mean + k * std and its algorithms RR and WRR (Zhuang et al. 2017).

Rewards lie in [0, 1] and k is never scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from standout.core import robust
from standout.core.problem import Side
from standout.core.threshold.mean_std import quota_step, threshold_constant
from standout.core.typing import Floats


@dataclass(frozen=True, eq=False)
class MeanStdGaps:
    """Distances Delta_i of the means to the mean-std threshold, and their sums."""

    threshold: float
    """mean + k * population standard deviation"""
    to_threshold: Floats
    """Delta_i"""
    h1: float
    """H_1 = n / min Delta_i^2"""
    h2: float
    """H_2 = sum of Delta_i^-2"""


def compute_mean_std_gaps(means: ArrayLike, k: float, side: Side = Side.HIGH) -> MeanStdGaps:
    """Gaps of known means; H_1 and H_2 are infinite when a mean lies on the threshold."""
    values = np.asarray(means, dtype=np.float64)
    theta = robust.mean_std_threshold(values, k, side)
    to_threshold = np.abs(values - theta)
    with np.errstate(divide="ignore", over="ignore"):
        hardness = to_threshold**-2.0
        h1 = float(values.size * hardness.max())
        h2 = float(hardness.sum())
    return MeanStdGaps(theta, to_threshold, h1, h2)


def rr_bound(means: ArrayLike, k: float, delta: float, side: Side = Side.HIGH) -> float:
    """Round robin, up to a constant: H log(n H / delta) with H = H_1 (1 + sqrt(l))^2."""
    gaps = compute_mean_std_gaps(means, k, side)
    n = gaps.to_threshold.size
    hardness = gaps.h1 * (1 + math.sqrt(threshold_constant(n, k, delta))) ** 2
    return hardness * math.log(n * hardness / delta)


def wrr_bound(means: ArrayLike, k: float, delta: float, side: Side = Side.HIGH) -> float:
    """Weighted round robin, up to a constant.

    H log(n H / delta) with H = (H_1 / rho + (rho - 1) H_2 / rho) (1 + sqrt(l rho))^2.
    """
    gaps = compute_mean_std_gaps(means, k, side)
    n = gaps.to_threshold.size
    if math.isinf(gaps.h1):
        return math.inf  # with rho < 1, as for very few arms, the formula gives inf - inf
    rho = quota_step(n, k, delta)
    spread = (1 + math.sqrt(threshold_constant(n, k, delta) * rho)) ** 2
    hardness = (gaps.h1 / rho + (rho - 1) * gaps.h2 / rho) * spread
    return hardness * math.log(n * hardness / delta)
