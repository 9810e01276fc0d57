"""The partition of all pairs (median, MAD) into cells with one bet each, from the pilot alone.

Columns divide the medians that are plausible by themselves. In each column, MADs above and below
the pilot's threshold are divided where a rival reaches fixed divergences, in nats (`LEVELS`). Each
bet is made for the end of its cell that is nearest to the estimate.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.bets import Regions
from standout.core.population_bet.rivals import ANY, DOWN, UP, Boxes, Solver
from standout.core.typing import Array, Floats

LEVELS = (3.0, 3.6, 4.3, 5.0, 6.0, 7.0, 8.5, 10.5, 13.0, 17.0, 22.0, 30.0, 40.0, 75.0, 140.0)
"""Nats at which bets are made: dense around the usual values of log 1/delta."""
_NEAR, _FAR, _FARTHER = 12.0, 60.0, 130.0
"""Nats against a median alone at which columns become wide, at which they end, and at which the
last, unbounded column begins."""
_COLUMN = 0.2
_MOST_COLUMNS = 24
_WIDE = 2.5
_COARSE = 11
AWAY = (0.0, 0.4, 0.9, 1.6, 2.6, 4.0, 7.0)
"""MADs at which divergences are first computed, in standard errors from the estimate."""
_REFUTED = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0, 4.0, 6.0])
_PARTS = 6
"""Number of small boxes along each side of a cell."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The partition: one cell per entry, with its medians, its MADs and its bet."""

    low: Floats
    high: Floats
    near: Floats
    """The MAD at the end that is nearer to the estimate"""
    far: Floats
    bet: Array
    """Index of the bet's box, or -1 if the cell has no bet"""
    boxes: Boxes


def error_of(solver: Solver) -> float:
    """The standard error of a typical arm near the median, in the unit of the rewards."""
    found = solver.estimate
    place = found.law.even(np.array([found.median]))
    ends = found.law.uneven(place + np.array([-0.5, 0.5]) * found.law.error())
    return float(ends[1] - ends[0])


def columns(solver: Solver) -> tuple[Floats, Floats]:
    """Edges of the columns, and the two medians beyond which the last columns begin."""
    centre, error = solver.estimate.median, error_of(solver)
    tries = np.concatenate([centre - _REFUTED[::-1] * error, centre + _REFUTED * error])
    lows = np.where(tries > centre, tries, -np.inf)
    highs = np.where(tries > centre, np.inf, tries)
    ways = np.full(len(tries), ANY)
    nats = solver.solve(Boxes(lows, highs, ways, np.zeros(len(tries)))).nats
    half = len(_REFUTED)
    steps = np.concatenate([[0.0], error * _REFUTED])
    left, right = (
        [float(np.interp(np.sqrt(level), roots, steps)) for level in (_NEAR, _FAR, _FARTHER)]
        for roots in (_roots(nats[:half][::-1]), _roots(nats[half:]))
    )
    width = max(_COLUMN * error, (left[0] + right[0]) / _MOST_COLUMNS)
    inner = np.linspace(-left[0], right[0], max(4, int(np.ceil((left[0] + right[0]) / width))) + 1)
    outer = [
        sign * _apart(ends[0], ends[1], _WIDE * width) for sign, ends in ((-1, left), (1, right))
    ]
    return (
        centre + np.unique(np.concatenate([inner, *outer])),
        np.array(
            [centre - max(left[2], left[1] + error), centre + max(right[2], right[1] + error)]
        ),
    )


def _roots(nats: Floats) -> Floats:
    """Square roots of the nats, which grow about linearly, with a 0 in front."""
    found: Floats = np.concatenate([[0.0], np.sqrt(np.maximum(nats, 0.0))])
    return np.maximum.accumulate(np.minimum(found, 1e3))


def _apart(start: float, end: float, width: float) -> Floats:
    count = max(1, int(np.ceil((end - start) / width)))
    return np.linspace(start, end, count + 1)[1:] if end > start else np.zeros(0)


