"""An opened store of studies: one transaction at a time, on SQLite or PostgreSQL.

- A transaction from `Store.write` sees everything that was committed before it (on PostgreSQL:
  before `Session.lock` returned). It is on disk when its block ends without an error. If the block
  raises an error, nothing is changed. If the connection breaks during the commit, `UncertainError`
  says that the change may or may not be there.
- A transaction from `Store.read` sees one moment and changes nothing.
- Threads take turns. After a fork the child must open its own store; using the parent's raises an
  error.
"""

from __future__ import annotations

import math
import os
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from standout.errors import NoStudyError, StorageError, StudyError, UnavailableError, UncertainError
from standout.interruption import put_off
from standout.study.storage.location import locate
from standout.study.storage.session import Session

PATIENCE = 60.0
"""Seconds to wait for locks before giving up."""
CLOSING = 5.0
"""Seconds for which `close` waits for another thread."""
VERSION = 1
"""The version of the tables."""
Meanwhile = Callable[[Session], object]
_DONE_OR_NOT = (
    "; this may have been done or not. To tell again with the same key is safe: it counts once"
)


def milliseconds(seconds: float) -> int:
    """Seconds as milliseconds for a database: at least 1 if positive, and at most its maximum."""
    return min(math.ceil(1000 * min(seconds, 1e9)), 2**31 - 1)


