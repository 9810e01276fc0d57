"""Do the workers differ, and do they repeat themselves?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from standout.core.typing import Floats, Ints
from standout.report.checks import (
    ALPHA,
    LEEWAY,
    MORE_SPREAD,
    Arms,
    more_than_mean,
    sums_by,
    two_sided,
)

MOST = 2000
"""Workers (or arms) up to which products of whole tables are worked out."""
FEWEST_OF_ONE = 10
"""Rewards a worker must have told to be looked at alone."""
MOST_NAMED = 10
SLIGHT = 0.03
"""Standard deviations by which workers may differ without a warning."""


@dataclass(frozen=True, eq=False)
class Workers:
    """How workers compare on the same arms."""

    p: float
    p_differ: float
    p_repeat: float
    lean: Floats
    """How much larger a worker's rewards are than the others' of the same arms; NaN if alone."""
    odd: Ints
    """Workers that stand apart by themselves, the farthest first."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """One entry per arm and worker that met: how often, and the sum of the scores."""

    arm: Ints
    worker: Ints
    size: Floats
    total: Floats
    n_workers: int

    def by_worker(self, values: Floats) -> Floats:
        return sums_by(self.worker, values, self.n_workers)


def compare_workers(arms: Arms, worker: Ints, n_workers: int) -> Workers:
    """Compare the workers' rewards on the same arms; `worker` is in the log's order."""
    own = worker[arms.place]
    pairs, which = np.unique(arms.arm * n_workers + own, return_inverse=True)
    cells = _Cells(
        pairs // n_workers,
        pairs % n_workers,
        np.bincount(which).astype(np.float64),
        sums_by(which, arms.score, len(pairs)),
        n_workers,
    )
    free = cells.by_worker(cells.size * (1 - cells.size / arms.number[cells.arm]))
    together, single = _differ(arms, own, cells, free)
    looked_at = max(1, int(np.count_nonzero(np.isfinite(single))))
    p_differ = min(together, looked_at * float(np.nanmin(np.append(single, 1.0))))
    p_repeat = _repeat(arms, cells)
    far = np.flatnonzero(3 * looked_at * single <= ALPHA)
    off = sums_by(own, arms.centred(arms.reward), n_workers)
    return Workers(
        p=min(1.0, 3 * min(p_differ, p_repeat)),
        p_differ=p_differ,
        p_repeat=p_repeat,
        lean=np.where(free > 0, off / np.where(free > 0, free, 1.0), np.nan),
        odd=far[np.argsort(single[far], kind="stable")][:MOST_NAMED],
    )


def _differ(arms: Arms, own: Ints, cells: _Cells, free: Floats) -> tuple[float, Floats]:
    """All workers together, and each alone (NaN for one that is not looked at).

    Over all reorderings within arms, the workers' sums of scores have the
    covariance diag(rewards) - sum over arms of n_v n_w / n; `free` is its diagonal.
    """
    sums = cells.by_worker(cells.total)
    # A worker who came early or late sees what adaptive pulling does to those rewards.
    steps = arms.centred(arms.own_order())
    steps = steps / np.sqrt(arms.sums(steps**2))[arms.arm]
    room = LEEWAY * sums_by(own, steps, cells.n_workers)
    allowed = np.abs(room) + SLIGHT * free
    length = max(0.0, _norm(sums) - _norm(allowed))
    together = more_than_mean(length**2, float(free.sum()), 2 * _squares(arms, cells, free))
    seen = (cells.by_worker(cells.size) >= FEWEST_OF_ONE) & (free > 0.5)
    z = (np.abs(sums) - allowed) / np.sqrt(np.where(seen, free, 1.0))
    return together, np.where(seen, two_sided(z), np.nan)


def _norm(values: Floats) -> float:
    return math.sqrt(float((values**2).sum()))


def _squares(arms: Arms, cells: _Cells, free: Floats) -> float:
    """Sum of the squared entries of the covariance."""
    if min(arms.n_arms, cells.n_workers) > MOST:
        # With so many of both, two workers hardly share arms: the diagonal is nearly all.
        return float((free**2).sum())
    counts = cells.by_worker(cells.size)
    root = cells.size / np.sqrt(arms.number[cells.arm])
    shape = (arms.n_arms, cells.n_workers)
    table = csr_array((root, (cells.arm, cells.worker)), shape=shape)
    product = table @ table.T if arms.n_arms < cells.n_workers else table.T @ table
    diagonal = counts**2 - 2 * counts * (counts - free)
    return float(diagonal.sum() + (product.data**2).sum())


def _repeat(arms: Arms, cells: _Cells) -> float:
    """Are one worker's rewards of one arm more alike than those of different workers?

    Sums of a worker's scores within an arm, squared, against their mean over
    all reorderings; only where a worker has met an arm at least twice.
    """
    n = arms.number[cells.arm].astype(np.float64)
    again = (cells.size > 1) & (cells.size < n)
    size, n, total, arm = cells.size[again], n[again], cells.total[again], cells.arm[again]
    mean = float((size - size**2 / n).sum())
    squares = sums_by(arm, size**2, arms.n_arms)
    own = float((size**2 - 2 * size**3 / n).sum())
    variance = 2 * (own + float(((squares / arms.number) ** 2).sum()))
    return more_than_mean(float((total**2).sum()) / MORE_SPREAD, mean, variance)
