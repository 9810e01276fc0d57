"""The points of an arm's grid: dense around its estimate, sparse farther away.

The unit of a place is one step; place 0 is the first dense point. 384 of the 512 points are one
step apart, from 4 standard errors below to 4 above the estimate at the beginning of a stage. On
either side 64 points are 16 steps apart and reach some 21 standard errors farther.
"""

from __future__ import annotations

from standout.core.compile import hot_part
from standout.core.crossing.record import POINTS

FAR = POINTS // 8
"""The number of sparse points on either side."""
LAST = POINTS - 2 * FAR - 1
"""The place of the last dense point."""
_RATIO = 16


@hot_part()
def grid_place(point: int) -> float:
    """The place of a point."""
    close = point - FAR
    if close < 0:
        return float(_RATIO * close)
    if close <= LAST:
        return float(close)
    return float(LAST + _RATIO * (close - LAST))


@hot_part()
def grid_point(place: float) -> float:
    """The index of the point at a place, interpolated between two points."""
    if place < 0.0:
        return FAR + place / _RATIO
    if place <= LAST:
        return FAR + place
    return FAR + LAST + (place - LAST) / _RATIO
