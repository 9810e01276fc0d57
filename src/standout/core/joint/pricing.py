"""The minimal cost of each place of an arm over a box of (median, MAD), by the bet in use.

The bets are numbered: first those on the means themselves, at several scales
(`standout.core.joint.costs`), then, from `CROSSING` on, the stages of the crossing bet.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.crossing.cells import (
    ABOVE,
    BELOW,
    EDGE,
    INNER_HIGH,
    INNER_LOW,
    MIDDLE,
    OVER,
    PLACE,
    UNDER,
    cell_cost,
    find_cells,
    find_evidence,
)
from standout.core.crossing.stages import is_running, log_stage_part
from standout.core.crossing.tables import bring_up_to_date
from standout.core.joint.bounds import (
    HIGH,
    HIGH_KEEN,
    LOW,
    LOW_KEEN,
    ON_MEDIAN,
    OUT,
    OWN,
    place_slip,
    price_means,
)
from standout.core.joint.costs import MOST, count_scales, find_least, log_part
from standout.core.state import SCALE, Spec, State

CROSSING = 8
"""The number of the crossing bet's first stage."""
BETS = 11
_ROWS = 5
_SLIP = 1e-14


@part("interval")
def is_bet(spec: Spec, state: State, number: int) -> bool:
    """Whether a bet of this number exists now."""
    if number < CROSSING:
        return number < count_scales(spec)
    return bool(spec.crosses and is_running(state, number - CROSSING))


@part("interval")
def log_bet_part(spec: Spec, state: State) -> float:
    """Logarithm of the share of delta of the bet in use."""
    number = int(state.alternatives[0, SCALE])
    if number >= CROSSING:
        return math.log(1.0 - spec.means_part) + log_stage_part(state, number - CROSSING)
    return math.log(spec.means_part) + log_part(spec, state)


@part("interval")
def prepare(spec: Spec, state: State, side: int) -> None:
    """Update the tables of the bet in use; call this before `price`."""
    number = int(state.alternatives[0, SCALE])
    if number >= CROSSING:
        bring_up_to_date(spec, state, number - CROSSING)
    else:
        find_least(spec, state, side)


@part("interval")
def price(
    spec: Spec, state: State, side: int, way: int, m1: float, m2: float, d1: float, d2: float
) -> None:
    """Fill the places' rows with the minimal costs over the box, for a flip in direction `way`."""
    number = int(state.alternatives[0, SCALE])
    if number >= CROSSING:
        _price_cells(spec, state, side, way, number - CROSSING, m1, m2, d1, d2)
    else:
        price_means(spec, state, side, way, m1, m2, d1, d2)


@part("interval")
def _price_cells(
    spec: Spec, state: State, side: int, way: int, stage: int,
    m1: float, m2: float, d1: float, d2: float,
) -> None:  # fmt: skip
    factor = state.factors[side]
    slip = place_slip(m1, m2, d2, factor) + _SLIP * spec.tolerance
    count, uppers, lowers = find_cells(state, factor, spec.tolerance, m1 - slip, m2 + slip, d1, d2)
    cells = state.crossing.cells
    rows = state.joint
    own_side = UNDER if way == OUT else OVER
    for a in range(spec.n_arms):
        for row in range(_ROWS):
            rows[row, a] = np.inf
            rows[OWN + row, a] = np.inf
        find_evidence(state, side, stage, a, uppers, lowers)
        for number in range(count):
            place = cells[number, PLACE]
            cost = cell_cost(spec, state, number)
            is_own = cells[number, EDGE] == own_side
            # An arm at distance d is both outer and inner; an arm on the median is low and high.
            is_outer = place in (BELOW, ABOVE)
            is_inner = place in (INNER_LOW, MIDDLE, INNER_HIGH)
            is_keen = not (is_inner if way == OUT else is_outer)
            if place <= MIDDLE:
                row = LOW_KEEN if is_keen else LOW
                rows[row, a] = min(rows[row, a], cost)
                if is_own:
                    rows[OWN + row, a] = min(rows[OWN + row, a], cost)
            if place >= MIDDLE:
                row = HIGH_KEEN if is_keen else HIGH
                rows[row, a] = min(rows[row, a], cost)
                if is_own:
                    rows[OWN + row, a] = min(rows[OWN + row, a], cost)
            if place == MIDDLE:
                rows[ON_MEDIAN, a] = min(rows[ON_MEDIAN, a], cost)
        for row in range(_ROWS):
            rows[row, a] = min(rows[row, a], MOST)
            rows[OWN + row, a] = min(rows[OWN + row, a], MOST)
