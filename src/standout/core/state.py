"""The state of a run, and the constants that its kernels need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from standout.core.compile import Struct
from standout.core.crossing.record import Crossing, end_stages, new_crossing
from standout.core.typing import Codes, FlagBlocks, Flags, FloatRows, Floats, Ints

# Columns of State.bounds: ends of the median's, the MAD's and the threshold's interval,
# and the estimates of the threshold and the median.
MEDIAN_LOWER, MEDIAN_UPPER, MAD_LOWER, MAD_UPPER = 0, 1, 2, 3
THRESHOLD_LOWER, THRESHOLD_UPPER, THRESHOLD, MEDIAN = 4, 5, 6, 7
# Columns of State.guesses: last order statistics of the estimates, where to look first.
GUESS_MEAN, GUESS_AD, GUESS_NOISE, GUESS_LOW, GUESS_UP, GUESS_LOWER_AD, GUESS_UPPER_AD = range(7)
# Row 0 has other columns where the threshold comes from pairs of rewards of random arms
# (`standout.core.threshold.drawn`): the drawn arm + 1, or 0; whether it has a first reward, and
# this reward; the number of pairs, and the sums of their averages and products.
DRAWN_ARM, DRAWN_WAITS, DRAWN_FIRST, DRAWN_PAIRS, DRAWN_SUM, DRAWN_PRODUCTS = range(6)
# Entries of State.sampled: how many arms make the threshold, and the stage of that sample.
SIZE, STAGE = 0, 1
# Rows of State.chance: the rule's chances, as of `counted` pulls, and the best guess's; and the
# squared derivative of theta by each arm's mean.
RULED, GUESSED, PULLING = 0, 1, 2
# Entries of State.counters.
PULLS, ROUNDS, TOUCHED, UNDECIDED, CURSOR = 0, 1, 2, 3, 4

# Columns of State.alternatives, with one row per side and direction of a flip, for the cheapest
# known alternative (`standout.core.joint`): its median and MAD; the pulls at which to search again;
# its cost; the multipliers of its bound; the arm that it flips; the pulls at which to follow it, to
# try a proof and to narrow the threshold again; the threshold's end in the joint region (the upper
# end for the first direction, the lower end for the second); in the first row only, the bet in use
# and the pulls at which to try another bet, and a proof for a subset of the arms; in each row, the
# nats beyond the limit that the arms of such a proof must cost.
AT_MEDIAN, AT_MAD, RESTART, COST, Y, Z, FLIPPED, FOLLOW, PROVE, NARROW, BEYOND = range(11)
SCALE, RESCALE, PROVE_SOME, MARGIN = 11, 12, 13, 14
JOINT_ROWS = 26
"""The joint certificate's scratch numbers per arm."""
JOINT_BOXES = 514
"""The joint certificate's boxes; two of them are the whole range and the current box."""

LEARNT = 6
"""Columns of State.learnt: a normal distribution of the means (`standout.core.threshold.doubt`)."""

NEVER = 127
"""Stage of an arm that never joins the threshold's arms."""
MOST_CANDIDATES = 10
"""Arms that ROAILUCB considers on each side."""


@dataclass(frozen=True)
class Spec(Struct):
    """Constants of a run. Nothing here comes from the true means."""

    STATIC: ClassVar[tuple[str, ...]] = (
        "rule", "interval", "range", "refines", "learns", "samples",
    )  # fmt: skip
    DETAILS: ClassVar[tuple[str, ...]] = ("rule", "interval", "learns")

    rule: int
    interval: int
    range: int
    refines: bool
    learns: bool
    sorts: bool
    keeps_decisions: bool
    intersects: bool
    n_arms: int
    k: float
    delta: float
    alpha: float
    sigma: float
    rho: float
    scales: int
    low: float
    high: float
    lattice: float
    tolerance: float
    initial: int
    batch: int
    growth: float
    nearly_best: float
    slack: float
    share: float
    joint_delta: float
    joint_rho: float
    means_part: float
    flips: bool
    crosses: bool
    parting: int

    @property
    def samples(self) -> bool:
        """Whether a sample of the arms stands for all."""
        return self.slack > 0.0


@dataclass(frozen=True, eq=False)
class State(Struct):
    """Everything that changes. Row s of a two-dimensional array is a side.

    Each side is oriented so that outliers are high: for low outliers the means
    are negated (`signs[s] == -1`), and the same code serves both.

    `sums` and `moments` are of rewards less the arm's `origin`: sums of large
    numbers that differ little would lose what they differ by. A cost that is
    infinite marks an arm that is never to be pulled.
    """

    pulls: Ints
    origin: Floats
    sums: Floats
    moments: FloatRows
    costs: Floats
    signs: Floats
    factors: Floats
    estimate: FloatRows
    lower: FloatRows
    upper: FloatRows
    deviation_lower: FloatRows
    deviation_upper: FloatRows
    bounds: FloatRows
    guesses: FloatRows
    sorted_lower: FloatRows
    sorted_upper: FloatRows
    binding: FloatRows
    verdict: Codes
    omega: Ints
    stage: Codes
    sampled: Ints
    active: FlagBlocks
    is_wanted: Flags
    quota: Floats
    touched: Ints
    is_touched: Flags
    candidates: Ints
    chosen: Ints
    amount: Ints
    counters: Ints
    alternatives: FloatRows
    joint: FloatRows
    boxes: FloatRows
    bends: Floats
    crossing: Crossing
    learnt: FloatRows
    chance: FloatRows
    counted: Ints
    centre: Floats
    scratch: Floats
    work: Floats


