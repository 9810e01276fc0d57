"""The state of the crossing bet, in named arrays.

The stages and the batches define the bet. The tables are computed from them when they are needed,
so they need not be stored: all zeros means "not computed yet".
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
    """The stages, batches and tables of the crossing bet; empty without a crossing bet.

    `begun` stages have begun and `ended` of them are over; the next one begins at `due` pulls.
    These arrays have one entry. At the end of each of its `batches` an arm had `batch_pulls`
    rewards, with the sum `batch_sums` (less the origin) and the sum of squares `batch_squares`.
    Stage s counts from batch `first[s]` on. `is_normal` marks arms that are proved not to be
    outliers on a side.

    Tables: the stage's grid of an arm is `low + j * step`, relative to the arm's origin.
    `settled_low[s, a, j]` is the evidence of the first `included` complete batches that point j is
    too low for the mean; `settled_high` that it is too high. `too_low` and `too_high` add the open
    batch, for the stage in use, as of `seen` (stage, pulls, sum). `least_low` and `least_high` are
    their minima over blocks. `cells` are the cells of a box, `uppers` and `lowers` the ranges of
    their ends.
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
"""The arrays that are not computed from others."""


def new_crossing(n_arms: int, sides: int, has_room: bool, has_squares: bool) -> Crossing:
    """The state before the first stage, with room for batches and tables if `has_room`."""
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
    """End the stages that have begun, because the question or the rewards have changed.

    Their share of delta is spent. The next stage, if any is left, begins in the next round.
    """
    if crossing.begun[0] > 0:
        crossing.ended[0] = crossing.begun[0]
        crossing.due[0] = 0.0
    for name, values in crossing.arrays().items():
        if name not in ("begun", "ended", "due"):
            values[...] = 0
