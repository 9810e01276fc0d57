"""The cheapest means with another answer, which every method has to rule out.

All functions handle many rows at once. A row has an arm to flip, a start (M, d) and multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.core import robust
from standout.core.joint.bounds import HIGH, HIGH_KEEN, LOW, LOW_KEEN, ON_MEDIAN, OUT, OWN
from standout.core.problem import Side
from standout.core.typing import Flags, Floats, Ints
from standout.theory.boxes import Flips, places_at

NUDGE = 1e-7
"""The flipped arm moves this much farther than needed, as a share of its way."""
POLISH_STEPS = 10


@dataclass(frozen=True, eq=False)
class Starts:
    """Starting points: arms to flip, and columns of M, d, y and z."""

    arms: Ints
    points: Floats

    def pick(self, rows: Ints | Flags) -> Starts:
        """Some of the rows."""
        return Starts(self.arms[rows], self.points[rows])


@dataclass(frozen=True, eq=False)
class Ranges:
    """The range of each arm, M + low d to M + high d; infinite for no limit."""

    low: Floats
    high: Floats

    def nearest(self, means: Floats, m: Floats, d: Floats) -> Floats:
        """The point nearest to `means` within the ranges."""
        with np.errstate(invalid="ignore"):
            low = np.where(np.isinf(self.low), self.low, m + self.low * d)
            high = np.where(np.isinf(self.high), self.high, m + self.high * d)
        return np.minimum(np.maximum(means, low), np.maximum(low, high))


def join_starts(parts: list[Starts]) -> Starts:
    """All of them in one."""
    return Starts(
        np.concatenate([part.arms for part in parts]),
        np.concatenate([part.points for part in parts]),
    )


def find_alternatives(
    flips: Flips, weights: Floats, starts: Starts, rounds: int
) -> tuple[Floats, Starts]:
    """Means that flip each arm, and their starting points.

    After two `rounds` they are close to the cheapest; with 0 they keep the M and d of the start.
    Means whose answer is unchanged are omitted.
    """
    points = starts.points.copy()
    for _ in range(rounds):
        ranges = assign(flips, weights, starts.arms, points)
        points[:, :1], points[:, 1:2] = polish(
            flips, weights, ranges, points[:, :1], points[:, 1:2]
        )
    ranges = assign(flips, weights, starts.arms, points)
    rows = ranges.nearest(flips.divergence.means, points[:, :1], points[:, 1:2])
    settled = [settle(flips, row, int(arm)) for row, arm in zip(rows, starts.arms, strict=True)]
    good = np.array([row is not None for row in settled], dtype=np.bool_)
    found = [row for row in settled if row is not None]
    return np.array(found).reshape(len(found), rows.shape[1]), Starts(starts.arms, points).pick(
        good
    )


def settle(flips: Flips, means: Floats, arm: int) -> Floats | None:
    """Put `arm` just across the threshold of all means; None if this does not flip it.

    This is repeated twice, because the threshold may move with the arm.
    """
    own = float(flips.divergence.means[arm])
    means = means.copy()
    is_out = flips.way == OUT
    low, high = flips.divergence.support
    for _ in range(3):
        theta = robust.threshold(means, flips.factor)
        room = NUDGE * abs(theta - own) + 4 * float(np.spacing(max(abs(theta), abs(own))))
        means[arm] = min(own, theta - room) if is_out else max(own, theta + room)
        if not low <= means[arm] <= high:
            return None
        if bool(beyond(means, flips.factor, Side.HIGH)[arm]) != is_out:
            return means if flips.is_wrong(means) else None
    return None


def assign(flips: Flips, weights: Floats, arms: Ints, points: Floats) -> Ranges:
    """A place for each arm, with the right counts, guided by the multipliers."""
    places = places_at(flips, weights, points)
    y, z = points[:, 2:3], points[:, 3:4]
    rows, n = np.arange(arms.size), places.shape[2]
    kinds = places[:, [LOW_KEEN, LOW, HIGH, HIGH_KEEN]].copy()
    kinds[rows, :, arms] = places[rows, OWN:, arms]
    low_keen, low, high, high_keen = kinds.transpose(1, 0, 2)
    below, above = np.minimum(low_keen - z, low), np.minimum(high, high_keen - z)
    on_median = places[:, ON_MEDIAN] - np.minimum(below, above - y)
    if flips.way != OUT:
        on_median[rows, arms] = np.inf
    middle = on_median.argmin(axis=1)
    is_high = _least(above - below, middle, flips.rank - 1)
    keen = np.where(is_high, high_keen - high, low_keen - low)
    is_keen = _least(keen, middle, flips.rank if flips.way == OUT else n - flips.rank)
    return _ranges(flips, is_high, is_keen, middle, arms)


def _least(values: Floats, middle: Ints, count: int) -> Flags:
    """The `count` arms of each row with the least values, not counting that on the median."""
    values = values.copy()
    values[np.arange(len(values)), middle] = np.inf
    ranks = np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1, kind="stable")
    found: Flags = ranks < count
    return found


def _ranges(flips: Flips, is_high: Flags, is_keen: Flags, middle: Ints, arms: Ints) -> Ranges:
    rows = np.arange(len(arms))
    low = np.where(is_high, 0.0, -math.inf)
    high = np.where(is_high, math.inf, 0.0)
    if flips.way == OUT:
        low[is_high & is_keen] = 1.0
        high[~is_high & is_keen] = -1.0
        high[rows, arms] = np.minimum(high[rows, arms], flips.factor)
    else:
        high[is_high & is_keen] = 1.0
        low[~is_high & is_keen] = -1.0
        low[rows, arms] = np.maximum(low[rows, arms], flips.factor)
    low[rows, middle] = high[rows, middle] = 0.0
    return Ranges(low, high)


def polish(
    flips: Flips, weights: Floats, ranges: Ranges, m: Floats, d: Floats
) -> tuple[Floats, Floats]:
    """The best (M, d) for arms in these ranges, by Newton's method with shortened steps."""
    means = flips.divergence.means

    def price(m: Floats, d: Floats) -> Floats:
        found: Floats = flips.divergence.cost(ranges.nearest(means, m, d)) @ weights
        return found[:, None]

    best, length = price(m, d), np.ones_like(m)
    for _ in range(POLISH_STEPS):
        step_m, step_d = _newton_step(flips, weights, ranges, m, d)
        there = m + length * step_m, np.maximum(d + length * step_d, 0.0)
        cost = price(*there)
        better = cost < best
        m, d = np.where(better, there[0], m), np.where(better, there[1], d)
        best, length = np.minimum(best, cost), np.where(better, 1.0, length / 4)
    return m, d


