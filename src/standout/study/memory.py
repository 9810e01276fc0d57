"""A study's state in memory, kept in step with its events in a database.

Each transaction first reads the events from the last one that the memory has folded. That event
must come back with the same digest: otherwise the database holds another past (it was restored or
replaced), and the state is loaded again from the newest snapshot and the events after it.
Snapshots are a cache. A snapshot that cannot be used is passed over, and the study folds all of
its events.
"""

from __future__ import annotations

import threading

import numpy as np

from standout.core import engine
from standout.core.many_rewards import observe_many
from standout.core.state import copy_state
from standout.errors import NoStudyError
from standout.study.events import snapshot
from standout.study.events.event import Event
from standout.study.events.fold import begin, fold
from standout.study.events.state import StudyState
from standout.study.storage.session import Session
from standout.study.storage.store import Store

SNAPSHOT_EVENTS = 1_000
"""Events after which a new snapshot is written; opening a study folds at most about so many."""


class Memory:
    """The state of one study; `lock` admits one thread at a time."""

    def __init__(self, store: Store, key: int) -> None:
        self.store, self.key = store, key
        self.lock = threading.RLock()
        self._state: StudyState | None = None
        self._kept: int | None = None
        """The last event of the newest snapshot, as far as this memory goes on from it."""
        self._is_rehearsed = False
        self.created = 0.0
        """When the study was created, once its state was loaded."""

    @property
    def state(self) -> StudyState:
        """The state as of the last transaction; reads it from the database if there is none."""
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
        events = session.events(self.key, state.number)
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
        self._state = self._kept = None

    def rehearse(self) -> None:
        """Compile or load the kernels that a write needs, before a transaction holds the lock."""
        if not self._is_rehearsed:
            _rehearse(self.state)
            self._is_rehearsed = True

    def write(self, session: Session, events: list[Event]) -> None:
        """Append events that the state has folded already, and a snapshot if one is due."""
        session.append(self.key, events)
        state = self._state
        if state is not None and state.number - (self._kept or 0) >= SNAPSHOT_EVENTS:
            self._keep(session, state)

    def _keep(self, session: Session, state: StudyState) -> None:
        """Write a snapshot; where another process has written one, load that one next time."""
        packed = snapshot.pack(state)
        if session.put_snapshot(self.key, state.number, self._kept, packed.state, packed.part):
            self._kept, state.packed = state.number, packed.ends
        else:
            self.forget()

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
        """The state that the newest snapshot holds; None if none of these events is its last."""
        found = session.snapshot(self.key)
        if found is None:
            return None
        number, packed, parts = found
        try:
            state = snapshot.unpack(begin(created).definition, packed, parts)
        except ValueError:
            return None
        last = next(session.events(self.key, number, number), None)
        if last is None or state.number != number or last.digest != state.head:
            return None
        self._kept = number
        return state


def _rehearse(state: StudyState) -> None:
    """Run each kernel that handling a request runs, on a copy of the state."""
    spec, core = state.spec, copy_state(state.state)
    engine.begin_round(spec, core, 1, np.random.default_rng(0))
    value = spec.low if np.isfinite(spec.low) else 0.0
    observe_many(spec, core, np.zeros(1, dtype=np.int64), np.array([value]))
    engine.end_round(spec, core)
