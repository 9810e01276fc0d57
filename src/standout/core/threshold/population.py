"""What all arms together say of each: a prior learnt from them, theta, and each arm's chance.

The lowest error at any time needs to know which arms are in doubt, and an estimate alone does not
say: among a hundred arms with ten rewards each, a few look far out by luck. So the distribution
of the means is learnt (empirical Bayes). First a bell with a tail: every scale that is tried has
its part, as large as it makes the rewards likely; beforehand the estimates' own spread is the
likeliest, which few arms with much noise hardly contradict, and thousands do. The bell counts as
a few arms, and some steps of EM over bumps bend it towards the arms. Bumps, as wide as half of
what noise hides and no wider than half the bell, neither follow noise nor blur what there is.
Theta is the median + factor * MAD of where the arms' means may lie, which noise has not widened,
and leans up by a standard error or two: most arms lie below, so one that is too low names many.
No guarantee rests on this; `standout.estimation` does the same with more care, for people
to look at.

Means are put into cells, fine near the median and wider far out. A row of `State.learnt` holds the
arms that each cell counts for, and (in `CENTRE` to `DOUBT`) where the cells are, theta, the
pulls from which on to learn anew, the mean variance of a reward, an arm's usual square error, the
bell's centre and scale, and theta's variance; the next rows hold the cells' middles, where
rewards are 0 or 1 the logarithms of their likelihoods, how likely each bell is, and the chance
that each cell is beyond theta.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.intervals import reward_variance, share_sum
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
(
    CENTRE, UNIT, FIRST, STEP, THETA, DUE, VARIANCE, NOISE, MIDST, SCALE, DOUBT
) = range(CELLS, CELLS + 11)  # fmt: skip
# What the rows of a side hold.
MASS, MIDDLE, LOG_ONE, LOG_ZERO, LIKELY, BEYOND = range(6)
# Rows after those of the sides, to work with.
BASE, FOUND, SHARES, BELOW, KERNEL = range(5)
BEND = 2.0
"""So many spreads from the median the cells begin to widen."""
REACH = 4.0
"""The cells reach at least so many spreads to both sides."""
FARTHEST = 40.0
"""An estimate farther out counts as if it lay there."""
STRENGTH = 12.0
"""The bell and the tail count as so many arms; so does what is thought of the scale beforehand."""
TAILS = (0.02, 0.1)
"""The tail's part of them."""
SCALES, WIDEST, NARROWER = 11, 1.2, 0.8
"""Scales tried with each, the widest in spreads of the estimates, and from one to the next."""
CENTRES, APART = 11, 0.15
"""Centres tried, and how many spreads they are apart."""
ROUNDS = 8
"""Steps of EM: more would follow the noise."""
BUMP = 0.5
"""Bumps are so many standard errors of a usual arm wide, or scales of the bell if that is less."""
CAUTION, GUESS_CAUTION = 1.0, 2.0
"""Theta leans up by so many of its standard errors, for the rule and for the best guess."""
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
    arms = _fit_arms(spec, state, side, row, stride)
    _find_bell(state, row, arms)
    _learn_bumps(state, row, arms)
    _find_theta(spec, state, side, row)


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
def _find_bell(state: State, row: int, arms: int) -> None:
    """The likeliest centre, and how likely each scale and tail is with it.

    The estimates' own spread less their noise is no scale where noise is most of it, nor is
    their median a centre where it is one of few values.
    """
    mine = state.learnt[row]
    start = mine[CENTRE]
    mine[MIDST] = start
    _weigh_bells(state, row, arms)
    best = -np.inf
    for j in range(CENTRES):
        midst = start + APART * mine[UNIT] / BEND * (j - CENTRES // 2)
        _lay_bell(state, row, midst, mine[SCALE], TAILS[0], 1.0)
        fit = _log_likelihood(state, arms)
        if fit > best:
            best = fit
            mine[MIDST] = midst
    _weigh_bells(state, row, arms)


@part()
def _weigh_bells(state: State, row: int, arms: int) -> None:
    """How likely each scale and tail is, and the mean scale.

    Beforehand the logarithm of the scale is normal around that of the estimates' spread.
    """
    mine = state.learnt[row]
    likely = state.learnt[row + LIKELY]
    best = -np.inf
    for j in range(SCALES * len(TAILS)):
        _lay_bell(state, row, mine[MIDST], _scale(mine, j), TAILS[j // SCALES], 1.0)
        off = math.log(WIDEST * NARROWER ** (j % SCALES))
        likely[j] = _log_likelihood(state, arms) - 0.5 * STRENGTH * off * off
        best = max(best, likely[j])
    total = 0.0
    mean = 0.0
    for j in range(SCALES * len(TAILS)):
        likely[j] = math.exp(likely[j] - best)
        total += likely[j]
        mean += likely[j] * _scale(mine, j)
    mine[SCALE] = mean / total
    for j in range(SCALES * len(TAILS)):
        likely[j] /= total


@part()
def _scale(mine: Floats, bell: int) -> float:
    """The scale of one of the bells that are tried."""
    return float(mine[UNIT] / BEND * WIDEST * NARROWER ** (bell % SCALES))


@part()
def _lay_bell(
    state: State, row: int, midst: float, scale: float, tail: float, strength: float
) -> None:
    """A bell with a tail that counts as `strength` arms: into the row `BASE`."""
    mine = state.learnt[row]
    base = state.learnt[len(state.learnt) - LEARNT_ROWS + BASE]
    total = 0.0
    for g in range(CELLS):
        off = (state.learnt[row + MIDDLE, g] - midst) / scale
        width = _place(mine, g + 1.0) - _place(mine, g)
        base[g] = math.exp(-0.5 * min(off * off, 1400.0)) * width
        total += base[g]
    for g in range(CELLS):
        base[g] = strength * ((1.0 - tail) * base[g] / total + tail / CELLS)


@part()
def _log_likelihood(state: State, arms: int) -> float:
    """Of all arms, if their means come from what the row `BASE` holds."""
    base = state.learnt[len(state.learnt) - LEARNT_ROWS + BASE]
    result = 0.0
    for i in range(arms):
        total = 0.0
        for g in range(CELLS):
            total += state.fits[i, g] * base[g]
        result += math.log(total)
    return result


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
def _learn_bumps(state: State, row: int, arms: int) -> None:
    """EM over bumps, a cell each: into the row itself, and the arms' part into `SHARES`."""
    mine = state.learnt[row]
    first = len(state.learnt) - LEARNT_ROWS
    base = state.learnt[first + BASE]
    found = state.learnt[first + FOUND]
    shares = state.learnt[first + SHARES]
    kernel = state.learnt[first + KERNEL]
    cell = mine[UNIT] * mine[STEP]
    width = max(1.0, BUMP * min(math.sqrt(mine[NOISE]), mine[SCALE]) / cell)
    reach = min(int(2.0 * width) + 1, CELLS - 1)
    for d in range(reach + 1):
        kernel[d] = math.exp(-0.5 * (d / width) ** 2)
    for i in range(arms):
        _widen(state.fits[i], kernel, reach, found)
    for g in range(CELLS):
        shares[g] = 0.0
    for j in range(SCALES * len(TAILS)):
        # Narrower by what the bumps are going to widen it.
        square = _scale(mine, j) ** 2
        scale = math.sqrt(max(square - (width * cell) ** 2, 0.25 * square))
        strength = STRENGTH * state.learnt[row + LIKELY, j]
        _lay_bell(state, row, mine[MIDST], scale, TAILS[j // SCALES], strength)
        for g in range(CELLS):
            shares[g] += base[g]
    for g in range(CELLS):
        base[g] = shares[g]
        mine[g] = base[g]
    for _ in range(ROUNDS):
        for g in range(CELLS):
            found[g] = 0.0
        for i in range(arms):
            _add_posterior(state.fits[i], mine, found)
        for g in range(CELLS):
            mine[g] = base[g] + found[g]
    for g in range(CELLS):
        mine[g] = 0.0
        shares[g] = 0.0
    for g in range(CELLS):
        total = _bump_total(kernel, reach, g)
        for h in range(max(0, g - reach), min(CELLS, g + reach + 1)):
            part_here = kernel[abs(h - g)] / total
            mine[h] += (base[g] + found[g]) * part_here
            shares[h] += found[g] * part_here / arms


@part()
def _widen(fit: Floats, kernel: Floats, reach: int, room: Floats) -> None:
    """From how likely an arm's rewards are in each cell to how likely they are in a bump there."""
    for g in range(CELLS):
        room[g] = fit[g]
    for g in range(CELLS):
        value = 0.0
        for h in range(max(0, g - reach), min(CELLS, g + reach + 1)):
            value += kernel[abs(h - g)] * room[h]
        fit[g] = value / _bump_total(kernel, reach, g)


@part()
def _bump_total(kernel: Floats, reach: int, cell: int) -> float:
    """The weights of a bump's cells: those at the ends have fewer."""
    total = 0.0
    for h in range(max(0, cell - reach), min(CELLS, cell + reach + 1)):
        total += kernel[abs(h - cell)]
    return total


@part()
def _add_posterior(fit: Floats, mine: Floats, found: Floats) -> None:
    """Add where one arm's mean may lie, one in all."""
    total = 0.0
    for g in range(CELLS):
        total += fit[g] * mine[g]
    for g in range(CELLS):
        found[g] += fit[g] * mine[g] / total


@part()
def _find_theta(spec: Spec, state: State, side: int, row: int) -> None:
    """Set theta and its variance, and the chance of each cell to be beyond it.

    Theta is median + factor * MAD of where all means may lie. Where an arm's error is below a
    cell's width, noise widens the estimates' MAD less than cells blur it: then it is that of
    the estimates. In any case it is within its certain interval.
    """
    mine = state.learnt[row]
    bounds = state.bounds[side]
    theta = bounds[THRESHOLD]
    if math.sqrt(mine[NOISE]) > mine[UNIT] * mine[STEP]:
        theta = _theta_of_shares(state, side, row)
    mine[DOUBT] = _theta_variance(spec, state, side, row)
    if not math.isnan(theta):
        is_rule = row % (2 * LEARNT_ROWS) == 0
        theta += (CAUTION if is_rule else GUESS_CAUTION) * math.sqrt(mine[DOUBT])
        theta = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])
    mine[THETA] = theta
    for g in range(CELLS):
        off = state.learnt[row + MIDDLE, g] - theta
        width = _place(mine, g + 1.0) - _place(mine, g)
        wide = math.sqrt(2.0 * (mine[DOUBT] + width * width / 12.0))
        state.learnt[row + BEYOND, g] = 0.5 * math.erfc(-off / wide)


@part()
def _theta_of_shares(state: State, side: int, row: int) -> float:
    """Median + factor * MAD of the row `SHARES`, even within each cell."""
    mine = state.learnt[row]
    first = len(state.learnt) - LEARNT_ROWS
    shares = state.learnt[first + SHARES]
    below = state.learnt[first + BELOW]
    below[0] = 0.0
    for g in range(CELLS):
        below[g + 1] = below[g] + shares[g]
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
    return float(median + state.factors[side] * high)


@part()
def _theta_variance(spec: Spec, state: State, side: int, row: int) -> float:
    """About: what Fisher's information says of a bell's centre and scale."""
    mine = state.learnt[row]
    square = mine[SCALE] ** 2
    of_centre = 0.0
    of_scale = 0.0
    for i in range(spec.n_arms):
        if state.pulls[i] > 0:
            seen = 1.0 / (1.0 + mine[VARIANCE] / square / state.pulls[i])
            of_centre += seen
            of_scale += 2.0 * seen * seen
    factor = state.factors[side] / _NORMAL
    found = square * (0.5 * math.pi / of_centre + factor * factor / of_scale)
    # Median and MAD are these arms' own, not a population's: what is seen of an arm is known.
    return float(found * mine[NOISE] / (mine[NOISE] + square))


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
    fit = state.learnt[len(state.learnt) - LEARNT_ROWS + FOUND]
    g = min(int(_cell(mine, theta)), CELLS - 1)
    if state.pulls[arm] > 0:
        error = math.sqrt(_square_error(spec, state, row, arm))
        if error < _place(mine, g + 1.0) - _place(mine, g):
            # Known more finely than the cells are: there the prior changes nothing.
            off = theta - state.estimate[side, arm]
            error = math.sqrt(error * error + mine[DOUBT])
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
        beyond += mass * state.learnt[row + BEYOND, h]
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


@part()
def pulls_to_see(state: State) -> float:
    """After so many pulls an arm's error is as large as the means' spread; 1 before any."""
    scale = state.learnt[0, SCALE]
    return float(state.learnt[0, VARIANCE] / (scale * scale)) if scale > 0.0 else 1.0


@part()
def own_part(state: State, pulls: float) -> float:
    """The part of an arm's doubt that is its own after so many pulls, and not theta's."""
    own = state.learnt[0, VARIANCE]
    both = own + pulls * state.learnt[0, DOUBT]
    return float(own / both) if both > 0.0 else 1.0
