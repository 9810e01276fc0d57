"""Giving again what was given before: an answer may get lost on its way over a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from standout.errors import StudyError
from standout.results import Ticket
from standout.study.rewards import Item
from standout.study.storage import ticket_list
from standout.study.storage.connection import Row
from standout.study.storage.database import Connection
from standout.study.storage.log import reward_log
from standout.study.storage.stored_study import StoredStudy


def lost(
    connection: Connection,
    stored: StoredStudy,
    who: str,
    known: Collection[int],
    n: int,
    now: float,
) -> list[Ticket]:
    """Up to `n` pending tickets of a worker, without those that it knows of."""
    if stored.progress.is_stopped:
        return []
    rows = ticket_list.held_by(connection, stored.key, who, now)
    try:
        seen = set(known)
    except TypeError:
        raise StudyError("known must be the numbers of tickets") from None
    return _tickets(stored, [row for row in rows if row[0] not in seen][:n])


def pending_of(connection: Connection, stored: StoredStudy, prefix: str, now: float) -> int:
    """How many tickets are out with workers whose names begin with `prefix`."""
    return ticket_list.count_of_prefix(connection, stored.key, prefix, now)


def same(
    connection: Connection, stored: StoredStudy, items: Sequence[Item], who: str, n: int
) -> list[Ticket]:
    """The pending tickets that were given in the transaction in which these were told.

    That transaction stamped both with the same moment.
    """
    number = next((item.ticket for item in items if item.ticket is not None), None)
    told = reward_log.told_by(connection, stored.key, number)
    if told is None or told[1] != who:
        return []
    return given_at(connection, stored, told[0], who, n)


def given_at(
    connection: Connection, stored: StoredStudy, moment: float, who: str, n: int
) -> list[Ticket]:
    """Up to `n` tickets that a worker was given at a moment and that are still pending."""
    if stored.progress.is_stopped:
        return []
    return _tickets(stored, ticket_list.given_at(connection, stored.key, who, moment)[:n])


def holder(connection: Connection, stored: StoredStudy, number: int) -> str | None:
    """The worker of a ticket, pending or told."""
    found = ticket_list.holder(connection, stored.key, number)
    if found is None:
        told = reward_log.told_by(connection, stored.key, number)
        found = None if told is None else told[1]
    return found


def _tickets(stored: StoredStudy, rows: Sequence[Row]) -> list[Ticket]:
    return [Ticket(number, stored.progress.arms[arm], expires) for number, arm, expires in rows]
