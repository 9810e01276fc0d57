"""focus: pull the arm whose next pull most reduces the overlap that keeps the run from ending.

A run ends when no arm's interval meets theta's. For an undecided arm below theta's estimate, its
own upper end must fall or theta's lower end must rise. For an arm above, the mirror image holds.

Each end of theta's interval is attained at some value mu of the median
(`standout.core.threshold.exact`). The lower end is determined by

- the median's interval [left, right]. Its left end is the m-th largest lower end. To raise it, the
  m arms with the largest estimates must all get lower ends above it. Those of them with
  `lower <= left` are *in the way*;
- the MAD at mu. Its smallest value is the m-th largest of the smallest possible distances from mu.
  To raise it, the m arms that seem farthest from mu must all get larger smallest distances. Those
  of them whose smallest distance is not above the MAD are in the way.

The upper end is the mirror image. At least one arm is always in the way. An arm's score is

    slope * width / (pulls * cost),

about twice the change of the overlap by one more pull (the width shrinks like 1/sqrt(pulls)).

- The slope of an undecided arm itself is 1.
- If mu lies inside the median's interval, an end of that interval has no effect before it has
  passed mu. So its slope is averaged over this distance too: to remove an overlap g at slope b, the
  end must move by mu - left + g/b.
- A move of theta's end helps all arms that wait for it; a pull of a waiting arm helps only that
  arm. So the slopes of an end are multiplied by sqrt(w), where w is the sum of the overlaps in
  units of the largest. It is the root because not all of these overlaps will bind in the end.

The arms with (nearly) the largest score are pulled.

Why it ends: suppose it does not. Each arm that is in the way infinitely often is pulled infinitely
often: the scores of pulled arms tend to 0, and the score of an arm that is not pulled does not
(slopes are bounded below). So its width tends to 0. Arms in the way of both of theta's ends are
scored in each round. Suppose all arms in the way of the left end are narrow. One of them has an
estimate of at least the median of the estimates and a lower end of at most left, so left is within
its width of that median. The same holds for right. Then the two bounds of the MAD are near the MAD
of the estimates. So theta's interval shrinks to a point, and so does the interval of each undecided
arm. They separate unless that arm's mean equals theta.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.kinds import RangeKind, Verdict
from standout.core.method import Method
from standout.core.order import kth_largest
from standout.core.rules.base import rule
from standout.core.rules.focus_anytime import anytime
from standout.core.state import (
    GUESS_LOW,
    GUESS_LOWER_AD,
    GUESS_UP,
    GUESS_UPPER_AD,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    SIZE,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.threshold.exact import LOWER_END, UPPER_END
from standout.core.threshold.sample import ranks
from standout.core.typing import Floats

_UNDECIDED = int(Verdict.UNDECIDED)
SMALLEST = 0.01
"""Share of the slope of an end of theta for which no arm waits."""
REACH = 0.1
"""Arms that will be in the way once this share of the overlap is gone are pulled in the same round,
which saves many rounds with many arms."""


@rule()
def certify(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arms with (nearly) the best score; arms without a finite interval come first."""
    count = _choose_open(spec, state)
    if count > 0:
        return count
    scores = state.centre
    for i in range(spec.n_arms):
        scores[i] = 0.0
    for side in range(len(state.signs)):
        _score_side(spec, state, side, scores)
    best = 0.0
    for i in range(spec.n_arms):
        best = max(best, scores[i])
    if best == 0.0:
        return _choose_any(spec, state)
    for i in range(spec.n_arms):
        if scores[i] >= spec.nearly_best * best:
            state.chosen[count] = i
            count += 1
    return count


@part()
def _is_open(state: State, arm: int) -> bool:
    """Whether the arm's rewards do not bound its mean yet."""
    return state.pulls[arm] == 0 or not np.isfinite(state.upper[0, arm] - state.lower[0, arm])


