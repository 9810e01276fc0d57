"""A live study: ask what to measure, tell the rewards, from several processes, over any time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from standout.core.kinds import Verdict
from standout.core.method import Method
from standout.core.methods import default_method
from standout.core.problem import Problem
from standout.core.run import check_arms
from standout.core.undecidable import doubt
from standout.errors import (
    AllOutError,
    StudyError,
    shown,
)
from standout.results import (
    ArmHistory,
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
from standout.study import arguments, queries
from standout.study.arguments import clean
from standout.study.events import history, requests
from standout.study.events.contents import position_of
from standout.study.events.definition import check_name, checked, digest_of_items
from standout.study.events.handle import create
from standout.study.events.state import StudyState
from standout.study.names import readable_names, worker_of
from standout.study.queries import read_status
from standout.study.rating import Parts, check_items, check_page
from standout.study.storage.items import put_items, read_items
from standout.study.storage.session import Deleted
from standout.study.storage.store import PATIENCE, Store, open_store
from standout.study.storage.tokens import read_all
from standout.study.transaction import Memory, Transaction, behind_commit
from standout.study_interface import ByHand, StudyInterface, Wanted, new_key

if TYPE_CHECKING:
    from standout.estimation.until import Until
    from standout.results import Ending, Forecast, Verification
    from standout.study.forecast import StudyForecaster

Clock = Callable[[], float]
T = TypeVar("T")


class Study(StudyInterface):
    """One study in a database; create it with `Study.create`, open it with `Study.open`.

    Any number of processes and threads may use the same study at once. A method that changes the
    study returns when the change is on disk.

    Example:
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

    def __init__(self, store: Store, key: int, name: str) -> None:
        self.name = name
        self._store = store
        self._key = key
        self.memory = Memory(store, key)

    @property
    def _state(self) -> StudyState:
        return self.memory.state

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms' names."""
        return self._state.arms

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return self._state.problem

    @property
    def axis(self) -> str | None:
        """What a reward is, with its unit, for axes."""
        return self._state.definition.axis

    @property
    def budget(self) -> int | None:
        """The largest number of pulls, if there is one."""
        return self._state.budget

    @property
    def until(self) -> Until | None:
        """What the chances must promise for the study to end early, if this was asked."""
        return self._state.until

    @property
    def lease(self) -> float:
        """Seconds until a ticket is handed out again, by default."""
        return self._state.lease

    @property
    def ordered(self) -> bool:
        """Whether an arm's rewards count in the order of asking."""
        return self._state.is_ordered

    @property
    def method(self) -> Method:
        """How pulls are chosen."""
        return self._state.method

    @property
    def file(self) -> str | None:
        """The name of the study's file, without its folder; None in PostgreSQL."""
        return Path(self._store.shown).name if self._store.is_sqlite else None

    # Making and finding ----------------------------------------------------------

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        arms: Sequence[str],
        problem: Problem,
        method: str | Method | None = None,
        *,
        name: str = "main",
        budget: int | None = None,
        until: str | Until | None = None,
        seed: int = 0,
        lease: float | None = None,
        pause_after: int | None = None,
        ordered: bool = True,
        costs: Mapping[str, float] | None = None,
        items: Mapping[str, Mapping[str, str]] | None = None,
        page: Mapping[str, Any] | None = None,
        room: int | None = None,
        axis: str | None = None,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Create a study in a file or a PostgreSQL database.

        Args:
            place: The path of a file, or the URL of a PostgreSQL database.
            arms: At least three distinct names.
            problem: What stands out and how rewards scatter.
            method: A name of `METHODS`, with options after a colon, or a `Method`. The default is
                `focus`. With a budget or `until` its goal is the most useful answer at that point
                (`focus:goal=anytime`), otherwise the earliest certain one.
            name: The study's name; `main` by default.
            budget: The largest number of pulls; by default the study ends with certainty only.
            until: Ends the study early, as soon as the chances promise it: `errors=0.5`, or
                `false-share=0.05,missed-share=0.05`.
            seed: Drives the random choices of the method; 0 by default.
            lease: Seconds until a ticket is handed out again; by default it adapts to the time that
                answers take (a day at first).
            pause_after: Pause an arm after this many failures in a row; by default never.
            ordered: Whether an arm's rewards count in the order in which its pulls were handed out,
                and wait for each other if needed; true by default. If false, they count in the
                order of arrival. This is right only if measurements are made one after the other,
                or if the duration of a measurement does not depend on its value.
            costs: The cost of a pull, by arm; 1 by default.
            items: What a rating page shows for an arm: `text`, `image` or `html`.
            page: The texts and buttons of the rating page (see `standout.study.rating`).
            room: The largest number of arms that the study may have later (`add_arms`); delta is
                shared by all of these from the beginning. By default no arm can be added.
            axis: The name of a reward with its unit, for the axes of pictures: "Delay in minutes".
            patience: Seconds to wait for a busy database.
            clock: A function for the time, in seconds since 1970, in place of the database's.

        Returns:
            The study.

        Raises:
            StudyExistsError: The name is taken there.
            ProblemError: The problem, the arms or a setting is not valid.
            MethodError: There is no such method, or it does not work for this problem.
            StorageError: The place cannot be used.

        Example:
            >>> Study.create("peas.db", ["a", "b", "c"], Problem(noise="gaussian:0.1"), budget=50)
            Study('main' at '...peas.db')
        """
        check_name(name, "study")
        kept = check_items(items, check_arms(arms))
        definition = checked(
            arms, problem, default_method(budget, until) if method is None else method,
            budget=budget, until=until, seed=seed, lease=lease, pause_after=pause_after,
            ordered=ordered, costs=costs,
            page=check_page(page, problem.noise), items_digest=digest_of_items(kept),
            room=room, axis=axis,
        )  # fmt: skip
        wait = arguments.seconds("patience", patience)
        store = open_store(place, create=True, patience=wait, clock=clock)
        with store.closed_on_error(), store.write() as session:
            key = session.create_study(name)
            session.append(key, [create(definition, session.now, worker=worker_of(None))])
            put_items(session, key, kept)
        return cls(store, key, name)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str],
        name: str | None = None,
        *,
        patience: float = PATIENCE,
        clock: Clock | None = None,
    ) -> Study:
        """Open an existing study.

        Args:
            place: The path of a file, or the URL of a PostgreSQL database.
            name: The study's name; needed only if the database has several.
            patience: Seconds to wait for a busy database.
            clock: A function for the time, in seconds since 1970, in place of the database's.

        Returns:
            The study.

        Raises:
            NoStudyError: There is no such study.
            StorageError: The place cannot be used.

        Example:
            >>> Study.open("beans.db").arms
            ('ash', 'elm', 'fir')
        """
        wait = arguments.seconds("patience", patience)
        store = open_store(place, patience=wait, clock=clock)
        with store.closed_on_error(), store.read() as session:
            key, name = session.find(name)
            study = cls(store, key, name)
            study.memory.sync(session)
        return study

    # Asking and telling ----------------------------------------------------------

    def _ask(self, wanted: Wanted) -> list[Ticket]:
        request = _asking(1 if wanted.n is None else wanted.n, wanted)
        asked = self._handle(request, wanted.worker).asked
        if asked.is_all_out:
            raise self._all_out(asked)
        return self._with_items(list(asked.tickets), wanted.items)

    def _tell_and_ask(self, wanted: Wanted) -> tuple[Receipt, list[Ticket]]:
        key = None if wanted.key is None else arguments.key_text(wanted.key)
        if key is None and any(isinstance(what, str) for what, _ in wanted.rewards):
            key = new_key()  # A reward with a ticket counts once anyway.
        tell = requests.Tell(wanted.rewards)
        request: requests.Tell | requests.TellAndAsk = tell
        if wanted.n is not None:
            request = requests.TellAndAsk(tell, _asking(wanted.n, wanted))
        if not wanted.rewards and wanted.n is None:
            return Receipt(), []
        answer = self._handle(request, wanted.worker, key)
        tickets = list(answer.asked.tickets)
        with behind_commit(key):
            return answer.receipt, self._with_items(tickets, wanted.items)

    def _with_items(self, tickets: list[Ticket], is_wanted: bool) -> list[Ticket]:
        if not is_wanted or not tickets:
            return tickets
        shown = self.items({ticket.arm for ticket in tickets})
        return [replace(each, item=shown.get(each.arm)) for each in tickets]

    def _all_out(self, asked: requests.Asked) -> AllOutError:
        wait = 0.0
        if asked.free_at is not None:
            with self.memory.reading() as session:
                wait = max(1e-3, asked.free_at - session.now)
        return AllOutError.after(wait)

    def holder(self, ticket: Ticket | int) -> str | None:
        """The worker that holds a ticket, or that told its reward.

        Args:
            ticket: The ticket or its number.

        Returns:
            The worker's name, or None if there is no such ticket.

        Example:
            >>> study.holder(study.ask(worker="lab 3"))
            'lab 3'
        """
        with self.memory.reading():
            return queries.holder(self._state, ticket)

    def fail(self, ticket: Ticket | int, reason: str = "", *, worker: str | None = None) -> None:
        self._handle(requests.Fail(ticket, reason), worker)

    def renew(self, given: Iterable[Ticket | int], lease: float | None = None) -> None:
        seconds = None if lease is None else arguments.seconds("a lease", lease)
        self._handle(requests.Lease(list(given), seconds))

    def release(self, given: Iterable[Ticket | int]) -> None:
        self._handle(requests.Lease(list(given), 0.0))

    def pause(self, arm: str, reason: str = "paused by hand", *, worker: str | None = None) -> None:
        self._handle(requests.Pause(arm, clean(reason)), worker)

    def resume(self, arm: str, reason: str = "", *, worker: str | None = None) -> None:
        self._handle(requests.Resume(arm, clean(reason)), worker)

    # Changing one's mind ---------------------------------------------------------

    def _set(self, values: Mapping[str, Any], hand: ByHand) -> Status:
        reason = clean(hand.reason)
        request = requests.Set(values, reason) if values else requests.Note(reason)
        return self._by_hand(request, hand)

    def _void(
        self, place: int | None, ticket: Ticket | int | None, value: float | None, hand: ByHand
    ) -> Status:
        return self._by_hand(requests.Void(place, ticket, value, clean(hand.reason)), hand)

    def _by_hand(self, request: requests.Request, hand: ByHand) -> Status:
        key = None if hand.key is None else arguments.key_text(hand.key)
        self._handle(request, hand.worker, key)
        with behind_commit(key):
            return self.status()

    def _add_arms(self, arms: Sequence[str], hand: ByHand) -> Status:
        return self._by_hand(requests.Add(arms, clean(hand.reason)), hand)

    def rename(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        check_name(name, "study")
        old, who = self.name, worker_of(worker)
        words = f"renamed from {old} to {name}" + (f": {clean(reason)}" if reason else "")

        def change(turn: Transaction) -> None:
            turn.rename(old, name)
            turn.handle(requests.Note(words), who)

        if name != old:
            self.memory.change(change)
            self.name = name

    def copy(self, name: str, *, rewards: bool = True, worker: str | None = None) -> None:
        check_name(name, "study")
        who = worker_of(worker)
        with self.memory.lock, self._store.write() as session:
            session.lock(self._key)
            state = self.memory.sync(session)
            key = session.create_study(name)
            if rewards:
                session.copy_events(self._key, key)
            else:
                session.append(key, [create(state.to_definition(), session.now, worker=who)])
            put_items(session, key, read_items(session, self._key))

    def delete(self, name: str, reason: str = "", *, worker: str | None = None) -> None:
        if name != self.name:
            raise StudyError(
                f"this study is called {self.name!r}, not {shown(name)}; nothing was deleted"
            )
        who, why = worker_of(worker), clean(arguments.text("reason", reason))
        with self.memory.lock:
            try:
                with self._store.write() as session:
                    session.lock(self._key)
                    state = self.memory.sync(session)
                    gone = Deleted(
                        self._key, name, session.now, who, why,
                        state.totals.pulls, state.number + 1, state.head.hex(),
                    )  # fmt: skip
                    session.delete_study(gone)
            finally:
                self.memory.forget()

    def changes(self) -> list[Change]:
        with self.memory.reading():
            return list(self._state.changes)

    # Looking ---------------------------------------------------------------------

    @property
    def page(self) -> dict[str, Any] | None:
        """The texts and buttons of the rating page, as given at creation."""
        page = self._state.definition.page
        return None if page is None else dict(page)

    @property
    def created(self) -> float:
        """When the study was created, in seconds since 1970."""
        return self.memory.created

    def status(self) -> Status:
        with self.memory.reading() as session:
            return read_status(self._state, self.name, self.created, session.now)

    def identification(self) -> Identification:
        with self.memory.reading():
            return self._state.identification()

    def chances(self, *, false_share: float = 0.05, seed: int = 0) -> Chances:
        from standout.estimation.estimate import estimate
        from standout.estimation.evidence import evidence_of

        with self.memory.reading():
            state = self._state
            problem, arms = state.problem, state.arms
            evidence = evidence_of(state.spec, state.state)
        # Other threads may use the study meanwhile.
        return estimate(problem, evidence, arms, false_share=false_share, seed=seed)

    def _note(self) -> str | None:
        """Why the undecided arms may never be decided, for pages that ask often.

        The computation is slow with many arms, so the note is cached until the pulls have grown by
        2 %. Called inside a transaction.
        """
        state = self._state
        if state.is_stopped:
            return None
        pulls = state.totals.pulls
        if self._noted is None or not self._noted[0] <= pulls < 1.02 * self._noted[0] + 1:
            self._noted = (pulls, doubt(state.spec, state.state, state.arms))
        return self._noted[1]

    def items(self, arms: Iterable[str] | None = None) -> dict[str, Parts]:
        """The items of arms: what a rating page shows for them.

        Args:
            arms: The arms; all by default.

        Returns:
            By arm with an item: `text`, `image` or `html`.

        Raises:
            StudyError: The study has no such arm.

        Example:
            >>> study.items(["ash"])
            {}
        """
        state = self._state
        positions = None if arms is None else [position_of(state, arm) for arm in arms]
        with self.memory.reading() as session:
            found = read_items(session, self._key, positions)
        return {state.arms[place]: parts for place, parts in found.items()}

    def trace(self) -> Trace:
        """The history of the threshold's interval and of the number of undecided arms.

        Returns:
            Arrays over the pulls. From one entry to the next, pulls grow by 2 % or more.

        Example:
            >>> len(study.trace())
            0
        """
        with self.memory.reading():
            return queries.read_trace(self._state)

    def arm_history(self, position: int) -> ArmHistory:
        """The history of one arm's mean and interval.

        Args:
            position: The arm's position in `arms`.

        Returns:
            The history.

        Example:
            >>> study.arm_history(0).arm
            'ash'
        """
        from standout.study.events.arm_history import arm_history

        with self.memory.reading():
            return arm_history(self._state, position).with_names(self.rater_names())

    def rater_names(self) -> dict[str, str]:
        """Readable names in place of the raters' ids: the label of a link, or `rater 7`.

        Returns:
            Names by id.

        Example:
            >>> study.rater_names()
            {}
        """
        with self.memory.reading() as session:
            labels = {one.token.id: one.token.label for one in read_all(session)}
            return readable_names(self._state.ledger.workers, labels)

    def failures(self, limit: int = 100, before: int | None = None) -> list[Failure]:
        """Tickets that were given back, newest first.

        Args:
            limit: The largest number of failures; 100 by default.
            before: Only failures with a smaller `seq`.

        Returns:
            The failures.

        Example:
            >>> study.fail(study.ask(), "dropped")
            >>> [(failure.arm, failure.reason) for failure in study.failures()]
            [('ash', 'dropped')]
        """
        limit = arguments.whole("limit", limit, 1, arguments.MOST_TICKETS)
        if before is not None:
            before = arguments.whole("before", before, 0, arguments.MOST_PULLS)
        with self.memory.reading():
            return queries.failures_before(self._state, before, limit)

    @property
    def rewards(self) -> int:
        """The number of rewards in the log, counted or not."""
        return self._state.ledger.size

    @property
    def is_stopped(self) -> bool:
        """Whether the study had stopped at the last access by this object."""
        return self._state.is_stopped

    def pulse(self) -> Pulse:
        """A few numbers that show whether anything has changed; very fast.

        Returns:
            The progress; `seq` grows with every change.

        Example:
            >>> before = study.pulse()
            >>> _ = study.ask()
            >>> study.pulse().seq > before.seq
            True
        """
        with self.memory.reading():
            state = self._state
            undecided = int(np.count_nonzero(queries.verdicts(state) == Verdict.UNDECIDED))
            return Pulse(state.number, state.totals.pulls, undecided, state.is_stopped)

    def pending(self) -> list[Pending]:
        with self.memory.reading():
            shown, tickets = self.rater_names(), queries.pending_tickets(self._state)
            return [replace(one, worker=shown.get(one.worker, one.worker)) for one in tickets]

    def forecast(self) -> int | None:
        """About how many pulls are left.

        The method is simulated with rewards drawn from those recorded so far, which takes half a
        second.

        Returns:
            The number of pulls, or None if it is too early, or if a simulated run did not end.

        Example:
            >>> print(study.forecast())
            None
        """
        return self._forecaster().pulls_left()

    def forecast_range(self, seed: int = 0) -> Forecast | None:
        """About how many pulls are left, with an interval, from several simulations.

        Args:
            seed: Drives the random choices; 0 by default.

        Returns:
            The forecast, or None as in `forecast`.
        """
        return self._forecaster().forecast(seed)

    def endings(self) -> tuple[Ending, ...]:
        return self._forecaster().endings()

    def _forecaster(self) -> StudyForecaster:
        """The data for a forecast; other threads may use the study meanwhile."""
        from standout.study.forecast import StudyForecaster

        with self.memory.reading():
            return StudyForecaster(self._state)

    def history(self) -> history.History:
        """Every recorded reward, in the order of recording.

        Returns:
            One array per column.

        Example:
            >>> _ = study.tell(arm="fir", reward=1.0)
            >>> log = study.history()
            >>> len(log), float(log["reward"][0])
            (1, 1.0)
        """
        with self.memory.reading():
            return history.history(self._state)

    def export(self, file: IO[Any], form: str = "csv", *, raw: bool = False) -> int:
        """Write the history, in batches.

        Args:
            file: A text file for `csv` and `json`, a binary one for `parquet`.
            form: `csv` (the default), `json` or `parquet`.
            raw: Whether names in a CSV stay unchanged. By default a name that a spreadsheet would
                run as a formula gets a leading `'`.

        Returns:
            The number of rewards.

        Raises:
            StudyError: There is no such form.
            MissingExtraError: The package for Parquet is not installed.

        Example:
            >>> import io
            >>> file = io.StringIO()
            >>> study.export(file), file.getvalue().strip()
            (0, 'seq,time,arm,reward,ticket,asked,worker,status,turn')
        """
        if form not in history.FORMS:
            raise StudyError(f"no format {shown(form)}; choose from {', '.join(history.FORMS)}")
        if form == "parquet":
            self.history().write_parquet(file)
        else:
            for part in self.export_parts(form, raw=raw):
                file.write(part)
        return self.rewards

    def export_parts(self, form: str = "csv", *, raw: bool = False) -> Iterator[str]:
        """The current history as text, in parts of some thousand rewards.

        Args:
            form: `csv` (the default) or `json`.
            raw: As in `export`.

        Yields:
            The parts.
        """
        if form not in history.TEXTS:
            raise StudyError(f"no format {shown(form)}; choose from {', '.join(history.TEXTS)}")
        return history.TEXTS[form](self.history(), raw)

    def verify(self, head: str | None = None) -> Verification:
        """Recompute everything from the log and compare it with what is stored.

        It also checks that the file is intact.

        Args:
            head: An earlier digest (`Status.head`, in hexadecimal); one of the steps must have it.

        Returns:
            The result; its `problems` are empty if all is well.

        Example:
            >>> bool(study.verify()), study.verify().problems
            (True, ())
        """
        from standout.study.events.fold import verify

        if head is not None:
            arguments.text("head", head)
        with self.memory.lock, self.memory.reading() as session:
            found = verify(session.events(self._key, 0), head, self._state)
            kept = digest_of_items(read_items(session, self._key))
            guards = session.missing_guards()
        problems = [*found.problems, *map("the database lacks its trigger {}".format, guards)]
        if kept != self._state.definition.items_digest:
            problems.append("what the rating page shows is not what the study was created with")
        return replace(found, problems=tuple(problems))

    # Transactions ----------------------------------------------------------------

    def _handle(
        self, request: requests.Request, worker: str | None = None, key: str | None = None
    ) -> requests.Answer:
        """Carry out one request in a transaction of its own."""
        who = worker_of(worker)
        return self.memory.change(lambda turn: turn.handle(request, who, key), key)

    def close(self) -> None:
        with self.memory.lock:
            self._store.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._store.shown!r})"

    def __reduce__(self) -> NoReturn:
        raise StudyError("a Study cannot be sent to another process; open it there by its place")


def _asking(n: int, wanted: Wanted) -> requests.Ask:
    count = arguments.whole("the number of tickets", n, 1, arguments.MOST_TICKETS)
    return requests.Ask(count, wanted.lease, wanted.known)
