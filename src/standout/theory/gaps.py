"""The gaps of known means, which determine the number of pulls (paper, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from standout.core import robust
from standout.core.problem import Side
from standout.core.typing import Flags, Floats


@dataclass(frozen=True, eq=False)
class Gaps:
    """Distances of the means to the components of the threshold.

    Arrays have one entry per arm, in the order of the means. With a subset (the paper's Omega) the
    median, the MAD and the threshold come from its arms alone. An arm outside is only compared with
    the threshold, so its `hardness` is its distance to the threshold.
    """

    median: float
    """y_(m)"""
    mad: float
    """AD_(m), unscaled"""
    threshold: float
    """theta"""
    to_threshold: Floats
    """Delta^theta_i = |theta - y_i|"""
    min_to_threshold: float
    """Delta^theta_* = min of them, over all arms"""
    to_median: Floats
    """Delta^med_i = |y_(m) - y_i|"""
    to_mad: Floats
    """Delta^MAD_i = |AD_(m) - AD_i|"""
    hardness: Floats
    """Delta^*_i = max(Delta^theta_*, min(Delta^theta_i, Delta^med_i, Delta^MAD_i))"""
    in_subset: Flags
    """Which arms the threshold is made of: all, unless a subset was given"""

    @property
    def n_arms(self) -> int:
        """The paper's n, also when there is a subset."""
        return self.to_threshold.size


def compute_gaps(
    means: ArrayLike,
    factor: float,
    side: Side = Side.HIGH,
    subset: robust.Indexes | None = None,
) -> Gaps:
    """All gaps of known means; `factor` is `Problem.factor`, `subset` distinct indexes."""
    values = np.asarray(means, dtype=np.float64)
    # The low question is the high one about the negated means: gaps are the same.
    sign = 1.0 if side is Side.HIGH else -1.0
    mirrored = sign * values
    chosen = mirrored if subset is None else mirrored[subset]
    in_subset = np.full(values.size, subset is None)
    if subset is not None:
        in_subset[subset] = True

    centre = robust.median(chosen)
    deviations = np.abs(mirrored - centre)
    spread = robust.mad(chosen)
    theta = robust.threshold(chosen, factor)

    to_threshold = np.abs(theta - mirrored)
    nearest = float(to_threshold.min())
    to_mad = np.abs(spread - deviations)
    closest = np.minimum(np.minimum(to_threshold, deviations), to_mad)
    hardness = np.where(in_subset, np.maximum(nearest, closest), to_threshold)
    return Gaps(
        median=sign * centre,
        mad=spread,
        threshold=sign * theta,
        to_threshold=to_threshold,
        min_to_threshold=nearest,
        to_median=deviations,
        to_mad=to_mad,
        hardness=hardness,
        in_subset=in_subset,
    )
