"""The cost of each place of an arm under the crossing bet, over a box of (median, MAD).

The places of an arm are: below M - d, on it, between it and M, on M, and so on up to above M + d.
The edge M + F d divides them further. With a tolerance there are two edges, the edge minus and plus
the tolerance. A cell is a place on one side of the edge: a range between two of these boundaries.
An arm's cost in it is

    log(1 - SHARE + SHARE exp(evidence that the upper end is too low
                              + evidence that the lower end is too high)).

Over a box each end lies in a range, and the evidence is at least its minimum over that range.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.crossing.tables import least_too_high, least_too_low
from standout.core.state import Spec, State
from standout.core.typing import FloatRows

SHARE = 0.85
"""Share of each arm's factor that follows its rewards."""
_LARGE = 30.0
KNOWN = 1e6
"""The cost of a cell that does not contain a known mean."""
PLACES = 7
BELOW, ON_LOW, INNER_LOW, MIDDLE, INNER_HIGH, ON_HIGH, ABOVE = range(PLACES)
"""Below M - d, on it, between it and M, on M, between M and M + d, on M + d, above."""
UNDER, WITHIN, OVER = 0, 1, 2
"""Sides of the edge: not above it by more than minus the tolerance, in between, above by more."""
# Columns of Crossing.cells: the place, the side of the edge, and the indexes of the ranges of the
# upper and the lower end. Columns of the ranges: first, last, and the arm's evidence there.
PLACE, EDGE, _UPPER, _LOWER = range(4)
_FIRST, _LAST, _EVIDENCE = range(3)


@part()
def find_cells(
    state: State, factor: float, tolerance: float, m1: float, m2: float, d1: float, d2: float
) -> tuple[int, int, int]:
    """Fill `cells` with the cells of means with a median and a MAD in the box.

    Returns the number of cells, and the numbers of ranges of their upper and lower ends.
    """
    uppers = lowers = count = 0
    bet = state.crossing
    edge1 = m1 + factor * d1
    edge2 = m2 + factor * d2
    for place in range(PLACES):
        lower1 = lower2 = -np.inf
        upper1 = upper2 = np.inf
        if place <= ON_LOW:
            upper1, upper2 = m1 - d2, m2 - d1
        elif place <= MIDDLE:
            upper1, upper2 = m1, m2
        elif place <= ON_HIGH:
            upper1, upper2 = m1 + d1, m2 + d2
        if place in (ON_LOW, INNER_LOW):
            lower1, lower2 = m1 - d2, m2 - d1
        elif place in (MIDDLE, INNER_HIGH):
            lower1, lower2 = m1, m2
        elif place >= ON_HIGH:
            lower1, lower2 = m1 + d1, m2 + d2
        for edge in range(3):
            if edge == WITHIN and tolerance == 0.0:
                continue
            low1, low2, up1, up2 = lower1, lower2, upper1, upper2
            if edge != OVER:
                off = -tolerance if edge == UNDER else tolerance
                up1, up2 = min(up1, edge1 + off), min(up2, edge2 + off)
            if edge != UNDER:
                off = tolerance if edge == OVER else -tolerance
                low1, low2 = max(low1, edge1 + off), max(low2, edge2 + off)
            if low1 > up2:
                continue
            bet.cells[count, PLACE] = place
            bet.cells[count, EDGE] = edge
            upper = _put_range(bet.uppers, uppers, up1, up2) if up1 < np.inf else -1
            lower = _put_range(bet.lowers, lowers, low1, low2) if low2 > -np.inf else -1
            uppers = max(uppers, upper + 1)
            lowers = max(lowers, lower + 1)
            bet.cells[count, _UPPER] = upper
            bet.cells[count, _LOWER] = lower
            count += 1
    return count, uppers, lowers


@part()
def _put_range(ranges: FloatRows, count: int, first: float, last: float) -> int:
    """The index of a range, which is added if it is missing."""
    for i in range(count):
        if ranges[i, _FIRST] == first and ranges[i, _LAST] == last:
            return i
    ranges[count, _FIRST] = first
    ranges[count, _LAST] = last
    return count


@part()
def find_evidence(state: State, side: int, stage: int, arm: int, uppers: int, lowers: int) -> None:
    """Write lower bounds of the arm's evidence against each range of the cells' ends."""
    bet = state.crossing
    if state.costs[arm] == np.inf:  # Its mean is known.
        known = state.estimate[side, arm]
        for i in range(uppers):
            bet.uppers[i, _EVIDENCE] = KNOWN if known > bet.uppers[i, _LAST] else 0.0
        for i in range(lowers):
            bet.lowers[i, _EVIDENCE] = KNOWN if known < bet.lowers[i, _FIRST] else 0.0
    elif state.signs[side] > 0.0:
        for i in range(uppers):
            first, last = bet.uppers[i, _FIRST], bet.uppers[i, _LAST]
            bet.uppers[i, _EVIDENCE] = least_too_low(state, stage, arm, first, last)
        for i in range(lowers):
            first, last = bet.lowers[i, _FIRST], bet.lowers[i, _LAST]
            bet.lowers[i, _EVIDENCE] = least_too_high(state, stage, arm, first, last)
    else:
        for i in range(uppers):
            first, last = -bet.uppers[i, _LAST], -bet.uppers[i, _FIRST]
            bet.uppers[i, _EVIDENCE] = least_too_high(state, stage, arm, first, last)
        for i in range(lowers):
            first, last = -bet.lowers[i, _LAST], -bet.lowers[i, _FIRST]
            bet.lowers[i, _EVIDENCE] = least_too_low(state, stage, arm, first, last)


@part()
def cell_cost(spec: Spec, state: State, number: int) -> float:
    """A lower bound of the arm's cost in a cell of the box; call `find_evidence` first."""
    bet = state.crossing
    evidence = 0.0
    if bet.cells[number, _UPPER] >= 0.0:
        evidence += bet.uppers[int(bet.cells[number, _UPPER]), _EVIDENCE]
    if bet.cells[number, _LOWER] >= 0.0:
        evidence += bet.lowers[int(bet.cells[number, _LOWER]), _EVIDENCE]
    if evidence == 0.0:
        return 0.0
    if evidence > _LARGE:
        return math.log(SHARE) + evidence
    return math.log1p(SHARE * math.expm1(evidence))
