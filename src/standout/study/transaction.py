"""A study's state in memory, and the transactions that change it.

Each transaction first reads the last event that is part of the state in memory, and all later ones.
If the digest of that event has changed, the database has another history (it was restored or
replaced). Then the state is loaded again from the newest snapshot and the events after it.
Snapshots are a cache: without a usable snapshot, all events are folded.

Each request is handled in memory (`standout.study.events.handle`). The events of all requests of a
transaction are written together at its end. A refused request leaves no event and does not affect
the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.state import copy_state
from standout.errors import (
    NoStudyError,
    StandoutError,
    StorageError,
    UnavailableError,
    UncertainError,
)
from standout.study.events import requests, snapshot
from standout.study.events.event import Event
from standout.study.events.fold import begin, fold
from standout.study.events.handle import handle, repeat
from standout.study.events.requests import Answer
from standout.study.events.state import StudyState
from standout.study.names import worker_of
from standout.study.storage.session import Session
from standout.study.storage.store import Store

T = TypeVar("T")

SNAPSHOT_EVENTS, SNAPSHOT_ROWS = 1_000, 20_000
"""Events, or rewards and tickets, after which a new snapshot is written. Opening a study folds at
most about this many events."""


class Memory:
    """The state of one study; `lock` admits one thread at a time."""

    def __init__(self, store: Store, key: int) -> None:
        self.store, self.key = store, key
        self.lock = threading.RLock()
        self._state: StudyState | None = None
        self._kept: int | None = None
        """The last event of the newest snapshot that this memory knows of."""
        self._rows = 0
        """About how many rewards and tickets that snapshot has."""
        self._is_rehearsed = False
        self._reader: Session | None = None
        self.created = 0.0
        """When the study was created; set when the state is loaded."""

    @property
    def state(self) -> StudyState:
        """The state as of the last transaction; loaded from the database if needed."""
        with self.lock:
            if self._state is None:
                with self.store.read() as session:
                    return self.sync(session)
            return self._state

    def sync(self, session: Session) -> StudyState:
        """The state after all events that the transaction can see."""
        state = self._state
        if state is None:
            return self._load(session)
        events = session.events(self.key, state.number, seen=state.number)
        first = next(events, None)
        if first is None or first.digest != state.head:
            return self._load(session)
        try:
            for event in events:
                fold(state, event)
        except BaseException:
            self.forget()
            raise
        return state

    def forget(self) -> None:
        """Drop the state; the next transaction loads it."""
        self._state, self._kept, self._rows = None, None, 0

    def rehearse(self) -> None:
        """Compile or load the kernels that a write needs, before a transaction holds the lock."""
        if not self._is_rehearsed:
            _rehearse(self.state)
            self._is_rehearsed = True

    def write(self, session: Session, events: list[Event]) -> None:
        """Append events that are part of the state already, and a snapshot if one is due."""
        session.append(self.key, events)
        state = self._state
        if state is not None and self._is_snapshot_due(state):
            self._find_newest(session, state)
            if self._is_snapshot_due(state):
                self._keep(session, state)

    def _is_snapshot_due(self, state: StudyState) -> bool:
        events, rows = state.number - (self._kept or 0), _rows_of(state) - self._rows
        return events >= SNAPSHOT_EVENTS or rows >= SNAPSHOT_ROWS

    def _find_newest(self, session: Session, state: StudyState) -> None:
        """Continue the parts of the newest snapshot: another process may have written it."""
        found = session.newest_snapshot(self.key)
        if found is not None and found[0] == self._kept:
            return
        self._kept, state.packed, self._rows = None, (0, 0), 0
        if found is None:
            return
        with suppress(ValueError):
            head, ends = snapshot.head_and_ends(found[1])
            if self._has_event(session, found[0], head):
                self._kept, state.packed, self._rows = found[0], ends, _rows_of(state)

    def _keep(self, session: Session, state: StudyState) -> None:
        """Write a snapshot."""
        packed = snapshot.pack(state)
        is_alone = self._kept is None
        session.put_snapshot(self.key, state.number, packed.state, packed.part, is_alone=is_alone)
        self._kept, state.packed = state.number, packed.ends
        self._rows = _rows_of(state)

    def _load(self, session: Session) -> StudyState:
        self.forget()
        created = next(session.events(self.key, 0, 0), None)
        if created is None:
            raise NoStudyError(f"{self.store.shown} no longer holds this study: it was deleted")
        self.created = created.time
        state = self._from_snapshot(session, created)
        if state is None:
            state = begin(created)
        for event in session.events(self.key, state.number + 1):
            fold(state, event)
        self._state = state
        return state

    def _from_snapshot(self, session: Session, created: Event) -> StudyState | None:
        """The state in the newest snapshot; None if the snapshot does not belong to the events."""
        found = session.snapshot(self.key)
        if found is None:
            return None
        number, packed, parts = found
        try:
            state = snapshot.unpack(begin(created).definition, packed, parts)
        except ValueError:
            return None
        if state.number != number or not self._has_event(session, number, state.head):
            return None
        self._kept, self._rows = number, _rows_of(state)
        return state

    def _has_event(self, session: Session, number: int, digest: bytes) -> bool:
        event = next(session.events(self.key, number, number, seen=number), None)
        return event is not None and event.digest == digest

    # Transactions ----------------------------------------------------------------

    def in_one_transaction(
        self, changes: Sequence[Callable[[Transaction], T]]
    ) -> list[T | StandoutError]:
        """Carry out several requests in one transaction, with a single wait for the disk.

        The result has one entry per request: its result, or its error. A request with an error has
        changed nothing.
        """

        def attempt(turn: Transaction) -> list[T | StandoutError]:
            done: list[T | StandoutError] = []
            for change in changes:
                try:
                    done.append(change(turn))
                except StorageError:
                    raise
                except StandoutError as error:
                    done.append(error)
            return done

        return self.change(attempt)

    def change(self, change: Callable[[Transaction], T], key: str | None = None) -> T:
        """Carry out a change in one transaction; then compute the chances if that is due.

        A transaction that broke before its commit is retried once. If the connection broke during
        the commit, the events in the database show whether it was done.
        """
        with self.lock:
            done: list[tuple[Transaction, T]] = []
            try:
                self._attempt_twice(change, done)
            except UncertainError as error:
                self._settle(error, change, done, key)
        turn, found = done[-1]
        if turn.look_due:
            self._look()
        return found

    def _attempt_twice(
        self, change: Callable[[Transaction], T], done: list[tuple[Transaction, T]]
    ) -> None:
        """Attempt a transaction, and retry once if the connection broke before any change."""
        try:
            self._attempt(change, done)
        except UnavailableError as error:
            if error.has_waited:
                raise
            self._attempt(change, done)

    def _attempt(
        self, change: Callable[[Transaction], T], done: list[tuple[Transaction, T]]
    ) -> None:
        """Attempt a transaction; its result is added to `done` before the commit."""
        self.rehearse()
        events: list[Event] = []
        try:
            with self.store.write(meanwhile=self.sync) as session:
                session.lock(self.key)
                turn = Transaction(session, self.key, self.sync(session))
                events = turn.events
                done.append((turn, change(turn)))
                if events:
                    self.write(session, events)
        except BaseException as error:
            # A refused request has changed nothing; after any other error the outcome is unknown.
            is_refused = isinstance(error, StandoutError) and not isinstance(error, StorageError)
            if not is_refused or events:
                self.forget()
            raise

    def _settle(
        self,
        error: UncertainError,
        change: Callable[[Transaction], T],
        done: list[tuple[Transaction, T]],
        key: str | None,
    ) -> None:
        """Find out whether an uncertain commit was done; retry if it was not."""
        try:
            if not self._are_written(done[-1][0]):
                self._attempt(change, done)
        except StorageError:
            raise UncertainError(str(error), key) from None

    def _are_written(self, turn: Transaction) -> bool:
        if not turn.events:
            return True
        last = turn.events[-1]
        with self.store.read() as session:
            return self._has_event(session, last.number, last.digest)

    def _look(self) -> None:
        """Compute the chances outside of any transaction, and end the study if they promise enough.

        If this fails, it is done when the next look is due.
        """
        look = self.state.look
        if look is not None:
            excess = look.excess()
            with suppress(StorageError):
                request = requests.Look(look.number, excess)
                self.change(lambda turn: turn.handle(request, worker_of(None)))

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that sees the study at one moment; nested calls share the outer one.

        So several queries inside one block see the same moment.
        """
        with self.lock:
            if self._reader is not None:
                yield self._reader
                return
            with self.store.read() as session:
                self.sync(session)
                self._reader = session
                try:
                    yield session
                finally:
                    self._reader = None


