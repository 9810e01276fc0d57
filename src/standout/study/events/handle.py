"""Requests to a study: each is checked, then happens, and gives the events to be kept.

What is wrong with a request shows before it has changed anything. The state is changed in place:
if the events cannot be kept, it has to be made anew from those that were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from typing import Any

from standout.errors import KeyUsedError, StudyError, shown
from standout.results import Receipt, Ticket
from standout.study import arguments
from standout.study.events import requests
from standout.study.events.definition import Definition
from standout.study.events.event import NO_DIGEST, Event, Kind, make_event
from standout.study.events.fold import OUTCOME
from standout.study.events.planner import LivePlans
from standout.study.events.requests import Answer, Asked, Request
from standout.study.events.rewards import (
    Reward,
    check_in_time,
    check_tickets,
    known_ticket,
    read_rewards,
    ticket_id,
)
from standout.study.events.rules import apply, check
from standout.study.events.settle import At, Outcome
from standout.study.events.state import StudyState
from standout.study.events.tickets import TicketStatus

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def create(definition: Definition, now: float, *, worker: str, key: str | None = None) -> Event:
    """The event that a study begins with (`begin` gives its state)."""
    body = _encode(definition.to_body())
    return make_event(NO_DIGEST, 0, now, Kind.CREATED, worker, key, body)


def repeat(
    state: StudyState, before: Event, request: Request, now: float, *, worker: str
) -> tuple[list[Event], Answer]:
    """Answer a request whose key stands for the event `before`: it happens no second time.

    What was told is answered as it was then, and the tickets that were given with it
    come again (or others, if none is out any more). Raises `KeyUsedError` if the key
    was used for another request.
    """
    hand = _Hand(state, now, worker, None)
    told = request.tell if isinstance(request, requests.TellAndAsk) else request
    asked = _checked_ask(state, request.ask) if isinstance(request, requests.TellAndAsk) else None
    receipt = _receipt_of(before, _content(state, told))
    if asked is None:
        return hand.answer(receipt=receipt)
    return hand.answer(receipt=receipt, asked=_given_or_asked(hand, before.number, asked))


def _receipt_of(before: Event, content: dict[str, Any]) -> Receipt:
    """What was answered then, if the same was asked; else raises `KeyUsedError`."""
    kept = json.loads(before.body)
    came, count = kept.pop(OUTCOME, {}), len(kept.get("rewards", ()))
    kept.pop("reason", None)
    if kept != json.loads(_encode(content)):
        what = f"to tell {count} other rewards" if count else "for something else"
        raise KeyUsedError(
            f"the key {before.key!r} was used before {what}; "
            "nothing was changed. Take a new key for what is new",
            before.time,
            count,
        )
    again, surplus = came.get("again", 0), came.get("surplus", 0)
    return Receipt(count - again - surplus, again, surplus, True, before.time)


def _content(state: StudyState, request: Request) -> dict[str, Any]:
    """What a request with a key says, as its event keeps it; raises what is wrong with it."""
    if isinstance(request, requests.Tell):
        content: dict[str, Any] = {"rewards": read_rewards(state, request.rewards)}
        return {**content, "late": "log"} if request.late == "log" else content
    if isinstance(request, requests.Set):
        settings = state.settings.with_values(request.values, len(state.arms))
        return {"set": {name: getattr(settings, name) for name in request.values}}
    if isinstance(request, requests.Void):
        content = {"place": _place_of(state, request)}
        if request.value is not None:
            content["value"] = state.problem.noise.check_reward(request.value) + 0.0
        return content
    if isinstance(request, requests.Note):
        return {"text": clean(request.text)}
    raise StudyError("a key stands for rewards, or for a change by hand")


def handle(
    state: StudyState, request: Request, now: float, *, worker: str, key: str | None = None
) -> tuple[list[Event], Answer]:
    """Let a request happen at the moment `now`; the events to keep, none if nothing happened.

    Raises a `StandoutError`, with the state as it was, for what cannot be asked or told. After
    anything else that is raised the state is of no use.
    """
    return _HANDLE[type(request)](_Hand(state, now, worker, key), request)


class _Hand:
    """A request under way."""

    def __init__(self, state: StudyState, now: float, worker: str, key: str | None) -> None:
        self.state, self.now = state, now
        self.worker, self.key = clean(worker), key
        self.events: list[Event] = []

    def happens(self, kind: Kind, content: dict[str, Any]) -> Outcome:
        """Let an event happen, and note it. What it says was checked before."""
        state = self.state
        number, plans = state.number + 1, LivePlans(state)
        outcome = apply(state, kind, At(number, self.now, self.worker), content, plans)
        came = outcome.to_body()
        if kind is Kind.ASKED:
            content.pop("avoid", None)
            if not came and not plans.plans:
                return outcome  # There was nothing to hand out, and nothing has changed.
            if outcome.met:
                content["avoid"] = sorted(outcome.met)
        plans.record(content)
        if came:
            content[OUTCOME] = came
        event = make_event(
            state.head, number, self.now, kind, self.worker, self.key, _encode(content)
        )
        state.number, state.head = number, event.digest
        self.events.append(event)
        self.key = None  # It stands for the first event of a request.
        return outcome

    def checked(self, kind: Kind, content: dict[str, Any]) -> Outcome:
        """Check what an event says, then let it happen."""
        check(self.state, kind, content)
        return self.happens(kind, content)

    def answer(self, **found: Any) -> tuple[list[Event], Answer]:
        """What is given back for the request."""
        look = self.state.look
        is_due = look is not None and bool(self.events) and look.number >= self.events[0].number
        return self.events, Answer(look_due=is_due, **found)


def clean(text: object) -> str:
    """Free text as both databases can store it."""
    found = arguments.text("a reason or a worker", text)
    return found.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _with_reason(content: dict[str, Any], reason: str) -> dict[str, Any]:
    why = clean(reason)
    return {**content, "reason": why} if why else content


# Telling and asking --------------------------------------------------------------------------


def _tell(hand: _Hand, request: requests.Tell) -> tuple[list[Event], Answer]:
    return hand.answer(receipt=_told(hand, request))


def _told(hand: _Hand, request: requests.Tell) -> Receipt:
    state, content = hand.state, _content(hand.state, request)
    rewards = content["rewards"]
    check_tickets(state, rewards)
    if request.late == "refuse":
        check_in_time(state, rewards)
    if not rewards or (hand.key is None and not _is_any_new(state, rewards)):
        return Receipt(repeated=len(rewards))
    outcome = hand.happens(Kind.TOLD, content)
    counted = len(rewards) - outcome.repeated - outcome.surplus
    return Receipt(counted, outcome.repeated, outcome.surplus)


def _is_any_new(state: StudyState, rewards: list[Reward]) -> bool:
    status = state.tickets.status
    return any(n < 0 or status.item(n - 1) != TicketStatus.TOLD for n, _ in rewards)


def _ask(hand: _Hand, request: requests.Ask) -> tuple[list[Event], Answer]:
    return hand.answer(asked=_asked(hand, _checked_ask(hand.state, request)))


def _checked_ask(state: StudyState, request: requests.Ask) -> dict[str, Any]:
    """The content of the event; raises `StudyError` for what cannot be asked."""
    n = arguments.whole("the number of tickets", request.n, 1, arguments.MOST_TICKETS)
    content: dict[str, Any] = {"n": n, "known": _as_set(request.known)}
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


def _asked(hand: _Hand, content: dict[str, Any]) -> Asked:
    """Lost tickets first, then new ones."""
    state, known = hand.state, content.pop("known")
    found: list[Ticket] = []
    if known is not None and not state.is_stopped:
        found = lost(state, hand.worker, known, hand.now)[: content["n"]]
    content["n"] -= len(found)
    if state.is_stopped or not content["n"]:
        return Asked(tuple(found))
    first = state.tickets.size + 1
    outcome = hand.happens(Kind.ASKED, content)
    found += [ticket_of(state, number) for number in range(first, state.tickets.size + 1)]
    if found or state.is_stopped:
        return Asked(tuple(found))
    avoided = tuple(state.arms[arm] for arm in sorted(outcome.met))
    return Asked((), is_all_out=True, free_at=state.tickets.first_end(), avoided=avoided)


def _tell_and_ask(hand: _Hand, request: requests.TellAndAsk) -> tuple[list[Event], Answer]:
    content = _checked_ask(hand.state, request.ask)
    receipt = _told(hand, request.tell)
    rewards = list(request.tell.rewards)
    if rewards and receipt.repeated == len(rewards):
        # What was told again brings no more than it brought the first time.
        number = ticket_id(rewards[0][0])  # type: ignore[arg-type]
        place = hand.state.tickets.place.item(number - 1)
        told = hand.state.ledger.event.item(place - 1)
        return hand.answer(receipt=receipt, asked=_given_or_asked(hand, told, content))
    return hand.answer(receipt=receipt, asked=_asked(hand, content))


def _given_or_asked(hand: _Hand, told: int, content: dict[str, Any]) -> Asked:
    """What was given with the rewards of event `told`, as far as it is out, or else new tickets."""
    found = given(hand.state, told + 1, hand.worker)[: content["n"]]
    return Asked(tuple(found)) if found else _asked(hand, content)


def ticket_of(state: StudyState, number: int) -> Ticket:
    """A ticket that is out."""
    arm = state.tickets.arm.item(number - 1)
    return Ticket(number, state.arms[arm], state.tickets.open[number].expires)


def lost(state: StudyState, worker: str, known: Collection[int], now: float) -> list[Ticket]:
    """The tickets that a worker holds, with leases beyond `now`, and does not know of."""
    mine = state.tickets.of_worker(worker)
    return [ticket_of(state, n) for n, one in mine if one.expires > now and n not in known]


def given(state: StudyState, number: int, worker: str) -> list[Ticket]:
    """The tickets that event `number` gave to a worker and that are still out."""
    if state.is_stopped:
        return []
    mine = state.tickets.of_worker(worker)
    return [ticket_of(state, n) for n, one in mine if one.event == number]


# Giving back, leases ---------------------------------------------------------------------------


def _fail(hand: _Hand, request: requests.Fail) -> tuple[list[Event], Answer]:
    number = known_ticket(hand.state, request.ticket)
    if hand.state.tickets.status.item(number - 1) == TicketStatus.FAILED:
        return hand.answer()  # Giving it back twice is harmless.
    content = _with_reason({"ticket": number}, request.reason)
    if not request.pauses:
        content["pauses"] = False
    hand.checked(Kind.FAILED, content)
    return hand.answer()


def _lease(hand: _Hand, request: requests.Lease) -> tuple[list[Event], Answer]:
    """Tickets that are not out are passed over."""
    numbers = [ticket_id(ticket) for ticket in request.tickets]
    content: dict[str, Any] = {}
    if request.seconds is not None:
        seconds = request.seconds
        content["lease"] = 0 if seconds == 0 else arguments.seconds("a lease", seconds)
    out = [number for number in dict.fromkeys(numbers) if number in hand.state.tickets.open]
    if out:
        hand.happens(Kind.LEASED, {"tickets": out, **content})
    return hand.answer()


# Changes by hand -------------------------------------------------------------------------------


def _position(state: StudyState, arm: str) -> int:
    position = state.index.get(arguments.text("an arm", arm))
    if position is None:
        raise StudyError(f"no arm {shown(arm)} in this study")
    return position


def _pause(hand: _Hand, request: requests.Pause) -> tuple[list[Event], Answer]:
    arm = _position(hand.state, request.arm)
    content = _with_reason({"arm": arm}, request.reason)
    if hand.state.paused.get(arm) != content.get("reason", ""):
        hand.happens(Kind.PAUSED, content)
    return hand.answer()


def _resume(hand: _Hand, request: requests.Resume) -> tuple[list[Event], Answer]:
    arm = _position(hand.state, request.arm)
    content = _with_reason({"arm": arm}, request.reason)
    if arm in hand.state.paused or hand.state.streak[arm]:
        hand.happens(Kind.RESUMED, content)
    return hand.answer()


def _set(hand: _Hand, request: requests.Set) -> tuple[list[Event], Answer]:
    content = _content(hand.state, request)
    now = vars(hand.state.settings)
    if hand.key is not None or any(now[name] != new for name, new in content["set"].items()):
        hand.checked(Kind.SET, _with_reason(content, request.reason))
    return hand.answer()


def _void(hand: _Hand, request: requests.Void) -> tuple[list[Event], Answer]:
    content = _content(hand.state, request)
    hand.checked(Kind.VOIDED, _with_reason(content, request.reason))
    return hand.answer()


def _place_of(state: StudyState, request: requests.Void) -> int:
    if (request.place is None) == (request.ticket is None):
        raise StudyError("say which reward is void: its place in the log, or its ticket")
    if request.ticket is None:
        return arguments.whole("place", request.place, 1, arguments.MOST_PULLS)
    number = ticket_id(request.ticket)
    place = state.tickets.place.item(number - 1) if number <= state.tickets.size else 0
    if not place:
        raise StudyError(f"ticket {number} has no reward in this study")
    return place


def _note(hand: _Hand, request: requests.Note) -> tuple[list[Event], Answer]:
    content = _content(hand.state, request)
    if not content["text"].strip():
        raise StudyError("a note must have some text")
    hand.happens(Kind.NOTED, content)
    return hand.answer()


def _look(hand: _Hand, request: requests.Look) -> tuple[list[Event], Answer]:
    """One that saw what is no longer so is passed over."""
    look = hand.state.look
    if look is not None and look.number == request.number:
        excess = request.excess if math.isfinite(request.excess) else None
        hand.happens(Kind.LOOKED, {"number": request.number, "excess": excess})
    return hand.answer()


_HANDLE: dict[type, Callable[[_Hand, Any], tuple[list[Event], Answer]]] = {
    requests.Tell: _tell,
    requests.Ask: _ask,
    requests.TellAndAsk: _tell_and_ask,
    requests.Fail: _fail,
    requests.Lease: _lease,
    requests.Pause: _pause,
    requests.Resume: _resume,
    requests.Set: _set,
    requests.Void: _void,
    requests.Note: _note,
    requests.Look: _look,
}
