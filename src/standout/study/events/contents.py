"""The content of a request as its event stores it: plain values, checked.

Rewards are checked against the noise and the tickets; nothing is changed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from standout.core.noise import Noise
from standout.errors import (
    BatchError,
    RewardError,
    StudyError,
    TicketError,
    ToldError,
    shown,
)
from standout.results import Ticket
from standout.study import arguments
from standout.study.events import requests
from standout.study.events.event import Kind
from standout.study.events.requests import Given, Request
from standout.study.events.state import StudyState
from standout.study.events.tables import TicketStatus

Reward = tuple[int, float]
"""A ticket's number, or -1 less an arm's position (`of_arm`), and the reward."""
MOST = 2**62
"""Larger than any study's numbers; databases store no larger ones."""
MANY = 32
"""From this number of rewards on, checking them all at once is faster."""


def of_arm(arm: int) -> int:
    """The substitute for a ticket's number without a ticket; its own inverse."""
    return -1 - arm


def ticket_id(ticket: Ticket | int) -> int:
    """The number of a ticket; raises `TicketError` for anything else."""
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    if type(number) is int and 1 <= number <= MOST:
        return number
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer):
        raise TicketError(f"{shown(ticket)} is not a ticket")
    if not 1 <= number <= MOST:
        raise TicketError(f"there is no ticket {shown(number)}")
    return int(number)


def known_ticket(state: StudyState, ticket: Ticket | int) -> int:
    """The number of a ticket of this study; raises `TicketError` for others."""
    number = ticket_id(ticket)
    if number > state.tickets.size:
        raise TicketError(f"no ticket {number}")
    return number


def read_rewards(state: StudyState, pairs: Sequence[tuple[Given, float]]) -> list[Reward]:
    """The rewards in their stored form; raises `BatchError` for the first bad one."""
    noise = state.problem.noise
    are_fine = len(pairs) > MANY and _are_plainly_fine([reward for _, reward in pairs], noise)
    found: list[Reward] = []
    for place, (given, reward) in enumerate(pairs):
        try:
            value = reward if are_fine else noise.check_reward(reward)
            # Some programs take a negative zero for another number.
            found.append((_number_of(state, given), value + 0.0))
        except (RewardError, TicketError) as error:
            raise BatchError(str(error), place) from error
    return found


def _number_of(state: StudyState, given: Given) -> int:
    if isinstance(given, str):
        return of_arm(_position(state, given))
    number = ticket_id(given)
    if isinstance(given, Ticket) and number <= state.tickets.size:
        arm = state.tickets.arm.item(number - 1)
        if _position(state, given.arm) != arm:
            raise TicketError(f"ticket {number} is for arm {state.arms[arm]!r}, not {given.arm!r}")
    return number


def _position(state: StudyState, arm: str) -> int:
    position = state.index.get(arm)
    if position is None:
        raise TicketError(f"no arm {arm!r} in this study")
    return position


def position_of(state: StudyState, arm: str) -> int:
    """The position of an arm; raises `StudyError` if the study has no such arm."""
    position = state.index.get(arguments.text("an arm", arm))
    if position is None:
        raise StudyError(f"no arm {shown(arm)} in this study")
    return position


def place_of(state: StudyState, ticket: Ticket | int) -> int:
    """The place in the log of a ticket's reward; 0 if there is none."""
    number = ticket_id(ticket)
    return state.tickets.place.item(number - 1) if number <= state.tickets.size else 0


def check_tickets(state: StudyState, rewards: Sequence[Reward]) -> None:
    """Raise a `BatchError` for the first ticket that does not exist or has another reward."""
    seen: dict[int, float] = {}
    for place, (number, value) in enumerate(rewards):
        try:
            _check_ticket(state, number, value, seen)
        except TicketError as error:
            raise BatchError(str(error), place) from error


def _check_ticket(state: StudyState, number: int, value: float, seen: dict[int, float]) -> None:
    if not -len(state.arms) <= number <= state.tickets.size or number == 0:
        raise TicketError(f"there is no ticket {number} in this study")
    if number < 0:
        return
    before = seen.setdefault(number, value)
    if state.tickets.status.item(number - 1) == TicketStatus.TOLD:
        before = state.ledger.value.item(state.tickets.place.item(number - 1) - 1)
    if before != value:
        raise ToldError(
            f"ticket {number} has the recorded reward {before!r}, not {value!r}; to correct it, "
            "void it (standout study void)"
        )


def _are_plainly_fine(rewards: list[float], noise: Noise) -> bool:
    """Whether many plain numbers pass without a check of each.

    Only for families that allow every number of a range, where the smallest and the largest
    suffice.
    """
    if type(noise).check_reward is not Noise.check_reward:
        return False
    if set(map(type, rewards)) != {float}:
        return False
    values = np.array(rewards)
    if not np.isfinite(values).all():
        return False
    try:
        noise.check_reward(float(values.min()))
        noise.check_reward(float(values.max()))
    except RewardError:
        return False
    return True


