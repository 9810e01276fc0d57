"""The data and the work space of the sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from standout.core.compile.structs import Struct
from standout.core.typing import FloatRows, Floats, Ints

MOST_GROUPS = 16
"""More are never needed at once: an arm that fits none of them joins the best."""
EMPTY = 2
"""Groups without an arm that an arm may open."""
TRY = MOST_GROUPS + EMPTY
"""The slot of a group that is proposed."""
SLOTS = TRY + 1
MOST_TABLED = 2_000
"""Tables of the beta distribution reach up to this many rewards of an arm."""
# Entries of Population.now.
GROUPS, CONCENTRATION, ATOMS = range(3)
# Rows of Population.cached: constants of each group for rewards of 0 and 1.
LOG_ONE, LOG_ZERO, OF_ONES, OF_ZEROS, GAMMAS = range(5)
# What each table counts.
ONES, ZEROS, BOTH = range(3)


@dataclass(frozen=True, eq=False)
class Population(Struct):
    """The evidence on n arms, the prior's limits, and one state of the sampler.

    `place` and `variance` are each arm's estimate and its squared error (infinite: no reward,
    0: known); `tail` its degrees of freedom and `noise` the variance in the present draw. For
    rewards of 0 and 1 (`is_binary`) places are angles asin(sqrt(mean)) and `ones` and `zeros`
    are counted. The first `used` arms are sampled. Groups 0, 1, ... have arms; the `EMPTY`
    next ones have none. A `width` of 0 is an atom. A `slope` of 1 or -1 is an exponential
    distribution of that width to the right or the left of `centre`, and 0 a bell. `peak` turns a
    density of angles into a likelihood of ones and zeros.
    """

    is_binary: bool
    is_tabled: bool
    low: float
    high: float
    middle: float
    reach: float
    narrowest: float
    widest: float
    finest: float
    place: Floats
    variance: Floats
    tail: Floats
    noise: Floats
    ones: Floats
    zeros: Floats
    peak: Floats
    group: Ints
    members: Ints
    counts: Ints
    starts: Ints
    centre: Floats
    width: Floats
    slope: Ints
    scores: Floats
    cached: FloatRows
    tables: FloatRows
    now: Floats
    means: Floats
    work: Floats

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.place)


class Limits(NamedTuple):
    """What the prior allows: places, the centre and scale of their prior, bells, variances."""

    low: float
    high: float
    middle: float
    reach: float
    narrowest: float
    widest: float
    finest: float


def _peaks(ones: Floats, zeros: Floats) -> Floats:
    """The log of the likelihood's ratio to a normal density of the angle of the share of ones."""
    rewards = ones + zeros
    share = (ones + 0.375) / (rewards + 0.75)
    with np.errstate(divide="ignore"):
        error = 0.5 / np.sqrt(rewards)
    found = ones * np.log(share) + zeros * np.log1p(-share) + np.log(error)
    return np.where(rewards > 0, found, 0.0)


def new_population(
    place: Floats,
    variance: Floats,
    tail: Floats,
    counts: tuple[Floats, Floats] | None,
    limits: Limits,
) -> Population:
    """A population with no groups yet; `counts` are ones and zeros, if rewards are such."""
    n = len(place)
    none = np.zeros(n)
    ones, zeros = counts if counts is not None else (none, none)
    most = int((ones + zeros).max(initial=0.0))
    is_tabled = counts is not None and most <= min(n, MOST_TABLED)
    return Population(
        is_binary=counts is not None,
        is_tabled=is_tabled,
        **{name: float(value) for name, value in limits._asdict().items()},
        place=np.ascontiguousarray(place),
        variance=np.ascontiguousarray(variance),
        tail=np.ascontiguousarray(tail),
        noise=variance.copy(),
        ones=np.ascontiguousarray(ones),
        zeros=np.ascontiguousarray(zeros),
        peak=_peaks(ones, zeros),
        group=np.full(n, -1, dtype=np.int64),
        members=np.zeros(n, dtype=np.int64),
        counts=np.zeros(SLOTS, dtype=np.int64),
        starts=np.zeros(SLOTS + 1, dtype=np.int64),
        centre=np.zeros(SLOTS),
        width=np.zeros(SLOTS),
        slope=np.zeros(SLOTS, dtype=np.int64),
        scores=np.zeros(SLOTS),
        cached=np.zeros((GAMMAS + 1, SLOTS)),
        tables=np.zeros((3 * SLOTS, most + 1) if is_tabled else (0, 0)),
        now=np.zeros(3),
        means=np.zeros(n),
        work=np.zeros(n),
    )
