"""The studies of one place, opened once per process and used again.

Each has two handles: one for asking and telling, one for looking, so that a
dashboard never keeps a worker waiting.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from standout.errors import NoStudyError, UnavailableError
from standout.results import StudyList
from standout.service.cache import Recent
from standout.study import Study
from standout.study.storage.catalogue import list_studies, study_names
from standout.study.storage.database import Connection, Storage
from standout.study.storage.tokens import Kept, Token, create, read_all, revoke

log = logging.getLogger("standout.service")

PATIENCE = 20.0
"""Seconds that a request waits for a lock or a database: less than a client waits for us."""
PING_PATIENCE, CLOSING = 5.0, 0.5
MOST_OPEN = 16
"""Studies kept open; the one not used for longest makes room."""


class Pair:
    """A study's two handles, opened when first needed."""

    def __init__(self, place: str, name: str) -> None:
        self.place, self.name = place, name
        self._lock = threading.Lock()
        self._handles: dict[str, Study] = {}

    def get(self, purpose: str) -> Study:
        """The handle for `write` or `look`."""
        with self._lock:
            handle = self._handles.get(purpose)
            if handle is None or not handle.is_current:
                handle = self._handles[purpose] = Study.open(
                    self.place, self.name, patience=PATIENCE
                )
            return handle


class OpenStudies:
    """Finds studies by name, lists them, and reads tokens."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._pairs = Recent[str, Pair](MOST_OPEN)
        self._catalogue = threading.Lock()
        self._pulse = threading.Lock()
        self._pinged: Storage | None = None
        self._storage = Storage(place, create=True, patience=PATIENCE)
        if self._storage.remark is not None:
            log.warning("%s", self._storage.remark)

    @property
    def shown(self) -> str:
        """The place, without a password."""
        return self._storage.shown

    def _handle(self, name: str, purpose: str) -> Study:
        with self._lock:
            pair = self._pairs.get(name)
            if pair is None:
                # Whoever still uses one that makes room keeps it, and its connection.
                pair = self._pairs[name] = Pair(self.place, name)
        try:
            return pair.get(purpose)
        except NoStudyError:
            self.forget(name)
            if not self._storage.is_current:
                raise UnavailableError(f"{self.shown} is no longer there") from None
            raise

    def writer(self, name: str) -> Study:
        """The handle for asking and telling."""
        return self._handle(name, "write")

    def reader(self, name: str) -> Study:
        """The study, opened for looking; raises `NoStudyError` if there is none of that name."""
        return self._handle(name, "look")

    def own(self, name: str) -> Study:
        """A handle for something that takes long; whoever takes it closes it."""
        return Study.open(self.place, name, patience=PATIENCE)

    def forget(self, name: str) -> None:
        """Drop what is open of a study: the next request opens it anew."""
        self._pairs.pop(name)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._catalogue:
            if not self._storage.is_current:
                # Another file has been put in its place: from now on that is the store.
                try:
                    found = Storage(self.place, patience=PATIENCE)
                except NoStudyError:
                    raise UnavailableError(f"{self.shown} is no longer there") from None
                self._storage.close()
                self._storage = found
            with self._storage.read() as connection:
                yield connection

    def ping(self) -> None:
        """See that the database answers, on a connection of its own; raises if it does not."""
        with self._pulse:
            if self._pinged is None or not self._pinged.is_current:
                self._pinged = Storage(self.place, patience=PING_PATIENCE)
            self._pinged.ping()

    def page(self, limit: int, after: str | None, only: str | None) -> StudyList:
        """Up to `limit` studies behind the one called `after`; `only` this one if given."""
        with self._reading() as connection:
            names = study_names(connection)
            if only is not None:
                names = [pair for pair in names if pair[1] == only]
            if after is not None:
                places = [i for i, (_, name) in enumerate(names) if name == after]
                names = names[places[0] + 1 :] if places else []
            chosen = names[:limit]
            rows = list_studies(connection, [key for key, _ in chosen]) if chosen else []
        return StudyList(tuple(rows), chosen[-1][1] if len(names) > limit else None)

    def tokens(self) -> list[Kept]:
        """Every token of the place, revoked ones too, with the hashes of their secrets."""
        with self._reading() as connection:
            return read_all(connection)

    def make_token(self, role: str, study: str | None, label: str, by: str) -> tuple[Token, str]:
        """Make a token of the place; its text is not kept."""
        with closing(Storage(self.place, patience=PATIENCE)) as storage:
            return create(storage, role, study, label, by=by)

    def revoke_token(self, number: str, by: str) -> None:
        """End a token of the place."""
        with closing(Storage(self.place, patience=PATIENCE)) as storage:
            revoke(storage, number, by=by)

    def close(self) -> None:
        """Close every study and connection; one that hangs is left to the end of the process."""
        self._pairs = Recent(MOST_OPEN)
        for lock, storage in ((self._catalogue, self._storage), (self._pulse, self._pinged)):
            if storage is not None and lock.acquire(timeout=CLOSING):
                try:
                    storage.close()
                finally:
                    lock.release()
