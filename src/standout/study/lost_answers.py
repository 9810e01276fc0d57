"""Giving again what was given before: an answer may get lost on its way over a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, select

from standout.errors import StudyError
from standout.results import Ticket
from standout.study.rewards import Item
from standout.study.storage import schema
from standout.study.storage.mirror import Ledger
from standout.study.storage.statements import Row, Statement

_TICKETS = schema.tickets
_PENDING = (
    "SELECT id, arm, expires FROM standout_tickets INDEXED BY standout_tickets_holder "
    "WHERE study = ? AND status = 0 AND worker = ? "
)
_OF_WORKER = Statement(_PENDING + "AND expires > ? ORDER BY id")
_OF_MOMENT = Statement(_PENDING + "AND asked = ? ORDER BY id")
_TOLD = Statement("SELECT time, worker FROM standout_rewards WHERE study = ? AND ticket = ?")
_HOLDER = Statement("SELECT worker FROM standout_tickets WHERE study = ? AND id = ?")


def lost(
    connection: Connection, ledger: Ledger, who: str, known: Collection[int], n: int, now: float
) -> list[Ticket]:
    """Up to `n` pending tickets of a worker, without those that it knows of."""
    if ledger.desk.is_stopped:
        return []
    rows = _OF_WORKER(connection, ledger.key, who, now)
    try:
        seen = set(known)
    except TypeError:
        raise StudyError("known must be the numbers of tickets") from None
    return _tickets(ledger, [row for row in rows if row[0] not in seen][:n])


def pending_of(connection: Connection, ledger: Ledger, prefix: str, now: float) -> int:
    """How many tickets are out with workers whose names begin with `prefix`."""
    query = (
        select(func.count())
        .select_from(_TICKETS)
        .where(
            _TICKETS.c.study == ledger.key,
            schema.IS_PENDING,
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
    told = _TOLD(connection, ledger.key, number)
    if not told or told[0][1] != who:
        return []
    return given_at(connection, ledger, told[0][0], who, n)


def given_at(
    connection: Connection, ledger: Ledger, moment: float, who: str, n: int
) -> list[Ticket]:
    """Up to `n` tickets that a worker was given at a moment and that are still pending."""
    if ledger.desk.is_stopped:
        return []
    return _tickets(ledger, _OF_MOMENT(connection, ledger.key, who, moment)[:n])


def holder(connection: Connection, ledger: Ledger, number: int) -> str | None:
    """The worker of a ticket, pending or told."""
    rows = _HOLDER(connection, ledger.key, number) or _TOLD(connection, ledger.key, number)
    return str(rows[0][-1]) if rows else None


def _tickets(ledger: Ledger, rows: Sequence[Row]) -> list[Ticket]:
    return [Ticket(number, ledger.desk.arms[arm], expires) for number, arm, expires in rows]
