"""What told rewards do, in the order in which they are told.

The rules for a reward that comes with a ticket:

1. The ticket was told before: the same value is harmless (another was refused).
2. The pull has no reward yet (the ticket is out, or expired and whoever got the pull
   after it has not told): this is the pull's reward. If the pull was handed out again,
   that other ticket is cancelled.
3. Otherwise (the pull got its reward through another ticket, or the ticket was given back)
   the reward is one more pull, as if told without asking. From a rater, whose late answers
   are only logged, it is surplus; so is one by rule 2 whose ticket is no longer out.

A reward told without asking is counted while pulls counted + pulls pending are below the budget;
beyond that it is logged as surplus and is in no total. So pulls counted + pulls pending never
exceed the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standout.study.events.ledger import RewardStatus
from standout.study.events.ordering import Order, order_behind, order_of_pull
from standout.study.events.rewards import of_arm
from standout.study.events.settle import At, Outcome, count, settle
from standout.study.events.state import StudyState
from standout.study.events.tickets import TicketStatus

_WAITING, _SURPLUS = int(RewardStatus.WAITING), int(RewardStatus.SURPLUS)
_PENDING, _TOLD = int(TicketStatus.PENDING), int(TicketStatus.TOLD)


def tell(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Log all rewards, and count those that need not wait."""
    telling = _Telling(state, at, content.get("late") == "log")
    for number, value in content["rewards"]:
        telling.take(number, value)
    telling.count()
    settle(state, at, telling.outcome)
    return telling.outcome


class _Telling:
    """One batch of checked rewards on its way into the study."""

    def __init__(self, state: StudyState, at: At, only_logs_late: bool) -> None:
        self.state, self.at, self.only_logs_late = state, at, only_logs_late
        self.worker = state.ledger.code_of(at.worker)
        self.outcome = Outcome()
        self.fresh: list[tuple[int, Order]] = []
        """Each arm's rewards that are to be counted, by where they stand."""

    def take(self, number: int, value: float) -> None:
        """Log a reward."""
        if number < 0:
            self._take_extra(of_arm(number), 0, value)
            return
        tickets = self.state.tickets
        status, slot = tickets.status.item(number - 1), tickets.slot.item(number - 1)
        arm = tickets.arm.item(number - 1)
        out = tickets.slots.get(slot)
        if status == _TOLD:
            self.outcome.repeated += 1
        elif self.only_logs_late and status != _PENDING:
            self._log(arm, number, value, _SURPLUS)
        elif out is None:
            self._take_extra(arm, number, value)
        else:
            self._fill(arm, number, value, slot, out)

    def _fill(self, arm: int, number: int, value: float, slot: int, out: int) -> None:
        """The reward of a pull that has none yet, and that is out with the ticket `out`."""
        state, tickets = self.state, self.state.tickets
        opened = tickets.close(out, TicketStatus.CANCELLED)
        self.outcome.is_due |= state.pull_ends(arm, slot, opened.round)
        tickets.note_delay(self.at.time - tickets.asked.item(number - 1))
        place = self._log(arm, number, value, _WAITING)
        self._wait(arm, order_of_pull(slot), place)

    def _take_extra(self, arm: int, number: int, value: float) -> None:
        """One more pull, while the budget has room."""
        if self.state.room <= 0:
            self._log(arm, number, value, _SURPLUS)
            return
        behind = order_behind(self.state.tickets.size)
        self._wait(arm, behind, self._log(arm, number, value, _WAITING))

    def _log(self, arm: int, number: int, value: float, status: int) -> int:
        state, at = self.state, self.at
        place = state.ledger.add(at.time, arm, value, number, self.worker, at.number, status)
        if number:
            state.tickets.status[number - 1] = _TOLD
            state.tickets.place[number - 1] = place
        if status == _SURPLUS:
            self.outcome.surplus += 1
            state.totals.surplus += 1
        state.touch(arm)
        return place

    def _wait(self, arm: int, order: int, place: int) -> None:
        """Every reward that is to be counted waits, if only until the end of this batch."""
        self.outcome.logged.append(place)
        self.state.totals.pulls += 1
        self.fresh.append((arm, (order, place)))

    def count(self) -> None:
        """Count what no longer waits for an earlier pull."""
        state = self.state
        if not state.is_ordered:
            count(state, self.outcome, [one for _, one in self.fresh])
            return
        for arm, (order, place) in self.fresh:
            state.held[arm] += 1
            state.lines.wait(arm, order, place)
        count(state, self.outcome, state.release(arm for arm, _ in self.fresh))
