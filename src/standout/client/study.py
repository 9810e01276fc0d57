"""A study on a server, with the methods of a `Study`."""

from __future__ import annotations

import operator
import os
import secrets
import socket
import threading
from collections.abc import Iterable, Mapping
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
    """The tickets that a worker holds, as far as this program knows."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.lock = threading.Lock()
        self.tickets: set[int] = set()

    def take(self, found: Tickets | Told) -> list[Ticket]:
        """The tickets of an answer."""
        self.tickets.update(ticket.id for ticket in found.tickets)
        return list(found.tickets)


class _Found(NamedTuple):
    """The tickets of an answer, and how long to wait where all that may be asked for is out."""

    tickets: list[Ticket]
    is_all_out: bool
    wait: float


class RemoteStudy(StudyInterface):
    """Ask, tell and look; a method returns when the server has it on disk.

    An answer that gets lost is asked for again: every telling has a key and
    counts once, however often it is sent, and tickets that never arrived are
    handed out again to their worker. Raises what a `Study` raises, `AccessError`
    if the token does not allow it, `UnavailableError` if the server is away for
    longer than the client's patience, `UncertainError` if what was sent may
    have been done.

    Rewards that are too many for one request (20,000, 4 MB) are sent in parts,
    each of which is counted as a whole or not at all; the error then says how
    many were counted before. Chances may be some seconds old while rewards come in.

    >>> study = client.study("beans")
    >>> study.tell(study.ask(), 1.0).counted
    1
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self.name = name
        self._transport = transport
        self._path = f"/studies/{quote(name, safe='')}"
        self._base = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self._lock = threading.Lock()
        self._hands: dict[str, _Hand] = {}

    def _hand(self, worker: str | None) -> _Hand:
        """What a worker holds; unless named, every thread is a worker of its own.

        So the server can tell what was handed to whom, and an answer that got
        lost is given again to the right one.
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
        """The tickets that the server gives."""
        hand = self._hand(wanted.worker)
        body = {"n": _count(wanted.n), "worker": hand.who, **_asking(wanted)}
        is_first = True

        def send() -> Any:
            nonlocal is_first
            # The second time around, what the first answer may have held comes again.
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
        """The answers to all parts; what `last` holds is sent with the last of them.

        Each part has a key of its own, made from that of the call: the parts of
        a call that is made again are recognised one by one.
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
        """Change something; sent again, it is known by its key."""
        sent = {**body, "key": hand.key or new_key()}
        sent |= _given(reason=hand.reason[:2000], worker=hand.worker)
        return Status.from_dict(self._send_keyed(method, path, sent))

    def _send_keyed(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """Send what is known by its key, again and again; whoever gives up is told the key."""
        try:
            return self._transport.patiently(lambda: self._transport.once(method, path, body))
        except UncertainError as error:
            raise UncertainError(f"{error}; its key is {body['key']!r}", body["key"]) from None

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
