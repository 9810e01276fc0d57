"""Open pulls of an arm, and which told rewards may be counted.

Where slow measurements have other values than quick ones (timings, say), the
mean of those that happen to be in is biased, and intervals around it are not
what they claim. In an ordered study a reward therefore waits for the earlier
pulls of its arm: what is counted is always the first so many of the arm's own
sequence, and that is all the intervals ask for.

A pull keeps its place until it is told or given back. The end of its lease does
not free the place: who is slow would otherwise be left out, and slowness may go
with the value. It only lets the next to ask measure the same pull, too; the
first answer of the two, however late, is the pull's reward. So nothing waits
for longer than somebody asks and answers, and status says what waits for what.

What is told beyond the pulls handed out (without asking, or of a ticket whose
pull has its reward already) takes its place behind the pulls of its arm that
are out at that moment: were it counted at once, whether it comes before or
after such a pull would depend on how slow that is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from standout.study import schema
from standout.study.chain import Step
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
    value: float | None
    logged: int | None


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


class Waiting(NamedTuple):
    """A told reward that is not counted yet; `logged` is its place in the log."""

    order: int
    logged: int
    ticket: int
    value: float

    @property
    def is_extra(self) -> bool:
        """Whether it fills no pull that was handed out."""
        return self.ticket < 0


@dataclass
class Slots:
    """The open pulls of one arm."""

    pending: dict[int, int] = field(default_factory=dict)
    """Slot to ticket."""
    held: list[Waiting] = field(default_factory=list)

    def add(self, row: OpenTicket) -> None:
        """Take note of a ticket."""
        if row.status == PENDING:
            self.pending[row.slot] = row.id
        elif row.status == HELD and row.value is not None and row.logged is not None:
            self.held.append(Waiting(order_of(row.slot, row.id), row.logged, row.id, row.value))

    def pop_ready(self) -> list[Waiting]:
        """Take out, in order, the told pulls that no pending one comes before."""
        blocked = 2 * min(self.pending, default=math.inf)
        ready = sorted(one for one in self.held if one.order < blocked)
        self.held = [one for one in self.held if one.order >= blocked]
        return ready


def order_of(slot: int, ticket: int) -> int:
    """Where a told reward stands among the pulls of its arm.

    One that fills no pull (its row has a negative number) comes behind the
    last pull that had been handed out when it was told.
    """
    return 2 * slot + (ticket < 0)


def read_slots(connection: Connection, key: int, arm: int) -> list[OpenTicket]:
    """The open pulls of an arm, as rows."""
    return [OpenTicket._make(row) for row in _OF_ARM(connection, {"key": key, "place": arm})]


def release_held(connection: Connection, ledger: Ledger, arm: int, step: Step) -> None:
    """After a pull of `arm` was given up: count what had waited for it."""
    if not ledger.desk.held[arm]:
        return
    slots = Slots()
    for row in read_slots(connection, ledger.key, arm):
        slots.add(row)
    released = slots.pop_ready()
    if released:
        ledger.desk.observe([arm] * len(released), [one.value for one in released])
        ledger.desk.held[arm] -= len(released)
        step.counted.extend(one.logged for one in released)
        step.is_due |= any(one.is_extra for one in released)
        drop_tickets(connection, ledger.key, [one.ticket for one in released])


def drop_tickets(connection: Connection, key: int, numbers: Iterable[int]) -> None:
    """Remove tickets whose rewards are counted: the log has them."""
    rows = [{"key": key, "ticket": number} for number in numbers]
    if rows:
        _DELETE(connection, rows)
