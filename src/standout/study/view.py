"""The data of a dashboard or a report at one moment, and the list of all studies.

The intervals are those of the stopping rule: an arm is decided when its interval here does not meet
the threshold's interval here.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from contextlib import closing
from typing import Any

import numpy as np

from standout.core.identification import arm_ends, side_interval
from standout.core.kinds import Verdict
from standout.core.robust import median
from standout.core.state import ROUNDS, SIZE, THRESHOLD, means_of
from standout.core.typing import Codes, Ints
from standout.results import Counts, Next, StudyRow, StudyView, Threshold
from standout.results.interval import by_side
from standout.study.events.state import StudyState
from standout.study.queries import overdue_arms, planned_arms, stated_alike, verdicts
from standout.study.storage.store import open_store
from standout.study.study import Study

NEXT = 10
"""The number of next pulls in a view."""

FIRST_PULLS = "first pulls"
UNDECIDED = "undecided"
MOVES_THRESHOLD = "moves the threshold"
OVERDUE = "overdue"


def view(study: Study, since: int | None = None) -> StudyView:
    """Read a study; takes O(arms), for any number of rewards."""
    with study.memory.reading() as session:
        state, now = study._state, session.now
        expired = len(overdue_arms(state, now))
        verdict = verdicts(state)
        return StudyView(
            name=study.name,
            created=study.created,
            seq=state.number,
            names=state.arms,
            **_arrays(state),
            verdict=verdict,
            **_thresholds(state),
            problem=state.problem,
            **stated_alike(state),
            counts=_counts(state, verdict, expired),
            stopped_at=state.stopped_at,
            note=study._note(),
            next=_next(state, now, expired),
            positions=_changed(state, since),
        )


def _arrays(study: StudyState) -> dict[str, Any]:
    state = study.state
    lower, upper = arm_ends(state)
    return {
        "estimate": means_of(state),
        "lower": lower,
        "upper": upper,
        "pulls": state.pulls.copy(),
        "pending": study.pending.copy(),
    }


def _thresholds(study: StudyState) -> dict[str, Any]:
    state = study.state
    known, sign = study.rounds_known > 0, state.signs[0]
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


def _counts(state: StudyState, verdict: Codes, expired: int) -> Counts:
    undecided, normal, outliers = np.bincount(verdict, minlength=len(Verdict)).tolist()
    return Counts(
        arms=len(state.arms),
        pulls=state.totals.pulls,
        pending=state.out,
        expired=expired,
        surplus=state.totals.surplus,
        rounds=state.rounds_known,
        outliers=outliers,
        normal=normal,
        undecided=undecided,
    )


def _changed(state: StudyState, since: int | None) -> Ints | None:
    # A `since` from the future belongs to another copy of the database.
    if since is None or since > state.number:
        return None
    found: Ints = np.flatnonzero(state.touched_since(since)).astype(np.int64)
    return found


def _next(state: StudyState, now: float, expired: int) -> tuple[Next, ...]:
    """The pulls that would be handed out now, computed on a copy of the state."""
    if state.is_stopped:
        return ()
    wanted: Counter[tuple[int, str]] = Counter()
    if expired:
        wanted.update((arm, OVERDUE) for arm in overdue_arms(state, now)[:NEXT])
    for arm in planned_arms(state, NEXT - wanted.total()):
        wanted[arm, _why(state, arm)] += 1
    return tuple(Next(state.arms[arm], count, why) for (arm, why), count in wanted.items())


def _why(state: StudyState, arm: int) -> str:
    core = state.state
    if core.counters[ROUNDS] == 0 or core.pulls[arm] < state.spec.initial:
        return FIRST_PULLS
    is_open = state.certified[arm] == 0 and core.verdict[arm] == Verdict.UNDECIDED
    return UNDECIDED if is_open else MOVES_THRESHOLD


def list_studies(place: str | os.PathLike[str]) -> tuple[str, list[StudyRow]]:
    """The place without a password, and its studies, oldest first; opens each of them."""
    with closing(open_store(place)) as store:
        with store.read() as session:
            names = session.names()
        return store.shown, [row_of(Study(store, key, name)) for key, name in names]


def row_of(study: Study) -> StudyRow:
    """Name, size and state of a study."""
    with study.memory.reading():
        state = study._state
        counts = np.bincount(verdicts(state), minlength=len(Verdict))
        return StudyRow(
            name=study.name,
            method=state.method.label(),
            arms=len(state.arms),
            pulls=state.totals.pulls,
            pending=state.out,
            undecided=int(counts[Verdict.UNDECIDED]),
            outliers=int(counts[Verdict.OUTLIER]),
            stopped=state.is_stopped,
            reason=state.reason,
            created=study.created,
        )
