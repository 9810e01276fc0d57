"""How a study stands at one moment, for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from standout.results import Status
from standout.results.interval import by_side
from standout.study.events.state import StudyState
from standout.study.queries import overdue_arms, waiting


def read_status(state: StudyState, name: str, created: float, now: float) -> Status:
    """The status at a moment; costs O(arms), whatever the number of rewards."""
    found = state.identification()
    return Status(
        name=name,
        created=created,
        **stated_alike(state),
        problem=state.problem.question(),
        lease=state.lease,
        arms=len(state.arms),
        pulls=state.totals.pulls,
        pending=state.out,
        expired=len(overdue_arms(state, now)),
        surplus=state.totals.surplus,
        outliers=found.outliers,
        normal=found.normal,
        undecided=found.undecided,
        **by_side(found.thresholds),
        note=found.note,
        rounds=state.rounds_known,
        waiting=waiting(state, now),
        head=state.head.hex(),
        voided=len(state.voided),
        enough_tolerance=found.endings[0].tolerance if found.endings else None,
        found=found,
    )


def stated_alike(state: StudyState) -> dict[str, Any]:
    """What a status and a view of a study say in the same words."""
    return {
        "method": state.method.label(),
        "budget": state.budget,
        "room": state.definition.room,
        "axis": state.definition.axis,
        "until": None if state.until is None else str(state.until),
        "stopped": state.is_stopped,
        "reason": state.reason,
        "failures": {state.arms[i]: int(state.failures[i]) for i in np.flatnonzero(state.failures)},
        "paused": {state.arms[i]: why for i, why in sorted(state.paused.items())},
    }
