"""Giving again what was given before: an answer may get lost on its way over a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from standout.errors import StudyError
from standout.study import schema
from standout.study.ledger import Ledger
from standout.study.schema import TicketStatus
from standout.study.statements import Statement
from standout.study.tickets import Ticket
from standout.study.told import Item

_TICKETS, _REWARDS = schema.tickets, schema.rewards
_PENDING = (
    select(_TICKETS.c.id, _TICKETS.c.arm, _TICKETS.c.expires)
    .where(
        _TICKETS.c.study == bindparam("key"),
        _TICKETS.c.status == int(TicketStatus.PENDING),
        _TICKETS.c.worker == bindparam("who"),
    )
    .order_by(_TICKETS.c.id)
)
_OF_WORKER = Statement(_PENDING.where(_TICKETS.c.expires > bindparam("now")))
_OF_MOMENT = Statement(_PENDING.where(_TICKETS.c.asked == bindparam("moment")))
_TOLD = Statement(
    select(_REWARDS.c.time, _REWARDS.c.worker).where(
        _REWARDS.c.study == bindparam("key"), _REWARDS.c.ticket == bindparam("ticket")
    )
)
_HOLDER = Statement(
    select(_TICKETS.c.worker).where(
        _TICKETS.c.study == bindparam("key"), _TICKETS.c.id == bindparam("ticket")
    )
)


def lost(
    connection: Connection, ledger: Ledger, who: str, known: Collection[int], n: int, now: float
) -> list[Ticket]:
    """Up to `n` pending tickets of a worker, without those that it knows of."""
    if ledger.desk.is_stopped:
        return []
    rows = _OF_WORKER(connection, {"key": ledger.key, "who": who, "now": now})
    try:
        seen = set(known)
    except TypeError:
        raise StudyError("known must be the numbers of tickets") from None
    return _tickets(ledger, [row for row in rows if row.id not in seen][:n])


def pending_of(connection: Connection, ledger: Ledger, prefix: str, now: float) -> int:
    """How many tickets are out with workers whose names begin with `prefix`."""
    query = (
        select(func.count())
        .select_from(_TICKETS)
        .where(
            _TICKETS.c.study == ledger.key,
            _TICKETS.c.status == int(TicketStatus.PENDING),
            _TICKETS.c.expires > now,
            _TICKETS.c.worker.startswith(prefix, autoescape=True),
        )
    )
    return int(connection.execute(query).scalar_one())


def same(
    connection: Connection, ledger: Ledger, items: Sequence[Item], who: str, n: int
) -> list[Ticket]:
    """The pending tickets that were given in the transaction in which these were told.

    That transaction stamped both with the same moment.
    """
    number = next((item.ticket for item in items if item.ticket is not None), None)
    told = _TOLD(connection, {"key": ledger.key, "ticket": number})
    if not told or told[0].worker != who:
        return []
    return given_at(connection, ledger, told[0].time, who, n)


def given_at(
    connection: Connection, ledger: Ledger, moment: float, who: str, n: int
) -> list[Ticket]:
    """Up to `n` tickets that a worker was given at a moment and that are still pending."""
    if ledger.desk.is_stopped:
        return []
    where = {"key": ledger.key, "who": who, "moment": moment}
    return _tickets(ledger, _OF_MOMENT(connection, where)[:n])


def holder(connection: Connection, ledger: Ledger, number: int) -> str | None:
    """The worker of a ticket, pending or told."""
    where = {"key": ledger.key, "ticket": number}
    rows: list[Any] = _HOLDER(connection, where) or _TOLD(connection, where)
    return str(rows[0].worker) if rows else None


def _tickets(ledger: Ledger, rows: Sequence[Any]) -> list[Ticket]:
    return [Ticket(row.id, ledger.desk.arms[row.arm], row.expires) for row in rows]