@part()
def _choose_open(spec: Spec, state: State) -> int:
    """The open arms with at most the average number of pulls of the other arms.

    While an arm is open, little can be decided. But an arm may stay open for ever (all its rewards
    are equal, and their scale is unknown), and it must not starve the others.
    """
    total = 0.0
    others = 0
    for i in range(spec.n_arms):
        if state.costs[i] < np.inf and not _is_open(state, i):
            total += state.pulls[i]
            others += 1
    count = 0
    for i in range(spec.n_arms):
        is_behind = others == 0 or state.pulls[i] * others <= total
        if is_behind and state.costs[i] < np.inf and _is_open(state, i):
            state.chosen[count] = i
            count += 1
    return count


@part()
def _choose_any(spec: Spec, state: State) -> int:
    """If no arm has a score: all undecided arms that can be pulled, else all arms that can.

    None if no arm can be pulled: the undecided verdicts then depend on known means alone.
    """
    count = 0
    for i in range(spec.n_arms):
        if state.verdict[i] == _UNDECIDED and state.costs[i] < np.inf:
            state.chosen[count] = i
            count += 1
    if count > 0:
        return count
    for i in range(spec.n_arms):
        if state.costs[i] < np.inf:
            state.chosen[count] = i
            count += 1
    return count


@part()
def _score_side(spec: Spec, state: State, side: int, scores: Floats) -> None:
    """Raise the scores of a side's undecided arms and of the arms that they depend on."""
    lower = state.lower[side]
    upper = state.upper[side]
    estimate = state.estimate[side]
    centre = state.bounds[side, THRESHOLD]
    floor = state.bounds[side, THRESHOLD_LOWER] + spec.tolerance
    ceiling = state.bounds[side, THRESHOLD_UPPER] - spec.tolerance
    # Overlaps of arms below with theta's lower end, of arms above with its upper: the
    # largest and their sum.
    below = 0.0
    above = 0.0
    all_below = 0.0
    all_above = 0.0
    for i in range(spec.n_arms):
        if state.verdict[i] != _UNDECIDED or lower[i] > ceiling or upper[i] <= floor:
            continue
        if _is_open(state, i):
            continue
        # No arm waits for an unknown end of theta.
        if estimate[i] > centre and ceiling < np.inf:
            above = max(above, ceiling - lower[i])
            all_above += ceiling - lower[i]
        elif estimate[i] <= centre and floor > -np.inf:
            below = max(below, upper[i] - floor)
            all_below += upper[i] - floor
        width = upper[i] - lower[i]
        scores[i] = max(scores[i], width / (state.pulls[i] * state.costs[i]))
    largest = max(below, above)
    low, up = ranks(spec, state)
    if largest <= 0.0 or low > state.sampled[SIZE] or up < 1:
        return
    cut_low = _estimate_at(state, side, low, GUESS_LOW)
    cut_up = cut_low if up == low else _estimate_at(state, side, up, GUESS_UP)
    if np.isfinite(floor):
        weight = math.sqrt(all_below / below) if below > 0.0 else SMALLEST
        overlap = below if below > 0.0 else largest
        _score_end(state, side, LOWER_END, low, cut_low, cut_up, overlap, weight, scores)
    if np.isfinite(ceiling):
        weight = math.sqrt(all_above / above) if above > 0.0 else SMALLEST
        overlap = above if above > 0.0 else largest
        _score_end(state, side, UPPER_END, up, cut_low, cut_up, overlap, weight, scores)


@part()
def _estimate_at(state: State, side: int, rank: int, guess: int) -> float:
    """The `rank`-th largest estimate of the arms that make the threshold."""
    values = state.scratch
    count = state.sampled[SIZE]
    for j in range(count):
        values[j] = state.estimate[side, state.omega[j]]
    found = kth_largest(values, count, rank, state.guesses[side, guess], state.work)
    state.guesses[side, guess] = found
    return found


