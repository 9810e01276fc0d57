"""Requests to a study: each is checked, then applied, and returns the events to store.

An invalid request is refused before any change. The state is changed in place, so if the events
cannot be stored, it must be rebuilt from the stored ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from standout.errors import KeyUsedError
from standout.results import Receipt, Ticket
from standout.study.arguments import clean
from standout.study.events import requests
from standout.study.events.contents import (
    Content,
    Reward,
    check_tickets,
    is_idle,
    read_ask,
    read_request,
    ticket_id,
)
from standout.study.events.definition import Definition
from standout.study.events.event import NO_DIGEST, Event, Kind, make_event
from standout.study.events.fold import OUTCOME
from standout.study.events.planner import LivePlans
from standout.study.events.requests import Answer, Asked, Request
from standout.study.events.rules import apply, check
from standout.study.events.state import StudyState
from standout.study.events.tables import TicketStatus
from standout.study.events.telling import At, Outcome

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def create(definition: Definition, now: float, *, worker: str, key: str | None = None) -> Event:
    """The first event of a study (`begin` makes its state)."""
    body = _encode(definition.to_body())
    return make_event(NO_DIGEST, 0, now, Kind.CREATED, worker, key, body)


def repeat(
    state: StudyState, before: Event, request: Request, now: float, *, worker: str
) -> tuple[list[Event], Answer]:
    """Answer a request whose key belongs to the event `before`, without repeating it.

    The answer has the receipt of the first call, and its tickets that are still out (or new ones if
    there are none). Raises `KeyUsedError` if the key was used for another request.
    """
    hand = _Hand(state, now, worker, None)
    told = request.tell if isinstance(request, requests.TellAndAsk) else request
    asked = read_ask(state, request.ask) if isinstance(request, requests.TellAndAsk) else None
    receipt = _receipt_of(before, *read_request(state, told))
    if asked is None:
        return hand.answer(receipt=receipt)
    return hand.answer(receipt=receipt, asked=_given_or_asked(hand, before.number, asked))


def _receipt_of(before: Event, kind: Kind, content: Content) -> Receipt:
    """The first receipt of the same request; raises `KeyUsedError` for another one."""
    kept = json.loads(before.body)
    came, count = kept.pop(OUTCOME, {}), len(kept.get("rewards", ()))
    for each in (kept, content):
        each.pop("reason", None)
    if before.kind != kind or kept != json.loads(_encode(content)):
        what = f"to tell {count} other rewards" if count else "for something else"
        raise KeyUsedError(
            f"the key {before.key!r} was used before {what}; "
            "nothing was changed. Take a new key for what is new",
            before.time,
            count,
        )
    again, surplus = came.get("again", 0), came.get("surplus", 0)
    return Receipt(count - again - surplus, again, surplus, True, before.time)


def handle(
    state: StudyState, request: Request, now: float, *, worker: str, key: str | None = None
) -> tuple[list[Event], Answer]:
    """Apply a request at the moment `now`; return the events to store, if any.

    Raises a `StandoutError`, with an unchanged state, for an invalid request. After any other
    exception the state is unusable.
    """
    hand = _Hand(state, now, worker, key)
    if isinstance(request, requests.TellAndAsk):
        return _tell_and_ask(hand, request)
    if isinstance(request, requests.Tell):
        return hand.answer(receipt=_told(hand, request))
    if isinstance(request, requests.Ask):
        return hand.answer(asked=_asked(hand, read_ask(state, request)))
    kind, content = read_request(state, request)
    is_remembered = kind is Kind.SET and key is not None
    if is_remembered or not is_idle(state, kind, content):
        check(state, kind, content)
        hand.happens(kind, content)
    return hand.answer()


class _Hand:
    """A request in progress."""

    def __init__(self, state: StudyState, now: float, worker: str, key: str | None) -> None:
        self.state, self.now = state, now
        self.worker, self.key = clean(worker), key
        self.events: list[Event] = []

    def happens(self, kind: Kind, content: dict[str, Any]) -> Outcome:
        """Apply an event that was checked before, and keep it."""
        state = self.state
        number, plans = state.number + 1, LivePlans(state)
        outcome = apply(state, kind, At(number, self.now, self.worker), content, plans)
        came = outcome.to_body()
        if kind is Kind.ASKED:
            content.pop("avoid", None)
            if not came and not plans.plans:
                return outcome  # There was nothing to hand out, so nothing has changed.
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
        self.key = None  # The key belongs to the first event of a request.
        return outcome

    def answer(self, **found: Any) -> tuple[list[Event], Answer]:
        """The answer to the request."""
        look = self.state.look
        is_due = look is not None and bool(self.events) and look.number >= self.events[0].number
        return self.events, Answer(look_due=is_due, **found)


def _told(hand: _Hand, request: requests.Tell) -> Receipt:
    state, (kind, content) = hand.state, read_request(hand.state, request)
    rewards = content["rewards"]
    check_tickets(state, rewards)
    if not rewards or (hand.key is None and not _is_any_new(state, rewards)):
        return Receipt(repeated=len(rewards))
    outcome = hand.happens(kind, content)
    counted = len(rewards) - outcome.repeated - outcome.surplus
    return Receipt(counted, outcome.repeated, outcome.surplus)


def _is_any_new(state: StudyState, rewards: list[Reward]) -> bool:
    status = state.tickets.status
    return any(n < 0 or status.item(n - 1) != TicketStatus.TOLD for n, _ in rewards)


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
    content = read_ask(hand.state, request.ask)
    receipt = _told(hand, request.tell)
    rewards = list(request.tell.rewards)
    if rewards and receipt.repeated == len(rewards):
        # A repeated telling returns no more tickets than the first time.
        number = ticket_id(rewards[0][0])  # type: ignore[arg-type]
        place = hand.state.tickets.place.item(number - 1)
        told = hand.state.ledger.event.item(place - 1)
        return hand.answer(receipt=receipt, asked=_given_or_asked(hand, told, content))
    return hand.answer(receipt=receipt, asked=_asked(hand, content))


def _given_or_asked(hand: _Hand, told: int, content: dict[str, Any]) -> Asked:
    """The tickets of event `told` that are still out, or else new tickets."""
    found = given(hand.state, told + 1, hand.worker)[: content["n"]]
    return Asked(tuple(found)) if found else _asked(hand, content)


def ticket_of(state: StudyState, number: int) -> Ticket:
    """A ticket that is out."""
    arm = state.tickets.arm.item(number - 1)
    return Ticket(number, state.arms[arm], state.tickets.open[number].expires)


def lost(state: StudyState, worker: str, known: Collection[int], now: float) -> list[Ticket]:
    """The tickets of a worker, with leases beyond `now`, that it does not know of."""
    mine = state.tickets.of_worker(worker)
    return [ticket_of(state, n) for n, one in mine if one.expires > now and n not in known]


def given(state: StudyState, number: int, worker: str) -> list[Ticket]:
    """The tickets that event `number` gave to a worker and that are still out."""
    if state.is_stopped:
        return []
    mine = state.tickets.of_worker(worker)
    return [ticket_of(state, n) for n, one in mine if one.event == number]
