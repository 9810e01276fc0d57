"""Lower bounds on the cost of a wrong answer, over boxes of (median, MAD), for known means.

The bounds are those of the joint bet (`standout.core.joint.bounds`): an arm is flipped *out* of S
or *in*, an arm p lies on the median M, counts are relaxed with multipliers y and z, and a lower
bound over all means y' that flip the arm is a sum of each arm's cheapest place. Only the cost of a
place differs: it is the arm's share of pulls times the relative entropy of its mean there.

Over a box each cost is replaced by a line in (M, d) that lies below it. The bound is then a minimum
of linear functions, which is concave, so that over the box it is least at a corner. This is nearer
than the least cost over the box, which the joint bet uses: here many boxes are nearly as cheap as
the cheapest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from standout.core import robust
from standout.core.compile import kernel, part
from standout.core.joint.bounds import (
    BOUND,
    HIGH,
    HIGH_KEEN,
    LOW,
    LOW_KEEN,
    ON_MEDIAN,
    OUT,
    OWN,
    SKIPPED,
    TRIED,
    bound_of,
    bounds_of_all,
    cheapest_flip,
    tune,
)
from standout.core.state import THRESHOLD, State, Y, Z, new_state
from standout.core.typing import Flags, FloatBlocks, FloatRows, Floats
from standout.theory.divergences import Divergence

TARGET = 100.0
"""Costs are scaled such that each flip is to cost at least this."""
DEAR = 20 * TARGET
"""The largest cost; also the cost of an impossible mean."""
PLACES = 9
"""Rows of costs: those of any arm, then those of an arm that is flipped."""
CORNERS = ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
_CORNER = 11
"""The row of `State.joint` with the least bound of the corners."""
_MOST_TUNED = 6


@dataclass(frozen=True, eq=False)
class Flips:
    """A question about high outliers, one direction of flips, and the costs of other means."""

    divergence: Divergence
    factor: float
    way: int
    """OUT: arms leave S, or IN: arms join it"""
    is_wrong: Callable[[Floats], bool]
    """Whether the whole answer for these means differs; with two sides, that of both"""

    @property
    def rank(self) -> int:
        """r: the median is the r-th largest."""
        return robust.median_rank(self.divergence.means.size)

    @cached_property
    def state(self) -> State:
        """Room for the bounds."""
        means = self.divergence.means
        state = new_state(means.size, (1.0,), (self.factor,), joins=True)
        state.estimate[0] = means
        state.bounds[0, THRESHOLD] = robust.threshold(means, self.factor)
        return state

    @cached_property
    def may_flip(self) -> Flags:
        """The arms that are in S (OUT), or are not (IN)."""
        is_in = self.divergence.means > self.state.bounds[0, THRESHOLD]
        found: Flags = is_in if self.way == OUT else ~is_in
        return found


def places_at(flips: Flips, weights: Floats, points: Floats) -> FloatBlocks:
    """The exact costs of all places at points (M, d): (points, PLACES, arms)."""
    m, d = points[:, 0:1], points[:, 1:2]
    values: list[Floats] = []
    for place in (m - d, m, m + d, m + flips.factor * d):
        cost = np.minimum(weights * flips.divergence.cost(place), DEAR)
        is_below = flips.divergence.means < place
        values += [np.where(is_below, cost, 0.0), np.where(is_below, 0.0, cost)]
    return _places(flips, values, d)


def places_of_boxes(flips: Flips, weights: Floats, boxes: Floats) -> FloatBlocks:
    """The costs in the middle of each box, then lower bounds at its corners, along lines.

    An infinite box has the same costs everywhere. The shape is (5, boxes, PLACES, arms).
    """
    m0, m1, d0, d1 = (boxes[:, place : place + 1] for place in range(4))
    f = flips.factor
    spans = ((m0 - d1, m1 - d0), (m0, m1), (m0 + d0, m1 + d1), (m0 + f * d0, m1 + f * d1))
    lines = []
    for low, high in spans:
        for value, slope in (flips.divergence.rise(low, high), flips.divergence.fall(low, high)):
            lines.append((np.minimum(weights * value, 1e250), weights * slope))
    half = np.concatenate([m1 - m0, d1 - d0], axis=1) / 2
    half[~np.isfinite(half).all(axis=1)] = 0.0
    found = [places_at(flips, weights, centres_of(boxes))]
    for right, up in CORNERS:
        dm, dd = right * half[:, 0:1], up * half[:, 1:2]
        ways = (dm - dd, dm, dm + dd, dm + f * dd)
        values = [
            np.minimum(value + slope * ways[place // 2], DEAR)
            for place, (value, slope) in enumerate(lines)
        ]
        found.append(_places(flips, values, d0))
    return np.stack(found)


def centres_of(boxes: Floats) -> Floats:
    """A point (M, d) of each box, its middle if it is finite."""
    low, high = boxes[:, 0:4:2], boxes[:, 1:4:2]
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
    return np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, middle))


def _places(flips: Flips, costs: list[Floats], d: Floats) -> FloatBlocks:
    """The costs of places from those to be at least and at most M - d, M, M + d and the edge."""
    up_left, down_left, up_mid, down_mid, up_right, down_right, up_edge, down_edge = costs
    rows: dict[int, Floats] = {LOW: down_mid, HIGH: up_mid, ON_MEDIAN: up_mid + down_mid}
    if flips.way == OUT:
        rows |= {LOW_KEEN: down_left, HIGH_KEEN: up_right}
        # Only if d is 0, an arm at M + d or above can lie on an edge with F < 1.
        apart = np.where(d > 0, DEAR, 0.0) if flips.factor < 1 else 0.0
        own = (down_left, down_mid, up_mid + down_edge, up_right + down_edge + apart)
    else:
        rows |= {LOW_KEEN: up_left + down_mid, HIGH_KEEN: up_mid + down_right}
        dear = np.full_like(up_mid, DEAR)
        # With F >= 1 an arm beyond the edge is farther from M than d.
        keen = up_edge + down_right if flips.factor < 1 else dear
        own = (dear, dear, up_edge, keen)
    rows |= {OWN + row: values for row, values in enumerate(own)}
    return np.stack([rows[row] for row in range(PLACES)], axis=1)


@kernel()
def bound_boxes(
    state: State, way: int, tuned_at: int, places: Floats, boxes: FloatRows, alive: Flags,
    found: FloatRows,
) -> None:  # fmt: skip
    """Bound the flips of arms in each box; those that cost at least `TARGET` are no longer alive.

    Columns Y and Z of `boxes` are multipliers. They are tuned at one of the points of `places`: for
    the arm with the least bound, until one of these remains alive. Columns of `found` are the least
    bound of the box, that arm, and its bound at the point.
    """
    n_arms = alive.shape[1]
    theta = state.bounds[0, THRESHOLD]
    for b in range(len(boxes)):
        for a in range(n_arms):
            state.joint[SKIPPED, a] = 0.0 if alive[b, a] else 1.0
        y = boxes[b, Y]
        z = boxes[b, Z]
        found[b, 0] = _bound_corners(state, way, theta, places, b, y, z)
        for _ in range(_MOST_TUNED):
            _use(state, places, tuned_at, b)
            bounds_of_all(state, n_arms, 0, way, theta, y, z, BOUND)
            arm = cheapest_flip(state, n_arms)
            if arm < 0:
                break
            before = state.joint[_CORNER, arm]
            y, z = tune(state, n_arms, way, arm, y, z)
            found[b, 1] = arm
            found[b, 2] = bound_of(state, n_arms, way, arm, y, z)
            found[b, 0] = _bound_corners(state, way, theta, places, b, y, z)
            if state.joint[_CORNER, arm] >= before:
                boxes[b, Y] = y
                boxes[b, Z] = z
            if state.joint[SKIPPED, arm] == 0.0:
                break
        for a in range(n_arms):
            alive[b, a] = state.joint[SKIPPED, a] == 0.0


@part()
def _bound_corners(
    state: State, way: int, theta: float, places: Floats, box: int, y: float, z: float
) -> float:
    """The least bound below `TARGET` of all corners; other arms are skipped from then on."""
    n_arms = places.shape[3]
    rows = state.joint
    for a in range(n_arms):
        rows[_CORNER, a] = np.inf
    for corner in range(1, len(places)):
        _use(state, places, corner, box)
        bounds_of_all(state, n_arms, 0, way, theta, y, z, TRIED)
        for a in range(n_arms):
            rows[_CORNER, a] = min(rows[_CORNER, a], rows[TRIED, a])
    least = np.inf
    for a in range(n_arms):
        if len(places) > 1 and rows[_CORNER, a] >= TARGET:
            rows[SKIPPED, a] = 1.0
        elif rows[SKIPPED, a] == 0.0:
            least = min(least, rows[_CORNER, a])
    return least


@part()
def _use(state: State, places: Floats, point: int, box: int) -> None:
    for row in range(PLACES):
        for a in range(places.shape[3]):
            state.joint[row, a] = places[point, box, row, a]


def split(boxes: Floats) -> tuple[Floats, Floats]:
    """Halve each box along its wider side.

    An infinite range is cut at a point that moves away by doubling.
    """
    column = np.where(boxes[:, 3] - boxes[:, 2] > boxes[:, 1] - boxes[:, 0], 2, 0)
    rows = np.arange(len(boxes))
    low, high = boxes[rows, column], boxes[rows, column + 1]
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isinf(high), np.maximum(2 * low, low + 1), middle)
    middle = np.where(np.isinf(low), np.minimum(2 * high, high - 1), middle)
    left, right = boxes.copy(), boxes.copy()
    left[rows, column + 1] = middle
    right[rows, column] = middle
    return left, right
