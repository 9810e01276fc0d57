"""Branch and bound over (median, MAD): a proof that every other answer costs at least a target."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from standout.core.state import Y, Z
from standout.core.typing import Flags, Floats, Ints
from standout.theory.alternatives import Starts, find_alternatives, join_starts
from standout.theory.boxes import (
    CORNERS,
    TARGET,
    Flips,
    bound_boxes,
    centres_of,
    places_at,
    places_of_boxes,
    split,
)

BATCH = 128
HALVINGS = 6
"""Halvings of the first box before any bound, because large boxes prove nothing."""
PATIENCE = 400
"""The number of boxes after which a successful search ends."""
NARROW = 1e-9
"""The smallest width of a box to halve, in units of the means."""
NEAR = 1.2 * TARGET
"""Alternatives up to this cost are also returned, for the next search."""
CLOSE = 0.15 * TARGET
"""An alternative may cost so much more than the bound in the middle of its box."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Boxes with their multipliers, the arms that can still be flipped, and a bound."""

    boxes: Floats
    """Columns: M low, M high, d low, d high, y, z"""
    alive: Flags
    bound: Floats

    def pick(self, rows: Ints | Flags) -> Nodes:
        """Those at `rows`, by number or by flag, in that order."""
        return Nodes(self.boxes[rows], self.alive[rows], self.bound[rows])


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
    scaled = weights * (TARGET / target)
    nodes = roots(flips)
    found = Found()
    done = 0
    while len(nodes.boxes) and done < (PATIENCE if found.is_refuted else most):
        order = np.argsort(nodes.bound, kind="stable")
        now, later = nodes.pick(order[:BATCH]), nodes.pick(order[BATCH:])
        done += len(now.boxes)
        now = _evaluate(flips, scaled, now, found)
        halves = [Nodes(half, now.alive, now.bound) for half in split(now.boxes)]
        nodes = _join([later, *halves])
    found.is_proved = not found.is_refuted and not len(nodes.boxes)
    return found


def revisit(flips: Flips, weights: Floats, target: float, starts: Starts) -> Found:
    """Search again from known starting points with other weights; proves nothing."""
    scaled = weights * (TARGET / target)
    found = Found()
    boxes = np.ascontiguousarray(starts.points[:, [0, 0, 1, 1, 2, 3]])
    alive = starts.arms[:, None] == np.arange(len(weights))
    places = places_at(flips, scaled, starts.points)[None]
    bound_boxes(flips.state, flips.way, 0, places, boxes, alive, np.zeros((len(boxes), 3)))
    points = np.concatenate([starts.points[:, :2], boxes[:, 4:]], axis=1)
    for rounds in (2, 0):
        _keep(flips, scaled, Starts(starts.arms, points), rounds, found)
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
            (m0, m1, d0, d1, 0.0, 0.0)
            for m0, m1 in itertools.pairwise(m_edges)
            for d0, d1 in itertools.pairwise(d_edges)
        ]
    )
    is_finite = np.isfinite(boxes).all(axis=1)
    small = boxes[is_finite]
    for _ in range(HALVINGS):
        small = np.concatenate(split(small))
    boxes = np.concatenate([boxes[~is_finite], small])
    return Nodes(boxes, np.tile(flips.may_flip, (len(boxes), 1)), np.zeros(len(boxes)))


def _join(parts: list[Nodes]) -> Nodes:
    columns = zip(*((p.boxes, p.alive, p.bound) for p in parts), strict=True)
    boxes, alive, bound = (np.concatenate(column) for column in columns)
    return Nodes(boxes, alive, bound)


def _evaluate(flips: Flips, scaled: Floats, nodes: Nodes, found: Found) -> Nodes:
    """The boxes that may still hold a cheap flip, with their bounds; alternatives are noted."""
    places = places_of_boxes(flips, scaled, nodes.boxes)
    boxes, alive, bounds = nodes.boxes.copy(), nodes.alive.copy(), np.zeros((len(nodes.boxes), 3))
    bound_boxes(flips.state, flips.way, 0, places, boxes, alive, bounds)
    rows = np.flatnonzero(alive.any(axis=1))
    _note(flips, scaled, boxes[rows], bounds[rows], found)
    # At the end of the support a cost is infinite on one side of a line only. There the middle's
    # multipliers may be useless, even in a box that is too small to halve.
    narrow = rows[np.max(boxes[rows, 1:4:2] - boxes[rows, 0:4:2], axis=1, initial=0) < NARROW]
    for corner in range(1, 1 + len(CORNERS)) if narrow.size else ():
        few, still = boxes[narrow], alive[narrow]
        there = np.ascontiguousarray(places[:, narrow])
        bound_boxes(flips.state, flips.way, corner, there, few, still, bounds[narrow])
        alive[narrow] = still
    rows = np.flatnonzero(alive.any(axis=1))
    return Nodes(boxes[rows], alive[rows], np.maximum(bounds[rows, 0], nodes.bound[rows]))


def _note(flips: Flips, scaled: Floats, boxes: Floats, bounds: Floats, found: Found) -> None:
    """Compute alternatives where each arm looks cheapest."""
    order = np.argsort(bounds[:, 2], kind="stable")
    order = order[bounds[order, 2] < NEAR + CLOSE]
    if not order.size:
        return
    points = np.concatenate([centres_of(boxes), boxes[:, [Y, Z]]], axis=1)
    starts = Starts(bounds[:, 1].astype(np.int64), points)
    _, first = np.unique(starts.arms[order], return_index=True)
    _keep(flips, scaled, starts.pick(order[first]), 2, found)
    _keep(flips, scaled, starts.pick(order), 0, found)


def _keep(flips: Flips, scaled: Floats, starts: Starts, rounds: int, found: Found) -> None:
    """Keep cheap and new alternatives."""
    means, starts = find_alternatives(flips, scaled, starts, rounds)
    if not len(means):
        return
    costs = flips.divergence.cost(means) @ scaled
    for row in np.flatnonzero(costs < NEAR):
        key = int(starts.arms[row]), round(float(costs[row]) / TARGET, 4)
        if key not in found.seen:
            found.seen.add(key)
            found.means.append(means[row])
            found.starts.append(starts.pick(np.array([row])))
            found.is_refuted |= bool(costs[row] < TARGET)


def latest(starts: list[Starts]) -> Starts | None:
    """One batch of the last starts."""
    return join_starts(starts[-BATCH:]) if starts else None