def _newton_step(
    flips: Flips, weights: Floats, ranges: Ranges, m: Floats, d: Floats
) -> tuple[Floats, Floats]:
    """With slope over distance in place of the curvature, which is never negative."""
    means = flips.divergence.means
    there = ranges.nearest(means, m, d)
    moved = there != means
    lever = np.where(moved, np.where(there > means, ranges.low, ranges.high), 0.0)
    low, high = flips.divergence.support
    inside = np.clip(there, low + 1e-12, high - 1e-12) if math.isfinite(low) else there
    slope = np.where(moved, weights * flips.divergence.slope(inside), 0.0)
    bend = slope / np.where(moved, there - means, 1.0)

    def total(values: Floats) -> Floats:
        found: Floats = values.sum(axis=1, keepdims=True)
        return found

    g, h = total(slope), total(slope * lever)
    a, b, c = total(bend) * (1 + 1e-9), total(bend * lever), total(bend * lever**2) * (1 + 1e-9)
    size = a * c - b * b
    with np.errstate(divide="ignore", invalid="ignore"):
        step = (b * h - c * g) / size, (b * g - a * h) / size
    good = np.isfinite(step[0]) & np.isfinite(step[1])
    return np.where(good, step[0], 0.0), np.where(good, step[1], 0.0)


def beyond(means: Floats, factor: float, side: Side) -> Flags:
    """The outliers without an allowance for rounding: alternatives may be arbitrarily near."""
    theta = robust.threshold(means, factor, side)
    found: Flags = means > theta if side is Side.HIGH else means < theta
    return found
