"""A study on a server, with the methods of a `Study`."""

from __future__ import annotations

import operator
import os
import secrets
import socket
import threading
from collections.abc import Iterable
from typing import Any, overload
from urllib.parse import quote

from standout.client.batches import (
    Key,
    counted_from,
    parts,
    rows_of,
    ticket_number,
    whole_receipt,
)
from standout.client.transport import Transport
from standout.errors import BatchError, RewardError, StudyError, TicketError, UncertainError
from standout.results import (
    Chances,
    Identification,
    Pending,
    PendingList,
    Receipt,
    Status,
    Ticket,
    Tickets,
    Told,
)


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


class RemoteStudy:
    """Ask, tell and look; a method returns when the server has it on disk.

    An answer that gets lost is asked for again: every telling has a key and
    counts once, however often it is sent, and tickets that never arrived are
    handed out again to their worker. Raises what a `Study` raises, `AccessError`
    if the token does not allow it, `UnavailableError` if the server is away for
    longer than the client's patience, `UncertainError` if what was sent may
    have been done.

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

    @overload
    def ask(
        self,
        n: None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
    ) -> Ticket | None: ...

    @overload
    def ask(
        self,
        n: int,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
    ) -> list[Ticket]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
    ) -> Ticket | list[Ticket] | None:
        """The pull to measure next; with `n` a list of up to so many (at most 10,000).

        None (an empty list) when the study has stopped or must wait for what is
        pending. `worker` says who measures (this thread unless given), `lease`
        in how many seconds the ticket is handed out again; with `items` each
        ticket says what to show for its arm.

        Raises what `Study.ask` raises, `AccessError` if the token does not
        allow it and `UnavailableError` if the server is away for too long.

        >>> study.ask().arm, len(study.ask(2))
        ('ash', 2)
        """
        count = _count(n)
        hand = self._hand(worker)
        body = _given(n=count, worker=hand.who, lease=lease, items=items or None)
        is_first = True

        def send() -> Any:
            nonlocal is_first
            # The second time around, what the first answer may have held comes again.
            sent = body if is_first else {**body, "known": sorted(hand.tickets)}
            is_first = False
            return self._transport.once("POST", f"{self._path}/ask", sent)

        with hand.lock:
            found = hand.take(Tickets.from_dict(self._transport.patiently(send)))
        if n is not None:
            return found
        return found[0] if found else None

    def tell(
        self,
        ticket: Ticket | int | None = None,
        reward: float | None = None,
        *,
        arm: str | None = None,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell the reward of a ticket or, without asking, of an arm (`arm=`).

        `worker` says who measured, `key` is that of `tell_many`. Raises
        `RewardError`, `TicketError` or `ToldError`; then nothing is changed.

        >>> study.tell(study.ask(), 1.0).counted, study.tell(arm="fir", reward=0.0).counted
        (1, 1)
        """
        if (ticket is None) == (arm is None):
            raise TicketError("tell the reward of a ticket or of an arm")
        if reward is None:
            raise RewardError("no reward given")
        pair: Any = (arm if ticket is None else ticket, reward)
        try:
            return self.tell_many([pair], worker=worker, key=key)
        except BatchError as error:
            raise (error.__cause__ or TicketError(str(error))) from None

    def tell_many(
        self,
        rewards: Iterable[tuple[Key, float]],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell many rewards at once: all are counted or, if one is bad, none.

        A list that is too long for one request (20,000 rewards, 4 MB) is sent in
        parts, each of which is counted as a whole or not at all; the error then
        says how many were counted before.

        `key` is a text that stands for this call, made at random unless given:
        whatever breaks on the way, the rewards are sent again with it and count
        once. An `UncertainError` has the key to tell them with later.

        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").counted
        2
        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").again
        True
        """
        pairs = list(rewards)
        if not pairs:
            return Receipt()
        hand = self._hand(worker)
        with hand.lock:
            *before, last = self._tell_in_parts({"worker": hand.who}, {}, pairs, hand, key)
            return whole_receipt(last, before)

    @overload
    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Key, float]],
        n: None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
        key: str | None = None,
    ) -> tuple[Receipt, Ticket | None]: ...

    @overload
    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Key, float]],
        n: int,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
        key: str | None = None,
    ) -> tuple[Receipt, list[Ticket]]: ...

    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Key, float]],
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        items: bool = False,
        key: str | None = None,
    ) -> tuple[Receipt, Ticket | list[Ticket] | None]:
        """Tell rewards and ask for the next pulls, in one request.

        `rewards` and `key` are those of `tell_many`, the rest those of `ask`;
        what is raised, too.

        >>> receipt, ticket = study.tell_and_ask([(study.ask(), 1.0)])
        >>> receipt.counted, ticket.arm
        (1, 'ash')
        """
        pairs, count = list(rewards), _count(n)
        found: list[Ticket]
        if not pairs:
            receipt = Receipt()
            found = self.ask(count, worker=worker, lease=lease, items=items)
        else:
            hand = self._hand(worker)
            asking = _given(ask=count, lease=lease, items=items or None)
            with hand.lock:
                *before, last = self._tell_in_parts({"worker": hand.who}, asking, pairs, hand, key)
                receipt, found = whole_receipt(last, before), hand.take(last)
        if n is not None:
            return receipt, found
        return receipt, found[0] if found else None

    def _tell_in_parts(
        self,
        body: dict[str, Any],
        last: dict[str, Any],
        pairs: list[tuple[Key, float]],
        hand: _Hand,
        key: str | None,
    ) -> list[Told]:
        """The answers to all parts; what `last` holds is sent with the last of them.

        Each part has a key of its own, made from that of the call: the parts of
        a call that is made again are recognised one by one.
        """
        key = key or secrets.token_urlsafe(16)
        rows = rows_of(pairs)
        answers = []
        for part in parts(rows):
            sent = {**body, **(last if part.stop == len(rows) else {}), "rewards": rows[part]}
            is_whole = part.start == 0 and part.stop == len(rows)
            sent["key"] = key if is_whole else f"{key} from {part.start}"
            with counted_from(part.start):
                answers.append(self._tell(sent, pairs[part], hand))
        return answers

    def _tell(self, body: dict[str, Any], pairs: list[tuple[Key, float]], hand: _Hand) -> Told:
        try:
            data = self._transport.post(f"{self._path}/tell", body)
        except UncertainError as error:
            raise UncertainError(f"{error}; its key is {body['key']!r}", body["key"]) from None
        hand.tickets.difference_update(ticket_number(k) for k, _ in pairs if not isinstance(k, str))
        return Told.from_dict(data)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Give a ticket back without a reward, and say why; its pull is handed out again.

        Giving it back twice is harmless. Raises `TicketError` if there is no
        such ticket, `ToldError` if it was told.

        >>> study.fail(study.ask(), "dropped")
        >>> study.status().failures
        {'ash': 1}
        """
        hand = self._hand(worker)
        body = {"ticket": ticket_number(ticket), "reason": reason[:2000], "worker": hand.who}
        with hand.lock:
            self._transport.post(f"{self._path}/fail", body)
            hand.tickets.discard(ticket_number(ticket))

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        """Begin the leases of pending tickets anew: `lease` seconds, the study's unless given.

        >>> study.renew([study.ask(lease=1)], 3600)
        """
        numbers = [ticket_number(ticket) for ticket in given]
        if numbers:
            self._transport.post(f"{self._path}/renew", _given(tickets=numbers, lease=lease))

    def release(self, given: Iterable[Ticket | int]) -> None:
        """End the leases of pending tickets now: the next to ask gets their pulls.

        >>> first = study.ask()
        >>> study.release([first])
        >>> study.ask().arm == first.arm
        True
        """
        numbers = [ticket_number(ticket) for ticket in given]
        if numbers:
            self._transport.post(f"{self._path}/release", {"tickets": numbers})

    def pause(self, arm: str, reason: str = "paused by hand") -> None:
        """Hand out no more pulls of `arm`, until `resume`; `reason` is shown to people.

        >>> study.pause("ash", "out of stock")
        >>> study.ask().arm, study.status().paused
        ('elm', {'ash': 'out of stock'})
        """
        self._transport.post(f"{self._path}/pause", {"arm": arm, "reason": reason[:2000]})

    def resume(self, arm: str) -> None:
        """Hand out pulls of a paused arm again.

        >>> study.pause("ash")
        >>> study.resume("ash")
        >>> study.ask().arm
        'ash'
        """
        self._transport.post(f"{self._path}/resume", {"arm": arm})

    def pending(self) -> list[Pending]:
        """The tickets that are out, oldest first, with whom and until when (seconds since 1970).

        >>> _ = study.ask(worker="lab 3")
        >>> [(one.ticket, one.arm, one.worker) for one in study.pending()]
        [(1, 'ash', 'lab 3')]
        """
        data = self._transport.get(f"{self._path}/pending")
        return list(PendingList.from_dict(data).pending)

    def status(self) -> Status:
        """How the study stands, as `Study.status` says it.

        >>> now = study.status()
        >>> now.pulls, now.problem.noise, now.threshold.upper
        (0, 'bernoulli', inf)
        """
        return Status.from_dict(self._transport.get(self._path))

    def identification(self) -> Identification:
        """The answer so far, as `identify` gives it.

        >>> study.identification().outliers
        ()
        """
        return Identification.from_dict(self._transport.get(f"{self._path}/identification"))

    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        """For each arm the chance that it stands out, as `Study.chances` says it: an estimate.

        While rewards come in they may be some seconds old.

        >>> study.chances().note
        'nothing is measured yet: these chances are those of any arm among as many'
        """
        path = f"{self._path}/chances"
        return Chances.from_dict(self._transport.get(path, false_share=false_share, seed=seed))

    def close(self) -> None:
        """Close the connections to the server; the next use opens another."""
        self._transport.close()


def _count(n: int | None) -> int:
    try:
        count = 1 if n is None else operator.index(n)
    except TypeError:
        count = 0
    if count < 1:
        raise StudyError(f"ask for a whole number of at least 1 ticket, not {n}")
    return count


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
