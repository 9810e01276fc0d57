"""A study on a server, with the methods of a `Study`."""

from __future__ import annotations

import operator
import os
import secrets
import socket
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from standout.client.batches import counted_from, parts, rows_of, ticket_number, whole_receipt
from standout.client.transport import Transport
from standout.errors import AllOutError, StudyError, UncertainError
from standout.results import (
    Chances,
    Change,
    ChangeList,
    Ending,
    EndingList,
    Identification,
    Pending,
    PendingList,
    Receipt,
    Status,
    Ticket,
    Tickets,
    Told,
)
from standout.study_interface import ByHand, Key, StudyInterface, Wanted, new_key


class _Hand:
    """The tickets of a worker that this program knows about."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.lock = threading.Lock()
        self.tickets: set[int] = set()

    def take(self, found: Tickets | Told) -> list[Ticket]:
        """Remember the tickets of an answer, and return them."""
        self.tickets.update(ticket.id for ticket in found.tickets)
        return list(found.tickets)


class _Found(NamedTuple):
    """The tickets of an answer, and how long to wait if every useful pull is out."""

    tickets: list[Ticket]
    is_all_out: bool
    wait: float


class RemoteStudy(StudyInterface):
    """A study on a server; a method returns when the server has the change on disk.

    A request whose answer is lost is repeated. Each telling has an idempotency key and counts once,
    even if it is sent several times. Tickets that never arrived are handed out again to their
    worker.

    More rewards than one request may carry (20,000, 4 MB) are sent in parts. Each part counts as a
    whole or not at all, and an error says how many rewards count. Chances may be some seconds old
    while rewards arrive.

    Raises:
        AccessError: The token does not allow the call.
        UnavailableError: The server does not answer for longer than the client's patience.
        UncertainError: The request may have been carried out.

    Example:
        >>> study = client.study("beans")
        >>> study.tell(study.ask(), 1.0).counted
        1
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self._call(name)
        self._base = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._lock = threading.Lock()
        self._hands: dict[str, _Hand] = {}

    def _hand(self, worker: str | None) -> _Hand:
        """The tickets of a worker; by default, every thread is a worker of its own.

        The server then knows which thread got which tickets, and sends a lost answer again to the
        same thread.
        """
        who = worker or f"{self._base}:{threading.get_ident()}"
        with self._lock:
            return self._hands.setdefault(who, _Hand(who))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._transport.shown!r})"

    def _tell_and_ask(self, wanted: Wanted) -> tuple[Receipt, list[Ticket]]:
        count = None if wanted.n is None else _count(wanted.n)
        hand, rewards = self._hand(wanted.worker), wanted.rewards
        if not rewards:
            return Receipt(), [] if count is None else self._ask_for(wanted).tickets
        with hand.lock:
            more = _given(ask=count, **_asking(wanted))
            *before, last = self._tell_in_parts(more, rewards, hand, wanted.key)
            return whole_receipt(last, before), hand.take(last)

    def _ask(self, wanted: Wanted) -> list[Ticket]:
        found, is_all_out, wait = self._ask_for(wanted)
        if is_all_out:
            raise AllOutError.after(wait)
        return found

    def _ask_for(self, wanted: Wanted) -> _Found:
        """The tickets that the server hands out."""
        hand = self._hand(wanted.worker)
        body = {"n": _count(wanted.n), "worker": hand.who, **_asking(wanted)}
        is_first = True

        def send() -> Any:
            nonlocal is_first
            # A repeated request returns the tickets of the first answer, if it was lost.
            sent = body if is_first else {"known": sorted(hand.tickets), **body}
            is_first = False
            return self._transport.once("POST", f"{self._path}/ask", sent)

        with hand.lock:
            found = Tickets.from_dict(self._transport.patiently(send))
            is_all_out = not found.tickets and not found.stopped
            return _Found(hand.take(found), is_all_out, found.wait)

    def _tell_in_parts(
        self, last: dict[str, Any], pairs: list[tuple[Key, float]], hand: _Hand, key: str | None
    ) -> list[Told]:
        """The answers to all parts; the last request also carries what `last` holds.

        The key of each part is made from that of the call, so the server recognises every part of a
        repeated call.
        """
        key = key or new_key()
        rows = rows_of(pairs)
        answers = []
        for part in parts(rows):
            sent = {"worker": hand.who, "rewards": rows[part]}
            sent |= last if part.stop == len(rows) else {}
            is_whole = part.start == 0 and part.stop == len(rows)
            sent["key"] = key if is_whole else f"{key} from {part.start}"
            with counted_from(part.start):
                answers.append(self._tell(sent, pairs[part], hand))
        return answers

    def _tell(self, body: dict[str, Any], pairs: list[tuple[Key, float]], hand: _Hand) -> Told:
        data = self._send_keyed("POST", f"{self._path}/tell", body)
        hand.tickets.difference_update(ticket_number(k) for k, _ in pairs if not isinstance(k, str))
        return Told.from_dict(data)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        hand = self._hand(worker)
        body = {"ticket": ticket_number(ticket), "reason": reason[:2000], "worker": hand.who}
        with hand.lock:
            self._transport.post(f"{self._path}/fail", body)
            hand.tickets.discard(ticket_number(ticket))

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        numbers = [ticket_number(ticket) for ticket in given]
        if numbers:
            self._transport.post(f"{self._path}/renew", _given(tickets=numbers, lease=lease))

    def release(self, given: Iterable[Ticket | int]) -> None:
        numbers = [ticket_number(ticket) for ticket in given]
        if numbers:
            self._transport.post(f"{self._path}/release", {"tickets": numbers})

    def pause(self, arm: str, reason: str = "paused by hand", *, worker: str | None = None) -> None:
        body = {"arm": arm, "reason": reason[:2000], "worker": worker}
        self._transport.post(f"{self._path}/pause", body)

    def resume(self, arm: str, reason: str = "", *, worker: str | None = None) -> None:
        body = {"arm": arm, "reason": reason[:2000], "worker": worker}
        self._transport.post(f"{self._path}/resume", body)

    def _set(self, values: Mapping[str, Any], hand: ByHand) -> Status:
        return self._by_hand("PATCH", self._path, values, hand)

    def _void(
        self, place: int | None, ticket: Ticket | int | None, value: float | None, hand: ByHand
    ) -> Status:
        number = None if ticket is None else ticket_number(ticket)
        body = _given(place=place, ticket=number, value=value)
        return self._by_hand("POST", f"{self._path}/void", body, hand)

    def _by_hand(self, method: str, path: str, body: Mapping[str, Any], hand: ByHand) -> Status:
        """Make a change; its key lets the server recognise a repetition."""
        sent = {**body, "key": hand.key or new_key()}
        sent |= _given(reason=hand.reason[:2000], worker=hand.worker)
        return Status.from_dict(self._send_keyed(method, path, sent))

    def _send_keyed(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send a request with a key, repeatedly if needed; a final error names the key."""
        try:
            return self._transport.patiently(lambda: self._transport.once(method, path, body))
        except UncertainError as error:
            raise UncertainError(f"{error}; its key is {body['key']!r}", body["key"]) from None

    def _call(self, name: str) -> None:
        """Go by this name from now on."""
        self.name, self._path = name, f"/studies/{quote(name, safe='')}"

    @property
    def axis(self) -> str | None:
        """What a reward is, with its unit, for axes."""
        return self.status().axis

    def _add_arms(self, arms: Sequence[str], hand: ByHand) -> Status:
        return self._by_hand("POST", f"{self._path}/arms", {"arms": list(arms)}, hand)

    def rename(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        body = {"name": name, "reason": reason[:2000], "worker": worker}
        self._transport.post(f"{self._path}/rename", body, is_repeatable=False)
        self._call(name)

    def copy(self, name: str, *, rewards: bool = True, worker: str | None = None) -> None:
        body = {"name": name, "rewards": rewards, "worker": worker}
        self._transport.post(f"{self._path}/copy", body, is_repeatable=False)

    def delete(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        query = urlencode(_given(confirm=name, reason=reason[:2000], worker=worker))
        path = f"{self._path}?{query}"
        self._transport.patiently(
            lambda: self._transport.once("DELETE", path, None), is_repeatable=False
        )

    def changes(self) -> list[Change]:
        return list(ChangeList.from_dict(self._transport.get(f"{self._path}/changes")).changes)

    def pending(self) -> list[Pending]:
        data = self._transport.get(f"{self._path}/pending")
        return list(PendingList.from_dict(data).pending)

    def status(self) -> Status:
        return Status.from_dict(self._transport.get(self._path))

    def identification(self) -> Identification:
        return Identification.from_dict(self._transport.get(f"{self._path}/identification"))

    def endings(self) -> tuple[Ending, ...]:
        return EndingList.from_dict(self._transport.get(f"{self._path}/endings")).endings

    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        path = f"{self._path}/chances"
        return Chances.from_dict(self._transport.get(path, false_share=false_share, seed=seed))

    def close(self) -> None:
        self._transport.close()


def _count(n: int | None) -> int:
    try:
        count = 1 if n is None else operator.index(n)
    except TypeError:
        count = 0
    if count < 1:
        raise StudyError(f"ask for a whole number of at least 1 ticket, not {n}")
    return count


def _asking(wanted: Wanted) -> dict[str, Any]:
    known = None if wanted.known is None else list(wanted.known)
    return _given(lease=wanted.lease, items=wanted.items or None, known=known)


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
