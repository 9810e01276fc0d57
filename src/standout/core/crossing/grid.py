"""Where the points of an arm's grid lie: close together around its estimate, far apart beyond.

Places are in steps from the first of the close points. Of 512 points 384 are one step apart, from
4 standard errors below the estimate (as of the beginning of a stage) to 4 above; 64 on either
side are 16 steps apart and reach some 21 standard errors farther.
"""

from __future__ import annotations

from standout.core.compile import hot_part
from standout.core.crossing.record import POINTS

FAR = POINTS // 8
"""Points that lie far apart on either side."""
LAST = POINTS - 2 * FAR - 1
"""Place of the last close point."""
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
    """The point at a place; between two points a number between theirs."""
    if place < 0.0:
        return FAR + place / _RATIO
    if place <= LAST:
        return FAR + place
    return FAR + LAST + (place - LAST) / _RATIO
