"""The effect of rewards, in the order of telling, and its consequences.

The rules for a reward with a ticket:

1. The ticket has a reward: the same value is harmless (another was refused).
2. The pull has no reward yet (the ticket is out, or expired and the next worker has not
   answered): this is the pull's reward. If the pull was handed out again, the other ticket is
   cancelled.
3. Otherwise (the pull got its reward through another ticket, or the ticket was given back) the
   reward is an additional pull, as if told without a ticket.

Late answers of raters are only logged: by rule 3, and by rule 2 if the ticket is no longer out,
they are surplus.

A reward without a ticket counts while pulls counted + pulls pending are below the budget. Beyond
this it is logged as surplus and is in no total. So pulls counted + pulls pending never exceed the
budget.

After each event the verdicts are updated, if a round has ended, and the study may end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from standout.core import engine
from standout.core.identification import side_interval
from standout.core.kinds import Verdict
from standout.core.state import UNDECIDED
from standout.core.typing import Codes, Flags
from standout.estimation.evidence import evidence_of
from standout.estimation.until import is_look_due
from standout.results import StopReason
from standout.study.events.contents import of_arm
from standout.study.events.pulls import Order, is_behind, order_behind, order_of_pull
from standout.study.events.state import LOOK_PATIENCE, DueLook, StudyState, TraceRow
from standout.study.events.tables import RewardStatus, TicketStatus

GROWTH = 1.02
"""The smallest factor of pulls between two rows of the trace."""


class At(NamedTuple):
    """The current event: its number, time and author."""

    number: int
    time: float
    worker: str


@dataclass
class Outcome:
    """The outcome of an event.

    `logged` are the places of its rewards that belong in the totals, `counted` those that it
    counts, in order. `is_due`: verdicts must be updated. `is_by_hand`: a change by hand makes a
    look at the chances due. `is_promised`: a look found that the chances keep the promise.
    """

    logged: list[int] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    repeated: int = 0
    surplus: int = 0
    is_due: bool = False
    is_by_hand: bool = False
    is_promised: bool = False
    decided: list[list[int]] | None = None
    has_ended: bool = False
    reason: str | None = None
    more: dict[str, Any] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    """Arms that came up and were to be avoided; a part of the request."""

    def to_body(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without defaults."""
        counted = write_places(self.counted) if self.counted != self.logged else None
        found = {
            "again": self.repeated, "surplus": self.surplus, "counted": counted,
            "decided": self.decided, "end": self.reason,
        }  # fmt: skip
        made = {name: value for name, value in found.items() if value not in (None, 0)}
        return {**made, **self.more}


def write_places(places: Iterable[int]) -> str:
    """Places of the ledger as ranges.

    >>> write_places([3, 7, 8, 9, 8])
    '3,7-9,8'
    """
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


def count(state: StudyState, outcome: Outcome, ready: Sequence[Order]) -> None:
    """Count these rewards; a reward of no round updates the verdicts at once."""
    if ready:
        places = [place for _, place in ready]
        state.observe(places)
        outcome.counted += places
        outcome.is_due |= any(is_behind(order) for order, _ in ready)


def end_pull(state: StudyState, outcome: Outcome, arm: int, slot: int, number: int) -> None:
    """A pull of round `number` will have no reward: rewards that waited for it are counted."""
    outcome.is_due |= state.pull_ends(arm, slot, number)
    if state.is_ordered:
        count(state, outcome, state.release([arm]))


def settle(state: StudyState, at: At, outcome: Outcome) -> None:
    """After an event: update the verdicts, and end the study if it is decided.

    It also ends if the chances keep their promise, the budget is used up, or a user has stopped
    it.
    """
    if state.is_stopped:
        return
    spent = state.is_spent
    if spent or state.is_ready():
        if outcome.is_due or spent or outcome.is_promised:
            end_round(state, outcome)
    elif outcome.is_due and state.has_all_begun():
        # A table of past rewards may have fewer rewards of an arm than a first round.
        end_round(state, outcome, engine.refresh)
    reason = _reason_to_stop(state, outcome)
    if reason is not None:
        stop(state, reason, at.time)
        outcome.reason = str(reason)
    else:
        note_look(state, at, outcome)
    if outcome.has_ended:
        _add_to_trace(state, at.time)


