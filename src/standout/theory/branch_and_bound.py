"""Branch and bound over (median, MAD): a proof that every other answer costs at least a target."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from standout.core.typing import Flags, Floats, Ints
from standout.theory.alternatives import Starts, find_alternatives, join_starts
from standout.theory.boxes import (
    CORNERS,
    Flips,
    exact_costs,
    flip_bounds,
    make_lines,
    split,
)
from standout.theory.multipliers import tune

BATCH = 128
HALVINGS = 6
"""Halvings of the first box before any bound, because large boxes prove nothing."""
PATIENCE = 400
"""The number of boxes after which a successful search ends."""
CLOSE = 0.15
"""A box whose bound is this close to the bound at its middle gets better multipliers instead of
being halved."""
NARROW = 1e-9
"""The smallest width of a box to halve, in units of the means."""
NEAR = 1.2
"""Alternatives up to this multiple of the target are also returned, for the next search."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Boxes with their multipliers, the arms that can still be flipped, and a bound."""

    boxes: Floats
    y: Floats
    z: Floats
    alive: Flags
    bound: Floats

    def pick(self, rows: Ints | Flags) -> Nodes:
        """Those at `rows`, by number or by flag, in that order."""
        return Nodes(
            self.boxes[rows], self.y[rows], self.z[rows], self.alive[rows], self.bound[rows]
        )


@dataclass(eq=False)
class Found:
    """The result of a search."""

    is_proved: bool = False
    """Every flip costs at least the target"""
    is_refuted: bool = False
    """One of the alternatives costs less"""
    means: list[Floats] = field(default_factory=list)
    """Alternatives, none much more expensive than the target"""
    starts: list[Starts] = field(default_factory=list)
    """Their starting points"""
    seen: set[tuple[int, float]] = field(default_factory=set)


def search(flips: Flips, weights: Floats, target: float, most: int) -> Found:
    """Prove that all flips cost at least `target`, or find some that cost less.

    `weights` are positive, one per arm. After `most` boxes it gives up.
    """
    scaled = weights / target
    nodes = roots(flips)
    found = Found()
    done = 0
    while len(nodes.boxes) and done < (PATIENCE if found.is_refuted else most):
        order = np.argsort(nodes.bound, kind="stable")
        now, later = nodes.pick(order[:BATCH]), nodes.pick(order[BATCH:])
        done += len(now.boxes)
        now, worst, middle = _evaluate(flips, scaled, now)
        _note(flips, scaled, now, worst, middle, found)
        now = now.pick(np.flatnonzero(now.alive.any(axis=1)))
        halves = [Nodes(half, now.y, now.z, now.alive, now.bound) for half in split(now.boxes)]
        nodes = _join([later, *halves])
    found.is_proved = not found.is_refuted and not len(nodes.boxes)
    return found


def revisit(flips: Flips, weights: Floats, target: float, starts: Starts) -> Found:
    """Search again from known starting points with other weights; proves nothing."""
    scaled = weights / target
    found = Found()
    costs = exact_costs(flips, scaled, np.concatenate([starts.m, starts.d], axis=1))
    y, z = tune(flips, costs, starts.arms, starts.y, starts.z, rounds=1, spread=1)
    starts = Starts(starts.arms, starts.m, starts.d, y, z)
    for rounds in (2, 0):
        _keep(flips, scaled, starts, rounds, found)
    return found


def roots(flips: Flips) -> Nodes:
    """Boxes that together contain every (M, d)."""
    means = flips.divergence.means
    low, high = flips.divergence.support
    least, most = float(means.min()), float(means.max())
    wide = most - least
    if math.isfinite(low):
        m_edges, d_edges = [low, high], [0.0, high - low]
    else:
        m_edges = [-math.inf, least - wide, most + wide, math.inf]
        d_edges = [0.0, 2 * wide, math.inf]
    boxes = np.array(
        [
            (m0, m1, d0, d1)
            for m0, m1 in itertools.pairwise(m_edges)
            for d0, d1 in itertools.pairwise(d_edges)
        ]
    )
    is_finite = np.isfinite(boxes).all(axis=1)
    small = boxes[is_finite]
    for _ in range(HALVINGS):
        small = np.concatenate(split(small))
    boxes = np.concatenate([boxes[~is_finite], small])
    zeros = np.zeros((len(boxes), 1))
    alive = np.ones((len(boxes), means.size), dtype=np.bool_)
    return Nodes(boxes, zeros, zeros, alive, zeros[:, 0])


def _join(parts: list[Nodes]) -> Nodes:
    columns = zip(*((p.boxes, p.y, p.z, p.alive, p.bound) for p in parts), strict=True)
    boxes, y, z, alive, bound = (np.concatenate(column) for column in columns)
    return Nodes(boxes, y, z, alive, bound)


