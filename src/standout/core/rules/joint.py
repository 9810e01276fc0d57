"""joint: pull the arm that raises the cost of the cheapest alternative most per pull.

The cheapest alternative (`standout.core.joint.certificate`) gives each arm a place: most arms stay
at their estimates, some move. A pull of an arm adds about

    (estimate - place)^2 / (2 variance)

to the alternative's cost, its information. The arm with the most information per cost is pulled.
This is the best response in the game that defines the information limit (Degenne & Koolen 2019).
The gain of the current bet is not used: log(1 - q + q M) grows slowly until M is large, so a rule
that follows it repeats its own choices.

Exploration: an arm with an unlucky estimate may stay in place in each alternative, and would never
be pulled again. So sqrt(c log(T) / pulls) standard deviations are added to each arm's distance (an
optimistic bonus), where T is the number of pulls so far. In addition each arm is pulled at least
sqrt(T) / 4 times, or T / 4n times while T is small. So all intervals tend to width 0, and the run
ends.

The cheapest alternative is only one of many, and the next ones may move arms that it leaves in
place. If many means lie near the median, the rule alone takes a quarter more pulls than focus. So
every fifth round is a round of focus, which considers all arms that determine the threshold's ends.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.intervals import reward_variance
from standout.core.joint.bounds import (
    HIGH,
    HIGH_KEEN,
    LOW,
    LOW_KEEN,
    ON_MEDIAN,
    OUT,
    OWN,
)
from standout.core.joint.pricing import prepare, price
from standout.core.kinds import RangeKind
from standout.core.method import Method
from standout.core.rules.base import rule
from standout.core.rules.focus import METHODS as FOCUS
from standout.core.rules.focus_anytime import anytime
from standout.core.state import (
    AT_MAD,
    AT_MEDIAN,
    COST,
    FLIPPED,
    PULLS,
    ROUNDS,
    Spec,
    State,
    Y,
    Z,
)

_focus = FOCUS[0].rule.choose
_TURN = 5
"""One in this many rounds is a round of focus."""
_BONUS = 0.03
"""c: the strength of the optimistic bonus."""
_FLOOR = 0.25
"""Each arm gets at least this times the square root of all pulls."""
_PART = 0.25
"""The floor is at most this share of an equal allocation, which is less while pulls are few."""


@rule("interval")
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """Arms below the floor, else the arms with the most information against the alternative."""
    if state.counters[ROUNDS] % _TURN == _TURN - 1:
        return _focus(spec, state, rng)
    pulls = state.counters[PULLS]
    floor = min(_FLOOR * math.sqrt(pulls), _PART * pulls / spec.n_arms)
    count = 0
    for a in range(spec.n_arms):
        if state.pulls[a] < floor and state.costs[a] < np.inf:
            state.chosen[count] = a
            count += 1
    if count > 0:
        return count
    row = 0
    for other in range(1, len(state.alternatives)):
        if state.alternatives[other, COST] < state.alternatives[row, COST]:
            row = other
    if np.isfinite(state.alternatives[row, COST]):
        _find_gains(spec, state, row // 2, row % 2)
    else:
        # There is no useful alternative while intervals are infinite.
        for a in range(spec.n_arms):
            state.scratch[a] = 0.0
    return _take_best(spec, state)


@part("interval")
def _find_gains(spec: Spec, state: State, side: int, way: int) -> None:
    """Write the gain of a pull of each arm, for the side's alternative, into `scratch`."""
    found = state.alternatives[2 * side + way]
    m = found[AT_MEDIAN]
    d = found[AT_MAD]
    prepare(spec, state, side)
    price(spec, state, side, way, m, m, d, d)
    flipped = int(found[FLIPPED])
    # Rewards from before the run do not count as pulls.
    bonus = _BONUS * math.log(max(1, state.counters[PULLS]))
    middle = _on_median(spec, state, flipped, found[Y], found[Z])
    for a in range(spec.n_arms):
        place = m
        if a != middle:
            place = _place(
                state, side, way, a, a == flipped, m, d, found[Y], found[Z], spec.tolerance
            )
        variance = reward_variance(spec, state, a)
        gain = 0.0
        if variance > 0.0:
            off = abs(place - state.estimate[side, a]) / math.sqrt(variance)
            gain = (off + math.sqrt(bonus / max(1, state.pulls[a]))) ** 2
        state.scratch[a] = gain / state.costs[a]


@part()
def _on_median(spec: Spec, state: State, flipped: int, y: float, z: float) -> int:
    """The arm that the alternative puts on the median."""
    rows = state.joint
    best = np.inf
    found = -1
    for a in range(spec.n_arms):
        low = min(rows[LOW_KEEN, a] - z, rows[LOW, a])
        high = min(rows[HIGH, a], rows[HIGH_KEEN, a] - z) - y
        extra = rows[ON_MEDIAN, a] - min(low, high)
        if a != flipped and extra < best:
            best = extra
            found = a
    return found


@part()
def _place(
    state: State,
    side: int,
    way: int,
    arm: int,
    is_flipped: bool,
    m: float,
    d: float,
    y: float,
    z: float,
    tolerance: float,
) -> float:
    """The place of an arm in the alternative: the nearest point of its cheapest place."""
    rows = state.joint
    first = OWN if is_flipped else 0
    low_keen = rows[first + LOW_KEEN, arm] - z
    low = rows[first + LOW, arm]
    high = rows[first + HIGH, arm] - y
    high_keen = rows[first + HIGH_KEEN, arm] - y - z
    least = min(low_keen, low, high, high_keen)
    lower = -np.inf
    upper = np.inf
    if least in (low, low_keen):
        upper = m
    else:
        lower = m
    if least == low_keen and least != low:
        if way == OUT:
            upper = m - d
        else:
            lower = m - d
    elif least == high_keen and least != high:
        if way == OUT:
            lower = m + d
        else:
            upper = m + d
    if is_flipped:
        edge = m + state.factors[side] * d
        if way == OUT:
            upper = min(upper, edge - tolerance)
        else:
            lower = max(lower, edge + tolerance)
            upper = np.inf
    return float(min(max(state.estimate[side, arm], lower), upper))


@part()
def _take_best(spec: Spec, state: State) -> int:
    """The arms with (nearly) the largest gain; the least pulled arms if no arm has a gain."""
    best = 0.0
    fewest = np.inf
    for a in range(spec.n_arms):
        if state.costs[a] < np.inf:
            best = max(best, state.scratch[a])
            fewest = min(fewest, state.pulls[a])
    count = 0
    for a in range(spec.n_arms):
        if state.costs[a] == np.inf:
            continue
        if best > 0.0:
            is_best = state.scratch[a] >= spec.nearly_best * best
        else:
            is_best = state.pulls[a] == fewest
        if is_best:
            state.chosen[count] = a
            count += 1
    return count


METHODS = (
    Method(
        name="joint",
        rule=choose,
        fallback=FOCUS[0],
        anytime=anytime,
        interval=None,
        range=RangeKind.JOINT,
        keeps_decisions=True,
        intersects=True,
        refines=True,
        box_part=0.1,
        narrows_many=True,
        spares_known=True,
        growth=0.05,
        summary="one bet on all means together; pulls raise the cost of its cheapest alternative",
        reference="standout, docs/joint.md",
    ),
)
