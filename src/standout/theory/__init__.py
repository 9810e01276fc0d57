"""Bounds on the number of pulls for known means.

A lower bound for every correct algorithm, computed for the given means (`limit`) and by the paper's
theorem (`lower_bounds`); an upper bound for the paper's algorithms (`upper_bounds`); and the bounds
of the algorithms with mean and standard deviation (`mean_std`).
"""

from standout.core.threshold.mean_std import quota_step as quota_step
from standout.core.threshold.mean_std import threshold_constant as threshold_constant
from standout.core.threshold.mean_std import variance_constant as variance_constant
from standout.theory.gaps import Gaps as Gaps
from standout.theory.gaps import compute_gaps as compute_gaps
from standout.theory.limit import Limit as Limit
from standout.theory.limit import evidence as evidence
from standout.theory.limit import information_limit as information_limit
from standout.theory.lower_bounds import LowerBound as LowerBound
from standout.theory.lower_bounds import LowerTheorem as LowerTheorem
from standout.theory.lower_bounds import Membership as Membership
from standout.theory.lower_bounds import check_membership as check_membership
from standout.theory.lower_bounds import lower_bound as lower_bound
from standout.theory.lower_bounds import top_arms_bound as top_arms_bound
from standout.theory.mean_std import MeanStdGaps as MeanStdGaps
from standout.theory.mean_std import compute_mean_std_gaps as compute_mean_std_gaps
from standout.theory.mean_std import rr_bound as rr_bound
from standout.theory.mean_std import wrr_bound as wrr_bound
from standout.theory.upper_bounds import LogForm as LogForm
from standout.theory.upper_bounds import upper_bound as upper_bound
from standout.theory.upper_bounds import upper_bound_per_arm as upper_bound_per_arm
