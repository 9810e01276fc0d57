"""How a study stands, as plain values, and what waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, select

from standout.core.state import ROUNDS
from standout.results import Status, Waiting
from standout.study.storage import schema

if TYPE_CHECKING:
    from standout.study.storage.mirror import Ledger

_TICKETS = schema.tickets
_PENDING = (
    _TICKETS.c.study == bindparam("key"),
    schema.IS_PENDING,
)
_EXPIRED = (
    select(func.count())
    .select_from(_TICKETS)
    .where(*_PENDING, _TICKETS.c.expires <= bindparam("now"))
)
_FIRST_OUT = (
    select(_TICKETS.c.arm, _TICKETS.c.id, _TICKETS.c.worker, _TICKETS.c.expires)
    .where(*_PENDING)
    .order_by(_TICKETS.c.slot)
)


def read_status(
    connection: Connection, ledger: Ledger, name: str, created: float, lease: float, now: float
) -> Status:
    """The status at a moment; costs O(arms), whatever the number of rewards."""
    desk = ledger.desk
    found = desk.identification()
    expired = connection.execute(_EXPIRED, {"key": ledger.key, "now": now}).scalar_one()
    return Status(
        name=name,
        created=created,
        method=desk.method.label(),
        problem=desk.problem.question(),
        lease=lease,
        arms=len(desk.arms),
        pulls=desk.totals.pulls,
        pending=desk.out,
        expired=int(expired),
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
    first: dict[int, Any] = {}
    for row in connection.execute(_FIRST_OUT, {"key": ledger.key}):
        if row.arm in arms:
            first.setdefault(row.arm, row)
    order = sorted(first, key=lambda arm: (-int(desk.held[arm]), arm))
    return tuple(
        Waiting(
            desk.arms[arm], int(desk.held[arm]), first[arm].id, first[arm].worker,
            bool(first[arm].expires <= now),
        )
        for arm in order
    )  # fmt: skip
