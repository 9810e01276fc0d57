"""What all arms together say of each: a prior learnt from them, theta, and each arm's chance.

The lowest error at any time needs to know which arms are in doubt, and an estimate alone does not
say: among a hundred arms with ten rewards each, a few look far out by luck. So the distribution
of the means is learnt (empirical Bayes): a bell and a tail count as a few arms, some steps of EM
bend them towards the arms, and each step is smoothed by as much as noise hides. Theta is the
median + factor * MAD of that distribution, which noise has not widened. No guarantee rests on
this; `standout.posterior` does the same with more care, for people to look at.

Means are put into cells, fine near the median and wider far out. A row of `State.learnt` holds the
arms that each cell counts for, and (in `CENTRE` to `NOISE`) where the cells are, theta, the
pulls from which on to learn anew, the mean variance of a reward and an arm's usual square error;
the next rows hold the cells' middles and, where rewards
are 0 or 1, the logarithms of their likelihoods.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.intervals import reward_variance, share_sum
from standout.core.jit import part
from standout.core.order import kth_largest
from standout.core.state import (
    CELLS,
    GUESSED,
    LEARNT_ROWS,
    PULLS,
    RULED,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.typing import Floats

# Columns of the first of a side's rows.
CENTRE, UNIT, FIRST, STEP, THETA, DUE, VARIANCE, NOISE = range(CELLS, CELLS + 8)
# What the rows of a side hold.
MASS, MIDDLE, LOG_ONE, LOG_ZERO = range(4)
# Rows after those of the sides, to work with.
BASE, NEXT, BELOW = range(3)
BEND = 2.0
"""So many spreads from the median the cells begin to widen."""
REACH = 4.0
"""The cells reach at least so many spreads to both sides."""
FARTHEST = 40.0
"""An estimate farther out counts as if it lay there."""
STRENGTH = 12.0
"""The bell and the tail count as so many arms."""
TAIL = 0.1
"""The tail's part of them."""
NARROWEST = 0.35
"""The bell is at least so many spreads of the estimates wide."""
ROUNDS = 8
"""Steps of EM: more would follow the noise."""
SMOOTHING = 0.5
"""Each step is smoothed by so many standard errors of an arm in the middle."""
SHARED = 5.0
"""An arm's own variance counts as its pulls, that of all arms as so many."""
BISECTIONS = 45
GROWTH = 0.05
"""The rule learns anew when the pulls have grown by this part."""
_NORMAL = 1.4826


@part("interval")
def learn(spec: Spec, state: State, side: int, row: int) -> None:
    """Learn the distribution of the means as the side sees them; into `state.learnt[row]`."""
    stride = 1 + (spec.n_arms - 1) // len(state.fits)
    count = 0
    for i in range(0, spec.n_arms, stride):
        if state.pulls[i] > 0:
            state.scratch[count] = state.estimate[side, i]
            count += 1
    if count == 0:
        state.learnt[row, THETA] = np.nan
        return
    _lay_cells(spec, state, side, row, count, stride)
    _weigh_bell(spec, state, side, row)
    arms = _fit_arms(spec, state, side, row, stride)
    for _ in range(ROUNDS):
        _step(state, row, arms)
    _find_theta(spec, state, side, row, arms)


@part("interval")
def _lay_cells(spec: Spec, state: State, side: int, row: int, count: int, stride: int) -> None:
    """Where the cells are, and how much noise there is."""
    values = state.scratch
    mine = state.learnt[row]
    rank = (count + 1) // 2
    low = values[0]
    high = values[0]
    for j in range(count):
        low = min(low, values[j])
        high = max(high, values[j])
    median = kth_largest(values, count, rank, mine[CENTRE], state.work)
    for j in range(count):
        values[j] = abs(values[j] - median)
    spread = _NORMAL * kth_largest(values, count, rank, values[0], state.work)
    count = 0
    total = 0.0
    for i in range(0, spec.n_arms, stride):
        if state.pulls[i] > 0:
            variance = reward_variance(spec, state, i)
            values[count] = variance / state.pulls[i]
            total += variance
            count += 1
    noise = kth_largest(values, count, rank, values[0], state.work)
    mine[VARIANCE] = total / count
    mine[NOISE] = noise
    error = math.sqrt(noise)
    spread = max(spread, 0.2 * error, 1e-9 * abs(median))
    if spread <= 0.0:
        spread = max(high - low, 1.0)
    reach = REACH * spread
    low = min(low - 2.0 * error, median - reach)
    high = max(high + 2.0 * error, median + reach)
    ends = (spec.low, spec.high) if state.signs[side] > 0 else (-spec.high, -spec.low)
    low = max(low, median - FARTHEST * spread, ends[0])
    high = min(high, median + FARTHEST * spread, ends[1])
    mine[CENTRE] = median
    mine[UNIT] = BEND * spread
    mine[FIRST] = math.asinh((low - median) / mine[UNIT])
    mine[STEP] = (math.asinh((high - median) / mine[UNIT]) - mine[FIRST]) / CELLS
    for g in range(CELLS):
        middle = 0.5 * (_place(mine, g) + _place(mine, g + 1.0))
        state.learnt[row + MIDDLE, g] = middle
        if spec.lattice > 0.0:
            one = min(max(state.signs[side] * middle, 1e-12), 1.0 - 1e-12)
            state.learnt[row + LOG_ONE, g] = math.log(one)
            state.learnt[row + LOG_ZERO, g] = math.log1p(-one)