def _evaluate(flips: Flips, scaled: Floats, nodes: Nodes) -> tuple[Nodes, Ints, Floats]:
    """Bound the boxes; also each one's cheapest arm to flip and its cost in the middle."""
    nodes, worst, middle = _bound(flips, scaled, nodes, rounds=1, spread=0)
    again = np.flatnonzero(nodes.alive.any(axis=1) & (middle - nodes.bound < CLOSE))
    if again.size:
        better, worst_, middle_ = _bound(flips, scaled, nodes.pick(again), rounds=2, spread=2)
        y, z, bound = nodes.y.copy(), nodes.z.copy(), nodes.bound.copy()
        alive = nodes.alive.copy()
        y[again], z[again], alive[again] = better.y, better.z, better.alive
        bound[again], worst[again], middle[again] = better.bound, worst_, middle_
        nodes = Nodes(nodes.boxes, y, z, alive, bound)
    return _rescue(flips, scaled, nodes), worst, middle


def _rescue(flips: Flips, scaled: Floats, nodes: Nodes) -> Nodes:
    """Try the corners' multipliers for boxes that are too small to halve.

    At the end of the support a cost is infinite on one side of a line only. There the middle's
    multipliers may be useless, even in a small box.
    """
    widths = nodes.boxes[:, 1::2] - nodes.boxes[:, 0::2]
    rows = np.flatnonzero(nodes.alive.any(axis=1) & (widths.max(axis=1) < NARROW))
    if not rows.size:
        return nodes
    few = nodes.pick(rows)
    lines = make_lines(flips, scaled, few.boxes)
    corners = [lines.at(*corner) for corner in CORNERS]
    alive = few.alive
    for costs in corners:
        rough = flip_bounds(flips, costs, few.y, few.z)
        worst = np.argmin(np.where(alive, rough, np.inf), axis=1)
        y, z = tune(flips, costs, worst, few.y, few.z, rounds=3, spread=2)
        bounds = np.minimum.reduce([flip_bounds(flips, corner, y, z) for corner in corners])
        alive = alive & (bounds < 1)
    left = nodes.alive.copy()
    left[rows] = alive
    return Nodes(nodes.boxes, nodes.y, nodes.z, left, nodes.bound)


def _bound(
    flips: Flips, scaled: Floats, nodes: Nodes, *, rounds: int, spread: int
) -> tuple[Nodes, Ints, Floats]:
    costs = exact_costs(flips, scaled, _centres(nodes.boxes))
    rough = flip_bounds(flips, costs, nodes.y, nodes.z)
    worst = np.argmin(np.where(nodes.alive, rough, np.inf), axis=1)
    y, z = tune(flips, costs, worst, nodes.y, nodes.z, rounds=rounds, spread=spread)
    middle = flip_bounds(flips, costs, y, z)
    lines = make_lines(flips, scaled, nodes.boxes)
    bounds = np.minimum.reduce([flip_bounds(flips, lines.at(*c), y, z) for c in CORNERS])
    alive = nodes.alive & (bounds < 1)
    least = np.where(alive, bounds, np.inf).min(axis=1)
    worst = np.argmin(np.where(alive, middle, np.inf), axis=1)
    found = Nodes(nodes.boxes, y, z, alive, np.maximum(least, nodes.bound))
    return found, worst, middle[np.arange(len(worst)), worst]


def _centres(boxes: Floats) -> Floats:
    low, high = boxes[:, 0::2], boxes[:, 1::2]
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
    return np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, middle))


def _note(
    flips: Flips, scaled: Floats, nodes: Nodes, worst: Ints, middle: Floats, found: Found
) -> None:
    """Compute alternatives where each arm looks cheapest."""
    values = np.where(nodes.alive.any(axis=1), middle, np.inf)
    order = np.argsort(values, kind="stable")
    order = order[values[order] < NEAR + CLOSE]
    if not order.size:
        return
    centres = _centres(nodes.boxes)
    starts = Starts(worst, centres[:, :1], centres[:, 1:], nodes.y, nodes.z)
    _, first = np.unique(worst[order], return_index=True)
    _keep(flips, scaled, starts.pick(order[first]), 2, found)
    _keep(flips, scaled, starts.pick(order), 0, found)


def _keep(flips: Flips, scaled: Floats, starts: Starts, rounds: int, found: Found) -> None:
    """Keep cheap and new alternatives."""
    means, starts = find_alternatives(flips, scaled, starts, rounds)
    if not len(means):
        return
    costs = flips.divergence.cost(means) @ scaled
    for row in np.flatnonzero(costs < NEAR):
        key = int(starts.arms[row]), round(float(costs[row]), 4)
        if key not in found.seen:
            found.seen.add(key)
            found.means.append(means[row])
            found.starts.append(starts.pick(np.array([row])))
            found.is_refuted |= bool(costs[row] < 1)


def latest(starts: list[Starts]) -> Starts | None:
    """One batch of the last starts."""
    return join_starts(starts[-BATCH:]) if starts else None
