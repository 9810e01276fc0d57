"""Bounds on the number of pulls, for means that are known.

The pulls that any correct algorithm needs at least, computed for the means at hand
(`limit`) and by the paper's theorem (`lower_bounds`), that the paper's algorithms need at most
(`upper_bounds`), and the bounds of the algorithms with mean and standard deviation (`mean_std`).
"""

from standout.core.threshold.mean_std import quota_step, threshold_constant, variance_constant
from standout.theory.gaps import Gaps, compute_gaps
from standout.theory.limit import Limit, evidence, information_limit
from standout.theory.lower_bounds import (
    LowerBound,
    LowerTheorem,
    Membership,
    check_membership,
    lower_bound,
    top_arms_bound,
)
from standout.theory.mean_std import (
    MeanStdGaps,
    compute_mean_std_gaps,
    rr_bound,
    wrr_bound,
)
from standout.theory.upper_bounds import LogForm, upper_bound, upper_bound_per_arm

__all__ = [
    "Gaps",
    "Limit",
    "LogForm",
    "LowerBound",
    "LowerTheorem",
    "MeanStdGaps",
    "Membership",
    "check_membership",
    "compute_gaps",
    "compute_mean_std_gaps",
    "evidence",
    "information_limit",
    "lower_bound",
    "quota_step",
    "rr_bound",
    "threshold_constant",
    "top_arms_bound",
    "upper_bound",
    "upper_bound_per_arm",
    "variance_constant",
    "wrr_bound",
]
