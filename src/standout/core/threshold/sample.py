"""The threshold of very many arms from a random sample of them.

A sample of some thousand arms, measured well, determines the median and the MAD of a million means
almost as well as all arms. The error follows from counts. Let m be the median's rank among n arms.
At most m - 1 of all means lie above the median. The number of such means among s arms drawn without
replacement is hypergeometric, and a quantile bounds it except with a small probability p. At least
m means lie at or above the median, and the other quantile bounds their number in the sample from
below. The same two counts hold for the distances from the median and the MAD. So both lie between
two order statistics of the sample, of ranks `low` and `up`. The range over the sample's intervals
with these ranks contains the threshold of all arms.

Half of delta is spent on these counts, for all possible sizes of the sample. It starts with FIRST
arms and grows fourfold, in the end to all arms (`standout.core.threshold.growth`).
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import dispatch, part
from standout.core.state import SIZE, Spec, State
from standout.core.typing import Codes

FIRST = 5_000
"""Number of arms in the first sample."""
GROWTH = 4
FROM = 20_000
"""Number of arms from which a sample is used."""
_ROUNDING = 1e-4
_SMALL = 1e-12


def sample_sizes(n_arms: int) -> list[int]:
    """The sizes that a sample may have, all arms last.

    >>> sample_sizes(100_000)
    [5000, 20000, 80000, 100000]
    """
    sizes = []
    size = FIRST
    while size < n_arms:
        sizes.append(size)
        size *= GROWTH
    return [*sizes, n_arms]


def draw_stages(n_arms: int, rng: np.random.Generator) -> Codes:
    """The stage at which each arm joins the sample."""
    stage = np.zeros(n_arms, dtype=np.int8)
    order = rng.permutation(n_arms)
    for number, size in enumerate(sample_sizes(n_arms)[:-1], start=1):
        stage[order[size:]] = number
    return stage


def sample_slack(n_arms: int, sides: int, delta: float) -> float:
    """log(1/p) such that all counts at all sizes hold with probability 1 - delta."""
    return math.log(4 * sides * (len(sample_sizes(n_arms)) - 1) / delta)


@part()
def _middle_rank(spec: Spec, state: State) -> tuple[int, int]:
    """The median's rank, for both bounds, without a sample."""
    rank = (state.sampled[SIZE] + 1) // 2
    return rank, rank


@part()
def _ranks_of_sample(spec: Spec, state: State) -> tuple[int, int]:
    count = state.sampled[SIZE]
    if count == spec.n_arms:
        return _middle_rank(spec, state)
    n = spec.n_arms
    rank = (n + 1) // 2
    low = unlikely_count(n, rank - 1, count, spec.slack)
    up = count + 1 - unlikely_count(n, n - rank, count, spec.slack)
    return min(count + 1, low), max(0, up)


ranks = dispatch(lambda spec: _ranks_of_sample if spec.samples else _middle_rank)
"""Ranks of the order statistics below and above the median of (spec, state), from the largest.

A sample that is too small to bound the median from below gets a rank beyond its last arm; one that
is too small to bound it from above gets rank 0. No order statistic has these ranks.
"""


@part()
def unlikely_count(n: int, marked: int, count: int, cost: float) -> int:
    """The smallest x with P(`count` of `n` arms contain x or more `marked` ones) <= exp(-cost).

    The search starts at an x for which Serfling's inequality (1974) holds and adds up the
    distribution from there.
    """
    share = count * (marked / n)
    error = math.sqrt(0.5 * cost * count * (1.0 - (count - 1.0) / n))
    x = int(min(count, marked, math.floor(share + error))) + 1
    # A slightly smaller limit allows for errors of log-gamma functions.
    limit = math.exp(-cost) * (1.0 - _ROUNDING)
    tail = 0.0
    while True:
        # The whole tail first, then one more count in each step.
        tail += _at_least(n, marked, count, x) if tail == 0.0 else _chance(n, marked, count, x)
        if tail > limit:
            return x + 1
        if x <= max(0, count - (n - marked)):
            return x
        x -= 1


@part()
def _at_least(n: int, marked: int, count: int, x: int) -> float:
    """The chance of x or more marked arms among `count` of `n`, for an x in the far tail."""
    term = _chance(n, marked, count, x)
    total = 0.0
    while term > 0.0:
        total += term
        if term < _SMALL * total:
            break
        # The next count's chance; the ratio falls, so the omitted rest is tiny.
        term *= (marked - x) / (x + 1.0) * (count - x) / (n - marked - count + x + 1.0)
        x += 1
    return total


@part()
def _chance(n: int, marked: int, count: int, x: int) -> float:
    """The chance of exactly x marked arms among `count` of `n`."""
    if x > min(marked, count) or x < max(0, count - (n - marked)):
        return 0.0
    ways = _log_choose(marked, x) + _log_choose(n - marked, count - x)
    return math.exp(ways - _log_choose(n, count))


@part()
def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
