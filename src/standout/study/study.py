"""A live study: ask what to measure, tell what came out, from anywhere, at any time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload

import numpy as np

from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.problem import Problem
from standout.errors import (
    BatchError,
    RewardError,
    StandoutError,
    StorageError,
    TicketError,
    UnavailableError,
    UncertainError,
)
from standout.results import Identification, Receipt, Status, Ticket
from standout.study import again
from standout.study.items import make_items, tickets_of
from standout.study.status import read_status
from standout.study.storage import catalogue
from standout.study.storage.bulk import without_collector
from standout.study.storage.database import PATIENCE, Storage
from standout.study.tending import Tending
from standout.study.tickets import ticket_id
from standout.study.turn import Mark, Turn, check_count, worker_of

Clock = Callable[[], float]
T = TypeVar("T")
MOMENT = 1e-6
"""Seconds between two requests of one transaction, so that their tickets can be told apart."""


class Study(Tending):
    """One study in a database; make it with `Study.create`, find it with `Study.open`.

    Any number of processes and threads may use the same study at once. A
    method returns when what it did is on disk.

    >>> study = Study.create("bags.db", ["ash", "elm", "fir"], Problem(noise="bernoulli", k=2))
    >>> while ticket := study.ask():
    ...     _ = study.tell(ticket, 1.0 if ticket.arm == "fir" else 0.0)
    ...     if study.status().pulls >= 30:
    ...         break
    >>> study.close()
    >>> Study.open("bags.db").status().pulls
    30
    """

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        arms: Sequence[str],
        problem: Problem,
        method: str | Method = DEFAULT_METHOD,
        *,
        name: str = "main",
        budget: int | None = None,
        seed: int | np.random.Generator = 0,
        lease: float = catalogue.DAY,
        pause_after: int | None = None,
        ordered: bool = True,
        costs: Mapping[str, float] | None = None,
        items: Mapping[str, Mapping[str, str]] | None = None,
        page: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Begin a study in a file, or in a PostgreSQL database given by its URL.

        A ticket is handed out again `lease` seconds after it was asked for;
        `pause_after` failures of an arm in a row pause it. An arm's rewards are
        counted in the order in which its pulls were handed out, and wait for
        each other if need be. With `ordered=False` they are counted as they
        come: right only if measurements are made one after the other, or if
        how long one takes has nothing to do with its value. `costs` are those of a
        pull, by arm (1 where not given); `seed` drives the method's own random
        choices. `items` are what a rating page shows for an arm (`text`,
        `image`, `html`), `page` how it asks (see `standout.study.page`).
        `patience` is for how many seconds a busy database is waited for,
        `clock` gives the time (seconds since 1970) instead of the database.

        Raises `StudyExistsError` if the name is taken there, `ProblemError` or
        `MethodError` for what cannot be asked, `StorageError` if the place
        cannot be used.

        >>> Study.create("peas.db", ["a", "b", "c"], Problem(noise="gaussian:0.1"), budget=50)
        Study('main' at '...peas.db')
        """
        plan = catalogue.plan(
            arms, problem, method, name, budget, lease, pause_after, ordered, seed, costs,
            items, page,
        )  # fmt: skip
        storage = Storage(place, create=True, patience=patience, clock=clock)
        with storage.closed_on_error(), storage.write() as connection:
            ledger = catalogue.create(connection, storage, plan)
        return cls(storage, ledger, name, plan.lease)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        name: str | None = None,
        *,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Find a study; `name` is needed only where a database holds several.

        `patience` and `clock` are those of `create`. Raises `NoStudyError` if
        it is not there, and `StorageError` if the place cannot be used.

        >>> Study.open("beans.db").arms
        ('ash', 'elm', 'fir')
        """
        storage = Storage(place, patience=patience, clock=clock)
        with storage.closed_on_error(), storage.read() as connection:
            ledger, name, lease = catalogue.find(connection, storage, name)
        study = cls(storage, ledger, name, lease)
        is_old = ledger.fields != ledger.layout.fields(ledger.desk.state)
        if is_old and not storage.is_read_only:
            with study._writing() as (connection, _):
                ledger.renew_fields(connection)
        return study

    @overload
    def ask(
        self,
        n: None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
    ) -> Ticket | None: ...

    @overload
    def ask(
        self,
        n: int,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
    ) -> list[Ticket]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
    ) -> Ticket | list[Ticket] | None:
        """The pull to measure next; with `n` a list of up to so many (at most 10,000).

        None (an empty list) when the study has stopped or must wait for what is
        pending; fewer than `n` when the budget leaves no room for more.
        Parallel workers get different arms as far as that is useful. `worker`
        says who measures (machine and process unless given), `lease` in how
        many seconds the ticket is handed out again (the study's unless given).
        With `known`, the tickets that `worker` holds and that are not among
        these numbers come first: an answer that got lost is given again.

        Raises `StudyError` for a number or a lease that cannot be, and
        `StorageError` if the database cannot be used.

        >>> ticket = study.ask()
        >>> ticket.id, ticket.arm
        (1, 'ash')
        >>> [ticket.arm for ticket in study.ask(3, lease=600)]
        ['elm', 'fir', 'ash']
        """
        count = check_count(1 if n is None else n)
        with without_collector(count), self._turn(count) as turn:
            found = turn.ask(count, worker=worker, lease=lease, known=known)
        if n is not None:
            return found
        return found[0] if found else None

    @contextmanager
    def _turn(self, size: int = 1, tickets: Sequence[int] = ()) -> Iterator[Turn]:
        """A transaction for one request, that writes about `size` rows and tells of `tickets`."""
        with self._writing(size, tickets) as (connection, now):
            yield Turn(connection, self._ledger, self.lease, now)

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
        `RewardError` for a number that the noise cannot produce, `TicketError`
        for what is no ticket or arm of this study, `ToldError` if the ticket
        was told another value before; then nothing is changed.

        >>> study.tell(study.ask(), 1.0).counted, study.tell(arm="fir", reward=0.0).counted
        (1, 1)
        """
        if (ticket is None) == (arm is None):
            raise TicketError("tell the reward of a ticket or of an arm")
        if reward is None:
            raise RewardError("no reward given")
        try:
            pair: Any = (arm if ticket is None else ticket, reward)
            return self.tell_many([pair], worker=worker, key=key)
        except BatchError as error:
            raise (error.__cause__ or TicketError(str(error))) from None

    def tell_many(
        self,
        rewards: Iterable[tuple[Ticket | int | str, float]],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Tell many rewards at once: all are counted or, if one is bad, none.

        Each is a pair of a ticket (or its number) and a reward; an arm's name
        in place of the ticket tells a reward that was measured without asking.

        `key` is a text of your own that stands for this call (up to 200
        characters). The same rewards told again with the same key give the
        first receipt again, marked `again`, and change nothing; other rewards
        are refused with a `KeyUsedError`. Without one a key is made, so that
        a connection that breaks at the end can be mended here: the rewards are
        sent once more and count once. If that fails too, the `UncertainError`
        has the key to tell them with later. What is wrong with one of them is
        the `__cause__` of a `BatchError`.

        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").counted
        2
        >>> study.tell_many([("ash", 1.0), ("elm", 0.0)], key="monday").again
        True
        """
        pairs, mark, who = list(rewards), Mark.of(key), worker_of(worker)
        with without_collector(len(pairs)):
            # Looked at before others have to wait for it.
            items = make_items(pairs, self._ledger.desk)
            if not items:
                return Receipt()

            def attempt(mark: Mark) -> Receipt:
                with self._turn(len(items), tickets_of(items)) as turn:
                    return turn.tell_items(items, who, mark)

            return self._insist(attempt, mark)

    def _insist(self, attempt: Callable[[Mark], T], mark: Mark) -> T:
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

    @overload
    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Ticket | int | str, float]],
        n: None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
        key: str | None = None,
    ) -> tuple[Receipt, Ticket | None]: ...

    @overload
    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Ticket | int | str, float]],
        n: int,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
        key: str | None = None,
    ) -> tuple[Receipt, list[Ticket]]: ...

    def tell_and_ask(
        self,
        rewards: Iterable[tuple[Ticket | int | str, float]],
        n: int | None = None,
        *,
        worker: str | None = None,
        lease: float | None = None,
        known: Collection[int] | None = None,
        key: str | None = None,
    ) -> tuple[Receipt, Ticket | list[Ticket] | None]:
        """Tell rewards and ask for the next pulls: one transaction, one wait for the disk.

        `rewards` and `key` are those of `tell_many`, the rest those of `ask`;
        what is raised, too. Told a second time, it gives the tickets of the
        first time again, as far as they are still pending.

        >>> receipt, ticket = study.tell_and_ask([(study.ask(), 1.0)])
        >>> receipt.counted, ticket.arm
        (1, 'ash')
        """
        pairs, who, count = list(rewards), worker_of(worker), check_count(1 if n is None else n)
        with without_collector(len(pairs)):
            # Looked at before others have to wait for it.
            items = make_items(pairs, self._ledger.desk)
            size = count + len(items)

            def attempt(mark: Mark) -> tuple[Receipt, list[Ticket]]:
                with self._turn(size, tickets_of(items)) as turn:
                    return turn.tell_items_and_ask(items, count, who, lease, known, mark)

            receipt, found = self._insist(attempt, Mark.of(key))
        if n is not None:
            return receipt, found
        return receipt, found[0] if found else None

    def together(
        self, requests: Sequence[Callable[[Turn], T]], size: int
    ) -> list[T | StandoutError]:
        """Carry out several requests in one transaction: one wait for the disk for all.

        Each gives its result or, if something was wrong with it, the error; it
        has then changed nothing. Each has a moment of its own. All of them
        write about `size` rows.
        """
        done: list[T | StandoutError] = []
        with self._writing(size) as (connection, now):
            for number, request in enumerate(requests):
                turn = Turn(connection, self._ledger, self.lease, now + number * MOMENT)
                try:
                    done.append(request(turn))
                except StorageError:
                    raise
                except StandoutError as error:
                    done.append(error)
        return done

    def holder(self, ticket: Ticket | int) -> str | None:
        """Who was given a ticket (or told it, once it is told); None if there is no such ticket.

        >>> study.holder(study.ask(worker="lab 3"))
        'lab 3'
        """
        with self._reading() as (connection, _):
            return again.holder(connection, self._ledger, ticket_id(ticket))

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        """Give a ticket back without a reward, and say why; its pull is handed out again.

        Giving it back twice is harmless. Raises `TicketError` if there is no
        such ticket, `ToldError` if it was told.

        >>> study.fail(study.ask(), "dropped")
        >>> study.status().failures
        {'ash': 1}
        """
        with self._turn() as turn:
            turn.fail(ticket, reason, worker=worker)

    def status(self) -> Status:
        """How the study stands; costs O(arms), whatever the number of rewards.

        >>> now = study.status()
        >>> now.pulls, now.undecided, now.threshold.upper, str(now.reason)
        (0, ('ash', 'elm', 'fir'), inf, 'running')
        """
        created = self.created
        with self._reading() as (connection, now):
            return read_status(connection, self._ledger, self.name, created, self.lease, now)

    def identification(self) -> Identification:
        """The answer so far, as `identify` gives it.

        >>> study.identification().outliers
        ()
        """
        with self._reading():
            return self._ledger.desk.identification()
