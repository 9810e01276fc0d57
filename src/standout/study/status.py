"""How a study stands, as plain values, and what waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from standout.core.state import ROUNDS
from standout.results import Status, Waiting
from standout.study.storage import ticket_list
from standout.study.storage.database import Connection

if TYPE_CHECKING:
    from standout.study.storage.mirror import Ledger


def read_status(
    connection: Connection, ledger: Ledger, name: str, created: float, lease: float, now: float
) -> Status:
    """The status at a moment; costs O(arms), whatever the number of rewards."""
    desk = ledger.desk
    found = desk.identification()
    expired = ticket_list.count_overdue(connection, ledger.key, now)
    return Status(
        name=name,
        created=created,
        method=desk.method.label(),
        problem=desk.problem.question(),
        lease=lease,
        arms=len(desk.arms),
        pulls=desk.totals.pulls,
        pending=desk.out,
        expired=expired,
        surplus=desk.totals.surplus,
        budget=desk.budget,
        outliers=found.outliers,
        normal=found.normal,
        undecided=found.undecided,
        threshold=found.threshold,
        threshold_low=found.threshold_low,
        note=found.note,
        stopped=desk.is_stopped,
        reason=desk.reason,
        rounds=int(desk.state.counters[ROUNDS]),
        failures={desk.arms[i]: int(desk.failures[i]) for i in np.flatnonzero(desk.failures)},
        paused={desk.arms[i]: why for i, why in sorted(desk.paused.items())},
        waiting=_waiting(connection, ledger, now),
        head=desk.head.hex(),
    )


def _waiting(connection: Connection, ledger: Ledger, now: float) -> tuple[Waiting, ...]:
    """What waits for what; arms with the most waiting rewards first."""
    desk = ledger.desk
    arms = set(np.flatnonzero(desk.held).tolist())
    if not arms:
        return ()
    first: dict[int, tuple[int, str, float]] = {}
    for arm, *ticket in ticket_list.pending_by_slot(connection, ledger.key):
        if arm in arms:
            first.setdefault(arm, tuple(ticket))
    order = sorted(first, key=lambda arm: (-int(desk.held[arm]), arm))
    return tuple(
        Waiting(
            desk.arms[arm], int(desk.held[arm]), first[arm][0], first[arm][1],
            bool(first[arm][2] <= now),
        )
        for arm in order
    )  # fmt: skip
