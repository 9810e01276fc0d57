"""A proved lower bound on the cost of a wrong answer, over boxes of (median, MAD).

The question is that of the high side: S = {a : y_a > M + F d}, where the median M and the MAD d are
both r-th largest of n, r = (n + 1) // 2. Other means y' have another answer if some arm i is
flipped: from S to y'_i <= M + F d, or from outside S to y'_i > M + F d. For given M and d, each arm
lies in one of four regions,

    low and outer     y' <= M - d           low and inner     M - d <= y' <= M
    high and inner    M <= y' <= M + d      high and outer    y' >= M + d

One arm p lies on M, and another arm q on M - d or M + d. Of the arms other than p exactly r - 1 are
high, and of the arms other than q exactly r - 1 are outer. (With d = 0 at least two arms lie on M,
so p and q differ in this case, too.) An arm that is flipped into S lies strictly above M, and for
F >= 1 strictly farther from it than d. So it is high, outer and neither p nor q, also in the limit.
Each arm pays the cost of its place.

*The counts* are relaxed with Lagrange multipliers. Any y and z bound the cost from below by
(r - 1)(y + z) + the sum over arms of the cheapest region + the terms of p and q, where the cost of
a region is reduced by y if it is high and by z if it is outer.

*The box*: each cost is replaced by a line in (M, d) below it over the box. The bound is then a
minimum of linear functions, which is concave, so its minimum over the box is at a corner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from standout.core import robust
from standout.core.typing import Flags, Floats
from standout.theory.divergences import Divergence

DEAR = 20.0
"""The largest cost, in units of the target; also the cost of an impossible mean."""

CORNERS = ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Flips:
    """A question about high outliers, its answer, and the costs of other means."""

    divergence: Divergence
    factor: float
    answer: Flags
    is_wrong: Callable[[Floats], bool]
    """Whether the whole answer for these means differs; with two sides, that of both"""

    @property
    def rank(self) -> int:
        """r: the median is the r-th largest."""
        return robust.median_rank(self.answer.size)


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs of each arm to be at least (`up`) and at most (`down`) each of four points.

    These are M - d (left), M, M + d (right) and M + F d (edge). Arrays of (boxes, arms).
    """

    up_left: Floats
    down_left: Floats
    up_mid: Floats
    down_mid: Floats
    up_right: Floats
    down_right: Floats
    up_edge: Floats
    down_edge: Floats
    may_collapse: Floats
    """0 where d may be 0, `DEAR` elsewhere; a column"""


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines below the eight costs, of (value in the middle, slope), and the boxes' half widths."""

    pairs: tuple[tuple[Floats, Floats], ...]
    half: Floats
    factor: float
    may_collapse: Floats

    def at(self, right: float, up: float) -> Costs:
        """The costs at the corner (or, with zeros, in the middle), cut at `DEAR`."""
        dm, dd = right * self.half[:, 0:1], up * self.half[:, 1:2]
        ways = (dm - dd, dm, dm + dd, dm + self.factor * dd)
        values = [
            np.minimum(value + slope * ways[place // 2], DEAR)
            for place, (value, slope) in enumerate(self.pairs)
        ]
        a, b, c, d, e, f, g, h = values
        return Costs(a, b, c, d, e, f, g, h, self.may_collapse)


def make_lines(flips: Flips, weights: Floats, boxes: Floats) -> Lines:
    """The lines of each box (M low, M high, d low, d high; ends may be infinite)."""
    m0, m1, d0, d1 = (boxes[:, place : place + 1] for place in range(4))
    f = flips.factor
    spans = ((m0 - d1, m1 - d0), (m0, m1), (m0 + d0, m1 + d1), (m0 + f * d0, m1 + f * d1))
    pairs = []
    for low, high in spans:
        for value, slope in (flips.divergence.rise(low, high), flips.divergence.fall(low, high)):
            pairs.append((np.minimum(weights * value, 1e250), weights * slope))
    half = np.concatenate([m1 - m0, d1 - d0], axis=1) / 2
    half[~np.isfinite(half).all(axis=1)] = 0.0
    return Lines(tuple(pairs), half, f, np.where(d0 > 0, DEAR, 0.0))


def exact_costs(flips: Flips, weights: Floats, points: Floats) -> Costs:
    """The exact costs at points (M, d)."""
    m, d = points[:, 0:1], points[:, 1:2]
    values: list[Floats] = []
    for place in (m - d, m, m + d, m + flips.factor * d):
        cost = np.minimum(weights * flips.divergence.cost(place), DEAR)
        is_below = flips.divergence.means < place
        values += [np.where(is_below, cost, 0.0), np.where(is_below, 0.0, cost)]
    a, b, c, e, f, g, h, i = values
    return Costs(a, b, c, e, f, g, h, i, np.where(d > 0, DEAR, 0.0))


def flip_bounds(flips: Flips, costs: Costs, y: Floats, z: Floats) -> Floats:
    """For each box and each arm i, a lower bound of the cost to flip i, given y and z (columns)."""
    usual = regions(costs)
    flipped = regions_of_flipped(flips, costs)
    base = cheapest(usual, y, z)
    own = cheapest(flipped, y, z)
    at_mid, at_side = places(costs, y)
    p, q = at_mid - base, at_side - base
    total = base.sum(axis=1, keepdims=True) + (flips.rank - 1) * (y + z)
    mid_of_own, side_of_own = places_of_flipped(flips, costs, y)
    pairs = _pairs(p, q, mid_of_own - own, side_of_own - own)
    found: Floats = total - base + own + pairs
    return found


def regions(costs: Costs) -> tuple[Floats, Floats, Floats, Floats]:
    """The costs of an arm in the regions low-outer, low-inner, high-inner and high-outer."""
    return (
        costs.down_left,
        costs.up_left + costs.down_mid,
        costs.up_mid + costs.down_right,
        costs.up_right,
    )


def regions_of_flipped(flips: Flips, costs: Costs) -> tuple[Floats, Floats, Floats, Floats]:
    """As `regions`, for the flipped arm: below the edge if it leaves S, else above it."""
    dear = np.full_like(costs.up_mid, DEAR)
    low_outer, low_inner, high_inner, high_outer = regions(costs)
    if flips.factor >= 1:
        out = (low_outer, low_inner, high_inner, high_outer + costs.down_edge)
        into = (dear, dear, dear, costs.up_edge)
    else:
        # The edge lies inside M + d; with d = 0 both are M, where an arm may count as outer.
        collapsed = costs.up_right + costs.down_edge + costs.may_collapse
        out = (low_outer, low_inner, costs.up_mid + costs.down_edge, collapsed)
        into = (dear, dear, costs.up_edge + costs.down_right, costs.up_right)
    a, b, c, d = (np.where(flips.answer, x, y) for x, y in zip(out, into, strict=True))
    return a, b, c, d


def places(costs: Costs, y: Floats) -> tuple[Floats, Floats]:
    """The costs of an arm to lie on M, and on M - d or M + d (where it is high)."""
    at_left = costs.up_left + costs.down_left
    at_right = costs.up_right + costs.down_right
    return costs.up_mid + costs.down_mid, np.minimum(at_left, at_right - y)


def places_of_flipped(flips: Flips, costs: Costs, y: Floats) -> tuple[Floats, Floats]:
    """As `places`, for the flipped arm."""
    at_mid, at_side = places(costs, y)
    at_right = costs.up_right + costs.down_right - y
    if flips.factor >= 1:
        out, into = at_side, np.full_like(at_mid, DEAR)
    else:
        at_left = costs.up_left + costs.down_left
        out, into = np.minimum(at_left, at_right + costs.may_collapse), at_right
    dear = np.full_like(at_mid, DEAR)
    return np.where(flips.answer, at_mid, dear), np.where(flips.answer, out, into)


def cheapest(kinds: tuple[Floats, Floats, Floats, Floats], y: Floats, z: Floats) -> Floats:
    """Each arm's cheapest region, minus the multipliers."""
    low_outer, low_inner, high_inner, high_outer = kinds
    low = np.minimum(low_outer - z, low_inner)
    found: Floats = np.minimum(low, np.minimum(high_inner, high_outer - z) - y)
    return found


def _pairs(p: Floats, q: Floats, own_p: Floats, own_q: Floats) -> Floats:
    """For each arm i the smallest p_a + q_b with a != b, where i pays `own_p`, `own_q`."""
    first_p, first_q = (np.argpartition(x, 2, axis=1)[:, :3] for x in (p, q))
    best_p, best_q = (
        np.take_along_axis(x, first, axis=1) for x, first in ((p, first_p), (q, first_q))
    )
    arms = np.arange(p.shape[1])
    free_p = [np.where(first_p[:, [s]] == arms, np.inf, best_p[:, [s]]) for s in range(3)]
    free_q = [np.where(first_q[:, [s]] == arms, np.inf, best_q[:, [s]]) for s in range(3)]
    found = np.minimum(own_p + np.minimum.reduce(free_q), own_q + np.minimum.reduce(free_p))
    for s in range(3):
        for t in range(3):
            same = first_p[:, [s]] == first_q[:, [t]]
            found = np.minimum(found, np.where(same, np.inf, free_p[s] + free_q[t]))
    return np.asarray(found, dtype=np.float64)


def split(boxes: Floats) -> tuple[Floats, Floats]:
    """Halve each box along its wider side.

    An infinite range is cut at a point that moves away by doubling.
    """
    widths = boxes[:, 1::2] - boxes[:, 0::2]
    column = np.where(widths[:, 1] > widths[:, 0], 2, 0)
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