def forget_bets(state: State) -> None:
    """Clear the joint certificate's alternatives and threshold, and end the crossing bet's stages.

    Call this after a change of rewards or of the tolerance.
    """
    state.joint[...] = 0.0
    forget(state.alternatives)
    end_stages(state.crossing)


def forget(alternatives: FloatRows) -> None:
    """Clear the alternatives and the threshold's ends."""
    alternatives[...] = 0.0
    alternatives[:, COST] = -np.inf
    alternatives[0::2, BEYOND] = np.inf
    alternatives[1::2, BEYOND] = -np.inf


def new_state(
    n_arms: int,
    signs: tuple[float, ...],
    factors: tuple[float, ...],
    stage: Codes | None = None,
    n_moments: int = 0,
    costs: Floats | None = None,
    support: tuple[float, float] = (-np.inf, np.inf),
    joins: bool = False,
    has_stages: bool = False,
    crosses: bool = False,
    learns: bool = False,
) -> State:
    """A state before the first pull.

    `stage` says when an arm joins those that make the threshold: 0 at once, a
    larger number when a sample has grown this often, NEVER not at all. `support`
    holds every mean: the interval of an arm before its first reward. `joins`: there is
    room for the joint certificate; `has_stages`: the method has
    a crossing bet, and `crosses`: also with this number of arms; `learns`: for the arms' chances
    that a rule goes by.
    """
    sides = len(signs)
    if stage is None:
        stage = np.zeros(n_arms, dtype=np.int8)
    at_once = stage == 0
    omega = np.flatnonzero(stage != NEVER).astype(np.int64)
    omega[: at_once.sum()] = np.flatnonzero(at_once)
    ends = np.array(
        [support if sign > 0 else (-support[1], -support[0]) for sign in signs], dtype=np.float64
    )
    counters = np.zeros(5, dtype=np.int64)
    counters[UNDECIDED] = n_arms
    counters[CURSOR] = -1
    bounds = np.full((sides, 8), np.nan)
    bounds[:, MEDIAN] = 0.0
    bounds[:, [MEDIAN_LOWER, MAD_LOWER, THRESHOLD_LOWER]] = -np.inf
    bounds[:, [MEDIAN_UPPER, MAD_UPPER, THRESHOLD_UPPER]] = np.inf
    alternatives = np.zeros((2 * sides, MARGIN + 1))
    forget(alternatives)
    return State(
        pulls=np.zeros(n_arms, dtype=np.int64),
        origin=np.zeros(n_arms),
        sums=np.zeros(n_arms),
        moments=np.zeros((n_arms, n_moments)),
        costs=np.ones(n_arms) if costs is None else np.array(costs, dtype=np.float64),
        signs=np.array(signs, dtype=np.float64),
        factors=np.array(factors, dtype=np.float64),
        estimate=np.zeros((sides, n_arms)),
        lower=np.repeat(ends[:, :1], n_arms, axis=1),
        upper=np.repeat(ends[:, 1:], n_arms, axis=1),
        deviation_lower=np.full((sides, n_arms), -np.inf),
        deviation_upper=np.full((sides, n_arms), np.inf),
        bounds=bounds,
        guesses=np.zeros((sides, 7)),
        sorted_lower=np.repeat(ends[:, :1], len(omega), axis=1),
        sorted_upper=np.repeat(ends[:, 1:], len(omega), axis=1),
        binding=np.zeros((sides, 2)),
        verdict=np.zeros(n_arms, dtype=np.int8),
        omega=omega,
        stage=stage,
        sampled=np.array([at_once.sum(), 0], dtype=np.int64),
        is_wanted=np.zeros(n_arms, dtype=np.bool_),
        active=np.tile(at_once, (sides, 2, 1)),
        quota=np.ones(n_arms),
        touched=np.zeros(n_arms, dtype=np.int64),
        is_touched=np.zeros(n_arms, dtype=np.bool_),
        candidates=np.zeros(MOST_CANDIDATES * sides, dtype=np.int64),
        chosen=np.zeros(n_arms, dtype=np.int64),
        amount=np.zeros(n_arms, dtype=np.int64),
        counters=counters,
        alternatives=alternatives,
        joint=np.zeros((JOINT_ROWS, n_arms) if joins else (0, 0)),
        boxes=np.zeros((JOINT_BOXES, 6) if joins else (0, 0)),
        bends=np.zeros(2 * n_arms if joins else 0),
        crossing=new_crossing(
            n_arms if has_stages else 0, sides, crosses, has_squares=n_moments > 0
        ),
        learnt=np.zeros((2 * sides, LEARNT) if learns else (0, 0)),
        chance=np.zeros((3, n_arms) if learns else (0, 0)),
        counted=np.zeros(n_arms if learns else 0, dtype=np.int64),
        centre=np.zeros(n_arms),
        scratch=np.zeros(n_arms),
        work=np.zeros(n_arms),
    )


def means_of(state: State) -> Floats:
    """Each arm's mean of the rewards counted so far; NaN without rewards."""
    means: Floats = np.full(len(state.pulls), np.nan)
    np.divide(state.sums, state.pulls, out=means, where=state.pulls > 0)
    return means + state.origin


def copy_state(state: State) -> State:
    """An independent copy of a state."""
    return state.with_arrays(lambda _, values: np.array(values))
