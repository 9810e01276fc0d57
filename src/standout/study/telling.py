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
logged at once, but waits until that one is told or given back. A reward that
fills no pull waits for those of its arm that are out (see `waiting_rewards`).
"""

from __future__ import annotations

from collections.abc import Sequence

from standout.results import Receipt
from standout.study.log.chain import Logged, Step
from standout.study.rewards import Item, check_told, may_be_told, tickets_of
from standout.study.storage import open_tickets
from standout.study.storage.connection import Row
from standout.study.storage.database import Connection
from standout.study.storage.log import reward_log, steps
from standout.study.storage.open_tickets import HELD, NO_SLOT, PENDING, OpenTicket
from standout.study.storage.schema import TicketStatus
from standout.study.storage.statements import FEW
from standout.study.storage.stored_study import StoredStudy
from standout.study.waiting_rewards import Waiting, first_blocks, order_of, read_held


def tell(
    connection: Connection, stored: StoredStudy, items: Sequence[Item], worker: str, step: Step
) -> Receipt:
    """Count all items or, with one bad one among them, none; keeps the `step`."""
    asked = [item.ticket for item in items if item.ticket is not None]
    rows = open_tickets.find(connection, stored.key, asked, stored.tickets)
    told = reward_log.values_told(
        connection, stored.key, [t for t in asked if may_be_told(rows.get(t))]
    )
    fresh = check_told(stored, items, rows, told)
    step.first, step.repeated = stored.progress.totals.log + 1, len(items) - len(fresh)
    receipt = Receipt(repeated=step.repeated)
    if fresh:
        _Telling(connection, stored, rows, worker, step).run(fresh, receipt)
    steps.write(connection, stored, step)
    return receipt


class _Telling:
    """One batch of checked rewards on its way into the study."""

    def __init__(
        self,
        connection: Connection,
        stored: StoredStudy,
        rows: dict[int, OpenTicket],
        worker: str,
        step: Step,
    ) -> None:
        self.connection, self.stored, self.progress = connection, stored, stored.progress
        self.rows, self.worker, self.step = rows, worker, step
        self.out: dict[int, int] = {}
        """Slot to pending ticket, as far as this batch tells of the slots."""
        self.filled: dict[int, set[int]] = {}
        """Arm to the slots that get their rewards."""
        self.fresh: list[tuple[int, Waiting]] = []
        """The rewards that are to be counted, each with its arm, in the order of telling."""
        self.released: list[int] = []
        """Tickets that have waited until now."""
        self.waits: list[Row] = []
        """Rewards that wait from now on: arm, ticket, slot, value, place."""
        self.cancelled: list[int] = []
        self.gone: list[int] = []
        step.detail = worker

    def run(self, items: Sequence[Item], receipt: Receipt) -> None:
        """Log, count, and bring rounds and verdicts up to date."""
        self._find_pulls(items)
        extra = self._fill(items)
        filled = len(self.step.rewards)
        self.progress.totals.pulls += filled
        counted = self._take_extra(extra) if extra else 0
        receipt.counted = filled + counted
        receipt.surplus = self.step.surplus = len(extra) - counted
        self.progress.changes.arms.update([reward.arm for reward in self.step.rewards])
        if self.progress.ordered:
            self._release()
        else:
            self.step.is_due = counted > 0
            self._count_all()
        # Not all of `rows`: what was told before, or only lies between, waits as it did.
        changed = [*tickets_of(items), *self.cancelled, *self.released]
        self.stored.tickets.tell(self.filled, changed, self.waits)
        self._write()
        self.progress.settle(self.step)

    def _find_pulls(self, items: Sequence[Item]) -> None:
        """With whom the told pulls are now: with others, where a lease had run out."""
        late: list[tuple[int, int]] = []
        if not self.rows:
            return
        for item in items:
            row = self.rows.get(item.ticket) if item.ticket is not None else None
            if row is not None and row.status == PENDING:
                self.out[row.slot] = row.id
            elif row is not None:
                late.append((row.arm, row.slot))
        if late:
            self.out.update(open_tickets.pending_in(self.connection, self.stored.key, late))

    def _fill(self, items: Sequence[Item]) -> list[Item]:
        """Take the rewards of pulls that have none yet; the items that are left."""
        extra: list[Item] = []
        rounds: dict[int, int] = {}
        progress, filled = self.progress, self.filled
        for item in items:
            row = self.rows.get(item.ticket) if item.ticket is not None else None
            pulled = None if row is None else self.out.pop(row.slot, None)
            if row is None or pulled is None:
                extra.append(item)
                continue
            if pulled != row.id:
                self.cancelled.append(pulled)
            rounds[row.round] = rounds.get(row.round, 0) + 1
            if row.arm in filled:
                filled[row.arm].add(row.slot)
            else:
                filled[row.arm] = {row.slot}
            if not progress.ordered:
                self.gone.append(row.id)
            self._log(item.value, row.arm, row, True, 2 * row.slot)
        for arm, slots in filled.items():
            progress.pending[arm] -= len(slots)
        for number, count in rounds.items():
            live = progress.live_round(number)
            if live is not None:
                live.out -= count
        return extra

    def _log(
        self, value: float, arm: int, row: OpenTicket | None, counted: bool, order: int
    ) -> None:
        progress = self.progress
        progress.totals.log = place = progress.totals.log + 1
        ticket, asked = (None, None) if row is None else (row.id, row.asked)
        self.step.rewards.append(Logged(arm, value, ticket, asked, counted))
        if counted and progress.ordered:
            number = -place if order % 2 or ticket is None else ticket
            self.fresh.append((arm, Waiting(order, place, number, value)))

    def _take_extra(self, items: Sequence[Item]) -> int:
        """Rewards that fill no pending pull: one more pull each, while the budget has room."""
        room = self.progress.room
        count = 0
        behind = order_of(self.progress.totals.tickets, -1)
        for item in items:
            row = self.rows.get(item.ticket) if item.ticket is not None else None
            arm = item.arm if row is None else row.arm
            assert arm is not None
            fits = count < room
            count += fits
            self._log(item.value, arm, row, fits, behind)
            if row is not None:
                self.gone.append(row.id)
        self.progress.totals.pulls += count
        self.progress.totals.surplus += len(items) - count
        return count

    def _count_all(self) -> None:
        """In the order of telling."""
        counted = [reward for reward in self.step.rewards if reward.counted]
        self.step.counted = self.step.own_places()
        if counted:
            self.progress.observe([r.arm for r in counted], [r.value for r in counted])

    def _release(self) -> None:
        """Count what no longer waits for an earlier pull; remember what still does."""
        step, ready = self.step, self.fresh
        told = {arm: self.filled.get(arm, ()) for arm, _ in ready}
        blocks = first_blocks(self.connection, self.stored, told)
        held = read_held(self.connection, self.stored, blocks)
        if held or any(block != NO_SLOT for block in blocks.values()):
            ready = self._part(blocks, held)
        if len(ready) > 1:
            ready = _in_order(ready)
        if ready:
            self.progress.observe([arm for arm, _ in ready], [one.value for _, one in ready])
        for _, one in ready:
            step.counted.append(one.logged)
            step.is_due |= one.is_extra
            # A reward of this batch that filled no pull never had a row under this number.
            if one.ticket > 0 or one.logged < step.first:
                self.gone.append(one.ticket)

    def _part(
        self, blocks: dict[int, int], held: dict[int, list[Waiting]]
    ) -> list[tuple[int, Waiting]]:
        """What comes before the first pull of its arm that is out; the rest is kept to wait."""
        before = [(arm, one) for arm, waiting in held.items() for one in waiting]
        ready = list(before)
        for arm, one in self.fresh:
            if one.order < 2 * blocks[arm]:
                ready.append((arm, one))
            else:
                self.waits.append((arm, one.ticket, one.order // 2, one.value, one.logged))
        self.released = [one.ticket for _, one in before]
        for arm, _ in before:
            self.progress.held[arm] -= 1
        for arm, *_ in self.waits:
            self.progress.held[arm] += 1
        self._hold()
        return ready

    def _hold(self) -> None:
        """Keep what has to wait."""
        key, now = self.stored.key, self.step.time
        filled = [(value, place, ticket) for _, ticket, _, value, place in self.waits if ticket > 0]
        open_tickets.hold(self.connection, key, filled)
        rows = [
            (key, ticket, arm, slot, 0, HELD, self.worker, now, now, value, place)
            for arm, ticket, slot, value, place in self.waits
            if ticket < 0
        ]
        if rows:
            open_tickets.add_waiting(self.connection, rows)

    def _write(self) -> None:
        key, step = self.stored.key, self.step
        rows = [
            (key, place, step.time, arm, value, ticket, asked, self.worker, counted)
            for place, (arm, value, ticket, asked, counted) in enumerate(step.rewards, step.first)
        ]
        reward_log.add(self.connection, rows)
        open_tickets.set_status(self.connection, key, self.cancelled, TicketStatus.CANCELLED)
        gone = self.gone
        if len(gone) > FEW:
            open_tickets.drop_told(self.connection, key, step.first - 1)
            kept = set(self.released)
            gone = [number for number in gone if number in kept]
        open_tickets.drop(self.connection, key, gone)


def _in_order(ready: list[tuple[int, Waiting]]) -> list[tuple[int, Waiting]]:
    """Rewards as they are to be counted: only the order within an arm matters.

    That of the log, which is the shortest to write, unless an arm's order is another.
    """
    by_place = sorted(ready, key=lambda pair: pair[1].logged)
    last: dict[int, Waiting] = {}
    for arm, one in by_place:
        if one < last.get(arm, one):
            return sorted(ready)
        last[arm] = one
    return by_place
