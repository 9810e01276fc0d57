"""Each kind of event: what has to hold before it, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from standout.errors import StudyError, TicketError, ToldError
from standout.study import arguments
from standout.study.events import asking, changing, telling
from standout.study.events.event import Kind
from standout.study.events.ledger import RewardStatus
from standout.study.events.planner import Planner
from standout.study.events.rewards import check_tickets
from standout.study.events.settle import At, Outcome
from standout.study.events.state import StudyState
from standout.study.events.tickets import TicketStatus
from standout.text import plural

Content = Mapping[str, Any]
_APPLY: dict[Kind, Callable[[StudyState, At, Content], Outcome]] = {
    Kind.TOLD: telling.tell,
    Kind.FAILED: asking.fail,
    Kind.LEASED: asking.lease,
    Kind.PAUSED: changing.pause,
    Kind.RESUMED: changing.resume,
    Kind.SET: changing.change_settings,
    Kind.VOIDED: changing.void,
    Kind.NOTED: changing.note,
    Kind.LOOKED: changing.look,
}


def apply(state: StudyState, kind: Kind, at: At, content: Content, plan: Planner) -> Outcome:
    """Let an event happen; `plan` gives the plans of one that asks."""
    if kind is Kind.ASKED:
        return asking.ask(state, at, content, plan)
    return _APPLY[kind](state, at, content)


def check(state: StudyState, kind: Kind, content: Content) -> None:
    """Raise a `StandoutError` if an event with this content cannot happen now."""
    found = _CHECK.get(kind)
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
        raise TicketError("only the lease of a ticket that is out can begin anew")


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
    """Whether the reward at a place of the ledger can be made void."""
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


def _check_look(state: StudyState, content: Content) -> None:
    if state.look is None or state.look.number != content["number"]:
        raise StudyError("no look at the chances is due that saw what this one saw")


_CHECK: dict[Kind, Callable[[StudyState, Content], None]] = {
    Kind.ASKED: _check_asked,
    Kind.TOLD: _check_told,
    Kind.FAILED: _check_failed,
    Kind.LEASED: _check_leased,
    Kind.PAUSED: _check_arm,
    Kind.RESUMED: _check_arm,
    Kind.SET: _check_set,
    Kind.VOIDED: _check_void,
    Kind.LOOKED: _check_look,
}