@part()
def _place(mine: Floats, cell: float) -> float:
    """The mean at so many cells from the first."""
    return float(mine[CENTRE] + mine[UNIT] * math.sinh(mine[FIRST] + mine[STEP] * cell))


@part()
def _cell(mine: Floats, mean: float) -> float:
    """How many cells a mean is from the first, 0 and `CELLS` for what is beyond."""
    cell = (math.asinh((mean - mine[CENTRE]) / mine[UNIT]) - mine[FIRST]) / mine[STEP]
    return float(min(max(cell, 0.0), CELLS))


@part()
def _weigh_bell(spec: Spec, state: State, side: int, row: int) -> None:
    """The bell and the tail, as arms per cell: where EM begins, and what it keeps."""
    mine = state.learnt[row]
    base = state.learnt[len(state.learnt) - LEARNT_ROWS + BASE]
    spread = mine[UNIT] / BEND
    scale = math.sqrt(max(spread * spread - mine[NOISE], (NARROWEST * spread) ** 2))
    total = 0.0
    for g in range(CELLS):
        off = (state.learnt[row + MIDDLE, g] - mine[CENTRE]) / scale
        width = _place(mine, g + 1.0) - _place(mine, g)
        base[g] = math.exp(-0.5 * min(off * off, 1400.0)) * width
        total += base[g]
    for g in range(CELLS):
        base[g] = STRENGTH * ((1.0 - TAIL) * base[g] / total + TAIL / CELLS)
        mine[g] = base[g]


@part("interval")
def _fit_arms(spec: Spec, state: State, side: int, row: int, stride: int) -> int:
    """How likely each arm's rewards are in each cell, the best 1; the number of arms."""
    arms = 0
    for i in range(0, spec.n_arms, stride):
        if state.pulls[i] > 0:
            _fit(spec, state, side, row, i, state.fits[arms])
            arms += 1
    return arms


@part("interval")
def _fit(spec: Spec, state: State, side: int, row: int, arm: int, fit: Floats) -> None:
    """How likely an arm's rewards are in each cell, the best 1."""
    best = -np.inf
    if spec.lattice > 0.0:
        ones = share_sum(spec, state, arm)
        zeros = state.pulls[arm] - ones
        for g in range(CELLS):
            fit[g] = ones * state.learnt[row + LOG_ONE, g] + zeros * state.learnt[row + LOG_ZERO, g]
            best = max(best, fit[g])
    else:
        mine = state.learnt[row]
        low = _place(mine, 0.0)
        mean = min(max(state.estimate[side, arm], low), _place(mine, float(CELLS)))
        cell = min(math.floor(_cell(mine, mean)), CELLS - 1.0)
        width = _place(mine, cell + 1.0) - _place(mine, cell)
        square = _square_error(spec, state, row, arm) + width * width / 12.0
        for g in range(CELLS):
            off = state.learnt[row + MIDDLE, g] - mean
            fit[g] = -0.5 * off * off / square
            best = max(best, fit[g])
    for g in range(CELLS):
        fit[g] = math.exp(fit[g] - best)


@part("interval")
def _square_error(spec: Spec, state: State, row: int, arm: int) -> float:
    """The variance of an arm's estimate, its own drawn towards that of all arms."""
    pulls = state.pulls[arm]
    variance = pulls * reward_variance(spec, state, arm) + SHARED * state.learnt[row, VARIANCE]
    return float(variance / (pulls + SHARED) / pulls)


@part()
def _step(state: State, row: int, arms: int) -> None:
    """One step of EM, smoothed: what the arms seem to come from, and the bell and the tail."""
    mine = state.learnt[row]
    first = len(state.learnt) - LEARNT_ROWS
    base = state.learnt[first + BASE]
    found = state.learnt[first + NEXT]
    kernel = state.learnt[first + BELOW]
    for g in range(CELLS):
        found[g] = 0.0
    for i in range(arms):
        _add_posterior(state.fits[i], mine, found)
    width = max(1.0, SMOOTHING * math.sqrt(mine[NOISE]) / (mine[UNIT] * mine[STEP]))
    reach = min(int(2.0 * width) + 1, CELLS - 1)
    for d in range(reach + 1):
        kernel[d] = math.exp(-0.5 * (d / width) ** 2)
    for g in range(CELLS):
        mine[g] = base[g]
    for g in range(CELLS):
        total = 0.0
        for h in range(max(0, g - reach), min(CELLS, g + reach + 1)):
            total += kernel[abs(h - g)]
        for h in range(max(0, g - reach), min(CELLS, g + reach + 1)):
            mine[h] += found[g] * kernel[abs(h - g)] / total


