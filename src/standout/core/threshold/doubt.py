"""A fast approximation of each arm's chance to stand out, for rules.

A rule that pulls doubtful arms needs their chances after each pull, inside the loop. The full model
of the means, for answers, is in `standout.core.population`. Here the means come from a normal
distribution around the median; a small share comes from a wider one. Its scale is the posterior
mean over a grid of scales. Theta is the median + factor * MAD of that distribution, shifted up by
one or two standard errors: most arms lie below theta, so a theta that is too low would name many
arms by mistake. For the rule, theta approaches that of the estimates as their errors get small, and
its variance comes from the arms that may be the median or one MAD from it. No guarantee depends on
this.
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
    PULLING,
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
"""The share of the arms that come from the wider distribution, and the ratio of the scales."""
SCALES, WIDEST, NARROWER = 11, 1.2, 0.8
"""The number of scales, the widest (in spreads of the estimates), and the ratio of neighbours."""
STRENGTH = 12.0
"""Strength, in arms, of the normal prior of the scale's logarithm around that spread."""
CAUTION, GUESS_CAUTION = 1.0, 2.0
"""Theta is shifted up by this many standard errors, for the rule and for the best guess."""
SHARED = 5.0
"""The common variance of all arms counts as this many pulls, an arm's own as its pulls."""
GROWTH = 0.05
"""The rule recomputes everything when the pulls have grown by this share."""
NOISE_PART = 0.4549
"""Square of the MAD of a standard normal variable."""
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
def _refine(spec: Spec, state: State, side: int) -> None:
    """Theta, its doubt and what moves it, for the rule, as the errors become small.

    A bell's scale is not the MAD of these arms. The smaller the errors are beside it, the more
    theta is that of the estimates, and its errors those of the arms that may be median or MAD.
    """
    mine = state.learnt[2 * side]
    square = mine[SCALE] ** 2
    if math.isnan(mine[THETA]) or square == 0.0:
        return
    noise = state.guesses[side, GUESS_NOISE]
    of_bell = noise / (noise + square)
    factor = state.factors[side]
    plain = state.guesses[side, GUESS_AD]
    own = math.sqrt(max(plain * plain - NOISE_PART * noise, 0.25 * plain * plain))
    mad = of_bell * mine[SCALE] / _NORMAL + (1.0 - of_bell) * own
    # The densities at the median and at one MAD from it say which arms may be these.
    middle = 0.0
    above = 0.0
    below = 0.0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            middle += _density(spec, state, side, i, 0.0)
            above += _density(spec, state, side, i, mad)
            below += _density(spec, state, side, i, -mad)
    if middle == 0.0 or above + below == 0.0:
        return
    of_median = 1.0 - factor * (above - below) / (above + below)
    doubt = 0.0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            moves = of_median * _density(spec, state, side, i, 0.0) / middle
            up = _density(spec, state, side, i, mad)
            moves += factor * (up - _density(spec, state, side, i, -mad)) / (above + below)
            state.chance[PULLING, i] += moves * moves
            doubt += moves * moves * _own_square(spec, state, side, i)
    theta = mine[CENTRE] + factor * mad + CAUTION * math.sqrt(mine[DOUBT])
    mine[DOUBT] = max(mine[DOUBT], doubt)
    bounds = state.bounds[side]
    mine[THETA] = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])


@part("interval")
def _own_square(spec: Spec, state: State, side: int, arm: int) -> float:
    """The variance of an arm's mean in the bell."""
    square = state.learnt[2 * side, SCALE] ** 2
    error = _square_error(spec, state, 2 * side, arm)
    return float(square * error / (square + error))


@part("interval")
def _density(spec: Spec, state: State, side: int, arm: int, off: float) -> float:
    """That an arm's mean in the bell lies so far from the centre."""
    mine = state.learnt[2 * side]
    square = mine[SCALE] ** 2
    error = _square_error(spec, state, 2 * side, arm)
    if error == 0.0:
        return 0.0
    share = square / (square + error)
    away = share * (state.estimate[side, arm] - mine[CENTRE]) - off
    own = share * error
    return math.exp(-0.5 * away * away / own) / math.sqrt(own)


@part("interval")
def _scale(spec: Spec, state: State, side: int, row: int, spread: float) -> float:
    """The posterior mean of the scale."""
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
    """The log likelihood of all estimates for this scale."""
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
    """The log density of a normal variable around 0, up to a constant."""
    return -0.5 * (math.log(square) + off * off / square)


@part("interval")
def _square_error(spec: Spec, state: State, row: int, arm: int) -> float:
    """The variance of an arm's estimate, shrunk towards the common variance of all arms."""
    pulls = state.pulls[arm]
    shared = pulls * reward_variance(spec, state, arm) + SHARED * state.learnt[row, VARIANCE]
    return float(shared / (pulls + SHARED) / pulls)


@part()
def _theta_variance(spec: Spec, state: State, side: int, row: int) -> float:
    """The approximate errors of the centre and the scale, by the Fisher information."""
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
    """The chance that an arm's mean lies beyond theta; 0 while theta is unknown."""
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
    """The chance that an arm at distance `off` comes from the wider distribution."""
    if variance == np.inf or narrow + variance == 0.0:
        return TAIL
    close = narrow + variance
    far = wide + variance
    odds = 0.5 * (off * off * (1.0 / far - 1.0 / close) + math.log(far / close))
    odds += math.log((1.0 - TAIL) / TAIL)
    return 1.0 / (1.0 + math.exp(min(odds, 700.0)))


@part()
def _tail(off: float, variance: float, square: float, bar: float, doubt: float) -> float:
    """P(mean > bar) of an arm whose mean comes from a normal distribution around 0."""
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

    All chances are computed again once the pulls have grown by `GROWTH`; before that, only those of
    arms with new rewards.
    """
    pulls = state.counters[PULLS]
    is_due = pulls >= state.learnt[0, DUE]
    if is_due:
        state.chance[PULLING] = 0.0
        for side in range(len(state.signs)):
            learn(spec, state, side, 2 * side, CAUTION)
            _refine(spec, state, side)
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
    """The share of an arm's doubt that is due to its own noise, not to theta's."""
    own = state.learnt[0, VARIANCE]
    both = own + pulls * state.learnt[0, DOUBT]
    return float(own / both) if both > 0.0 else 1.0
