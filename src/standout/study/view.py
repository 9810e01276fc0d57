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

from standout.core.kinds import Verdict
from standout.core.robust import median
from standout.core.state import ROUNDS, SIZE, THRESHOLD, means_of
from standout.core.typing import Codes, Ints
from standout.results import Counts, Next, StudyView, Threshold
from standout.study.desk import Changes, Desk
from standout.study.planner import take_pulls
from standout.study.storage import ticket_list
from standout.study.storage.database import Connection
from standout.study.storage.mirror import Ledger
from standout.study.storage.mirror_statements import changed_since
from standout.study.storage.packing import copy_state
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
        ledger = study._ledger
        desk = ledger.desk
        expired = ticket_list.count_overdue(connection, ledger.key, now)
        verdict = np.where(desk.certified != 0, desk.certified, desk.state.verdict)
        return StudyView(
            name=study.name,
            created=created,
            seq=desk.totals.seq,
            names=desk.arms,
            **_arrays(desk),
            verdict=verdict,
            **_thresholds(desk),
            problem=desk.problem,
            method=desk.method.label(),
            budget=desk.budget,
            counts=_counts(desk, verdict, expired),
            stopped=desk.is_stopped,
            reason=desk.reason,
            stopped_at=desk.stopped_at,
            note=study._note(),
            failures={desk.arms[i]: int(desk.failures[i]) for i in np.flatnonzero(desk.failures)},
            paused={desk.arms[i]: why for i, why in sorted(desk.paused.items())},
            next=_next(connection, ledger, now, expired),
            positions=_changed(connection, ledger, since),
        )


def _arrays(desk: Desk) -> dict[str, Any]:
    state = desk.state
    lower, upper = state.lower[0], state.upper[0]
    if state.signs[0] < 0:
        lower, upper = -upper, -lower
    return {
        "estimate": means_of(state),
        "lower": np.array(lower),
        "upper": np.array(upper),
        "pulls": state.pulls.copy(),
        "pending": desk.pending.copy(),
    }


def _thresholds(desk: Desk) -> dict[str, Any]:
    state = desk.state
    known, sign = state.counters[ROUNDS] > 0, state.signs[0]
    has_both = len(state.signs) > 1
    measured = state.omega[: state.sampled[SIZE]]
    measured = measured[state.pulls[measured] > 0] if known else measured[:0]

    def estimate(side: int) -> float:
        return float(state.signs[side] * state.bounds[side, THRESHOLD]) if known else math.nan

    def threshold(side: int) -> Threshold:
        ends = desk.threshold(side)
        return Threshold(ends.lower, ends.upper, estimate(side))

    return {
        "threshold": threshold(0),
        "threshold_low": threshold(1) if has_both else None,
        "median": float(sign * median(state.estimate[0, measured])) if len(measured) else math.nan,
    }


def _counts(desk: Desk, verdict: Codes, expired: int) -> Counts:
    undecided, normal, outliers = np.bincount(verdict, minlength=len(Verdict)).tolist()
    return Counts(
        arms=len(desk.arms),
        pulls=desk.totals.pulls,
        pending=desk.out,
        expired=expired,
        surplus=desk.totals.surplus,
        rounds=int(desk.state.counters[ROUNDS]),
        outliers=outliers,
        normal=normal,
        undecided=undecided,
    )


def _changed(connection: Connection, ledger: Ledger, since: int | None) -> Ints | None:
    # A `since` from the future belongs to another copy of the database.
    if since is None or since > ledger.desk.totals.seq:
        return None
    return np.sort(np.array(changed_since(connection, ledger.key, since), dtype=np.int64))


def _next(connection: Connection, ledger: Ledger, now: float, expired: int) -> tuple[Next, ...]:
    """What asking for the next pulls would give now: asked of a copy, so that nothing moves."""
    desk = ledger.desk
    if desk.is_stopped:
        return ()
    wanted: Counter[tuple[int, str]] = Counter()
    if expired:
        rows = ticket_list.first_overdue(connection, ledger.key, now, NEXT)
        wanted.update((arm, OVERDUE) for _, arm, *_ in rows if arm not in desk.paused)
    for _, arm in take_pulls(_twin(desk), NEXT - wanted.total()):
        wanted[arm, _why(desk, arm)] += 1
    return tuple(Next(desk.arms[arm], count, why) for (arm, why), count in wanted.items())


def _twin(desk: Desk) -> Desk:
    """A desk that may be asked and thrown away."""
    twin = copy.copy(desk)
    twin.state = copy_state(desk.state)
    twin.rng = copy.deepcopy(desk.rng)
    twin.pending = desk.pending.copy()
    twin.held = desk.held.copy()
    twin.totals = replace(desk.totals)
    twin.changes = Changes()
    twin.rounds = [
        replace(live, given=live.given.copy(), returned=list(live.returned)) for live in desk.rounds
    ]
    return twin


def _why(desk: Desk, arm: int) -> str:
    if desk.state.counters[ROUNDS] == 0 or desk.state.pulls[arm] < desk.spec.initial:
        return FIRST_PULLS
    is_open = desk.certified[arm] == 0 and desk.state.verdict[arm] == Verdict.UNDECIDED
    return UNDECIDED if is_open else MOVES_THRESHOLD