@part()
def _add_posterior(fit: Floats, mine: Floats, found: Floats) -> None:
    """Add where one arm's mean may lie, one in all."""
    total = 0.0
    for g in range(CELLS):
        total += fit[g] * mine[g]
    for g in range(CELLS):
        found[g] += fit[g] * mine[g] / total


@part()
def _find_theta(spec: Spec, state: State, side: int, row: int, arms: int) -> None:
    """Set theta: median + factor * MAD of where all means may lie; within its certain interval.

    Where an arm's error is below a cell's width, noise widens the estimates' MAD less
    than cells blur it: then theta is that of the estimates.
    """
    mine = state.learnt[row]
    bounds = state.bounds[side]
    first = len(state.learnt) - LEARNT_ROWS
    error = math.sqrt(mine[NOISE])
    theta = bounds[THRESHOLD]
    if error > mine[UNIT] * mine[STEP]:
        found = state.learnt[first + NEXT]
        below = state.learnt[first + BELOW]
        for g in range(CELLS):
            found[g] = 0.0
        for i in range(arms):
            _add_posterior(state.fits[i], mine, found)
        below[0] = 0.0
        for g in range(CELLS):
            below[g + 1] = below[g] + found[g] / arms
        g = 0
        while g < CELLS - 1 and below[g + 1] < 0.5:
            g += 1
        median = _place(mine, g + (0.5 - below[g]) / (below[g + 1] - below[g]))
        low = 0.0
        high = _place(mine, float(CELLS)) - _place(mine, 0.0)
        for _ in range(BISECTIONS):
            mad = 0.5 * (low + high)
            inside = _below(mine, below, median + mad) - _below(mine, below, median - mad)
            if inside > 0.5:
                high = mad
            else:
                low = mad
        theta = median + state.factors[side] * high
    if not math.isnan(theta):
        theta = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])
    mine[THETA] = theta


@part()
def _below(mine: Floats, below: Floats, mean: float) -> float:
    """The part of all means below one."""
    cell = _cell(mine, mean)
    g = min(int(cell), CELLS - 1)
    return float(below[g] + (cell - g) * (below[g + 1] - below[g]))


@part("interval")
def chance_beyond(spec: Spec, state: State, side: int, row: int, arm: int) -> float:
    """The chance that an arm's mean lies beyond theta, by what was learnt; 0 before there is one.

    There is none before the first round, nor without a single reward.
    """
    mine = state.learnt[row]
    theta = mine[THETA]
    if math.isnan(theta):
        return 0.0
    fit = state.learnt[len(state.learnt) - LEARNT_ROWS + NEXT]
    cell = _cell(mine, theta)
    g = min(int(cell), CELLS - 1)
    if state.pulls[arm] > 0:
        error = math.sqrt(_square_error(spec, state, row, arm))
        if error < _place(mine, g + 1.0) - _place(mine, g):
            # Known more finely than the cells are: there the prior changes nothing.
            off = theta - state.estimate[side, arm]
            if error == 0.0:
                return 1.0 if off < 0.0 else 0.0
            return 0.5 * math.erfc(off / error / math.sqrt(2.0))
        _fit(spec, state, side, row, arm, fit)
    else:
        for h in range(CELLS):
            fit[h] = 1.0
    total = 0.0
    beyond = 0.0
    for h in range(CELLS):
        mass = fit[h] * mine[h]
        total += mass
        if h > g:
            beyond += mass
        elif h == g:
            beyond += mass * (g + 1.0 - cell)
    return float(beyond / total)


@part("interval")
def rule_chances(spec: Spec, state: State) -> None:
    """Bring the chances that a rule goes by up to date: `state.chance[RULED]`.

    Learns anew once the pulls have grown; else looks only at the arms that have
    changed since.
    """
    pulls = state.counters[PULLS]
    due = state.learnt[0, DUE]
    anew = pulls >= due
    if anew:
        for side in range(len(state.signs)):
            learn(spec, state, side, 2 * LEARNT_ROWS * side)
        state.learnt[0, DUE] = math.floor(pulls * (1.0 + GROWTH)) + 1.0
    for i in range(spec.n_arms):
        if anew or state.pulls[i] != state.counted[i]:
            state.counted[i] = state.pulls[i]
            state.chance[RULED, i] = _chance(spec, state, i, 0)


@part("interval")
def guess_chances(spec: Spec, state: State) -> None:
    """Learn from all that is known now, for the best guess: `state.chance[GUESSED]`."""
    for side in range(len(state.signs)):
        learn(spec, state, side, 2 * LEARNT_ROWS * side + LEARNT_ROWS)
    for i in range(spec.n_arms):
        state.chance[GUESSED, i] = _chance(spec, state, i, LEARNT_ROWS)


@part("interval")
def _chance(spec: Spec, state: State, arm: int, use: int) -> float:
    """The chance that an arm stands out on either side."""
    total = 0.0
    for side in range(len(state.signs)):
        total += chance_beyond(spec, state, side, 2 * LEARNT_ROWS * side + use, arm)
    return min(total, 1.0)
