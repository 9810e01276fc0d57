"""The studies of one place, opened once per process, and caches of their answers.

Each study has two handles, one for asking and telling and one for reading, so that a dashboard
never keeps a worker waiting. Each cache is typed and has a largest size.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from standout.errors import NoStudyError, UnavailableError
from standout.results import ArmHistory, Chances, EndingList, Forecast, StudyList
from standout.study import Study
from standout.study.storage.logins import Login, begin_login, end_login, read_logins
from standout.study.storage.session import Session
from standout.study.storage.store import Store, open_store
from standout.study.storage.tokens import KeptToken, Token, create, read_all, revoke
from standout.study.view import row_of

if TYPE_CHECKING:
    from standout.service.pictures import Sources
    from standout.service.rating.rater import Record

K = TypeVar("K")
V = TypeVar("V")

MOST_REPORTS = 4
"""Reports kept: each may be a megabyte."""
MOST_STUDIES = 64
"""Studies of which small answers are kept."""
MOST_RATERS = 10_000
"""Raters in the cache; others are read again."""


class Recent(Generic[K, V]):
    """A cache of the newest answers that evicts the least recently used. Thread-safe.

    >>> kept = Recent[str, int](most=2)
    >>> for name in ("a", "b", "a", "c"):
    ...     kept[name] = kept.get(name, 0) + 1
    >>> kept.get("a"), kept.get("b"), kept.get("c"), len(kept)
    (2, None, 1, 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._finding: WeakValueDictionary[K, threading.Lock] = WeakValueDictionary()

    def get(self, key: K, default: V | None = None) -> V | None:
        """The value of `key`, which counts as a use; else `default`."""
        with self._lock:
            if key not in self._kept:
                return default
            self._kept.move_to_end(key)
            return self._kept[key]

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def finding(self, key: K) -> threading.Lock:
        """A lock for the task that computes the value of `key`; others wait for it."""
        with self._lock:
            return self._finding.setdefault(key, threading.Lock())

    def pop(self, key: K) -> None:
        """Remove the value of `key`, if there is one."""
        with self._lock:
            self._kept.pop(key, None)

    def __len__(self) -> int:
        return len(self._kept)


State = tuple[int, str]


def state_of(study: Study) -> State:
    """What identifies the state of a study, even if its file was replaced by a copy.

    A copy that continued on its own may have the same `seq`, but not the same digest of its log.
    """
    return study.pulse().seq, study.status().head


@dataclass(frozen=True)
class Kept(Generic[V]):
    """A cached value of a state, valid until `until` (monotonic seconds) even if rewards arrive."""

    state: State
    found: V
    until: float = -math.inf


def kept_or_new(
    kept: Recent[K, Kept[V]],
    key: K,
    study: Study,
    find: Callable[[], V],
    good_for: Callable[[V, float], float] = lambda found, took: 0.0,
) -> V:
    """The cached value if it is current or still valid; else the result of `find`, which is cached.

    Of several equal requests at once, one computes it and the others wait. `good_for` returns for
    how many seconds the value is valid, from the value and the seconds that it took.
    """
    with kept.finding(key):
        state, begin = state_of(study), time.monotonic()
        last = kept.get(key)
        if last is not None and (last.state == state or begin < last.until):
            return last.found
        found = find()
        now = time.monotonic()
        kept[key] = Kept(state, found, now + good_for(found, now - begin))
    return found


class Caches:
    """The caches by the study's name; raters by study and worker, chances by study and request."""

    def __init__(self) -> None:
        self.reports = Recent[str, Kept[str]](MOST_REPORTS)
        self.forecasts = Recent[str, Kept[Forecast | None]](MOST_STUDIES)
        self.chances = Recent[tuple[str, float, int], Kept[Chances]](MOST_STUDIES)
        self.endings = Recent[str, Kept[EndingList]](MOST_STUDIES)
        self.images: Recent[str, Sources] = Recent(MOST_STUDIES)
        self.arms = Recent[tuple[str, int], Kept[ArmHistory]](MOST_STUDIES)
        self.raters: Recent[tuple[str, str], Record] = Recent(MOST_RATERS)
        self.shown = Recent[tuple[str, int], str](MOST_RATERS)
        self.rater_turns = WeakValueDictionary[tuple[str, str], asyncio.Lock]()


PATIENCE = 20.0
"""Seconds that a request waits for a lock or a database: less than a client's timeout."""
PING_PATIENCE, CLOSING = 5.0, 0.5
MOST_OPEN = 16
"""Studies kept open; the one not used for longest makes room."""


class Keys(NamedTuple):
    """All tokens and logins, as the store had them at the moment `now`."""

    tokens: list[KeptToken]
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
            if handle is None or not handle.memory.store.is_current:
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
                # A task that still uses an evicted study keeps it, with its connection.
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
        """The handle for reading; raises `NoStudyError` if there is no study of that name."""
        return self._handle(name, "look")

    def own(self, name: str) -> Study:
        """A handle for a long task, which must close it."""
        return Study.open(self.place, name, patience=PATIENCE)

    def forget(self, name: str) -> None:
        """Forget the open handles of a study; the next request opens it again."""
        self._pairs.pop(name)

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._catalogue:
            if not self._store.is_current:
                # Another file is in its place: from now on that is the store.
                try:
                    found = open_store(self.place, patience=PATIENCE)
                except NoStudyError:
                    raise UnavailableError(f"{self.shown} is no longer there") from None
                self._store.close()
                self._store = found
            with self._store.read() as session:
                yield session

    def ping(self) -> None:
        """Check that the database answers, on a separate connection; raises if it does not."""
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
        """Create a token of the place; its text is not stored."""
        with self._writing() as store:
            return create(store, role, study, label, by=by, lasts=lasts)

    def revoke_token(self, number: str, by: str) -> None:
        """Revoke a token of the place."""
        with self._writing() as store:
            revoke(store, number, by=by)

    def begin_login(self, token: str, lasts: float) -> str:
        """Begin a login with a token; return the text for the cookie."""
        with self._writing() as store:
            return begin_login(store, token, lasts)[1]

    def end_login(self, text: str) -> None:
        """End the login with this cookie text."""
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
