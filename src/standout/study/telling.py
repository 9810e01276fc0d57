"""Rewards: checked all together, then counted all together.

The rules, in the order in which they apply to a reward that comes with a ticket:

1. The ticket was told before: the same value is harmless, another is an error.
2. The pull has no reward yet (the ticket is pending, or expired and whoever got
   the pull after it has not told): this is the pull's reward. If the pull was
   handed out again, that other ticket is cancelled.
3. Otherwise (the pull got its reward through another ticket, or the ticket was
   given back) the reward is one more pull, as if told without asking.

A reward told without asking is counted while pulls counted + pulls pending are
below the budget; beyond that it is logged as surplus and is in no total. So
pulls counted + pulls pending never exceed the budget.

In an ordered study the rewards of an arm are counted in the order in which its
pulls were handed out: one that overtakes an earlier pull of the same arm is
logged at once, but waits until that one is told, given back or its lease has
run out (see `holding`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from standout.study import schema
from standout.study.bulk import FEW, insert_columns
from standout.study.holding import HELD, OpenTicket, Slots, barrier, drop_tickets
from standout.study.ledger import Ledger
from standout.study.schema import TicketStatus
from standout.study.tickets import set_status
from standout.study.told import Item, check, find_tickets, find_told, may_be_told

_TICKETS, _REWARDS = schema.tickets, schema.rewards
_MINE = _TICKETS.c.study == bindparam("key")
_HOLD = (
    update(_TICKETS)
    .where(_MINE, _TICKETS.c.id == bindparam("ticket"))
    .values(status=int(TicketStatus.HELD), value=bindparam("told"))
)
_DROP_TOLD = delete(_TICKETS).where(
    _MINE,
    _TICKETS.c.status != HELD,
    _TICKETS.c.id.in_(
        select(_REWARDS.c.ticket).where(
            _REWARDS.c.study == bindparam("key"), _REWARDS.c.seq > bindparam("before")
        )
    ),
)
_LOG = ("study", "seq", "time", "arm", "value", "ticket", "asked", "worker", "counted")


@dataclass
class Receipt:
    """What became of told rewards."""

    counted: int = 0
    """Taken into the totals (or waiting for an earlier pull of the same arm)."""
    repeated: int = 0
    """Told before with the same value: nothing done."""
    surplus: int = 0
    """Beyond the budget: logged, but in no total."""


def tell(
    connection: Connection, ledger: Ledger, items: Sequence[Item], worker: str, now: float
) -> Receipt:
    """Count all items or, with one bad one among them, none."""
    asked = [item.ticket for item in items if item.ticket is not None]
    rows = find_tickets(connection, ledger.key, asked)
    told = find_told(connection, ledger.key, [t for t in asked if may_be_told(rows.get(t))])
    fresh = check(ledger, items, rows, told)
    receipt = Receipt(repeated=len(items) - len(fresh))
    if fresh:
        _Telling(connection, ledger, rows, worker, now).run(fresh, receipt)
    return receipt


class _Telling:
    """One batch of checked rewards on its way into the study."""

    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        rows: dict[int, OpenTicket],
        worker: str,
        now: float,
    ) -> None:
        self.connection, self.ledger, self.desk = connection, ledger, ledger.desk
        self.rows, self.worker, self.now = rows, worker, now
        self.slots: dict[int, Slots] = defaultdict(Slots)
        for row in rows.values():
            self.slots[row.arm].add(row)
        self.held_before = {t for slots in self.slots.values() for t, _ in slots.held.values()}
        self.barrier = barrier(self.desk, now)
        self.log: list[tuple[Any, ...]] = []
        self.cancelled: list[int] = []
        self.gone: list[int] = []

    def run(self, items: Sequence[Item], receipt: Receipt) -> None:
        """Log, count, and bring rounds and verdicts up to date."""
        extra: list[Item] = []
        rounds: dict[int, int] = defaultdict(int)
        filled_by_arm: dict[int, int] = defaultdict(int)
        for item in items:
            row = self.rows.get(item.ticket) if item.ticket is not None else None
            pulled = None if row is None else self.slots[row.arm].pending.pop(row.slot, None)
            if row is None or pulled is None:
                extra.append(item)
                continue
            if pulled[0] != row.id:
                self.cancelled.append(pulled[0])
            self.slots[row.arm].held[row.slot] = (row.id, item.value)
            rounds[row.round] += 1
            filled_by_arm[row.arm] += 1
            self._log(item.value, row.arm, row, True)
        for arm, count in filled_by_arm.items():
            self.desk.pending[arm] -= count
        for number, filled in rounds.items():
            live = self.desk.live_round(number)
            if live is not None:
                live.out -= filled
        filled = len(self.log)
        self.desk.totals.pulls += filled
        counted = self._take_extra(extra)
        receipt.counted = filled + counted
        receipt.surplus = len(extra) - counted
        self._release(sorted(filled_by_arm))
        self._write()
        self.desk.settle(self.now, update=counted > 0)

    def _log(self, value: float, arm: int, row: OpenTicket | None, counted: bool) -> None:
        totals = self.desk.totals
        totals.log += 1
        ticket, asked = (None, None) if row is None else (row.id, row.asked)
        self.log.append(
            (self.ledger.key, totals.log, self.now, arm, value, ticket, asked, self.worker, counted)
        )

    def _take_extra(self, items: Sequence[Item]) -> int:
        """Rewards that fill no pending pull: one more pull each, while the budget has room."""
        room = self.desk.room
        counted: list[tuple[int, float]] = []
        for item in items:
            row = self.rows.get(item.ticket) if item.ticket is not None else None
            arm = item.arm if row is None else row.arm
            assert arm is not None
            fits = len(counted) < room
            if fits:
                counted.append((arm, item.value))
            self._log(item.value, arm, row, fits)
            if row is not None:
                self.gone.append(row.id)
        self.desk.totals.pulls += len(counted)
        self.desk.totals.surplus += len(items) - len(counted)
        if counted:
            self.desk.observe(*zip(*counted, strict=True))
        return len(counted)

    def _release(self, arms: Sequence[int]) -> None:
        """Count what no longer waits for an earlier pull; remember what still does."""
        order: list[tuple[int, float]] = []
        holds: list[dict[str, Any]] = []
        for arm in arms:
            for number, value in self.slots[arm].pop_ready(self.barrier):
                order.append((arm, value))
                self.gone.append(number)
            for number, value in self.slots[arm].held.values():
                if number not in self.held_before:
                    holds.append({"key": self.ledger.key, "ticket": number, "told": value})
        self.desk.changes.arms.update(arms)
        if order:
            self.desk.observe(*zip(*order, strict=True))
        if holds:
            self.connection.execute(_HOLD, holds)

    def _write(self) -> None:
        key = self.ledger.key
        insert_columns(self.connection, _REWARDS, _LOG, self.log, len(self.log))
        set_status(self.connection, key, self.cancelled, TicketStatus.CANCELLED)
        gone = self.gone
        if len(gone) > FEW:
            before = self.desk.totals.log - len(self.log)
            self.connection.execute(_DROP_TOLD, {"key": key, "before": before})
            gone = [number for number in gone if number in self.held_before]
        drop_tickets(self.connection, key, gone)
