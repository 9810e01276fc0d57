"""Whether the tickets, what is pending and the rounds under way fit together."""

from __future__ import annotations

import numpy as np
from sqlalchemy import ColumnElement, Connection, Table, func, select

from standout.study.storage import schema
from standout.study.storage.mirror import Mirror
from standout.study.storage.schema import TicketStatus

_REWARDS, _TICKETS, _FAILURES = schema.rewards, schema.tickets, schema.failures
_HELD, _PENDING = int(TicketStatus.HELD), int(TicketStatus.PENDING)


def check_tickets(connection: Connection, mirror: Mirror) -> list[str]:
    """What does not fit: every ticket is open, closed or told, exactly one of them."""
    key, progress = mirror.key, mirror.progress

    def count(table: Table, *where: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.c.study == key, *where)
        return int(connection.execute(query).scalar_one())

    held = _TICKETS.c.status == _HELD
    told = count(_REWARDS, _REWARDS.c.ticket.is_not(None))
    logged = select(_REWARDS.c.ticket).where(_REWARDS.c.study == key)
    pairs = [
        ("tickets", progress.totals.tickets, count(_TICKETS, ~held) + told),
        (
            "told tickets that wait",
            count(_TICKETS, held, _TICKETS.c.id > 0),
            count(_TICKETS, _TICKETS.c.id.in_(logged)),
        ),
        ("told rewards that wait", int(progress.held.sum()), count(_TICKETS, held)),
        ("pulls that rounds wait for", progress.out, int(progress.pending.sum())),
        ("failures logged", progress.totals.failed, count(_FAILURES)),
    ]
    problems = [
        f"{what}: {found}, but {expected} by the log"
        for what, found, expected in pairs
        if found != expected
    ]
    return problems + _check_pending(connection, mirror) + _check_held(connection, mirror)


def _check_pending(connection: Connection, mirror: Mirror) -> list[str]:
    progress = mirror.progress
    query = (
        select(_TICKETS.c.arm, func.count())
        .where(_TICKETS.c.study == mirror.key, _TICKETS.c.status == _PENDING)
        .group_by(_TICKETS.c.arm)
    )
    counts = np.zeros_like(progress.pending)
    for arm, number in connection.execute(query):
        counts[arm] = number
    return [
        f"pending pulls of {progress.arms[arm]!r}: {progress.pending[arm]},"
        f" but {counts[arm]} tickets"
        for arm in np.flatnonzero(counts != progress.pending)[:10]
    ]


def _check_held(connection: Connection, mirror: Mirror) -> list[str]:
    """A reward that waits is the one in the log."""
    query = (
        select(_TICKETS.c.id, _TICKETS.c.logged)
        .outerjoin(
            _REWARDS,
            (_REWARDS.c.study == _TICKETS.c.study)
            & (_REWARDS.c.seq == _TICKETS.c.logged)
            & (_REWARDS.c.arm == _TICKETS.c.arm)
            & (_REWARDS.c.value == _TICKETS.c.value),
        )
        .where(_TICKETS.c.study == mirror.key, _TICKETS.c.status == _HELD, _REWARDS.c.seq.is_(None))
        .limit(10)
    )
    return [
        f"the reward that waits as ticket {row.id} is not that at place {row.logged} of the log"
        for row in connection.execute(query)
    ]
