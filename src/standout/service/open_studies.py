"""The studies of one place, opened once per process and used again.

Each has two handles: one for asking and telling, one for looking, so that a
dashboard never keeps a worker waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple

from standout.errors import NoStudyError, UnavailableError
from standout.results import StudyList
from standout.service.cache import Recent
from standout.study import Study
from standout.study.listing import row_of
from standout.study.storage.logins import Login, begin_login, end_login, read_logins
from standout.study.storage.session import Session
from standout.study.storage.store import Store, open_store
from standout.study.storage.tokens import Kept, Token, create, read_all, revoke

PATIENCE = 20.0
"""Seconds that a request waits for a lock or a database: less than a client waits for us."""
PING_PATIENCE, CLOSING = 5.0, 0.5
MOST_OPEN = 16
"""Studies kept open; the one not used for longest makes room."""


class Keys(NamedTuple):
    """All that opens the service, as the store had it at the moment `now`."""

    tokens: list[Kept]
    logins: dict[str, Login]
    now: float


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
        self._pinged: Store | None = None
        self._store = open_store(place, create=True, patience=PATIENCE)

    @property
    def shown(self) -> str:
        """The place, without a password."""
        return self._store.shown

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
            if not self._store.is_current:
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
    def _reading(self) -> Iterator[Session]:
        with self._catalogue:
            if not self._store.is_current:
                # Another file has been put in its place: from now on that is the store.
                try:
                    found = open_store(self.place, patience=PATIENCE)
                except NoStudyError:
                    raise UnavailableError(f"{self.shown} is no longer there") from None
                self._store.close()
                self._store = found
            with self._store.read() as session:
                yield session

    def ping(self) -> None:
        """See that the database answers, on a connection of its own; raises if it does not."""
        with self._pulse:
            if self._pinged is None or not self._pinged.is_current:
                self._pinged = open_store(self.place, patience=PING_PATIENCE)
            self._pinged.ping()

    def page(self, limit: int, after: str | None, only: str | None) -> StudyList:
        """Up to `limit` studies behind the one called `after`; `only` this one if given."""
        with self._reading() as session:
            names = [name for _, name in session.names() if only in (None, name)]
        if after is not None:
            names = names[names.index(after) + 1 :] if after in names else []
        rows = []
        for name in names[:limit]:
            with suppress(NoStudyError):  # Deleted just now.
                rows.append(row_of(self.reader(name)))
        return StudyList(tuple(rows), names[limit - 1] if len(names) > limit else None)

    def keys(self) -> Keys:
        """Every token of the place, revoked ones too, with the hashes of their secrets."""
        with self._reading() as session:
            return Keys(read_all(session), read_logins(session), session.now)

    def make_token(
        self, role: str, study: str | None, label: str, by: str, lasts: float | None = None
    ) -> tuple[Token, str]:
        """Make a token of the place; its text is not kept."""
        with self._writing() as store:
            return create(store, role, study, label, by=by, lasts=lasts)

    def revoke_token(self, number: str, by: str) -> None:
        """End a token of the place."""
        with self._writing() as store:
            revoke(store, number, by=by)

    def begin_login(self, token: str, lasts: float) -> str:
        """Begin a login with a token; the text for the cookie."""
        with self._writing() as store:
            return begin_login(store, token, lasts)[1]

    def end_login(self, text: str) -> None:
        """Let the text of a cookie open nothing from now on."""
        with self._writing() as store:
            end_login(store, text)

    def _writing(self) -> closing[Store]:
        return closing(open_store(self.place, patience=PATIENCE))

    def close(self) -> None:
        """Close every study and connection; one that hangs is left to the end of the process."""
        self._pairs = Recent(MOST_OPEN)
        for lock, store in ((self._catalogue, self._store), (self._pulse, self._pinged)):
            if store is not None and lock.acquire(timeout=CLOSING):
                try:
                    store.close()
                finally:
                    lock.release()
