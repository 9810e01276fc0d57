"""Asking and telling inside one transaction, alone or together with others.

What is wrong with a request shows before it has changed anything; so one bad
request among several in a transaction leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from standout.errors import (
    StandoutError,
    StorageError,
    StudyError,
    UnavailableError,
    UncertainError,
)
from standout.results import Receipt, Ticket
from standout.study import arguments, telling, tickets
from standout.study.log import chain
from standout.study.rewards import Item, make_items, tickets_of
from standout.study.storage import open_tickets
from standout.study.storage.connection import Row
from standout.study.storage.database import Connection, Storage
from standout.study.storage.log import reward_log, steps
from standout.study.storage.statements import FEW
from standout.study.storage.stored_study import StoredStudy
from standout.study.tickets import ticket_id, worker_name
from standout.study_interface import Key, new_key

T = TypeVar("T")
MOMENT = 1e-6
"""Seconds between two requests of one transaction, so that their tickets can be told apart."""


def check_count(n: int) -> int:
    """`n` if so many tickets may be asked for; raises `StudyError` otherwise."""
    return arguments.whole("the number of tickets", n, 1, arguments.MOST_TICKETS)


def worker_of(given: str | None) -> str:
    """Who asks or tells."""
    if given is None or given == "":
        return worker_name()
    return tickets.clean(arguments.text("worker", given))


class Mark(NamedTuple):
    """A key as it comes with rewards: given by the caller, or made here and so surely new."""

    key: str
    is_given: bool
    is_new: bool

    @classmethod
    def of(cls, key: str | None) -> Mark:
        """From what a caller gave."""
        if key is None:
            return cls(new_key(), is_given=False, is_new=True)
        return cls(chain.check_key(key), is_given=True, is_new=False)


class Transaction:
    """One request's part of a transaction; `now` is its moment."""

    def __init__(self, connection: Connection, stored: StoredStudy, now: float) -> None:
        self._connection, self._stored, self._now = connection, stored, now

    @property
    def moment(self) -> float:
        """What its tickets and rewards are stamped with, in seconds since 1970."""
        return self._now

    def given_at(self, moment: float, who: str, n: int) -> list[Ticket]:
        """Up to `n` tickets that a worker was given at a moment and that are still pending."""
        if self._stored.progress.is_stopped:
            return []
        rows = open_tickets.given_at(self._connection, self._stored.key, who, moment)
        return self._tickets(rows[:n])

    def _given_with(self, items: Sequence[Item], who: str, n: int) -> list[Ticket]:
        """The pending tickets that were given in the transaction in which these were told.

        That transaction stamped both with the same moment.
        """
        number = next(iter(tickets_of(items)), None)
        told = reward_log.told_by.first(self._connection, self._stored.key, number)
        return [] if told is None or told[1] != who else self.given_at(told[0], who, n)

    def _lost(self, who: str, known: Collection[int], n: int) -> list[Ticket]:
        """Up to `n` pending tickets of a worker, without those that it knows of."""
        if self._stored.progress.is_stopped:
            return []
        rows = open_tickets.held_by(self._connection, self._stored.key, who, self._now)
        try:
            seen = set(known)
        except TypeError:
            raise StudyError("known must be the numbers of tickets") from None
        return self._tickets([row for row in rows if row[0] not in seen][:n])

    def _tickets(self, rows: Sequence[Row]) -> list[Ticket]:
        arms = self._stored.progress.arms
        return [Ticket(number, arms[arm], expires) for number, arm, expires in rows]

    def ask(
        self,
        n: int = 1,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
    ) -> list[Ticket]:
        """Up to `n` tickets for `worker`, for `lease` seconds; with `known`, lost ones first.

        Raises `StudyError` for a count or a lease that cannot be.
        """
        return self.tell_and_ask((), check_count(n), worker=worker, lease=lease, known=known)[1]

    def tell_many(
        self,
        rewards: Iterable[tuple[Key, float]],
        *,
        worker: str | None = None,
        mark: Mark | None = None,
    ) -> Receipt:
        """Count rewards, all or (with a `BatchError`) none; `mark` is the key they came with."""
        return self.tell_and_ask(rewards, 0, worker=worker, mark=mark)[0]

    def _tell(self, items: Sequence[Item], who: str, mark: Mark) -> tuple[Receipt, float]:
        """The receipt, and when they were told (before now if the key was used before)."""
        if not items:
            return Receipt(), self._now
        request = chain.digest_request(items) if mark.is_given else None
        if not mark.is_new:
            found = steps.find(self._connection, self._stored, mark.key, request)
            if found is not None:
                counted = found.logged - found.surplus
                receipt = Receipt(counted, found.repeated, found.surplus, True, found.time)
                return receipt, found.time
        step = chain.Step(chain.Kind.TELL, self._now, key=mark.key, request=request)
        return telling.tell(self._connection, self._stored, items, who, step), self._now

    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Key, float]],
        n: int = 1,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
        mark: Mark | None = None,
    ) -> tuple[Receipt, list[Ticket]]:
        """Count rewards as `tell_many` does, then hand out up to `n` tickets as `ask` does.

        Told again with the same key, it gives the same tickets again.
        """
        items = make_items(list(rewards), self._stored.progress)
        return self.carry_out(items, n, worker_of(worker), lease, known, mark or Mark.of(None))

    def carry_out(
        self,
        items: Sequence[Item],
        count: int,
        who: str,
        lease: float | None,
        known: Collection[int] | None,
        mark: Mark,
    ) -> tuple[Receipt, list[Ticket]]:
        """Tell rewards, then ask for `count` tickets: what is given has been looked at already."""
        seconds = self._seconds(lease)
        receipt, moment = self._tell(items, who, mark)
        if not count:
            return receipt, []
        if receipt.again:
            found = self.given_at(moment, who, count)
            return receipt, found or self._hand_out(count, who, seconds)
        if items and receipt.repeated == len(items):
            # What was told again brings no more than it brought the first time.
            found = self._given_with(items, who, count)
            return receipt, found or self._hand_out(count, who, seconds)
        found = [] if known is None else self._lost(who, known, count)
        return receipt, found + self._hand_out(count - len(found), who, seconds)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Take a ticket back without a reward; raises `TicketError` if it cannot be."""
        who = worker_of(worker)
        tickets.fail(self._connection, self._stored, ticket_id(ticket), reason, who, self._now)

    def release(self, given: Sequence[Ticket | int], seconds: float = 0.0) -> None:
        """End the leases of pending tickets in so many seconds: others get their pulls then."""
        numbers = [ticket_id(ticket) for ticket in given]
        if numbers:
            end = self._now + seconds
            self._stored.first_due = min(self._stored.first_due, end)
            open_tickets.set_expiry(self._connection, self._stored.key, numbers, end)

    def holder(self, ticket: Ticket | int) -> str | None:
        """Who was given a ticket, or told it; None if there is no such ticket."""
        number, key = ticket_id(ticket), self._stored.key
        held = open_tickets.holder.first(self._connection, key, number)
        if held is None:
            told = reward_log.told_by.first(self._connection, key, number)
            return None if told is None else str(told[1])
        return str(held[0])

    def held(self, worker: str) -> list[Ticket]:
        """The first ticket that a worker has and has not answered, if there is one."""
        return self._lost(worker, (), 1)

    def pending_of(self, prefix: str) -> int:
        """How many tickets are out with workers whose names begin with `prefix`."""
        key = self._stored.key
        return open_tickets.count_of_prefix.number(self._connection, key, self._now, prefix)

    @property
    def left(self) -> int | None:
        """Pulls that the budget allows and that are not told yet; None without a budget."""
        progress = self._stored.progress
        return None if progress.budget is None else progress.budget - progress.totals.pulls

    def _seconds(self, lease: float | None) -> float:
        if lease is None:
            return self._stored.progress.settings.lease
        return arguments.seconds("a lease", lease)

    def _hand_out(self, count: int, who: str, seconds: float) -> list[Ticket]:
        if count < 1:
            return []
        return tickets.hand_out(self._connection, self._stored, count, who, seconds, self._now)


@contextmanager
def writing(
    storage: Storage, stored: StoredStudy, size: int = 1, tickets: Sequence[int] = ()
) -> Iterator[tuple[Connection, float]]:
    """A transaction on the study as it is now, that writes about `size` rows; with its moment.

    `tickets` are those that it is going to tell of, if that is known.
    """
    with stored.lock:
        try:
            with storage.write(is_small=size <= FEW) as connection:
                now = stored.sync(connection, lock=True, tickets=tickets)
                yield connection, storage.clock() if storage.clock else now
                stored.flush(connection)
        except BaseException:
            stored.forget()
            raise


def insist(attempt: Callable[[Mark], T], mark: Mark) -> T:
    """Try once more if the connection breaks; the key shows whether it had been done.

    A second break, at the end of the second try, is no other matter than one at the end
    of the first.
    """
    try:
        try:
            return attempt(mark)
        except UnavailableError as error:
            if error.has_waited:
                raise
            return attempt(mark)
    except UncertainError as error:
        try:
            return attempt(mark._replace(is_new=False))
        except StorageError:
            raise UncertainError(str(error), mark.key) from None


@contextmanager
def behind_commit(key: str | None = None) -> Iterator[None]:
    """To read what belongs to a change that is done: it is done also if that cannot be read."""
    try:
        yield
    except StorageError as error:
        why = str(error).replace("; nothing was changed", "")
        raise UncertainError(
            f"it was done, but what came of it cannot be read: {why}", key
        ) from None


def carry_out(
    connection: Connection,
    stored: StoredStudy,
    now: float,
    requests: Sequence[Callable[[Transaction], T]],
) -> list[T | StandoutError]:
    """Let requests share a database's transaction: the result or the error of each, in order."""
    done: list[T | StandoutError] = []
    for number, request in enumerate(requests):
        try:
            done.append(request(Transaction(connection, stored, now + number * MOMENT)))
        except StorageError:
            raise
        except StandoutError as error:
            done.append(error)
    return done
