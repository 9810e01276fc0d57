"""Which tickets are told, and whether they may be: nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from standout.errors import BatchError, ToldError
from standout.study.storage.mirror import Ledger
from standout.study.storage.open_tickets import HELD, OpenTicket
from standout.study.storage.statements import Statement

_TOLD = "SELECT ticket, value FROM standout_rewards WHERE study = ? AND ticket "
_TOLD_ONE, _TOLD_ANY = Statement(_TOLD + "= ?"), Statement(_TOLD + "= ANY(?)")


class Item(NamedTuple):
    """A reward as given: with a ticket, with an arm, or with both."""

    value: float
    ticket: int | None = None
    arm: int | None = None


def may_be_told(row: OpenTicket | None) -> bool:
    """Whether the log may have a reward of this ticket: it is held, or not in the table."""
    return row is None or row.status == HELD


def find_told(connection: Connection, key: int, numbers: Sequence[int]) -> dict[int, float]:
    """Values of tickets that are in the log."""
    if not numbers:
        return {}
    if connection.dialect.name == "sqlite" or len(numbers) == 1:
        rows = [row for number in numbers for row in _TOLD_ONE(connection, key, number)]
    else:
        rows = _TOLD_ANY(connection, key, list(numbers))
    return {ticket: value for ticket, value in rows}  # noqa: C416


def check(
    ledger: Ledger, items: Sequence[Item], rows: Mapping[int, OpenTicket], told: Mapping[int, float]
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
