"""What the crossing bet keeps of a run, in arrays with names.

The stages and the batches are the bet itself. The tables follow from them and are filled in when
they are needed, so that they may be left out of what is stored: all zeros means "not yet".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.compile import Struct
from standout.core.typing import FlagRows, FloatBlocks, FloatRows, Floats, IntRows, Ints

STAGES = 3
"""The number of bets that begin one after the other, each with a share of delta."""
POINTS = 512
"""Points of each arm's grid; a power of two."""
MOST_BATCHES = 256
"""The largest number of batches of an arm. The last one stays open."""
BLOCK, WIDE_BLOCK = 8, 64
"""Points that share a minimum, for ranges of many points."""
CELLS = 24
"""Room for the cells of a box: 7 places on 3 sides of the edge."""


@dataclass(frozen=True, eq=False)
class Crossing(Struct):
    """The stages, batches and tables of the crossing bet; empty where there is none.

    `begun` stages have begun and `ended` of them are over; the next one begins at `due` pulls
    (entries of arrays with one entry). An arm has had `batch_pulls` rewards with the sum
    `batch_sums` (less the origin) and the squares `batch_squares` at the end of each of its
    `batches`, and stage s counts from batch `first[s]` on. `is_normal`: the arm is proved to be
    no outlier on a side.

    Tables: the stage's grid of an arm is `low + j * step`, relative to the arm's origin.
    `settled_low[s, a, j]` is the evidence of complete batches, the first `included` ones, that
    point j is too low for the mean, `settled_high` that it is too high. `too_low` and `too_high`
    are the same for the stage in use, with the open batch, as of `seen` (stage, pulls, sum);
    `least_low` and `least_high` are their minima over blocks. `cells` is what a box consists of,
    `uppers` and `lowers` are the ranges that the ends of cells are in.
    """

    begun: Ints
    ended: Ints
    due: Floats
    batches: Ints
    batch_pulls: FloatRows
    batch_sums: FloatRows
    batch_squares: FloatRows
    first: IntRows
    is_normal: FlagRows
    included: IntRows
    low: FloatRows
    step: FloatRows
    settled_low: FloatBlocks
    settled_high: FloatBlocks
    seen: FloatRows
    too_low: FloatRows
    too_high: FloatRows
    least_low: FloatRows
    least_high: FloatRows
    cells: FloatRows
    uppers: FloatRows
    lowers: FloatRows


KEPT = frozenset(
    (
        "begun", "ended", "due", "batches", "batch_pulls", "batch_sums", "batch_squares", "first",
        "is_normal",
    )
)  # fmt: skip
"""The arrays that do not follow from others."""


def new_crossing(n_arms: int, sides: int, has_room: bool, has_squares: bool) -> Crossing:
    """No stage has begun; `has_room` for batches and tables, and for squares in the batches."""
    batches = MOST_BATCHES if has_room else 0
    blocks = POINTS // BLOCK + POINTS // WIDE_BLOCK
    rows = n_arms if has_room else 0
    tables = (STAGES, rows, POINTS)
    return Crossing(
        begun=np.zeros(1, dtype=np.int64),
        ended=np.zeros(1, dtype=np.int64),
        due=np.zeros(1),
        batches=np.zeros(n_arms, dtype=np.int64),
        batch_pulls=np.zeros((n_arms, batches)),
        batch_sums=np.zeros((n_arms, batches)),
        batch_squares=np.zeros((n_arms, batches if has_squares else 0)),
        first=np.zeros((STAGES, n_arms), dtype=np.int64),
        is_normal=np.zeros((sides, n_arms), dtype=np.bool_),
        included=np.zeros((STAGES, rows), dtype=np.int64),
        low=np.zeros((STAGES, rows)),
        step=np.zeros((STAGES, rows)),
        settled_low=np.zeros(tables),
        settled_high=np.zeros(tables),
        seen=np.zeros((3, rows)),
        too_low=np.zeros(tables[1:]),
        too_high=np.zeros(tables[1:]),
        least_low=np.zeros((rows, blocks)),
        least_high=np.zeros((rows, blocks)),
        cells=np.zeros((CELLS, 4)),
        uppers=np.zeros((CELLS, 3)),
        lowers=np.zeros((CELLS, 3)),
    )


def end_stages(crossing: Crossing) -> None:
    """End the stages that have begun: the question or the rewards have changed.

    Their part of delta is spent. The next stage begins in the next round, if one is left.
    """
    if crossing.begun[0] > 0:
        crossing.ended[0] = crossing.begun[0]
        crossing.due[0] = 0.0
    for name, values in crossing.arrays().items():
        if name not in ("begun", "ended", "due"):
            values[...] = 0
