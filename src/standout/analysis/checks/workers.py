"""Do the workers differ, and do they repeat themselves?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.analysis.checks.permutations import Reorderings, Statistic, reordered_p
from standout.analysis.checks.ranks import (
    ALPHA,
    LEEWAY,
    MORE_SPREAD,
    Arms,
    more_than_mean,
    sums_by,
    two_sided,
)
from standout.core.typing import Flags, FloatRows, Floats, Ints

MOST = 2000
"""The largest number of workers (or arms) for products of whole tables."""
FEWEST_OF_ONE = 10
"""The smallest number of rewards of a worker who is tested alone."""
MOST_NAMED = 10
SLIGHT = 0.03
"""The largest difference of workers without a warning, in standard deviations."""
_DENSE = 8
"""A row with more than one entry in this many places is multiplied as a dense row."""
_ROWS = 512
"""The number of dense rows multiplied at a time."""


@dataclass(frozen=True, eq=False)
class Workers:
    """How workers compare on the same arms."""

    p: float
    p_differ: float
    p_repeat: float
    lean: Floats
    """How much larger a worker's rewards are than others' of the same arms; NaN if alone."""
    odd: Ints
    """Workers that differ on their own, the most different first."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """One entry per arm and worker that measured it; `free` and later fields follow from these."""

    arm: Ints
    worker: Ints
    size: Floats
    of: Ints
    """The cell of each sorted reward."""
    n_workers: int
    number: Floats
    """Rewards of the cell's arm."""
    free: Floats
    """Variance of each worker's sum of scores over all reorderings."""
    seen: Flags
    """Workers that are tested alone."""
    squares: float
    """Sum of the squared entries of the covariance of these sums."""
    again: Ints
    """The cells of workers who have met the arm at least twice, as have others."""
    mean: float
    variance: float
    """Of the sum of the squared sums of scores of these cells, over all reorderings."""


def compare_workers(arms: Arms, worker: Ints, n_workers: int) -> Workers:
    """Compare the workers' rewards on the same arms; `worker` is in the log's order."""
    own = worker[arms.place]
    cells = _cells(arms, own, n_workers)
    total = sums_by(cells.of, arms.score, len(cells.arm))
    together, single = _differ(cells, total, _allowed(arms, own, cells))
    p_repeat = _repeat(cells, total, MORE_SPREAD)
    looked_at = max(1, int(np.count_nonzero(cells.seen)))
    p_differ = _differ_p(together, single)
    far = np.flatnonzero(3 * looked_at * single <= ALPHA)
    off = sums_by(own, arms.centred(arms.reward), n_workers)
    free = cells.free
    return Workers(
        p=reordered_p(
            arms, _p(p_differ, p_repeat), lambda orders: _in(orders, arms, cells), len(cells.arm)
        ),
        p_differ=p_differ,
        p_repeat=p_repeat,
        lean=np.where(free > 0, off / np.where(free > 0, free, 1.0), np.nan),
        odd=far[np.argsort(single[far], kind="stable")][:MOST_NAMED],
    )


def _cells(arms: Arms, own: Ints, n_workers: int) -> _Cells:
    pairs, of = np.unique(arms.arm * n_workers + own, return_inverse=True)
    arm, worker = pairs // n_workers, pairs % n_workers
    size = np.bincount(of).astype(np.float64)
    number = arms.number[arm].astype(np.float64)
    free = sums_by(worker, size * (1 - size / number), n_workers)
    seen = (sums_by(worker, size, n_workers) >= FEWEST_OF_ONE) & (free > 0.5)
    squares = _squares(arms, arm, worker, size, free)
    again = np.flatnonzero((size > 1) & (size < number))
    moments = _moments(arms, arm[again], size[again], number[again])
    return _Cells(arm, worker, size, of, n_workers, number, free, seen, squares, again, *moments)


def _moments(arms: Arms, arm: Ints, size: Floats, n: Floats) -> tuple[float, float]:
    """Mean and variance of the sum of the squared sums of scores of these cells."""
    mean = float((size - size**2 / n).sum())
    squares = sums_by(arm, size**2, arms.n_arms)
    own = float((size**2 - 2 * size**3 / n).sum())
    return mean, 2 * (own + float(((squares / arms.number) ** 2).sum()))


def _p(p_differ: float, p_repeat: float) -> float:
    return min(1.0, 3 * min(p_differ, p_repeat))


def _differ_p(together: float, single: Floats) -> float:
    """All workers together or, corrected for their number, one alone."""
    looked_at = max(1, int(np.count_nonzero(np.isfinite(single))))
    return min(together, looked_at * float(np.nanmin(np.append(single, 1.0))))


def _allowed(arms: Arms, own: Ints, cells: _Cells) -> Floats:
    """How much each worker's sum may differ without a warning.

    Adaptive sampling affects the rewards of a worker who came early or late.
    """
    steps = arms.centred(arms.own_order())
    steps = steps / np.sqrt(arms.sums(steps**2))[arms.arm]
    return np.abs(LEEWAY * sums_by(own, steps, cells.n_workers)) + SLIGHT * cells.free