def _rows_of(state: StudyState) -> int:
    return state.ledger.size + state.tickets.size


def _rehearse(state: StudyState) -> None:
    """Run all kernels that a request needs, on a copy of the state."""
    spec, core = state.spec, copy_state(state.state)
    engine.begin_round(spec, core, 1, np.random.default_rng(0))
    value = spec.low if np.isfinite(spec.low) else 0.0
    observe_many(spec, core, np.zeros(1, dtype=np.int64), np.array([value]))
    engine.end_round(spec, core)


MOMENT = 1e-6
"""Seconds between two requests of one transaction."""


class Transaction:
    """The operations on a study while its lock is held."""

    def __init__(self, session: Session, key: int, state: StudyState) -> None:
        self._session, self._key, self.state = session, key, state
        self.moment = session.now
        self.events: list[Event] = []
        """The events of the requests, not written yet."""
        self.look_due = False
        """Whether the chances must be computed after the transaction."""

    def handle(self, request: requests.Request, worker: str, key: str | None = None) -> Answer:
        """Carry out a request; a request with the key of an earlier one is not repeated."""
        before = None if key is None else self._event_of_key(key)
        if before is None:
            events, answer = handle(self.state, request, self.moment, worker=worker, key=key)
        else:
            events, answer = repeat(self.state, before, request, self.moment, worker=worker)
        self.events += events
        self.moment += MOMENT
        self.look_due |= answer.look_due
        return answer

    def _event_of_key(self, key: str) -> Event | None:
        for event in self.events:
            if event.key == key:
                return event
        return self._session.event_of_key(self._key, key)

    def rename(self, old: str, name: str) -> None:
        """Give the study another name; raises `StudyExistsError` if it is taken."""
        self._session.rename_study(self._key, old, name)


@contextmanager
def behind_commit(key: str | None = None) -> Iterator[None]:
    """Turn a failed read after a commit into an `UncertainError`: the change itself is done."""
    try:
        yield
    except StorageError as error:
        why = str(error).replace("; nothing was changed", "")
        raise UncertainError(
            f"the change was made, but its result cannot be read: {why}", key
        ) from None
