"""Which arms are in doubt, at a glance: each arm's chance by a bell with a tail, for a rule.

A rule that pulls doubtful arms needs their chances after every pull, inside the loop. It does not
need a model of the means: `standout.core.population` has that, for answers. Here the means are
a bell around the median, with a few arms from a wider one; its scale is the mean of those that are
tried, each by how likely it makes the estimates. Theta is the median + factor * MAD of that bell,
and leans up by a standard error or two: most arms lie below, so one that is too low names many.
No guarantee rests on this.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.intervals import reward_variance
from standout.core.state import (
    GUESS_AD,
    GUESS_NOISE,
    GUESSED,
    LEARNT,
    MEDIAN,
    PULLS,
    RULED,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)

# Columns of State.learnt, which has two rows for each side: the rule's and the best guess's.
CENTRE, SCALE, THETA, DOUBT, VARIANCE, DUE = range(LEARNT)
TAIL, WIDER = 0.05, 5.0
"""This share of the arms comes from a bell that is wider by this factor."""
SCALES, WIDEST, NARROWER = 11, 1.2, 0.8
"""Scales tried, the widest in spreads of the estimates, and from one to the next."""
STRENGTH = 12.0
"""The prior of the scale's logarithm is normal around that spread, as strong as this many arms."""
CAUTION, GUESS_CAUTION = 1.0, 2.0
"""Theta is shifted up by this many standard errors, for the rule and for the best guess."""
SHARED = 5.0
"""The common variance of all arms counts as this many pulls, an arm's own as its pulls."""
GROWTH = 0.05
"""The rule recomputes everything when the pulls have grown by this share."""
_NORMAL = 1.4826


@part("interval")
def learn(spec: Spec, state: State, side: int, row: int, caution: float) -> None:
    """The bell and theta, with its variance; theta is NaN without a reward."""
    mine = state.learnt[row]
    total = 0.0
    seen = 0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            total += reward_variance(spec, state, i)
            seen += 1
    if seen == 0:
        mine[THETA] = np.nan
        return
    mine[VARIANCE] = total / seen
    mine[CENTRE] = state.bounds[side, MEDIAN]
    spread = _NORMAL * state.guesses[side, GUESS_AD]
    mine[SCALE] = _scale(spec, state, side, row, spread) if spread > 0.0 else 0.0
    mine[DOUBT] = _theta_variance(spec, state, side, row) if spread > 0.0 else 0.0
    theta = mine[CENTRE] + state.factors[side] / _NORMAL * mine[SCALE]
    theta += caution * math.sqrt(mine[DOUBT])
    bounds = state.bounds[side]
    mine[THETA] = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])


@part("interval")
def _scale(spec: Spec, state: State, side: int, row: int, spread: float) -> float:
    """The mean of the scales, each by how likely it makes the estimates."""
    best = -np.inf
    total = 0.0
    mean = 0.0
    for j in range(SCALES):
        ratio = WIDEST * NARROWER**j
        likely = _log_likelihood(spec, state, side, row, ratio * spread)
        likely -= 0.5 * STRENGTH * math.log(ratio) ** 2
        if likely > best:
            shrink = math.exp(best - likely) if best > -np.inf else 0.0
            total *= shrink
            mean *= shrink
            best = likely
        weight = math.exp(likely - best)
        total += weight
        mean += weight * ratio * spread
    return mean / total


@part("interval")
def _log_likelihood(spec: Spec, state: State, side: int, row: int, scale: float) -> float:
    """Of all estimates, if the bell has this scale."""
    mine = state.learnt[row]
    narrow = scale * scale
    wide = WIDER * WIDER * narrow
    found = 0.0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            variance = _square_error(spec, state, row, i)
            off = state.estimate[side, i] - mine[CENTRE]
            near = math.log(1.0 - TAIL) + _log_density(off, narrow + variance)
            far = math.log(TAIL) + _log_density(off, wide + variance)
            found += max(near, far) + math.log1p(math.exp(-abs(near - far)))
    return found


@part()
def _log_density(off: float, square: float) -> float:
    """Of a normal variable around 0, but for a constant."""
    return -0.5 * (math.log(square) + off * off / square)


@part("interval")
def _square_error(spec: Spec, state: State, row: int, arm: int) -> float:
    """The variance of an arm's estimate, its own drawn towards that of all arms."""
    pulls = state.pulls[arm]
    shared = pulls * reward_variance(spec, state, arm) + SHARED * state.learnt[row, VARIANCE]
    return float(shared / (pulls + SHARED) / pulls)


