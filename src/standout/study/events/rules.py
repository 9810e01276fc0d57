"""The precondition and the effect of each kind of event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from standout.core.run import check_arms
from standout.errors import StudyError, TicketError, ToldError
from standout.results import Failure
from standout.study import arguments
from standout.study.events import changing, telling
from standout.study.events.contents import check_tickets
from standout.study.events.definition import check_name
from standout.study.events.event import Kind
from standout.study.events.planner import Planner, take_pulls
from standout.study.events.state import StudyState
from standout.study.events.tables import NO_ARMS, Avoided, Open, RewardStatus, TicketStatus
from standout.study.events.telling import At, Outcome, end_pull, settle
from standout.text import plural

Content = Mapping[str, Any]


def apply(state: StudyState, kind: Kind, at: At, content: Content, plan: Planner) -> Outcome:
    """Apply an event; `plan` provides the plans of an event that asks."""
    if kind is Kind.ASKED:
        return ask(state, at, content, plan)
    return _RULES[kind][1](state, at, content)


def check(state: StudyState, kind: Kind, content: Content) -> None:
    """Raise a `StandoutError` if an event with this content is not possible now."""
    found = _check_asked if kind is Kind.ASKED else _RULES[kind][0]
    if found is not None:
        found(state, content)


def _check_asked(state: StudyState, content: Content) -> None:
    arguments.whole("the number of tickets", content["n"], 1, arguments.MOST_TICKETS)
    if "lease" in content:
        arguments.seconds("a lease", content["lease"])


def _check_told(state: StudyState, content: Content) -> None:
    if not content["rewards"]:
        raise StudyError("no rewards are told")
    for _, value in content["rewards"]:
        state.problem.noise.check_reward(value)
    check_tickets(state, content["rewards"])


def _check_failed(state: StudyState, content: Content) -> None:
    number = content["ticket"]
    if not 1 <= number <= state.tickets.size:
        raise TicketError(f"no ticket {number}")
    if state.tickets.status.item(number - 1) == TicketStatus.TOLD:
        raise ToldError(f"ticket {number} has been told already")


def _check_leased(state: StudyState, content: Content) -> None:
    if content.get("lease", 0) != 0:
        arguments.seconds("a lease", content["lease"])
    if not all(number in state.tickets.open for number in content["tickets"]):
        raise TicketError("only a pending ticket has a lease to renew")


def _check_arm(state: StudyState, content: Content) -> None:
    if not 0 <= content["arm"] < len(state.arms):
        raise StudyError("there is no such arm")


def _check_set(state: StudyState, content: Content) -> None:
    settings = state.settings.with_values(content["set"], len(state.arms))
    least = state.totals.pulls + state.out
    if settings.budget is not None and settings.budget < least and "budget" in content["set"]:
        raise StudyError(
            f"a budget of {settings.budget:,} is less than the {plural(least, 'pull')} that are "
            f"told or out already; the least is {least:,}, or stop the study"
        )


def _check_void(state: StudyState, content: Content) -> None:
    """Whether the reward at a place of the ledger can be voided."""
    place = content["place"]
    if not 1 <= place <= state.ledger.size:
        raise StudyError(f"there is no reward at place {place} of the log; `study export` has all")
    status = state.ledger.status.item(place - 1)
    if status == RewardStatus.SURPLUS:
        raise StudyError(f"the reward at place {place} came as surplus: it is in no total")
    if status == RewardStatus.VOID:
        raise StudyError(f"the reward at place {place} is void already")
    if status == RewardStatus.WAITING:
        raise StudyError(
            f"the reward at place {place} waits for an earlier pull of its arm and is not counted "
            "yet; tell that pull or give it back first (`study status` says which)"
        )
    if content.get("value") is not None:
        state.problem.noise.check_reward(content["value"])


def _check_added(state: StudyState, content: Content) -> None:
    room, names = state.definition.room, content["arms"]
    if room is None:
        raise StudyError(
            "this study has no room for more arms: its first arms share all of delta. To add arms "
            "later, create a study with room=N (--room N), the largest number of arms"
        )
    for name in names:
        check_name(name, "arm")
    check_arms((*state.arms, *names))
    if not names or len(state.arms) + len(names) > room:
        left = room - len(state.arms)
        raise StudyError(f"there is room for 1 to {left:,} more arms, not for {len(names):,}")


def _check_look(state: StudyState, content: Content) -> None:
    if state.look is None or state.look.number != content["number"]:
        raise StudyError("no look at the chances is due that saw what this one saw")


def ask(state: StudyState, at: At, content: Content, plan: Planner) -> Outcome:
    """Hand out expired pulls first, then the method's choice; drop expired pulls of paused arms.

    Pulls that are handed out again count as pending all the time.
    """
    outcome, count = Outcome(), content["n"]
    seconds = content.get("lease") or state.lease
    expires = at.time + seconds
    avoid = Avoided(content["avoid"]) if "avoid" in content else NO_ARMS
    overdue = state.tickets.take_overdue(at.time, count, avoid)
    if overdue:
        count -= _take_back(state, at, overdue, expires, outcome)
    fresh = [] if state.is_stopped else take_pulls(state, count, plan, avoid)
    for arm, live in fresh:  # The planner has noted each as pending.
        opened = Open(expires, at.worker, live, at.number)
        number = state.tickets.give(arm, 0, opened, at.time)
        if state.is_ordered:
            state.lines.enter(arm, number)
        state.touch(arm)
    _note(outcome, "arms", [arm for arm, _ in fresh])
    outcome.met = avoid.met
    return outcome


def _take_back(
    state: StudyState, at: At, overdue: list[int], expires: float, outcome: Outcome
) -> int:
    """Hand out again the pulls of tickets whose leases have ended; return their number."""
    arms = {number: state.tickets.arm.item(number - 1) for number in overdue}
    again = [number for number in overdue if arms[number] not in state.paused]
    over = [number for number in overdue if arms[number] in state.paused]
    for number in (*again, *over):
        arm, slot = arms[number], state.tickets.slot.item(number - 1)
        was = state.tickets.close(number, TicketStatus.EXPIRED)
        if arm in state.paused:
            end_pull(state, outcome, arm, slot, was.round)
        else:
            opened = Open(expires, at.worker, was.round, at.number)
            state.tickets.give(arm, slot, opened, at.time)
            state.touch(arm)
    if over:
        settle(state, at, outcome)
    _note(outcome, "again", again)
    _note(outcome, "over", over)
    return len(again)


def _note(outcome: Outcome, name: str, found: list[int]) -> None:
    if found:
        outcome.more[name] = found


def fail(state: StudyState, at: At, content: Content) -> Outcome:
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
        outcome.is_due |= state.pause(arm, f"{why}: {reason}" if reason else why)


def lease(state: StudyState, at: At, content: Content) -> Outcome:
    """Start leases again, or end them."""
    expires = at.time + content.get("lease", state.lease)
    for number in content["tickets"]:
        state.tickets.renew(number, expires)
    return Outcome()


_Check = Callable[[StudyState, Content], None]
_Apply = Callable[[StudyState, At, Content], Outcome]
_RULES: dict[Kind, tuple[_Check | None, _Apply]] = {
    Kind.TOLD: (_check_told, telling.tell),
    Kind.FAILED: (_check_failed, fail),
    Kind.LEASED: (_check_leased, lease),
    Kind.PAUSED: (_check_arm, changing.pause),
    Kind.RESUMED: (_check_arm, changing.resume),
    Kind.SET: (_check_set, changing.change_settings),
    Kind.VOIDED: (_check_void, changing.void),
    Kind.ADDED: (_check_added, changing.add),
    Kind.NOTED: (None, changing.note),
    Kind.LOOKED: (_check_look, changing.look),
}
