"""A live study: ask what to measure, tell what came out, from anywhere, at any time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.problem import Problem
from standout.core.undecidable import doubt
from standout.errors import StandoutError, StorageError, StudyError, shown
from standout.results import (
    Chances,
    Change,
    Failure,
    Identification,
    Pending,
    Pulse,
    Receipt,
    Status,
    Ticket,
    Trace,
)
from standout.study import arguments, tickets
from standout.study.changing import Hand, change_settings, place_of, read_changes, void
from standout.study.inbox.lock import Inbox
from standout.study.inbox.requests import Answer, Request
from standout.study.inbox.shared_transactions import SharedTransactions
from standout.study.look import LookDueError
from standout.study.rating.page import Parts
from standout.study.rewards import make_items
from standout.study.settings import DAY
from standout.study.status import read_status
from standout.study.storage import catalogue, open_tickets
from standout.study.storage.database import PATIENCE, Connection, Storage
from standout.study.storage.log.trace import read_trace
from standout.study.storage.rating_items import read_items
from standout.study.storage.statements import without_collector
from standout.study.storage.stored_study import StoredStudy, readable
from standout.study.tickets import MOST, read_failures, read_pending, ticket_id
from standout.study.transaction import (
    Mark,
    Transaction,
    behind_commit,
    carry_out,
    check_count,
    insist,
    worker_of,
    writing,
)
from standout.study_interface import ByHand, StudyInterface, Wanted

if TYPE_CHECKING:
    from standout.estimation.until import Until
    from standout.results import Ending, Forecast, Verification
    from standout.study.forecast import StudyForecaster
    from standout.study.log.history import History

Clock = Callable[[], float]
T = TypeVar("T")
PUT_OFF = 3
"""So often a look at the chances is made before the transaction that it falls due in."""


class Study(StudyInterface):
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

    _noted: tuple[int, str | None] | None = None
    _inbox: tuple[str, Inbox | None] | None = None

    def __init__(self, storage: Storage, stored: StoredStudy, name: str) -> None:
        self.name = name
        self._storage = storage
        self._stored = stored
        self._shared = SharedTransactions(storage, stored)
        storage.at_fork = stored.renew

    @property
    def _lock(self) -> threading.RLock:
        """One thread at a time."""
        return self._stored.lock

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms' names."""
        return self._stored.progress.arms

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return self._stored.progress.problem

    @property
    def budget(self) -> int | None:
        """The largest number of pulls, if there is one."""
        return self._stored.progress.budget

    @property
    def until(self) -> Until | None:
        """What the chances have to promise for the study to end, if that was asked."""
        return self._stored.progress.until

    @property
    def lease(self) -> float:
        """Seconds after which a ticket is handed out again, unless asked for otherwise."""
        return self._stored.progress.settings.lease

    @property
    def ordered(self) -> bool:
        """Whether an arm's rewards are counted in the order of asking."""
        return self._stored.progress.ordered

    @property
    def method(self) -> Method:
        """How pulls are chosen."""
        return self._stored.progress.method

    @property
    def remark(self) -> str | None:
        """What is to be known about the study's file: that it may lack rewards, say."""
        return self._storage.remark

    @property
    def is_current(self) -> bool:
        """Whether the study's file is still the one that was opened."""
        return self._storage.is_current

    # Making and finding ----------------------------------------------------------

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
        until: str | Until | None = None,
        seed: int | np.random.Generator = 0,
        lease: float = DAY,
        pause_after: int | None = None,
        ordered: bool = True,
        costs: Mapping[str, float] | None = None,
        items: Mapping[str, Mapping[str, str]] | None = None,
        page: Mapping[str, Any] | None = None,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Begin a study in a file, or in a PostgreSQL database given by its URL.

        It ends when all is certain, when `budget` pulls are told, or, with `until`, as soon as
        the chances promise that: `errors=0.5`, or `false-share=0.05,missed-share=0.05`.
        A ticket is handed out again `lease` seconds after it was asked for;
        `pause_after` failures of an arm in a row pause it. An arm's rewards are
        counted in the order in which its pulls were handed out, and wait for
        each other if need be. With `ordered=False` they are counted as they
        come: right only if measurements are made one after the other, or if
        how long one takes has nothing to do with its value. `costs` are those of a
        pull, by arm (1 where not given); `seed` drives the method's own random
        choices. `items` are what a rating page shows for an arm (`text`,
        `image`, `html`), `page` how it asks (see `standout.study.rating.page`).
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
            items, page, until,
        )  # fmt: skip
        storage = Storage(place, create=True, patience=patience, clock=clock)
        with storage.closed_on_error(), storage.write() as connection:
            stored = catalogue.create(connection, storage, plan)
        return cls(storage, stored, name)

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
            stored, name = catalogue.find(connection, storage, name)
        study = cls(storage, stored, name)
        is_old = stored.fields != stored.layout.fields(stored.progress.state)
        if is_old and not storage.is_read_only:
            with study._writing() as (connection, _):
                stored.renew_fields(connection)
        return study

    def _tell_and_ask(self, wanted: Wanted) -> tuple[Receipt, list[Ticket]]:
        count = 0 if wanted.n is None else check_count(wanted.n)
        mark, who = Mark.of(wanted.key), worker_of(wanted.worker)
        with without_collector(len(wanted.rewards) + count):
            # Looked at before others have to wait for it.
            told = make_items(wanted.rewards, self._stored.progress)
            if not told and not count:
                return Receipt(), []
            request = Request(told, count, who, mark, wanted.lease, wanted.known)
            answer = self._carry_out(request)
        if not wanted.items:
            return answer.receipt, answer.tickets
        with behind_commit(mark.key if told else None):
            shown = self.items({ticket.arm for ticket in answer.tickets})
        return answer.receipt, [replace(each, item=shown.get(each.arm)) for each in answer.tickets]

    def _carry_out(self, request: Request) -> Answer:
        """Tell and ask: alone, or in one transaction with others who want to at this moment."""

        def attempt() -> Answer:
            with self._lock:
                return self._shared.carry_out(request, self._find_inbox())

        return self._looking(attempt)

    def _find_inbox(self) -> Inbox | None:
        """Where processes of this user leave what they want done here; None if there can be none.

        Whoever has a clock of its own goes alone: another's moments would be wrong.
        """
        storage = self._storage
        if storage.clock is not None or storage.is_read_only:
            return None
        try:
            identity = storage.identity(self._stored.key)
        except StorageError:
            return None  # It will be said by whoever writes.
        if self._inbox is None or self._inbox[0] != identity:
            self._close_inbox()
            self._inbox = (identity, Inbox.of(identity))
        return self._inbox[1]

    def _close_inbox(self) -> None:
        found, self._inbox = self._inbox, None
        if found is not None and found[1] is not None:
            found[1].close()

    def in_one_transaction(
        self,
        requests: Sequence[Callable[[Transaction], T]],
        size: int = 1,
        tickets: Sequence[int] = (),
    ) -> list[T | StandoutError]:
        """Carry out several requests in one transaction: one wait for the disk for all.

        Each gives its result or, if something was wrong with it, the error; it
        has then changed nothing. Each has a moment of its own. The largest
        writes about `size` rows; they tell of `tickets`, as far as that is known.
        """

        def attempt() -> list[T | StandoutError]:
            with self._writing(size, tickets) as (connection, now):
                return carry_out(connection, self._stored, now, requests)

        return self._looking(attempt)

    def holder(self, ticket: Ticket | int) -> str | None:
        """Who was given a ticket (or told it, once it is told); None if there is no such ticket.

        >>> study.holder(study.ask(worker="lab 3"))
        'lab 3'
        """
        with self._reading() as (connection, now):
            return Transaction(connection, self._stored, now).holder(ticket)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        def attempt() -> None:
            with self._writing() as (connection, now):
                one = Transaction(connection, self._stored, now)
                one.fail(ticket, reason, worker=worker)

        self._looking(attempt)

    def status(self) -> Status:
        created = self.created
        with self._reading() as (connection, now):
            return read_status(connection, self._stored, self.name, created, self.lease, now)

    def identification(self) -> Identification:
        with self._reading():
            return self._stored.progress.identification()

    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        from standout.estimation.estimate import estimate
        from standout.estimation.evidence import evidence_of

        with self._reading():
            progress = self._stored.progress
            evidence = evidence_of(progress.spec, progress.state)
        # Others may use the study meanwhile.
        return estimate(
            progress.problem, evidence, progress.arms, false_share=false_share, seed=seed
        )

    # Leases and pauses -----------------------------------------------------------

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        seconds = self.lease if lease is None else arguments.seconds("a lease", lease)
        self._set_expiry(given, seconds)

    def release(self, given: Iterable[Ticket | int]) -> None:
        self._set_expiry(given, 0.0)

    def _set_expiry(self, given: Iterable[Ticket | int], seconds: float) -> None:
        numbers = [ticket_id(ticket) for ticket in given]
        if not numbers:
            return
        with self._writing() as (connection, now):
            until = now + seconds
            self._stored.first_due = min(self._stored.first_due, until)
            open_tickets.set_expiry(connection, self._stored.key, numbers, until)

    def pause(self, arm: str, reason: str = "paused by hand", *, worker: str | None = None) -> None:
        position, why, who = self._position(arm), tickets.clean(reason), worker_of(worker)
        with self._writing() as (connection, now):
            tickets.pause(connection, self._stored, position, why, who, now)

    def resume(self, arm: str, reason: str = "", *, worker: str | None = None) -> None:
        position, why, who = self._position(arm), tickets.clean(reason), worker_of(worker)
        with self._writing() as (connection, now):
            tickets.resume(connection, self._stored, position, why, who, now)

    # Changing one's mind ---------------------------------------------------------

    def _set(self, values: Mapping[str, Any], hand: ByHand) -> Status:
        def attempt(by: Hand) -> None:
            with self._writing() as (connection, now):
                change_settings(connection, self._stored, values, by, now)

        return self._by_hand(attempt, hand)

    def _void(
        self, place: int | None, ticket: Ticket | int | None, value: float | None, hand: ByHand
    ) -> Status:
        checked = None if value is None else self.problem.noise.check_reward(value)
        number = 0 if place is None else arguments.whole("place", place, 1, MOST)

        def attempt(by: Hand) -> None:
            with self._writing() as (connection, now):
                found = number if ticket is None else place_of(connection, self._stored, ticket)
                void(connection, self._stored, found, checked, by, now)

        return self._by_hand(attempt, hand)

    def _by_hand(self, attempt: Callable[[Hand], None], hand: ByHand) -> Status:
        why, who = arguments.text("reason", hand.reason), worker_of(hand.worker)
        mark = Mark.of(hand.key)
        self._looking(lambda: insist(lambda mark: attempt(Hand(who, why, mark)), mark))
        with behind_commit(mark.key):
            return self.status()

    def delete(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        if name != self.name:
            raise StudyError(
                f"this study is called {self.name!r}, not {shown(name)}; nothing was deleted"
            )
        who, why = worker_of(worker), tickets.clean(arguments.text("reason", reason))
        with self._lock:
            try:
                with self._storage.write(is_small=False) as connection:
                    moment = self._stored.sync(connection, lock=True)
                    now = self._storage.clock() if self._storage.clock else moment
                    catalogue.delete(connection, self._stored, name, who, why, now)
            finally:
                self._stored.forget()

    def changes(self) -> list[Change]:
        with self._reading() as (connection, _):
            return read_changes(connection, self._stored)

    # Looking ---------------------------------------------------------------------

    @property
    def page(self) -> dict[str, Any] | None:
        """How the rating page asks people, as given when the study was created."""
        return self._row[0]

    @property
    def created(self) -> float:
        """When the study was created, in seconds since 1970."""
        return self._row[1]

    @cached_property
    def _row(self) -> tuple[dict[str, Any] | None, float]:
        """What never changes is read once."""
        with self._reading() as (connection, _):
            return catalogue.read_page(connection, self._stored.key)

    def _note(self) -> str | None:
        """Why what is left may never be decided, for who looks often.

        To look into it takes a while with many arms: so it is said again until
        the pulls have grown by a fiftieth. Called inside a transaction.
        """
        progress = self._stored.progress
        if progress.is_stopped:
            return None
        pulls = progress.totals.pulls
        if self._noted is None or not self._noted[0] <= pulls < 1.02 * self._noted[0] + 1:
            self._noted = (pulls, doubt(progress.spec, progress.state, progress.arms))
        return self._noted[1]

    def items(self, arms: Iterable[str] | None = None) -> dict[str, Parts]:
        """What a rating page shows for these arms (all unless given), where there is something.

        By arm: `text`, `image` or `html`. Raises `StudyError` for an arm that
        is not of this study.

        >>> study.items(["ash"])
        {}
        """
        progress = self._stored.progress
        positions = None if arms is None else [self._position(arm) for arm in arms]
        with self._reading() as (connection, _):
            found = read_items(connection, self._stored.key, positions)
        return {progress.arms[place]: parts for place, parts in found.items()}

    def trace(self) -> Trace:
        """The threshold's interval and the number of undecided arms over the pulls, as arrays.

        Not every pull is kept: from one entry to the next they grow by 2 % or more.

        >>> len(study.trace())
        0
        """
        with self._reading() as (connection, _), readable():
            return read_trace(connection, self._stored.key)

    def failures(self, limit: int = 100, before: int | None = None) -> list[Failure]:
        """Up to `limit` tickets that were given back, newest first, from before a `seq` on.

        >>> study.fail(study.ask(), "dropped")
        >>> [(failure.arm, failure.reason) for failure in study.failures()]
        [('ash', 'dropped')]
        """
        limit = arguments.whole("limit", limit, 1, arguments.MOST_TICKETS)
        if before is not None:
            before = arguments.whole("before", before, 0, MOST)
        with self._reading() as (connection, _), readable():
            return read_failures(connection, self._stored, limit, before)

    @property
    def is_stopped(self) -> bool:
        """Whether the study had stopped when this handle last looked."""
        return self._stored.progress.is_stopped

    def pulse(self) -> Pulse:
        """The little that shows whether anything has changed, as cheap as can be.

        >>> before = study.pulse()
        >>> _ = study.ask()
        >>> study.pulse().seq > before.seq
        True
        """
        with self._reading():
            progress = self._stored.progress
            undecided = np.count_nonzero((progress.certified == 0) & (progress.state.verdict == 0))
            return Pulse(
                progress.totals.seq, progress.totals.pulls, int(undecided), progress.is_stopped
            )

    def pending(self) -> list[Pending]:
        with self._reading() as (connection, _), readable():
            return read_pending(connection, self._stored)

    def forecast(self) -> int | None:
        """How many pulls are left, roughly; None when that cannot be told (too early, no end).

        The method is played on with rewards like those told so far, which
        takes half a second.

        >>> print(study.forecast())
        None
        """
        return self._forecaster().pulls_left()

    def forecast_range(self, seed: int = 0) -> Forecast | None:
        """How many pulls are left, and between which numbers probably; None as in `forecast`.

        Played on several times, with random choices that `seed` drives.
        """
        return self._forecaster().forecast(seed)

    def endings(self) -> tuple[Ending, ...]:
        return self._forecaster().endings()

    def _forecaster(self) -> StudyForecaster:
        """What to play on from; others may use the study meanwhile."""
        from standout.study.forecast import StudyForecaster

        with self._reading() as (connection, _):
            return StudyForecaster(connection, self._stored)

    def history(self) -> History:
        """Every reward ever told, in the order of telling; one array per column.

        >>> _ = study.tell(arm="fir", reward=1.0)
        >>> log = study.history()
        >>> len(log), float(log["reward"][0])
        (1, 1.0)
        """
        from standout.study.log.history import read_history

        with self._reading() as (connection, _), readable():
            return read_history(connection, self._stored)

    def export(self, file: IO[Any], form: str = "csv", *, raw: bool = False) -> int:
        """Write the history as `csv`, `json` (text files) or `parquet` (a binary one); its length.

        CSV and JSON are written as they are read, whatever the history's size. In
        a CSV, names that a spreadsheet would run as formulas get a `'` in front,
        unless `raw`. Raises `StudyError` for another form, `MissingExtraError` if
        Parquet's package is not installed.

        >>> import io
        >>> file = io.StringIO()
        >>> study.export(file), file.getvalue().strip()
        (0, 'seq,time,arm,reward,ticket,asked,worker,counted')
        """
        from standout.study.log.history import FORMS

        if form not in FORMS:
            raise StudyError(f"no format {shown(form)}; there are {', '.join(FORMS)}")
        if form == "parquet":
            history = self.history()
            history.write_parquet(file)
            return len(history)
        with self._reading():  # One moment, and its length.
            for part in self.export_parts(form, raw=raw):
                file.write(part)
            return self._stored.progress.totals.log

    def verify(self, head: str | None = None) -> Verification:
        """Work everything out anew from the log, and compare with what is stored.

        It also sees that the file is whole.

        `head` is a digest that was noted earlier (`Status.head`, in hex): one of
        the steps must have it.

        >>> bool(study.verify()), study.verify().problems
        (True, ())
        """
        from standout.study.log.verify import verify

        if head is not None:
            arguments.text("head", head)
        with self._lock:
            self._stored.forget()
            with self._reading(is_long=True) as (connection, _):
                found = verify(connection, self._stored, head)
        if self.remark is None:
            return found
        return replace(found, problems=(*found.problems, self.remark))

    def export_parts(self, form: str = "csv", *, raw: bool = False) -> Iterator[str]:
        """The history as it is now, as `csv` or `json`, in parts of some thousand rewards.

        `raw`: as in `export`.

        Between two parts no transaction is open, so that a slow reader
        keeps nobody waiting; the log only grows, and so they fit together.
        """
        from standout.study.log.history import TEXTS, without_void
        from standout.study.storage.log.reward_log import read_part

        if form not in TEXTS:
            raise StudyError(f"no format {shown(form)}; there are {', '.join(TEXTS)}")
        with self._reading():
            last, voided = self._stored.progress.totals.log, self._stored.progress.voided

        def batches() -> Iterator[list[Any]]:
            done = 0
            while done < last:
                with self._reading() as (connection, _):
                    rows = read_part(connection, self._stored.key, done, last)
                done = rows[-1][0] if rows else last
                yield rows

        texts = TEXTS[form](without_void(batches(), voided), self.arms, raw)
        part: str | None = ""
        while part is not None:
            yield part
            with readable():
                part = next(texts, None)

    def _position(self, arm: str) -> int:
        position = self._stored.progress.index.get(arguments.text("an arm", arm))
        if position is None:
            raise StudyError(f"no arm {shown(arm)} in this study")
        return position

    # Transactions ----------------------------------------------------------------

    def _looking(self, attempt: Callable[[], T]) -> T:
        """Carry out a transaction; a look at the chances that falls due in it is made outside.

        With many arms a look takes a second, in which nobody else could write. So the transaction
        is given up, the look made, and the transaction begun anew, which
        finds the look made unless somebody else has written meanwhile. After some tries it
        is made inside after all.
        """
        progress = self._stored.progress
        for _ in range(PUT_OFF):
            try:
                with self._lock:
                    progress.puts_off_looks = True
                    try:
                        return attempt()
                    finally:
                        progress.puts_off_looks = False
            except LookDueError as due:
                _ = due.look.excess
                progress.looked = due.look
                # What was given up is read again before others have to wait for it.
                with self._reading():
                    pass
        return attempt()

    def _writing(
        self, size: int = 1, tickets: Sequence[int] = ()
    ) -> AbstractContextManager[tuple[Connection, float]]:
        return writing(self._storage, self._stored, size, tickets)

    @contextmanager
    def _reading(self, *, is_long: bool = False) -> Iterator[tuple[Connection, float]]:
        """A transaction that sees the study at one moment; inside another one, that one.

        So several looks are of the same moment if they stand in one block.
        """
        with self._lock:
            try:
                with self._snapshot(is_long) as connection:
                    now = self._stored.sync(connection, lock=False)
                    yield connection, self._storage.clock() if self._storage.clock else now
            except BaseException:
                self._stored.forget()
                raise

    @contextmanager
    def _snapshot(self, is_long: bool) -> Iterator[Connection]:
        storage = self._storage
        if storage.reader is not None:
            yield storage.reader
            return
        with storage.read(is_long=is_long) as connection:
            storage.reader = connection
            try:
                yield connection
            finally:
                storage.reader = None

    def close(self) -> None:
        with self._lock:
            self._close_inbox()
            self._storage.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._storage.shown!r})"

    def __reduce__(self) -> NoReturn:
        raise StudyError("a Study cannot be sent to another process; open it there by its place")