@part()
def _theta_variance(spec: Spec, state: State, side: int, row: int) -> float:
    """The approximate errors of a bell's centre and scale, by Fisher's information."""
    mine = state.learnt[row]
    square = mine[SCALE] ** 2
    of_centre = 0.0
    of_scale = 0.0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            known = 1.0 / (1.0 + mine[VARIANCE] / square / state.pulls[i])
            of_centre += known
            of_scale += 2.0 * known * known
    factor = state.factors[side] / _NORMAL
    found = square * (0.5 * math.pi / of_centre + factor * factor / of_scale)
    # Median and MAD are those of these arms, not of a population: the sample is known.
    noise = state.guesses[side, GUESS_NOISE]
    return float(found * noise / (noise + square))


@part("interval")
def chance_beyond(spec: Spec, state: State, side: int, row: int, arm: int) -> float:
    """The chance that an arm's mean lies beyond theta; 0 before there is one."""
    mine = state.learnt[row]
    if math.isnan(mine[THETA]):
        return 0.0
    variance = np.inf
    off = 0.0
    if state.pulls[arm] > 0:
        variance = _square_error(spec, state, row, arm)
        off = state.estimate[side, arm] - mine[CENTRE]
    bar = mine[THETA] - mine[CENTRE]
    narrow = mine[SCALE] ** 2
    wide = WIDER * WIDER * narrow
    share = _share_of_wide(off, variance, narrow, wide)
    near = _tail(off, variance, narrow, bar, mine[DOUBT])
    return (1.0 - share) * near + share * _tail(off, variance, wide, bar, mine[DOUBT])


@part()
def _share_of_wide(off: float, variance: float, narrow: float, wide: float) -> float:
    """The chance that an arm whose estimate is so far off comes from the wider bell."""
    if variance == np.inf or narrow + variance == 0.0:
        return TAIL
    close = narrow + variance
    far = wide + variance
    odds = 0.5 * (off * off * (1.0 / far - 1.0 / close) + math.log(far / close))
    odds += math.log((1.0 - TAIL) / TAIL)
    return 1.0 / (1.0 + math.exp(min(odds, 700.0)))


@part()
def _tail(off: float, variance: float, square: float, bar: float, doubt: float) -> float:
    """P(mean > bar) of an arm whose mean comes from a bell of this square around 0."""
    middle = 0.0
    own = square
    if variance < np.inf:
        part_of_arm = square / (square + variance) if square + variance > 0.0 else 0.0
        middle = part_of_arm * off
        own = part_of_arm * variance
    spread = math.sqrt(own + doubt)
    if spread == 0.0:
        return 1.0 if max(middle, off if variance == 0.0 else middle) > bar else 0.0
    return 0.5 * math.erfc((bar - middle) / spread * math.sqrt(0.5))


@part("interval")
def rule_chances(spec: Spec, state: State) -> None:
    """Update the chances for the rule: `state.chance[RULED]`.

    Works everything out again once the pulls have grown; else looks only at the arms
    that have changed since.
    """
    pulls = state.counters[PULLS]
    is_due = pulls >= state.learnt[0, DUE]
    if is_due:
        for side in range(len(state.signs)):
            learn(spec, state, side, 2 * side, CAUTION)
        state.learnt[0, DUE] = math.floor(pulls * (1.0 + GROWTH)) + 1.0
    for i in range(spec.n_arms):
        if is_due or state.pulls[i] != state.counted[i]:
            state.counted[i] = state.pulls[i]
            state.chance[RULED, i] = _chance(spec, state, i, 0)


@part("interval")
def guess_chances(spec: Spec, state: State) -> None:
    """Update the chances for the best guess from all rewards: `state.chance[GUESSED]`."""
    for side in range(len(state.signs)):
        learn(spec, state, side, 2 * side + 1, GUESS_CAUTION)
    for i in range(spec.n_arms):
        state.chance[GUESSED, i] = _chance(spec, state, i, 1)


@part("interval")
def _chance(spec: Spec, state: State, arm: int, use: int) -> float:
    """The chance that an arm stands out on either side."""
    total = 0.0
    for side in range(len(state.signs)):
        total += chance_beyond(spec, state, side, 2 * side + use, arm)
    return min(total, 1.0)


@part()
def pulls_to_see(state: State) -> float:
    """The pulls after which an arm's error equals the means' spread; 1 before any pull."""
    square = state.learnt[0, SCALE] ** 2
    return float(state.learnt[0, VARIANCE] / square) if square > 0.0 else 1.0


@part()
def own_part(state: State, pulls: float) -> float:
    """The share of an arm's doubt that is its own after its pulls, and not theta's."""
    own = state.learnt[0, VARIANCE]
    both = own + pulls * state.learnt[0, DOUBT]
    return float(own / both) if both > 0.0 else 1.0
