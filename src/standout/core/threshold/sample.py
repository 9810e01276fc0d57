"""The threshold of very many arms from a random sample of them.

Median and MAD of a million means are known almost as well from some thousand of
them, drawn at random and measured well, as from all. How well is a matter of
counting. Let m be the median's rank among n arms. At most m - 1 of all means
lie above the median; how many of s drawn without replacement do has a
hypergeometric distribution, whose quantile bounds it up to a small probability p.
At least m lie at or above the median, and the other quantile bounds their number
in the sample from below. The same two counts hold for the distances from the
median and the MAD. So both lie between two order statistics of the
sample, `low` and `up`, and the range over the sample's intervals that uses
these ranks contains the threshold of all arms.

Half of delta pays for these counts, at every size that the sample may have.
It starts with FIRST arms and grows fourfold, in the end to all arms
(`standout.core.threshold.growth`).
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import dispatch, part
from standout.core.state import SIZE, Spec, State
from standout.core.typing import Codes

FIRST = 5_000
"""Arms of the first sample."""
GROWTH = 4
FROM = 20_000
"""Arms from which a sample pays."""
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
    """For each arm, how often the sample has grown when it joins."""
    stage = np.zeros(n_arms, dtype=np.int8)
    order = rng.permutation(n_arms)
    for number, size in enumerate(sample_sizes(n_arms)[:-1], start=1):
        stage[order[size:]] = number
    return stage


def sample_slack(n_arms: int, sides: int, delta: float) -> float:
    """log(1/p) where all counts at all sizes hold with probability 1 - delta."""
    return math.log(4 * sides * (len(sample_sizes(n_arms)) - 1) / delta)


@part()
def _middle_rank(spec: Spec, state: State) -> tuple[int, int]:
    """The median's rank, where all arms stand for themselves."""
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

A sample too small to bound the median from below gives a rank beyond its last arm, from
above the rank 0: no order statistic has it.
"""


@part()
def unlikely_count(n: int, marked: int, count: int, cost: float) -> int:
    """The smallest x that `count` of `n` arms hold of the `marked` ones with P <= exp(-cost).

    P is that of x or more. The search starts where Serfling's inequality (1974) is sure of
    it and adds up the distribution from there.
    """
    share = count * (marked / n)
    error = math.sqrt(0.5 * cost * count * (1.0 - (count - 1.0) / n))
    x = int(min(count, marked, math.floor(share + error))) + 1
    # Log-gamma functions have errors: a little less than P.
    limit = math.exp(-cost) * (1.0 - _ROUNDING)
    tail = 0.0
    while True:
        # At first the whole tail, then one count more each time.
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
