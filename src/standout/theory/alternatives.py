"""The cheapest means with another answer, which every method has to rule out.

All functions handle many rows at once. A row has an arm to flip, a start (M, d) and multipliers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from standout.core import robust
from standout.core.problem import Side
from standout.core.typing import Flags, Floats, Ints
from standout.theory.boxes import (
    Flips,
    cheapest,
    exact_costs,
    places,
    places_of_flipped,
    regions,
    regions_of_flipped,
)

NUDGE = 1e-7
"""The flipped arm moves this much farther than needed, as a share of its way."""
POLISH_STEPS = 10


@dataclass(frozen=True, eq=False)
class Starts:
    """Starting points: arms to flip, and columns of M, d, y and z."""

    arms: Ints
    m: Floats
    d: Floats
    y: Floats
    z: Floats

    def pick(self, rows: Ints | Flags) -> Starts:
        """Some of the rows."""
        return Starts(self.arms[rows], self.m[rows], self.d[rows], self.y[rows], self.z[rows])


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
    columns = zip(*((s.arms, s.m, s.d, s.y, s.z) for s in parts), strict=True)
    arms, m, d, y, z = (np.concatenate(column) for column in columns)
    return Starts(arms, m, d, y, z)


def find_alternatives(
    flips: Flips, weights: Floats, starts: Starts, rounds: int
) -> tuple[Floats, Starts]:
    """Means that flip each arm, and their starting points.

    After two `rounds` they are close to the cheapest; with 0 they keep the M and d of the start.
    Means whose answer is unchanged are omitted.
    """
    for _ in range(rounds):
        m, d = polish(flips, weights, assign(flips, weights, starts), starts.m, starts.d)
        starts = replace(starts, m=m, d=d)
    ranges = assign(flips, weights, starts)
    rows = ranges.nearest(flips.divergence.means, starts.m, starts.d)
    settled = [settle(flips, row, int(arm)) for row, arm in zip(rows, starts.arms, strict=True)]
    good = np.array([row is not None for row in settled], dtype=np.bool_)
    found = [row for row in settled if row is not None]
    return np.array(found).reshape(len(found), rows.shape[1]), starts.pick(good)


def settle(flips: Flips, means: Floats, arm: int) -> Floats | None:
    """Put `arm` just across the threshold of all means; None if this does not flip it.

    This is repeated twice, because the threshold may move with the arm.
    """
    own = float(flips.divergence.means[arm])
    means = means.copy()
    is_out = bool(flips.answer[arm])
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


def assign(flips: Flips, weights: Floats, starts: Starts) -> Ranges:
    """A region for each arm, with the right counts, guided by the multipliers."""
    rows = np.arange(starts.arms.size)
    own = rows, starts.arms
    costs = exact_costs(flips, weights, np.concatenate([starts.m, starts.d], axis=1))
    kinds = np.stack(regions(costs))
    at_mid, at_side = places(costs, starts.y)
    kinds[:, rows, starts.arms] = np.stack(regions_of_flipped(flips, costs))[:, rows, starts.arms]
    for place, flipped in zip(
        (at_mid, at_side), places_of_flipped(flips, costs, starts.y), strict=True
    ):
        place[own] = flipped[own]
    base = cheapest((kinds[0], kinds[1], kinds[2], kinds[3]), starts.y, starts.z)
    p, q = _cheapest_pair(at_mid - base, at_side - base)
    right = costs.up_right + costs.down_right - starts.y
    # Below M + d the edge is out of reach from S, unless both are M.
    right[own] += np.where(flips.answer[starts.arms] & (flips.factor < 1), math.inf, 0.0)
    q_is_high = (right <= costs.up_left + costs.down_left)[rows, q]
    labels = _label(kinds, starts.z, p, q, q_is_high, flips.rank)
    return _ranges(flips, labels, p, q, q_is_high, starts.arms)


def _cheapest_pair(p: Floats, q: Floats) -> tuple[Ints, Ints]:
    """For each row the arms a != b with the least p_a + q_b."""
    rows = np.arange(len(p))
    first_p, first_q = (np.argsort(x, axis=1, kind="stable")[:, :2] for x in (p, q))
    best = np.full(len(p), np.inf)
    a, b = first_p[:, 0].copy(), first_q[:, 1].copy()
    for s in range(2):
        for t in range(2):
            i, j = first_p[:, s], first_q[:, t]
            value = np.where(i == j, np.inf, p[rows, i] + q[rows, j])
            better = value < best
            a, b = np.where(better, i, a), np.where(better, j, b)
            best = np.minimum(best, value)
    return a, b


def _label(kinds: Floats, z: Floats, p: Ints, q: Ints, q_is_high: Flags, r: int) -> Ints:
    """0 to 3 for each arm but p and q: low-outer, low-inner, high-inner, high-outer."""
    lo, li, hi, ho = kinds
    rows = np.arange(len(p))

    def least(values: Floats, count: Ints) -> Flags:
        # Of the arms but p and q, the `count` with the least values.
        """The `count` arms with the smallest values."""
        values[rows, p] = values[rows, q] = np.inf
        place = np.argsort(np.argsort(values, axis=1, kind="stable"), axis=1, kind="stable")
        found: Flags = place < count[:, None]
        return found

    is_high = least(np.minimum(hi, ho - z) - np.minimum(lo - z, li), r - 1 - q_is_high)
    # p is inner and q counts as both: of the others r - 1 are outer.
    is_outer = least(np.where(is_high, ho - hi, lo - li), np.full(len(p), r - 1))
    return np.where(is_high, np.where(is_outer, 3, 2), np.where(is_outer, 0, 1))


def _ranges(flips: Flips, labels: Ints, p: Ints, q: Ints, q_is_high: Flags, arms: Ints) -> Ranges:
    rows = np.arange(len(p))
    low = np.array([-math.inf, -1.0, 0.0, 1.0])[labels]
    high = np.array([-1.0, 0.0, 1.0, math.inf])[labels]
    low[rows, p] = high[rows, p] = 0.0
    low[rows, q] = high[rows, q] = np.where(q_is_high, 1.0, -1.0)
    is_out = flips.answer[arms]
    high[rows, arms] = np.where(
        is_out, np.minimum(high[rows, arms], flips.factor), high[rows, arms]
    )
    low[rows, arms] = np.where(is_out, low[rows, arms], np.maximum(low[rows, arms], flips.factor))
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