Content = dict[str, Any]


def read_request(state: StudyState, request: Request) -> tuple[Kind, Content]:
    """The event that a request other than `ask` makes; raises if the request is not valid."""
    kind, read = _READ[type(request)]
    content = read(state, request)
    reason = arguments.clean(getattr(request, "reason", ""))
    return kind, {**content, "reason": reason} if reason else content


def is_idle(state: StudyState, kind: Kind, content: Content) -> bool:
    """Whether an event would change nothing: it has happened before, or has no effect any more."""
    if kind is Kind.FAILED:
        return bool(state.tickets.status.item(content["ticket"] - 1) == TicketStatus.FAILED)
    if kind is Kind.LEASED:
        return not content["tickets"]
    if kind is Kind.PAUSED:
        return bool(state.paused.get(content["arm"]) == content.get("reason", ""))
    if kind is Kind.RESUMED:
        return content["arm"] not in state.paused and not bool(state.streak[content["arm"]])
    if kind is Kind.SET:
        return bool(vars(state.settings).items() >= content["set"].items())
    if kind is Kind.LOOKED:
        return state.look is None or state.look.number != content["number"]
    return False


def read_ask(state: StudyState, request: requests.Ask) -> Content:
    """The content of an `ask`, with `known` and `avoid` as sets."""
    n = arguments.whole("the number of tickets", request.n, 1, arguments.MOST_TICKETS)
    content: Content = {"n": n, "known": _as_set(request.known)}
    if request.lease is not None:
        content["lease"] = arguments.seconds("a lease", request.lease)
    if request.avoid:
        content["avoid"] = {state.index[arm] for arm in request.avoid if arm in state.index}
    return content


def _as_set(known: Collection[int] | None) -> set[int] | None:
    try:
        return None if known is None else set(known)
    except TypeError:
        raise StudyError("known must be the numbers of tickets") from None


def _tell(state: StudyState, request: requests.Tell) -> Content:
    content: Content = {"rewards": read_rewards(state, request.rewards)}
    return {**content, "late": "log"} if request.late == "log" else content


def _fail(state: StudyState, request: requests.Fail) -> Content:
    content: Content = {"ticket": known_ticket(state, request.ticket)}
    return content if request.pauses else {**content, "pauses": False}


def _lease(state: StudyState, request: requests.Lease) -> Content:
    """The leases to renew; tickets that are not out are ignored."""
    numbers = dict.fromkeys(ticket_id(ticket) for ticket in request.tickets)
    content: Content = {"tickets": [each for each in numbers if each in state.tickets.open]}
    if request.seconds is None:
        return content
    seconds = 0 if request.seconds == 0 else arguments.seconds("a lease", request.seconds)
    return {**content, "lease": seconds}


def _arm(state: StudyState, request: requests.Pause | requests.Resume) -> Content:
    return {"arm": position_of(state, request.arm)}


def _set(state: StudyState, request: requests.Set) -> Content:
    settings = state.settings.with_values(request.values, len(state.arms))
    return {"set": {name: getattr(settings, name) for name in request.values}}


def _void(state: StudyState, request: requests.Void) -> Content:
    content: Content = {"place": _place_of(state, request)}
    if request.value is None:
        return content
    return {**content, "value": state.problem.noise.check_reward(request.value) + 0.0}


def _place_of(state: StudyState, request: requests.Void) -> int:
    if (request.place is None) == (request.ticket is None):
        raise StudyError("name the reward to void: its place in the log, or its ticket")
    if request.ticket is None:
        return arguments.whole("place", request.place, 1, arguments.MOST_PULLS)
    place = place_of(state, request.ticket)
    if not place:
        raise StudyError(f"ticket {ticket_id(request.ticket)} has no reward in this study")
    return place


def _add(_: StudyState, request: requests.Add) -> Content:
    return {"arms": list(request.arms)}


def _note(_: StudyState, request: requests.Note) -> Content:
    text = arguments.clean(request.text)
    if not text.strip():
        raise StudyError("a note must not be empty")
    return {"text": text}


def _look(_: StudyState, request: requests.Look) -> Content:
    excess = request.excess if math.isfinite(request.excess) else None
    return {"number": request.number, "excess": excess}


_READ: dict[type, tuple[Kind, Callable[[StudyState, Any], Content]]] = {
    requests.Tell: (Kind.TOLD, _tell),
    requests.Fail: (Kind.FAILED, _fail),
    requests.Lease: (Kind.LEASED, _lease),
    requests.Pause: (Kind.PAUSED, _arm),
    requests.Resume: (Kind.RESUMED, _arm),
    requests.Set: (Kind.SET, _set),
    requests.Void: (Kind.VOIDED, _void),
    requests.Add: (Kind.ADDED, _add),
    requests.Note: (Kind.NOTED, _note),
    requests.Look: (Kind.LOOKED, _look),
}
