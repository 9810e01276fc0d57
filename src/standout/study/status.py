"""How a study stands, as plain values, and what waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from standout.core.state import ROUNDS
from standout.results import Status, Waiting
from standout.results.interval import by_side
from standout.study.storage import open_tickets
from standout.study.storage.database import Connection

if TYPE_CHECKING:
    from standout.study.progress import Progress
    from standout.study.storage.stored_study import StoredStudy


def read_status(
    connection: Connection, stored: StoredStudy, name: str, created: float, lease: float, now: float
) -> Status:
    """The status at a moment; costs O(arms), whatever the number of rewards."""
    progress = stored.progress
    found = progress.identification()
    expired = open_tickets.count_overdue.number(connection, stored.key, now)
    return Status(
        name=name,
        created=created,
        **stated_alike(progress),
        problem=progress.problem.question(),
        lease=lease,
        arms=len(progress.arms),
        pulls=progress.totals.pulls,
        pending=progress.out,
        expired=expired,
        surplus=progress.totals.surplus,
        outliers=found.outliers,
        normal=found.normal,
        undecided=found.undecided,
        **by_side(found.thresholds),
        note=found.note,
        rounds=int(progress.state.counters[ROUNDS]),
        waiting=_waiting(connection, stored, now),
        head=progress.head.hex(),
        voided=len(progress.voided),
        enough_tolerance=found.endings[0].tolerance if found.endings else None,
        found=found,
    )


def stated_alike(progress: Progress) -> dict[str, Any]:
    """What a status and a view of a study say in the same words."""
    return {
        "method": progress.method.label(),
        "budget": progress.budget,
        "until": None if progress.until is None else str(progress.until),
        "stopped": progress.is_stopped,
        "reason": progress.reason,
        "failures": {
            progress.arms[i]: int(progress.failures[i]) for i in np.flatnonzero(progress.failures)
        },
        "paused": {progress.arms[i]: why for i, why in sorted(progress.paused.items())},
    }


def _waiting(connection: Connection, stored: StoredStudy, now: float) -> tuple[Waiting, ...]:
    """What waits for what; arms with the most waiting rewards first."""
    progress = stored.progress
    arms = set(np.flatnonzero(progress.held).tolist())
    if not arms:
        return ()
    first: dict[int, tuple[int, str, float]] = {}
    for arm, *ticket in open_tickets.pending_by_slot(connection, stored.key):
        if progress.is_one_line:
            first = dict.fromkeys(arms, tuple(ticket))
            break
        if arm in arms:
            first.setdefault(arm, tuple(ticket))
    order = sorted(first, key=lambda arm: (-int(progress.held[arm]), arm))
    return tuple(
        Waiting(
            progress.arms[arm], int(progress.held[arm]), first[arm][0], first[arm][1],
            bool(first[arm][2] <= now),
        )
        for arm in order
    )  # fmt: skip