@part()
def _score_end(
    state: State,
    side: int,
    end: int,
    rank: int,
    cut_low: float,
    cut_up: float,
    overlap: float,
    weight: float,
    scores: Floats,
) -> None:
    """Raise the scores of the arms in the way of one end of theta's interval."""
    lower = state.lower[side]
    upper = state.upper[side]
    estimate = state.estimate[side]
    factor = state.factors[side]
    mu = state.binding[side, end]
    left = state.bounds[side, MEDIAN_LOWER]
    right = state.bounds[side, MEDIAN_UPPER]
    # Theta's end moves with the median's end on its own side by 1 + factor, since the
    # distances move too, and with the other by factor - 1.
    inner = max(SMALLEST, factor - 1.0)
    to_left = 1.0 + factor if end == LOWER_END else inner
    to_right = 1.0 + factor if end == UPPER_END else inner
    slope_left = weight * to_left * overlap / (overlap + to_left * (mu - left))
    slope_right = weight * to_right * overlap / (overlap + to_right * (right - mu))
    # Inside the interval mu yields when the MAD changes: half of the change remains.
    slope_above = weight * factor
    slope_below = weight * factor
    if left < mu < right:
        slope_above = weight * (1.0 + factor) / 2
        slope_below = weight * inner / 2
    distance, bound = _mad_at(state, side, end, rank)
    left += REACH * overlap / to_left
    right -= REACH * overlap / to_right
    reach = REACH * overlap / factor
    bound = bound + reach if end == LOWER_END else bound - reach
    for j in range(state.sampled[SIZE]):
        i = state.omega[j]
        slope = 0.0
        if estimate[i] >= cut_low and lower[i] <= left:
            slope = slope_left
        if estimate[i] <= cut_up and upper[i] >= right:
            slope = max(slope, slope_right)
        off = abs(estimate[i] - mu)
        if end == LOWER_END:
            in_way = off >= distance and max(0.0, lower[i] - mu, mu - upper[i]) <= bound
        else:
            in_way = off <= distance and max(upper[i] - mu, mu - lower[i]) >= bound
        if in_way:
            slope = max(slope, slope_above if estimate[i] > mu else slope_below)
        if slope > 0.0 and not _is_open(state, i):
            gain = (upper[i] - lower[i]) / (state.pulls[i] * state.costs[i])
            scores[i] = max(scores[i], slope * gain)


@part()
def _mad_at(state: State, side: int, end: int, rank: int) -> tuple[float, float]:
    """The MAD of the estimates around mu, and its smallest (largest) possible value."""
    lower = state.lower[side]
    upper = state.upper[side]
    mu = state.binding[side, end]
    values = state.scratch
    count = state.sampled[SIZE]
    for j in range(count):
        values[j] = abs(state.estimate[side, state.omega[j]] - mu)
    column = GUESS_LOWER_AD if end == LOWER_END else GUESS_UPPER_AD
    distance = kth_largest(values, count, rank, state.guesses[side, column], state.work)
    state.guesses[side, column] = distance
    for j in range(count):
        i = state.omega[j]
        if end == LOWER_END:
            values[j] = max(0.0, lower[i] - mu, mu - upper[i])
        else:
            values[j] = max(upper[i] - mu, mu - lower[i])
    column = THRESHOLD_LOWER if end == LOWER_END else THRESHOLD_UPPER
    guess = (state.bounds[side, column] - mu) / state.factors[side]
    return distance, kth_largest(values, count, rank, guess, state.work)


METHODS = (
    Method(
        name="focus",
        rule=certify,
        anytime=anytime,
        interval=None,
        range=RangeKind.EXACT,
        keeps_decisions=True,
        intersects=True,
        refines=True,
        spares_known=True,
        growth=0.02,
        summary="pulls the arms that best separate undecided arms from the threshold; tight "
        "intervals, exact range",
        reference="standout, docs/focus.md",
    ),
)