def _differ(cells: _Cells, total: Floats, allowed: Floats) -> tuple[float, Floats]:
    """The difference of all workers together, and of each alone (NaN if not tested).

    Over all reorderings within arms, the workers' sums of scores have the covariance diag(rewards)
    - sum over arms of n_v n_w / n; `free` is its diagonal.
    """
    sums = sums_by(cells.worker, total, cells.n_workers)
    length = max(0.0, _norm(sums) - _norm(allowed))
    together = more_than_mean(length**2, float(cells.free.sum()), 2 * cells.squares)
    seen = cells.seen
    z = (np.abs(sums) - allowed) / np.sqrt(np.where(seen, cells.free, 1.0))
    return together, np.where(seen, two_sided(z), np.nan)


def _norm(values: Floats) -> float:
    return math.sqrt(float((values**2).sum()))


def _squares(arms: Arms, arm: Ints, worker: Ints, size: Floats, free: Floats) -> float:
    """Sum of the squared entries of the covariance."""
    n_workers = len(free)
    if min(arms.n_arms, n_workers) > MOST:
        # With many of both, two workers share few arms, so the diagonal dominates.
        return float((free**2).sum())
    counts = sums_by(worker, size, n_workers)
    root = size / np.sqrt(arms.number[arm])
    few = arms.n_arms < n_workers
    table = Table(worker, arm, root) if few else Table(arm, worker, root)
    product = table.product(arms.n_arms if few else n_workers)
    diagonal = counts**2 - 2 * counts * (counts - free)
    return float(diagonal.sum() + (product**2).sum())


def _repeat(cells: _Cells, total: Floats, passes: float) -> float:
    """Are one worker's rewards of one arm more alike than those of different workers?

    The statistic is the sum of a worker's scores within an arm, squared, compared with its mean
    over all reorderings. It uses only arms that a worker has measured at least twice. A variance
    larger by the factor `passes` does not count.
    """
    own = total[cells.again]
    return more_than_mean(float(own @ own) / passes, cells.mean, cells.variance)


def _in(orders: Reorderings, arms: Arms, cells: _Cells) -> Statistic:
    """How much workers differ or repeat themselves in other orders."""
    drawn = orders.drawn[cells.arm]
    usual = np.where(drawn, 0.0, orders.usual[cells.arm] * cells.size)
    root = np.where(drawn, np.sqrt(cells.size), 0.0)
    share = cells.size / cells.number
    nothing = np.zeros(cells.n_workers)
    # Arrays of this size are slower to allocate than to fill.
    normal, of_arm = np.empty(len(root)), np.empty(len(root))

    def p_of(slots: Ints) -> float:
        total = sums_by(cells.of[slots], orders.value, len(usual))
        total += usual
        if drawn.any():
            orders.rng.standard_normal(out=normal)
            np.multiply(normal, root, out=normal)
            np.take(sums_by(cells.arm, normal, arms.n_arms), cells.arm, out=of_arm, mode="clip")
            np.multiply(of_arm, share, out=of_arm)
            total += normal
            total -= of_arm
        together, single = _differ(cells, total, nothing)
        return _p(_differ_p(together, single), _repeat(cells, total, 1.0))

    return p_of


@dataclass(frozen=True, eq=False)
class Table:
    """Entries, at most one per row and column, in any order."""

    row: Ints
    column: Ints
    value: Floats

    def product(self, n_columns: int) -> FloatRows:
        """The sum over rows of the products of any two of their entries, columns by columns."""
        found = np.zeros((n_columns, n_columns))
        if len(self.row) == 0:
            return found
        _, row, sizes = np.unique(self.row, return_inverse=True, return_counts=True)
        is_full = (_DENSE * sizes > n_columns)[row]
        self._add_sparse(found, np.flatnonzero(~is_full), row)
        self._add_dense(found, np.flatnonzero(is_full), row)
        return found

    def _add_sparse(self, found: FloatRows, entries: Ints, row: Ints) -> None:
        """Each entry with itself, with the next one of its row, with the one after that."""
        entries = entries[np.argsort(row[entries], kind="stable")]
        first = entries
        for apart in range(len(entries)):
            first, other = first[: len(entries) - apart], entries[apart:]
            together = row[first] == row[other]
            if not together.any():
                return
            one, two = first[together], other[together]
            products = self.value[one] * self.value[two]
            np.add.at(found, (self.column[one], self.column[two]), products)
            if apart:
                np.add.at(found, (self.column[two], self.column[one]), products)

    def _add_dense(self, found: FloatRows, entries: Ints, row: Ints) -> None:
        rows, place = np.unique(row[entries], return_inverse=True)
        for start in range(0, len(rows), _ROWS):
            mine = (place >= start) & (place < start + _ROWS)
            block = np.zeros((min(_ROWS, len(rows) - start), len(found)))
            block[place[mine] - start, self.column[entries[mine]]] = self.value[entries[mine]]
            found += block.T @ block