def end_round(
    state: StudyState, outcome: Outcome, update: Callable[..., None] = engine.end_round
) -> None:
    """Update intervals, threshold and verdicts; verdicts stay."""
    update(state.spec, state.state)
    fresh = (state.certified == 0) & (state.state.verdict != 0)
    outcome.decided = split_verdicts(fresh, state.state.verdict)
    if outcome.decided is not None:
        state.certified[fresh] = state.state.verdict[fresh]
    state.touch_all()
    outcome.has_ended = True


def split_verdicts(fresh: Flags, verdict: Codes) -> list[list[int]] | None:
    """The arms that became certain, normal ones and outliers; None if there are none."""
    if not fresh.any():
        return None
    return [
        np.flatnonzero(fresh & (verdict == int(kind))).tolist()
        for kind in (Verdict.NORMAL, Verdict.OUTLIER)
    ]


def _reason_to_stop(state: StudyState, outcome: Outcome) -> StopReason | None:
    if state.state.counters[UNDECIDED] == 0:
        return StopReason.DECIDED
    if outcome.is_promised:
        return StopReason.ESTIMATE
    if state.is_spent:
        return StopReason.BUDGET
    return StopReason.STOPPED if state.settings.stopped else None


def stop(state: StudyState, reason: StopReason, time: float) -> None:
    """End the study; pending pulls may still be told."""
    state.reason, state.stopped_at, state.look = reason, time, None
    give_up_plans(state)


def give_up_plans(state: StudyState) -> None:
    """Drop all planned pulls; pending pulls may still be told."""
    for live in list(state.rounds.values()):
        live.give_up()
        state.close_if_over(live)


def note_look(state: StudyState, at: At, outcome: Outcome) -> None:
    """Keep the evidence if a look at the chances is due, unless another look is in progress.

    Newly counted rewards, or a change by hand, make a look due.
    """
    if state.until is None or not (outcome.counted or outcome.is_by_hand) or not state.is_ready():
        return
    pulls = state.pulls_observed
    before = pulls - len(outcome.counted)
    is_under_way = state.look is not None and at.time < state.look.time + LOOK_PATIENCE
    if outcome.is_by_hand or (not is_under_way and is_look_due(before, pulls, len(state.arms))):
        evidence = evidence_of(state.spec, state.state)
        state.look = DueLook(at.number, at.time, state.until, state.problem, state.arms, evidence)


def _add_to_trace(state: StudyState, time: float) -> None:
    """Add the threshold and the numbers of arms to the trace, if pulls have grown enough."""
    last = state.trace[-1][0] if state.trace else 0
    pulls = state.totals.pulls
    if pulls > last and (state.is_stopped or pulls >= GROWTH * last):
        state.trace.append(moment_of(state, time))


def moment_of(state: StudyState, time: float) -> TraceRow:
    """The threshold and the numbers of arms, as a row of the trace."""
    high = side_interval(state.state, 0)
    low = side_interval(state.state, 1) if len(state.state.signs) > 1 else None
    ends = (None, None) if low is None else (low.lower, low.upper)
    undecided = int(np.count_nonzero(state.certified == 0))
    return state.totals.pulls, time, high.lower, high.upper, *ends, undecided


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
        """Each arm's rewards that are to be counted, by their positions."""

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
        """Log the reward of a pull that has none yet, and that is out with the ticket `out`."""
        state, tickets = self.state, self.state.tickets
        opened = tickets.close(out, TicketStatus.CANCELLED)
        self.outcome.is_due |= state.pull_ends(arm, slot, opened.round)
        tickets.note_delay(self.at.time - tickets.asked.item(number - 1))
        place = self._log(arm, number, value, _WAITING)
        self._wait(arm, order_of_pull(slot), place)

    def _take_extra(self, arm: int, number: int, value: float) -> None:
        """Log an additional pull, while the budget has room."""
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
        """Add a reward to its line, at least until the end of this batch."""
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
