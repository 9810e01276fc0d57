"""The least favourable populations with a median and a MAD from a box.

A *box* contains all means with a median from `low` to `high` and a MAD of at least `mad` (up) or at
most `mad` (down). The histograms of such means form a convex set. Its population P' nearest to the
estimate P gives the best bet (`standout.core.population_bet`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.estimate import Estimate
from standout.core.population_bet.law import Law
from standout.core.population_bet.sample import Group
from standout.core.population_bet.solver import Class, divergences, hardest
from standout.core.typing import Array, Flags, Floats

UP, DOWN, ANY = 1, -1, 0
"""Kinds of boxes: a MAD of at least a value, of at most a value, or any MAD."""
_CLASSES = 8
_CLASS = 1.5
"""Arms whose standard errors differ by less than this factor form one class."""
BIN = 0.25
MOST_BINS = 280
_BATCH = 24
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Boxes:
    """One entry per box."""

    low: Floats
    high: Floats
    way: Array
    mad: Floats

    def pick(self, rows: Array | slice) -> Boxes:
        """The boxes of these rows."""
        return Boxes(self.low[rows], self.high[rows], self.way[rows], self.mad[rows])

    def points(self) -> Floats:
        """Four places for the means that move: the ends of the median and of the MAD."""
        low = np.where(np.isfinite(self.low), self.low, self.high)
        high = np.where(np.isfinite(self.high), self.high, self.low)
        mad = np.where(self.way == ANY, 0.0, self.mad)
        left = np.where(self.way == DOWN, low - mad, high - mad)
        right = np.where(self.way == DOWN, high + mad, low + mad)
        return np.stack([low, high, left, right], axis=1)

    def sets(self, means: Floats) -> Floats:
        """Whether means count as high, low, and far (near, if down): (boxes, 3, means)."""
        slip = _TINY * (1.0 + np.abs(means))
        low, high, mad = self.low[:, None], self.high[:, None], self.mad[:, None]
        way = self.way[:, None]
        with np.errstate(invalid="ignore"):
            is_far = (means <= high - mad + slip) | (means >= low + mad - slip)
            is_near = (means >= low - mad - slip) & (means <= high + mad + slip)
        keen = np.where(way == UP, is_far, np.where(way == DOWN, is_near, True))
        found: Floats = np.stack([means >= low - slip, means <= high + slip, keen], axis=1).astype(
            np.float64
        )
        return found


@dataclass(frozen=True, eq=False)
class Rivals:
    """The least favourable population of each box: its weights per class, and its divergence."""

    boxes: Boxes
    points: Floats
    weights: list[Floats]
    nats: Floats
    """Expected evidence of all arms together against it, in nats"""


class Solver:
    """Finds the rivals of an estimate, for given groups of arms."""

    def __init__(self, found: Estimate, groups: list[Group]) -> None:
        self.estimate = found
        self.n_arms = sum(len(group.arms) for group in groups)
        laws, shares, self.class_of = _classes(groups)
        self.laws, self.shares = laws, shares
        self.bins = [bins_of(found, law, BIN, MOST_BINS) for law in laws]
        self.cells = [
            cell_masses(found.edges, law, edges) for law, edges in zip(laws, self.bins, strict=True)
        ]
        self.targets = [cells @ found.masses for cells in self.cells]

    def solve(self, boxes: Boxes, gap: float = 0.03) -> Rivals:
        """The rivals, within `gap` nats (of all arms together) of the optimum."""
        count = len(boxes.low)
        points = np.empty((count, 4))
        weights = [np.empty((count, len(self.estimate.masses) + 4)) for _ in self.laws]
        nats = np.empty(count)
        for first in range(0, count, _BATCH):
            rows = slice(first, min(first + _BATCH, count))
            points[rows], found, nats[rows] = self._solve(boxes.pick(rows), gap)
            for all_, some in zip(weights, found, strict=True):
                all_[rows] = some
        return Rivals(boxes, points, weights, nats)

    def _solve(self, boxes: Boxes, gap: float) -> tuple[Floats, list[Floats], Floats]:
        law = self.estimate.law
        points = law.uneven(law.even(boxes.points()))
        middle = 0.5 * (self.estimate.edges[1:] + self.estimate.edges[:-1])
        means = np.concatenate([np.tile(middle, (len(points), 1)), points], axis=1)
        sets = _each(boxes, means)
        start, is_possible, is_partial = _start(sets, self.estimate.masses)
        needed = np.where(is_partial[:, None], 0.47, np.full((len(points), 3), 0.5 - 1e-7))
        needed[boxes.way == ANY, 2] = 0.4
        needed[~is_possible] = -1.0
        classes = []
        for law_, share, edges, cells, target in zip(
            self.laws, self.shares, self.bins, self.cells, self.targets, strict=True
        ):
            own = law_.masses(points.ravel(), edges).reshape(len(points), 4, -1)
            own = np.maximum(own, 1e-14).transpose(0, 2, 1)
            classes.append(Class(share, target, np.maximum(cells, 1e-14), own, sets))
        weights = hardest(classes, needed, [start] * len(classes), gap / self.n_arms)
        nats = np.where(is_possible, self.n_arms * divergences(classes, weights), np.inf)
        return points, weights, nats


def _each(boxes: Boxes, means: Floats) -> Floats:
    """As `Boxes.sets`, with one row of means for each box."""
    return np.concatenate(
        [boxes.pick(slice(i, i + 1)).sets(means[i]) for i in range(len(means))], axis=0
    )


def _start(sets: Floats, masses: Floats) -> tuple[Floats, Flags, Flags]:
    """Weights with more than half in each set, whether they exist, and whether only just."""
    high, low, keen = sets[:, 0], sets[:, 1], sets[:, 2]
    kinds = [high * low * keen, high * keen, low * keen, high * low]
    size = np.stack([kind.sum(axis=1, keepdims=True) for kind in kinds])
    inside, right, left, middle = size > 0
    even = [kind / np.maximum(some, 1.0) for kind, some in zip(kinds, size, strict=True)]
    one = np.where(right, even[1], even[2])
    is_both = right & left & middle
    is_partial = (right | left) & middle & ~is_both & ~inside
    spread = 0.36 * even[1] + 0.36 * even[2] + 0.28 * even[3]
    spread = np.where(inside, even[0], np.where(is_both, spread, 0.5 * one + 0.5 * even[3]))
    base = np.full(sets.shape[2], 1.0 / sets.shape[2])
    base[: len(masses)] = 0.5 * masses + 0.5 / len(masses)
    part = np.where(is_partial, 0.02, 0.1)
    weights = (1.0 - part) * spread + part * base / base.sum()
    weights /= weights.sum(axis=1, keepdims=True)
    return weights, (inside | is_both | is_partial)[:, 0], is_partial[:, 0]


def _classes(groups: list[Group]) -> tuple[list[Law], list[float], list[int]]:
    """One law per class of similar standard errors, the class's share, and each group's class."""
    errors = np.array([group.law.error() for group in groups])
    sizes = np.array([len(group.arms) for group in groups], dtype=np.float64)
    ratio = max(_CLASS, float((errors.max() / errors.min()) ** (1.0 / _CLASSES)) + 1e-9)
    number = np.floor(np.log(errors / errors.min()) / np.log(ratio) + 1e-9).astype(int)
    used, place = np.unique(number, return_inverse=True)
    laws, shares = [], []
    for j in range(len(used)):
        rows = np.flatnonzero(place == j)
        order = rows[np.argsort(errors[rows])]
        below = np.cumsum(sizes[order])
        laws.append(groups[int(order[np.searchsorted(below, below[-1] / 2)])].law)
        shares.append(float(sizes[rows].sum() / sizes.sum()))
    return laws, shares, place.tolist()


def bins_of(found: Estimate, law: Law, width: float, most: int) -> Floats:
    """Edges of bins of readings, `width` standard errors wide, with at most `most` bins."""
    error = law.error()
    ends = law.even(found.edges[[0, -1]])  # r must not grow beyond: no cell bounds it there.
    count = int(np.clip((ends[1] - ends[0]) / (width * error), 8, most))
    return law.edges(np.linspace(ends[0], ends[1], count + 1))


def cell_masses(edges: Floats, law: Law, bins: Floats) -> Floats:
    """Masses of the bins, averaged over the means of a cell: (bins, cells)."""
    places = law.even(edges)
    parts = np.ceil(np.diff(places) / (0.6 * law.error())).astype(int)
    parts = np.clip(parts, 1, 64)
    owner = np.repeat(np.arange(len(parts)), parts)
    first = np.concatenate([[0], np.cumsum(parts)[:-1]])
    inside = (np.arange(len(owner)) - first[owner] + 0.5) / parts[owner]
    means = law.uneven(places[owner] + inside * np.diff(places)[owner])
    rows = np.add.reduceat(law.masses(means, bins), first, axis=0)
    found: Floats = (rows / parts[:, None]).T
    return found