class Store(ABC):
    """One store, opened.

    `shown` names it without a password, `identity` is its unique text, and `generation` is the
    number of backups restored into it before it was opened.
    """

    is_sqlite: bool
    identity: str
    generation: int
    _driver_error: type[Exception]

    def __init__(self, shown: str, patience: float, clock: Callable[[], float] | None) -> None:
        self.shown, self.patience, self.clock = shown, patience, clock
        self.is_read_only = False
        self._pid = os.getpid()
        self._turn, self._owner = threading.Lock(), 0
        self._is_committing = False
        self._raw: Any = None

    # Implemented by each database.

    @property
    def is_current(self) -> bool:
        """Whether the place still holds the store that was opened."""
        return True

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection of the driver."""

    @abstractmethod
    def _begin(self, *, writes: bool, is_long: bool, meanwhile: Meanwhile | None) -> Session:
        """Begin a transaction."""

    @abstractmethod
    def _commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    def _is_broken(self, error: Exception) -> bool:
        """Whether a commit that ended with this error may have succeeded nevertheless."""

    @abstractmethod
    def _explain(self, error: Exception) -> StorageError:
        """The driver's error as an error that says what to do, without passwords."""

    # Transactions.

    @contextmanager
    def write(
        self, *, is_long: bool = False, meanwhile: Meanwhile | None = None
    ) -> Iterator[Session]:
        """A transaction that may change the store; it is committed if the block does not raise.

        Ctrl-C takes effect after the transaction, unless `is_long`. A long transaction also has a
        longer timeout. On SQLite, `meanwhile` reads while another process holds the lock, which
        leaves less to read under our own.
        """
        if self.is_read_only:
            raise StorageError(
                f"{self.shown} is read-only here: asking and telling need a file and a folder "
                "that can be written to"
            )
        yield from self._transaction(writes=True, is_long=is_long, meanwhile=meanwhile)

    @contextmanager
    def read(self, *, is_long: bool = False) -> Iterator[Session]:
        """A transaction that sees one moment and changes nothing; Ctrl-C as for `write`."""
        yield from self._transaction(writes=False, is_long=is_long)

    def _transaction(
        self, *, writes: bool, is_long: bool, meanwhile: Meanwhile | None = None
    ) -> Iterator[Session]:
        # A signal's exception between the lock and the block would block all other threads.
        # It is raised in the main thread alone.
        is_hit = threading.current_thread() is threading.main_thread()
        with put_off() if is_hit and not is_long else nullcontext(), self._in_turn():
            yield from self._carry_out(writes, is_long, meanwhile)

    def _carry_out(
        self, writes: bool, is_long: bool, meanwhile: Meanwhile | None
    ) -> Iterator[Session]:
        try:
            try:
                if self._raw is None:
                    self._raw = self._connect()
                yield self._begin(writes=writes, is_long=is_long, meanwhile=meanwhile)
                self._is_committing = writes
                self._commit()
            except BaseException:
                self._roll_back()
                raise
        except self._driver_error as error:
            raise self._as_ours(error) from None
        except Exception:
            raise
        except BaseException:
            self._drop()  # Interrupted, maybe during BEGIN: the next use opens a new connection.
            raise
        finally:
            self._is_committing = False

    def _as_ours(self, error: Exception) -> StorageError:
        found = self._explain(error)
        is_uncertain = self._is_committing and self._is_broken(error)
        self._drop()
        if is_uncertain:
            return UncertainError(f"{found}{_DONE_OR_NOT}")
        if "nothing was" not in str(found):
            found.args = (f"{found}; nothing was changed",)
        return found

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Wait for the other threads of this process."""
        self._check_process()
        if self._owner == threading.get_ident():
            raise StudyError("a transaction is under way already in this thread; use that one")
        if not self._turn.acquire(timeout=min(self.patience, threading.TIMEOUT_MAX)):
            raise UnavailableError(
                f"{self.shown} was busy for {self.patience:g} s in another thread of this "
                "process; nothing was changed; try again",
                has_waited=True,
            )
        self._owner = threading.get_ident()
        try:
            yield
        finally:
            self._owner = 0
            self._turn.release()

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise StudyError(
                f"{self.shown} was opened before this process was forked, and cannot be used "
                "here: open the study again in each process"
            )

    def _roll_back(self) -> None:
        """Roll back the transaction; the database does so if the connection is broken."""
        if self._raw is not None:
            with suppress(self._driver_error):
                self._raw.rollback()

    def _drop(self) -> None:
        """Discard the connection; the next use opens another."""
        raw, self._raw = self._raw, None
        if raw is not None:
            with suppress(self._driver_error):
                raw.close()

    # Opening and closing.

    def _prepare(self, create: bool) -> None:
        """Check that this is a store of this version; with `create`, create missing tables."""
        with self.closed_on_error():
            with self.read() as session:
                is_made = session.has_tables()
            if not is_made and not create:
                raise NoStudyError(f"{self.shown} is a database, but holds no study")
            if not is_made:
                self._make()
            with self.read() as session:
                version, self.identity, self.generation = session.version()
            if version != VERSION:
                raise StorageError(
                    f"{self.shown} has tables of version {version}, and this standout knows "
                    f"version {VERSION}; use the standout that made it; nothing was changed"
                )

    def _make(self) -> None:
        with self.write() as session:
            session.lock_making()
            if not session.has_tables():  # Another process may have been faster.
                session.make_tables()
                session.put_version(VERSION, str(uuid.uuid4()), 0)

    def ping(self) -> None:
        """Check that the database answers; raises an error if it does not."""
        with self.read() as session:
            session.run("SELECT 1")

    def close(self) -> None:
        """Close the connection; the next use opens another.

        It waits `CLOSING` seconds for a thread that uses the connection, and then leaves it open.
        """
        if self._pid != os.getpid() or self._owner == threading.get_ident():
            return
        if self._turn.acquire(timeout=CLOSING):
            try:
                self._drop()
            finally:
                self._turn.release()

    def __del__(self) -> None:
        with suppress(Exception):
            if self._pid == os.getpid():
                self._drop()

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the connection at once if the block fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise


def open_store(
    place: str | os.PathLike[str],
    *,
    create: bool = False,
    patience: float = PATIENCE,
    clock: Callable[[], float] | None = None,
) -> Store:
    """The store at a file or a PostgreSQL address; with `create`, a missing store is created.

    `patience` is the number of seconds to wait for locks. `clock` replaces the time (for
    PostgreSQL, that of the server). Raises NoStudyError if there is no store.
    """
    address = locate(place)
    if address.file is not None:
        from standout.study.storage.sqlite import SqliteStore

        return SqliteStore(address.file, create, patience, clock)
    from standout.study.storage.postgres import PostgresStore

    return PostgresStore(address, create, patience, clock)
