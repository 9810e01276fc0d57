"""Open pulls of an arm, and which told rewards may be counted.

Where slow measurements have other values than quick ones (timings, say), the
mean of those that happen to be in is biased, and intervals around it are not
what they claim. In an ordered study a reward therefore waits for the earlier
pulls of its arm: what is counted is always the first so many of the arm's own
sequence, and that is all the intervals ask for. A pull blocks no longer than
its lease.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from standout.study import schema
from standout.study.desk import Desk
from standout.study.ledger import Ledger
from standout.study.schema import TicketStatus
from standout.study.statements import Statement

_TICKETS = schema.tickets
PENDING, HELD = int(TicketStatus.PENDING), int(TicketStatus.HELD)
IS_OPEN = _TICKETS.c.status <= HELD


class OpenTicket(NamedTuple):
    """A row of the table of tickets, as far as telling needs it."""

    id: int
    arm: int
    slot: int
    round: int
    status: int
    asked: float
    expires: float
    value: float | None


COLUMNS = tuple(_TICKETS.c[name] for name in OpenTicket._fields)
_OF_ARM = Statement(
    select(*COLUMNS).where(
        _TICKETS.c.study == bindparam("key"),
        _TICKETS.c.arm == bindparam("place"),
        IS_OPEN,
    )
)
_DELETE = Statement(
    delete(_TICKETS).where(
        _TICKETS.c.study == bindparam("key"), _TICKETS.c.id == bindparam("ticket")
    )
)


@dataclass
class Slots:
    """The open pulls of one arm."""

    pending: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Slot to ticket and the end of its lease."""
    held: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Slot to ticket and told value."""

    def add(self, row: OpenTicket) -> None:
        """Take note of a ticket."""
        if row.status == PENDING:
            self.pending[row.slot] = (row.id, row.expires)
        elif row.status == HELD and row.value is not None:
            self.held[row.slot] = (row.id, row.value)

    def pop_ready(self, barrier: float) -> list[tuple[int, float]]:
        """Take out, in order, the told pulls that no pull leased beyond `barrier` comes before."""
        blocked = min(
            (slot for slot, (_, expires) in self.pending.items() if expires > barrier),
            default=math.inf,
        )
        return [self.held.pop(slot) for slot in sorted(self.held) if slot < blocked]


def barrier(desk: Desk, now: float) -> float:
    """Leases that end later than this hold back what comes after them."""
    return now if desk.ordered else math.inf


def release_held(connection: Connection, ledger: Ledger, arm: int, now: float) -> None:
    """After a pull of `arm` was given up: count what had waited for it."""
    if not ledger.desk.ordered:
        return
    slots = Slots()
    for row in _OF_ARM(connection, {"key": ledger.key, "place": arm}):
        slots.add(OpenTicket._make(row))
    released = slots.pop_ready(barrier(ledger.desk, now))
    if released:
        ledger.desk.observe([arm] * len(released), [value for _, value in released])
        drop_tickets(connection, ledger.key, [number for number, _ in released])


def drop_tickets(connection: Connection, key: int, numbers: Sequence[int]) -> None:
    """Remove tickets whose rewards are counted: the log has them."""
    if numbers:
        _DELETE(connection, [{"key": key, "ticket": number} for number in numbers])
