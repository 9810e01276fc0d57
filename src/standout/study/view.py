"""Everything that a dashboard or a report draws, of one moment.

The intervals are those of the stop rule, not worked out anew: an arm is decided
when its interval here lies apart from the threshold's interval here.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from standout.core.identification import arm_ends, side_interval
from standout.core.kinds import Verdict
from standout.core.robust import median
from standout.core.state import ROUNDS, SIZE, THRESHOLD, copy_state, means_of
from standout.core.typing import Codes, Ints
from standout.results import Counts, Next, StudyView, Threshold
from standout.results.interval import by_side
from standout.study.planner import take_pulls
from standout.study.progress import Changes, Progress
from standout.study.status import stated_alike
from standout.study.storage import open_tickets
from standout.study.storage.database import Connection
from standout.study.storage.stored_study import StoredStudy
from standout.study.storage.study_statements import changed_since
from standout.study.study import Study

NEXT = 10
"""How many pulls ahead a view looks."""

FIRST_PULLS = "first pulls"
UNDECIDED = "undecided"
MOVES_THRESHOLD = "moves the threshold"
OVERDUE = "overdue"


def view(study: Study, since: int | None = None) -> StudyView:
    """Look at a study; costs O(arms), whatever the number of rewards."""
    created = study.created
    with study._reading() as (connection, now):
        stored = study._stored
        progress = stored.progress
        expired = open_tickets.count_overdue.number(connection, stored.key, now)
        verdict = np.where(progress.certified != 0, progress.certified, progress.state.verdict)
        return StudyView(
            name=study.name,
            created=created,
            seq=progress.totals.seq,
            names=progress.arms,
            **_arrays(progress),
            verdict=verdict,
            **_thresholds(progress),
            problem=progress.problem,
            **stated_alike(progress),
            counts=_counts(progress, verdict, expired),
            stopped_at=progress.stopped_at,
            note=study._note(),
            next=_next(connection, stored, now, expired),
            positions=_changed(connection, stored, since),
        )


def _arrays(progress: Progress) -> dict[str, Any]:
    state = progress.state
    lower, upper = arm_ends(state)
    return {
        "estimate": means_of(state),
        "lower": lower,
        "upper": upper,
        "pulls": state.pulls.copy(),
        "pending": progress.pending.copy(),
    }


def _thresholds(progress: Progress) -> dict[str, Any]:
    state = progress.state
    known, sign = state.counters[ROUNDS] > 0, state.signs[0]
    measured = state.omega[: state.sampled[SIZE]]
    measured = measured[state.pulls[measured] > 0] if known else measured[:0]

    def estimate(side: int) -> float:
        return float(state.signs[side] * state.bounds[side, THRESHOLD]) if known else math.nan

    def threshold(side: int) -> Threshold:
        ends = side_interval(state, side)
        return Threshold(ends.lower, ends.upper, estimate(side))

    return {
        **by_side([threshold(side) for side in range(len(state.signs))]),
        "median": float(sign * median(state.estimate[0, measured])) if len(measured) else math.nan,
    }


def _counts(progress: Progress, verdict: Codes, expired: int) -> Counts:
    undecided, normal, outliers = np.bincount(verdict, minlength=len(Verdict)).tolist()
    return Counts(
        arms=len(progress.arms),
        pulls=progress.totals.pulls,
        pending=progress.out,
        expired=expired,
        surplus=progress.totals.surplus,
        rounds=int(progress.state.counters[ROUNDS]),
        outliers=outliers,
        normal=normal,
        undecided=undecided,
    )


def _changed(connection: Connection, stored: StoredStudy, since: int | None) -> Ints | None:
    # A `since` from the future belongs to another copy of the database.
    if since is None or since > stored.progress.totals.seq:
        return None
    return np.sort(np.array(changed_since.column(connection, stored.key, since), dtype=np.int64))


def _next(
    connection: Connection, stored: StoredStudy, now: float, expired: int
) -> tuple[Next, ...]:
    """What asking for the next pulls would give now: asked of a copy, so that nothing moves."""
    progress = stored.progress
    if progress.is_stopped:
        return ()
    wanted: Counter[tuple[int, str]] = Counter()
    if expired:
        rows = open_tickets.first_overdue(connection, stored.key, now, NEXT)
        wanted.update((arm, OVERDUE) for _, arm, *_ in rows if arm not in progress.paused)
    for _, arm in take_pulls(_twin(progress), NEXT - wanted.total()):
        wanted[arm, _why(progress, arm)] += 1
    return tuple(Next(progress.arms[arm], count, why) for (arm, why), count in wanted.items())


def _twin(progress: Progress) -> Progress:
    """A progress that may be asked and thrown away."""
    twin = copy.copy(progress)
    twin.state = copy_state(progress.state)
    twin.rng = copy.deepcopy(progress.rng)
    twin.pending = progress.pending.copy()
    twin.held = progress.held.copy()
    twin.totals = replace(progress.totals)
    twin.changes = Changes()
    twin.rounds = [
        replace(live, given=live.given.copy(), returned=list(live.returned))
        for live in progress.rounds
    ]
    return twin


def _why(progress: Progress, arm: int) -> str:
    if progress.state.counters[ROUNDS] == 0 or progress.state.pulls[arm] < progress.spec.initial:
        return FIRST_PULLS
    is_open = progress.certified[arm] == 0 and progress.state.verdict[arm] == Verdict.UNDECIDED
    return UNDECIDED if is_open else MOVES_THRESHOLD
