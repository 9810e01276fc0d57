"""Handing out pulls, and taking them back: tickets, leases, failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from standout.results import Failure
from standout.study.events.planner import Planner, take_pulls
from standout.study.events.settle import At, Outcome, end_pull, settle
from standout.study.events.state import StudyState
from standout.study.events.tickets import NO_ARMS, Avoided, Open, TicketStatus


def ask(state: StudyState, at: At, content: Mapping[str, Any], plan: Planner) -> Outcome:
    """Hand out expired pulls first, then what the method wants; given up are those of paused arms.

    Pulls that are handed out again are out all the while.
    """
    outcome, count = Outcome(), content["n"]
    seconds = content.get("lease") or state.lease
    opened = Open(at.time + seconds, at.worker, 0, at.number)
    avoid = Avoided(content["avoid"]) if "avoid" in content else NO_ARMS
    overdue = state.tickets.take_overdue(at.time, count, avoid)
    if overdue:
        count -= _take_back(state, at, overdue, opened, outcome)
    fresh = [] if state.is_stopped else take_pulls(state, count, plan, avoid)
    for arm, live in fresh:
        _hand_out(state, at, arm, live, opened)
    _note(outcome, "arms", [arm for arm, _ in fresh])
    outcome.met = avoid.met
    return outcome


def _take_back(
    state: StudyState, at: At, overdue: list[int], opened: Open, outcome: Outcome
) -> int:
    """Hand out again the pulls of tickets whose leases have run out; how many."""
    again: list[int] = []
    over: list[int] = []
    for number in overdue:
        is_paused = state.tickets.arm.item(number - 1) in state.paused
        (over if is_paused else again).append(number)
    for number in again:
        _hand_out_again(state, at, number, opened)
    for number in over:
        arm, slot = state.tickets.arm.item(number - 1), state.tickets.slot.item(number - 1)
        was = state.tickets.close(number, TicketStatus.EXPIRED)
        end_pull(state, outcome, arm, slot, was.round)
    if over:
        settle(state, at, outcome)
    _note(outcome, "again", again)
    _note(outcome, "over", over)
    return len(again)


def _note(outcome: Outcome, name: str, found: list[int]) -> None:
    if found:
        outcome.more[name] = found


def _hand_out_again(state: StudyState, at: At, number: int, opened: Open) -> None:
    """A ticket's lease has run out: its pull gets another one."""
    tickets = state.tickets
    arm, slot = tickets.arm.item(number - 1), tickets.slot.item(number - 1)
    was = tickets.close(number, TicketStatus.EXPIRED)
    tickets.give(arm, slot, _same(opened, was.round), at.time)
    state.touch(arm)


def _hand_out(state: StudyState, at: At, arm: int, live: int, opened: Open) -> None:
    """A new pull; the planner has noted it as pending."""
    number = state.tickets.give(arm, 0, _same(opened, live), at.time)
    if state.is_ordered:
        state.lines.enter(arm, number)
    state.touch(arm)


def _same(opened: Open, number: int) -> Open:
    return Open(opened.expires, opened.worker, number, opened.event)


def fail(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Give a ticket back; its pull is handed out again."""
    outcome, tickets, number = Outcome(), state.tickets, content["ticket"]
    arm, slot = tickets.arm.item(number - 1), tickets.slot.item(number - 1)
    reason, pauses = content.get("reason", ""), content.get("pauses", True)
    state.failures[arm] += 1
    state.failed.append(
        Failure(len(state.failed) + 1, at.time, state.arms[arm], number, at.worker, reason)
    )
    state.touch(arm)
    if pauses:
        state.streak[arm] += 1
        _pause_if_often(state, outcome, arm, reason)
    if number not in tickets.open:
        # The pull was handed out again or has its reward: nothing to give back.
        tickets.status[number - 1] = TicketStatus.FAILED
    else:
        was = tickets.close(number, TicketStatus.FAILED)
        live = state.rounds.get(was.round)
        if live is not None and arm not in state.paused and not state.is_stopped:
            live.returned.append(arm)
        end_pull(state, outcome, arm, slot, was.round)
    settle(state, at, outcome)
    return outcome


def _pause_if_often(state: StudyState, outcome: Outcome, arm: int, reason: str) -> None:
    """Pause an arm that has failed too often in a row."""
    most = state.settings.pause_after
    if most is not None and state.streak[arm] >= most and arm not in state.paused:
        why = f"{state.streak[arm]} failures in a row"
        outcome.is_due |= pause_arm(state, arm, f"{why}: {reason}" if reason else why)


def pause_arm(state: StudyState, arm: int, why: str) -> bool:
    """Hand out no more pulls of an arm; whether that has ended a round."""
    state.paused[arm] = why
    state.touch(arm)
    for live in state.rounds.values():
        live.drop_arm(arm)
    over = [state.close_if_over(live) for live in list(state.rounds.values())]
    return any(over)


def lease(state: StudyState, at: At, content: Mapping[str, Any]) -> Outcome:
    """Let leases begin anew, or end."""
    expires = at.time + content.get("lease", state.lease)
    for number in content["tickets"]:
        state.tickets.renew(number, expires)
    return Outcome()
