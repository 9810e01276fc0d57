"""Queries on a study's state: tickets, failures, the trace, the status."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from standout.core.state import copy_state
from standout.core.typing import Codes
from standout.results import Failure, Pending, Status, Ticket, Trace, Waiting
from standout.results.interval import by_side
from standout.study.events.contents import place_of, ticket_id
from standout.study.events.handle import lost
from standout.study.events.planner import LivePlans, take_pulls
from standout.study.events.state import StudyState
from standout.study.events.tables import Open


def verdicts(state: StudyState) -> Codes:
    """The verdict of each arm; certified arms stay certified."""
    found: Codes = np.where(state.certified != 0, state.certified, state.state.verdict)
    return found


# Tickets -----------------------------------------------------------------------------


def holder(state: StudyState, ticket: Ticket | int) -> str | None:
    """The worker that holds a ticket, or that told its reward; None if there is no such ticket."""
    number = ticket_id(ticket)
    opened = state.tickets.open.get(number)
    if opened is not None:
        return opened.worker
    place = place_of(state, number)
    return state.ledger.workers[state.ledger.worker.item(place - 1)] if place else None


def arm_of(state: StudyState, ticket: Ticket | int) -> str | None:
    """The arm of a ticket; None if there is no such ticket."""
    number = ticket_id(ticket)
    if not 1 <= number <= state.tickets.size:
        return None
    return state.arms[state.tickets.arm.item(number - 1)]


def held_by(state: StudyState, worker: str, now: float) -> list[Ticket]:
    """The tickets of a worker, oldest first."""
    return [] if state.is_stopped else lost(state, worker, (), now)


def pending_tickets(state: StudyState) -> list[Pending]:
    """The tickets that are out, oldest first."""
    return [_pending(state, number, one) for number, one in sorted(state.tickets.open.items())]


def _pending(state: StudyState, number: int, opened: Open) -> Pending:
    row = number - 1
    arm, asked = state.arms[state.tickets.arm.item(row)], state.tickets.asked.item(row)
    return Pending(number, arm, opened.worker, asked, opened.expires)


def overdue_arms(state: StudyState, now: float) -> list[int]:
    """The arms of the tickets whose leases have ended, the longest overdue first."""
    open_tickets = state.tickets.open.items()
    found = sorted((one.expires, number) for number, one in open_tickets if one.expires <= now)
    return [state.tickets.arm.item(number - 1) for _, number in found]


def waiting(state: StudyState, now: float) -> tuple[Waiting, ...]:
    """The waiting rewards by arm, and the ticket that each arm waits for; most rewards first."""
    found = []
    for arm in np.flatnonzero(state.held).tolist():
        slot = state.lines.first_out(state.lines.line_of(arm))
        if slot is None:
            continue
        ticket = state.tickets.slots[slot]
        opened = state.tickets.open[ticket]
        found.append(
            Waiting(
                state.arms[arm], int(state.held[arm]), ticket, opened.worker, opened.expires <= now
            )
        )
    return tuple(sorted(found, key=lambda one: -one.rewards))


def failures_before(state: StudyState, before: int | None, limit: int) -> list[Failure]:
    """The newest failures, or those before a number, newest first."""
    last = len(state.failed) if before is None else max(0, min(before - 1, len(state.failed)))
    return state.failed[max(0, last - limit) : last][::-1]


# Rewards -----------------------------------------------------------------------------


def read_trace(state: StudyState) -> Trace:
    """The threshold's interval and the number of undecided arms over the pulls."""
    rows = np.array(state.trace, dtype=np.float64).reshape(len(state.trace), 7)
    pulls, time, lower, upper, lower_low, upper_low, undecided = rows.T.copy()
    return Trace(
        pulls.astype(np.int64), time, lower, upper, lower_low, upper_low,
        undecided.astype(np.int64),
    )  # fmt: skip


def planned_arms(state: StudyState, count: int) -> list[int]:
    """The arms of the next `count` pulls, if they were asked for now."""
    if count < 1:
        return []
    twin = copy.copy(state)
    twin.state = copy_state(state.state)
    twin.pending, twin.held = state.pending.copy(), state.held.copy()
    twin.totals = replace(state.totals)
    twin.rounds = copy.deepcopy(state.rounds)
    return [arm for arm, _ in take_pulls(twin, count, LivePlans(twin))]


def read_status(state: StudyState, name: str, created: float, now: float) -> Status:
    """The status at a moment; takes O(arms), for any number of rewards."""
    found = state.identification()
    return Status(
        name=name,
        created=created,
        **stated_alike(state),
        problem=state.problem.question(),
        lease=state.lease,
        arms=len(state.arms),
        pulls=state.totals.pulls,
        pending=state.out,
        expired=len(overdue_arms(state, now)),
        surplus=state.totals.surplus,
        outliers=found.outliers,
        normal=found.normal,
        undecided=found.undecided,
        **by_side(found.thresholds),
        note=found.note,
        rounds=state.rounds_known,
        waiting=waiting(state, now),
        head=state.head.hex(),
        voided=len(state.voided),
        enough_tolerance=found.endings[0].tolerance if found.endings else None,
        found=found,
    )


def stated_alike(state: StudyState) -> dict[str, Any]:
    """The fields that a status and a view of a study share."""
    return {
        "method": state.method.label(),
        "budget": state.budget,
        "room": state.definition.room,
        "axis": state.definition.axis,
        "until": None if state.until is None else str(state.until),
        "stopped": state.is_stopped,
        "reason": state.reason,
        "failures": {state.arms[i]: int(state.failures[i]) for i in np.flatnonzero(state.failures)},
        "paused": {state.arms[i]: why for i, why in sorted(state.paused.items())},
    }