def make_cells(solver: Solver, factor: float) -> Cells:
    """The partition for a threshold of median + factor * MAD."""
    edges, beyond = columns(solver)
    found, error = solver.estimate, error_of(solver)
    theta = found.median + factor * found.mad
    middle = 0.5 * (edges[1:] + edges[:-1])
    start = np.maximum((theta - middle) / factor, 0.05 * error)
    places = np.interp(np.linspace(0.0, 1.0, _COARSE), np.linspace(0.0, 1.0, len(edges)), edges)
    rows: list[tuple[float, float, float, float, int]] = []
    asked: list[tuple[float, float, int, float]] = []
    for way in (UP, DOWN):
        away = first_look(solver, way, places, (theta - places) / factor, error)
        for j, centre in enumerate(middle.tolist()):
            nats = np.array([np.interp(centre, places, column) for column in away.T])
            mads = _mads_at(nats, float(start[j]), way, error)
            ends = [float(start[j]), *mads, np.inf if way == UP else 0.0]
            first_bet = len(asked)
            asked += [(float(edges[j]), float(edges[j + 1]), way, mad) for mad in mads]
            for i in range(len(ends) - 1):
                bet = first_bet + max(i - 1, 0)  # The first bet also judges the innermost cell.
                rows.append((float(edges[j]), float(edges[j + 1]), ends[i], ends[i + 1], bet))
    outer = [-np.inf, float(beyond[0]), float(edges[0]), float(edges[-1]), float(beyond[1]), np.inf]
    for low, high in itertools.pairwise(outer):
        if low == float(edges[0]):
            continue
        rows.append((low, high, 0.0, np.inf, len(asked)))
        asked.append((low, high, ANY, 0.0))
    lows, highs, near, far, bets = (np.array(column) for column in zip(*rows, strict=True))
    boxes = Boxes(*(np.array(column) for column in zip(*asked, strict=True)))
    return Cells(lows, highs, near, far, bets.astype(int), boxes)


def first_look(solver: Solver, way: int, places: Floats, start: Floats, error: float) -> Floats:
    """Square roots of the nats against MADs at distances `AWAY` from `start`, (places, `AWAY`)."""
    away = np.array(AWAY) * error
    mads = np.maximum(start[:, None] + way * away[None, :], 0.0)
    medians = np.repeat(places, len(away))
    count = len(medians)
    boxes = Boxes(medians, medians.copy(), np.full(count, way), mads.ravel())
    nats = np.minimum(solver.solve(boxes, gap=0.3).nats, 1e4).reshape(mads.shape)
    rising: Floats = np.maximum.accumulate(np.sqrt(np.maximum(nats, 0.0)), axis=1)
    return rising


def _mads_at(roots: Floats, start: float, way: int, error: float) -> list[float]:
    """The MADs at which bets are made: from `start` outward, where the levels are reached."""
    found: list[float] = []
    for level in LEVELS:
        root = np.sqrt(level)
        if roots[0] >= root and level < LEVELS[-1]:
            continue  # The median alone is refuted at this level: try the next one.
        away = float(np.interp(root, roots, np.array(AWAY))) * error
        mad = start + way * max(away, 0.0)
        if mad <= 1e-3 * error:
            found.append(1e-3 * error)
            break
        if not found or abs(mad - found[-1]) > 1e-3 * error:
            found.append(mad)
    return found


def small_regions(cells: Cells) -> Regions:
    """The small boxes of all cells that have a bet."""
    parts: list[tuple[Array, Array, Array, Array, Array]] = []
    for low, high, near, far, bet in zip(
        cells.low, cells.high, cells.near, cells.far, cells.bet, strict=True
    ):
        if bet < 0:
            continue
        m = _cut(low, high, 2)
        d = _cut(min(near, far), max(near, far), _PARTS)
        i, j = (each.ravel() for each in np.meshgrid(range(len(m) - 1), range(len(d) - 1)))
        parts.append((np.full(len(i), bet), m[i], m[i + 1], d[j], d[j + 1]))
    bet, m1, m2, d1, d2 = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Regions(bet, m1, m2, d1, d2)


def _cut(low: float, high: float, parts: int) -> Floats:
    if not (np.isfinite(low) and np.isfinite(high)):
        return np.array([low, high])
    return np.linspace(low, high, parts + 1)
