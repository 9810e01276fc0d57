"""Which tickets are told, and whether they may be: nothing is written here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, or_, select

from standout.errors import BatchError, ToldError
from standout.study import schema
from standout.study.bulk import FEW
from standout.study.holding import COLUMNS, HELD, IS_OPEN, OpenTicket, read_slots
from standout.study.ledger import Ledger
from standout.study.statements import Statement

_TICKETS, _REWARDS = schema.tickets, schema.rewards
_MINE = _TICKETS.c.study == bindparam("key")
_ALL = select(*COLUMNS).where(_MINE)
_OF_SAME_ARM = Statement(
    _ALL.where(
        _TICKETS.c.arm
        == select(_TICKETS.c.arm)
        .where(_TICKETS.c.study == bindparam("key"), _TICKETS.c.id == bindparam("ticket"))
        .scalar_subquery(),
        or_(IS_OPEN, _TICKETS.c.id == bindparam("ticket")),
    )
)
_TOLD = select(_REWARDS.c.ticket, _REWARDS.c.value).where(_REWARDS.c.study == bindparam("key"))
_TOLD_ONE = Statement(_TOLD.where(_REWARDS.c.ticket == bindparam("ticket")))


class Item(NamedTuple):
    """A reward as given: with a ticket, with an arm, or with both."""

    value: float
    ticket: int | None = None
    arm: int | None = None


def may_be_told(row: OpenTicket | None) -> bool:
    """Whether the log may have a reward of this ticket: it is held, or not in the table."""
    return row is None or row.status == HELD


def find_tickets(
    connection: Connection, key: int, numbers: Sequence[int], arms: Collection[int]
) -> dict[int, OpenTicket]:
    """The tickets, their arms' other open ones and those of `arms` (all tickets, for many)."""
    if not numbers and not arms:
        return {}
    if len(numbers) + len(arms) > FEW:
        # Straight from the driver: these columns need no conversion, and there may be many.
        cursor: Any = connection.execute(_ALL, {"key": key}).cursor
        return {row[0]: OpenTicket._make(row) for row in cursor.fetchall()}
    rows: dict[int, OpenTicket] = {}
    for number in numbers:
        for row in _OF_SAME_ARM(connection, {"key": key, "ticket": number}):
            rows[row[0]] = OpenTicket._make(row)
    for arm in arms:
        rows.update((row.id, row) for row in read_slots(connection, key, arm))
    return rows


def find_told(connection: Connection, key: int, numbers: Sequence[int]) -> dict[int, float]:
    """Values of tickets that are in the log."""
    told: dict[int, float] = {}
    if len(numbers) <= FEW:
        for number in numbers:
            told.update(_TOLD_ONE(connection, {"key": key, "ticket": number}))
        return told
    for start in range(0, len(numbers), 500):
        part = numbers[start : start + 500]
        found = connection.execute(_TOLD.where(_REWARDS.c.ticket.in_(part)), {"key": key})
        told.update((row.ticket, row.value) for row in found)
    return told


def check(
    ledger: Ledger, items: Sequence[Item], rows: dict[int, OpenTicket], told: dict[int, float]
) -> list[Item]:
    """The items that are new; an error for the first bad one."""
    arms = ledger.desk.arms
    fresh: list[Item] = []
    seen = dict(told)
    for place, item in enumerate(items):
        number = item.ticket
        if number is None:
            fresh.append(item)
        elif number in seen:
            if seen[number] != item.value:
                message = (
                    f"ticket {number} was told {seen[number]!r} before, not {item.value!r}; "
                    "a told reward is never changed"
                )
                raise BatchError(message, place) from ToldError(message)
        elif number not in rows:
            raise BatchError(f"there is no ticket {number} in this study", place)
        elif item.arm is not None and item.arm != rows[number].arm:
            raise BatchError(
                f"ticket {number} is for arm {arms[rows[number].arm]!r}, not {arms[item.arm]!r}",
                place,
            )
        else:
            seen[number] = item.value
            fresh.append(item)
    return fresh
