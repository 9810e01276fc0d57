"""Lower bounds on the pulls of any correct algorithm (Theorem 3 and the top-n1 bound).

Both bounds are proved for Gaussian rewards. For another noise with the same sub-Gaussian scale they
show the order of magnitude but are not a proof: Bernoulli arms with means far from 1/2, for
example, can be distinguished with fewer pulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from standout.core import robust
from standout.core.problem import MIN_ARMS, Side
from standout.core.typing import Floats
from standout.theory.gaps import compute_gaps

MAX_DELTA = 0.15
"""Both theorems are stated for delta up to this."""

MIN_FACTOR = 2.0
"""Definition 2 asks k >= 2, where k is the whole multiplier of the MAD."""


class LowerTheorem(StrEnum):
    """The source of a lower bound."""

    ROAI = "Theorem 3"
    TOP_ARMS = "top-n1 arms (Kaufmann et al. 2016, Theorem 4)"
    NONE = "none"


@dataclass(frozen=True)
class Membership:
    """Whether means belong to the class M_{n,rho} of Definition 2 for some rho."""

    member: bool
    eta: float
    """Half the smallest step next to the median and next to the MAD; rho must be below it"""
    rho: float | None
    """One rho that fits, the middle of all that do"""
    reason: str
    """Why not, in words; empty for a member"""


@dataclass(frozen=True)
class LowerBound:
    """The expected pulls of any delta-PAC algorithm, at least, and the reason for this bound."""

    value: float
    theorem: LowerTheorem
    reason: str
    """Why Theorem 3 (or any bound) does not apply, in words; empty when it does"""


def check_membership(means: ArrayLike, factor: float, side: Side = Side.HIGH) -> Membership:
    """Decide whether some rho puts these means in M_{n,rho} (Definition 2).

    No mean may lie within rho/2 of theta, so rho < 2 Delta^theta_*. Two means within rho on a side
    mean that rho exceeds the second smallest distance on that side. So the values of rho that fit
    form one open interval, which may be empty.
    """
    values = _mirrored(means, side)
    theta = robust.threshold(values, factor)
    steps_of_means = _steps(values)
    steps_of_deviations = _steps(np.abs(values - robust.median(values)))
    eta = min(*steps_of_means, *steps_of_deviations) / 2

    above = np.sort(values[values > theta] - theta)
    below = np.sort(theta - values[values <= theta])
    nearest = min(float(side_[0]) for side_ in (above, below) if side_.size)

    def refuse(reason: str) -> Membership:
        return Membership(False, eta, None, reason)

    if factor < MIN_FACTOR:
        return refuse(f"k * mad_scale is {factor:g}, below {MIN_FACTOR:g}")
    if min(steps_of_means) == 0:
        return refuse("the median is not unique")
    if min(steps_of_deviations) == 0:
        return refuse("the MAD is not unique")
    if nearest == 0:
        return refuse("a mean lies on the threshold")
    for name, distances in (("above", above), ("below", below)):
        if distances.size < 2:
            found = "only one mean lies" if distances.size else "no mean lies"
            return refuse(f"{found} {name} the threshold, two are needed")
    low = max(float(above[1]), float(below[1]))
    high = min(eta, 2 * nearest)
    if low >= eta:
        return refuse(
            f"the second nearest mean on a side is {low:g} from the threshold, which is not "
            f"below {eta:g}, half the smallest step next to the median and the MAD"
        )
    if low >= high:
        return refuse(
            f"the second nearest mean on a side is {low:g} from the threshold, which is not "
            f"below {high:g}, twice the distance of the nearest"
        )
    return Membership(True, eta, (low + high) / 2, "")


def top_arms_bound(
    means: ArrayLike, factor: float, delta: float, sigma: float = 1.0, side: Side = Side.HIGH
) -> float:
    """Pulls needed even if the number n1 of outliers were known (Kaufmann et al. 2016, Thm 4).

    [sum over outliers of 2 sigma^2 / (y_i - y_(n1+1))^2 + sum over the others of
    2 sigma^2 / (y_(n1) - y_i)^2] log(1 / (2.4 delta)); 0 when there is no outlier.
    """
    values = _mirrored(means, side)
    standing_out = robust.outliers(values, factor)
    if not standing_out.any():
        return 0.0
    last_outlier = values[standing_out].min()
    first_normal = values[~standing_out].max()
    distances = np.where(standing_out, values - first_normal, last_outlier - values)
    return 2 * _inverse_squares(distances / sigma) * _log_factor(delta)


def lower_bound(
    means: ArrayLike, factor: float, delta: float, sigma: float = 1.0, side: Side = Side.HIGH
) -> LowerBound:
    """The paper's lower bound where it holds, otherwise the top-n1 bound.

    Theorem 3: sigma^2 log(1 / (2.4 delta)) * sum of 1 / (5 (Delta^*_i)^2) for means in
    M_{n,rho} and delta <= 0.15. `factor` is `Problem.factor`, `sigma` the scale of
    Gaussian rewards.
    """
    membership = check_membership(means, factor, side)
    if delta > MAX_DELTA:
        reason = f"the lower bounds are stated for delta up to {MAX_DELTA}, not {delta:g}"
        return LowerBound(0.0, LowerTheorem.NONE, reason)
    if membership.member:
        hardness = compute_gaps(means, factor, side).hardness
        value = _inverse_squares(hardness / sigma) / 5 * _log_factor(delta)
        return LowerBound(value, LowerTheorem.ROAI, "")
    reason = f"Theorem 3 does not apply: {membership.reason}"
    if not robust.outliers(means, factor, side).any():
        reason += "; no arm stands out, so there is no top-n1 bound either"
        return LowerBound(0.0, LowerTheorem.NONE, reason)
    value = top_arms_bound(means, factor, delta, sigma, side)
    return LowerBound(value, LowerTheorem.TOP_ARMS, reason)


def _mirrored(means: ArrayLike, side: Side) -> Floats:
    """The means of the equivalent question about high outliers."""
    values = np.asarray(means, dtype=np.float64)
    if values.size < MIN_ARMS:
        raise ValueError(f"at least {MIN_ARMS} means are needed, not {values.size}")
    return values if side is Side.HIGH else -values


def _steps(values: Floats) -> tuple[float, float]:
    """The differences v_(m-1) - v_(m) and v_(m) - v_(m+1) of the sorted values."""
    m = robust.median_rank(values.size)
    descending = np.sort(values)[::-1]
    before, at, after = descending[m - 2 : m + 1]
    return float(before - at), float(at - after)


def _inverse_squares(distances: Floats) -> float:
    """The sum of 1 / d^2, infinite for distances too small to be squared."""
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.sum(distances**-2.0))


def _log_factor(delta: float) -> float:
    """log(1 / (2.4 delta)), which is at most the relative entropy d(delta, 1 - delta)."""
    return math.log(1 / (2.4 * delta))
