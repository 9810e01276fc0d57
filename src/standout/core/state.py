"""What a run carries from round to round, and the constants its kernels need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from standout.core.typing import Codes, Flags, Floats, Ints

# Columns of State.bounds: ends of the median's, the MAD's and the threshold's interval,
# and the estimates of the threshold and the median.
MEDIAN_LOWER, MEDIAN_UPPER, MAD_LOWER, MAD_UPPER = 0, 1, 2, 3
THRESHOLD_LOWER, THRESHOLD_UPPER, THRESHOLD, MEDIAN = 4, 5, 6, 7
# Columns of State.guesses: last order statistics of the estimates, where to look first.
GUESS_MEAN, GUESS_AD, GUESS_NOISE = 0, 1, 2
# Entries of State.counters.
PULLS, ROUNDS, TOUCHED, UNDECIDED, CURSOR = 0, 1, 2, 3, 4

MOST_CANDIDATES = 10
"""Arms that ROAILUCB considers on each side."""


class Spec(NamedTuple):
    """Constants of a run. Nothing here comes from the true means."""

    rule: int
    interval: int
    range: int
    uses_levels: bool
    sorts: bool
    keeps_decisions: bool
    intersects: bool
    n_arms: int
    k: float
    delta: float
    alpha: float
    sigma: float
    rho: float
    low: float
    high: float
    clips: bool
    lattice: float
    plugs_in: bool
    tolerance: float
    initial: int
    batch: int
    growth: float
    nearly_best: float


class State(NamedTuple):
    """Everything that changes. Row s of a two-dimensional array is a side.

    Each side is oriented so that outliers are high: for low outliers the means
    are negated (`signs[s] == -1`), and the same code serves both.
    """

    pulls: Ints
    sums: Floats
    moments: Floats
    costs: Floats
    signs: Floats
    factors: Floats
    estimate: Floats
    lower: Floats
    upper: Floats
    deviation_lower: Floats
    deviation_upper: Floats
    bounds: Floats
    guesses: Floats
    sorted_lower: Floats
    sorted_upper: Floats
    levels: Floats
    verdict: Codes
    omega: Ints
    in_omega: Flags
    active: Flags
    is_wanted: Flags
    quota: Floats
    touched: Ints
    is_touched: Flags
    candidates: Ints
    chosen: Ints
    amount: Ints
    counters: Ints
    centre: Floats
    scratch: Floats
    work: Floats


def new_state(
    n_arms: int,
    signs: tuple[float, ...],
    factors: tuple[float, ...],
    omega: Ints | None = None,
    n_moments: int = 0,
    costs: Floats | None = None,
) -> State:
    """A state before the first pull; `omega` are the arms that make the threshold."""
    sides = len(signs)
    if omega is None:
        omega = np.arange(n_arms, dtype=np.int64)
    in_omega = np.zeros(n_arms, dtype=np.bool_)
    in_omega[omega] = True
    counters = np.zeros(5, dtype=np.int64)
    counters[UNDECIDED] = n_arms
    counters[CURSOR] = -1
    bounds = np.full((sides, 8), np.nan)
    bounds[:, MEDIAN] = 0.0
    bounds[:, [MEDIAN_LOWER, MAD_LOWER, THRESHOLD_LOWER]] = -np.inf
    bounds[:, [MEDIAN_UPPER, MAD_UPPER, THRESHOLD_UPPER]] = np.inf
    return State(
        pulls=np.zeros(n_arms, dtype=np.int64),
        sums=np.zeros(n_arms),
        moments=np.zeros((n_arms, n_moments)),
        costs=np.ones(n_arms) if costs is None else np.array(costs, dtype=np.float64),
        signs=np.array(signs, dtype=np.float64),
        factors=np.array(factors, dtype=np.float64),
        estimate=np.zeros((sides, n_arms)),
        lower=np.full((sides, n_arms), -np.inf),
        upper=np.full((sides, n_arms), np.inf),
        deviation_lower=np.full((sides, n_arms), -np.inf),
        deviation_upper=np.full((sides, n_arms), np.inf),
        bounds=bounds,
        guesses=np.zeros((sides, 3)),
        sorted_lower=np.full((sides, len(omega)), -np.inf),
        sorted_upper=np.full((sides, len(omega)), np.inf),
        levels=np.zeros((sides, 2, 3, 2)),
        verdict=np.zeros(n_arms, dtype=np.int8),
        omega=omega,
        in_omega=in_omega,
        is_wanted=np.zeros(n_arms, dtype=np.bool_),
        active=np.tile(in_omega, (sides, 2, 1)),
        quota=np.ones(n_arms),
        touched=np.zeros(n_arms, dtype=np.int64),
        is_touched=np.zeros(n_arms, dtype=np.bool_),
        candidates=np.zeros(MOST_CANDIDATES * sides, dtype=np.int64),
        chosen=np.zeros(n_arms, dtype=np.int64),
        amount=np.zeros(n_arms, dtype=np.int64),
        counters=counters,
        centre=np.zeros(n_arms),
        scratch=np.zeros(n_arms),
        work=np.zeros(n_arms),
    )
