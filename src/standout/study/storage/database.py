"""Connections and transactions: what SQLite and PostgreSQL need done differently.

The contract, on both: a transaction from `write` is alone in its study, sees
everything committed before it, and is on disk before anybody sees it. A
transaction from `read` sees one moment. One `Storage` belongs to one process
and is used by one thread at a time, which has its `turn`; after a fork both
sides open connections of their own.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any
from weakref import WeakValueDictionary

from standout.errors import NoStudyError, StorageError, UncertainError
from standout.extras import require
from standout.interruption import put_off
from standout.study.arguments import seconds
from standout.study.storage import sqlite_file
from standout.study.storage.connection import Connection
from standout.study.storage.driver_errors import explain
from standout.study.storage.location import check_file, check_length, locate
from standout.study.storage.migrations import STEPS, check_version, migrate, stored_version
from standout.study.storage.sqlite_file import SqliteFile

__all__ = ["PATIENCE", "Connection", "Storage"]

PATIENCE = 60.0
"""Seconds to wait for other processes before giving up."""
_SQLITE_IO = 10
_LAST_MOMENTS = 0.5
"""Seconds that a program which ends waits for threads that still use a database."""


class Storage:
    """One database, opened. `remark` says what is to be known about its file, if anything."""

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        create: bool = False,
        patience: float = PATIENCE,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.address = locate(place)
        self.shown = str(self.address)
        self.is_sqlite = self.address.file is not None
        self.patience = patience = seconds("patience", patience)
        self.clock = clock
        self.remark: str | None = None
        self.file: SqliteFile | None = None
        self._driver_error: type[Exception] = sqlite3.Error
        if self.address.file is not None:
            check_file(self.address.file, must_exist=not create)
            self.file = SqliteFile(self.address.file, create=create, patience=patience)
        else:
            require("postgres", "a PostgreSQL database")
            from psycopg import Error

            self._driver_error = Error
        self._is_ready = False
        self.turn = threading.RLock()
        """Of the thread that uses the connection."""
        self.reader: Connection | None = None
        """The connection, while a thread reads with it."""
        self.at_fork: Callable[[], None] | None = None
        """Called in a forked child."""
        self._connection: Connection | None = None
        self._is_committing = False
        with self.closed_on_error():
            self._prepare(create)
        self._is_ready = True
        _open[id(self)] = self

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written here."""
        return self.file is not None and self.file.is_read_only

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return self.file is None or self.file.is_current

    def _prepare(self, create: bool) -> None:
        """Check the version; make or upgrade the tables where that is wanted."""
        application, mode = 0, ""
        with self.read() as connection:
            version = stored_version(connection)
            if self.file is not None:
                pages, size, application = (
                    int(connection.execute(f"PRAGMA {name}")[0][0])
                    for name in ("page_count", "page_size", "application_id")
                )
                mode = str(connection.execute("PRAGMA journal_mode")[0][0])
                check_length(self.file.path, pages * size)
        check_version(version, self.shown)
        if version == 0 and not create:
            raise NoStudyError(f"{self.shown} is a database, but holds no study")
        if self.file is not None:
            with self.turn, _Translated(self):
                self.remark = self.file.prepare(self._raw(), application, mode)
            if self.is_read_only:
                self._check_readable(version)
                return
        if version < len(STEPS):
            with self.write() as connection:
                if not self.is_sqlite:
                    # Two processes may create at once; the second waits here, then sees the tables.
                    connection.execute("SELECT pg_advisory_xact_lock(7382094)")
                migrate(connection, self.shown)

    def _check_readable(self, version: int) -> None:
        if version < len(STEPS):
            raise StorageError(
                f"{self.shown} was written by an older standout and is read-only here, so that it "
                "cannot be brought up to date; copy it to a folder that you can write to"
            )

    def _connect(self) -> Connection:
        if self._connection is None or (not self.is_sqlite and self._connection.raw.closed):
            self._connection = self._new_connection()
            if self._is_ready and self.file is not None and not self.is_read_only:
                self.file.begin_log(self._connection.raw)
        return self._connection

    def _new_connection(self) -> Connection:
        if self.file is not None:
            return Connection(self.file.connect(), is_sqlite=True)
        from standout.study.storage.old_postgres import connect

        return Connection(connect(self.address.options, self.patience), is_sqlite=False)

    def _raw(self) -> Any:
        """The driver's own connection."""
        return self._connect().raw

    @contextmanager
    def write(self, *, is_small: bool = False) -> Iterator[Connection]:
        """A transaction that may change the database; commits when the block ends well.

        A small one (without COPY) sends PostgreSQL its statements without
        waiting for each: three round trips instead of nine. Raises `MovedError`
        if the file is no longer the one that was opened.
        """
        if self.is_read_only:
            raise StorageError(
                f"{self.shown} is read-only here: asking and telling need a file and a folder "
                "that can be written to"
            )
        with self.turn, _Translated(self):
            connection = self._connect()
            self._is_committing = False
            if self.file is not None:
                yield from self._write_file(connection, self.file)
            else:
                yield from self._write_server(connection, is_small)
            self._is_committing = False

    def _write_file(self, connection: Connection, file: SqliteFile) -> Iterator[Connection]:
        raw = connection.raw
        try:
            file.begin_immediate(raw)
            file.check()
            yield connection
            self._is_committing = True
            raw.execute("COMMIT")
        except Exception:
            raw.rollback()
            raise
        except BaseException:
            with suppress(self._driver_error):
                raw.rollback()
            raise
        # Moved away in between: then it was written into a file that nobody looks at.
        file.check(is_done=True)

    def _write_server(self, connection: Connection, is_small: bool) -> Iterator[Connection]:
        from standout.study.storage.old_postgres import writing

        with writing(connection, is_small=is_small) as commit:
            yield connection
            self._is_committing = True
            commit()

    @contextmanager
    def read(self, *, is_long: bool = False) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing.

        `is_long`: a statement may take up to an hour on PostgreSQL. Raises
        `MovedError` as `write` does: what is read would be old.
        """
        with self.turn, _Translated(self):
            connection = self._connect()
            if self.file is not None:
                yield from self._read_file(connection, self.file)
            else:
                from standout.study.storage.old_postgres import reading

                with reading(connection, is_long=is_long):
                    yield connection

    def _read_file(self, connection: Connection, file: SqliteFile) -> Iterator[Connection]:
        try:
            file.begin(connection.raw)
            yield connection
            file.check_unchanged()
            connection.raw.commit()
        except BaseException:
            with suppress(self._driver_error):
                connection.raw.rollback()
            raise

    def translate(self, error: BaseException) -> None:
        """Raise our error for a driver's, without the address's password; return for others."""
        if isinstance(error, UnicodeDecodeError):
            self._drop_if_broken()
            raise StorageError(f"{self.shown} is damaged; restore it from a copy") from None
        if isinstance(error, self._driver_error):
            found = self._error(error)
            self._drop_if_broken()
            raise found from None
        if not isinstance(error, Exception):
            # Interrupted, maybe amid BEGIN or COMMIT: the next use must not find a transaction.
            self._is_committing = False
            self._drop_if_broken()

    def _error(self, cause: BaseException | None) -> StorageError:
        """A driver's error as ours; says whether what was under way may have been done."""
        found = explain(self, cause)
        was_committing, self._is_committing = self._is_committing, False
        if was_committing and self._may_be_done(cause):
            return UncertainError(
                f"{found}; this may have been done or not. To tell again with the same key is "
                "safe: it counts once"
            )
        if "nothing was changed" not in str(found).lower():
            found.args = (f"{found}; nothing was changed",)
        return found

    def _may_be_done(self, cause: BaseException | None) -> bool:
        """Whether a commit that failed may have gone through all the same."""
        if self.is_sqlite:
            return getattr(cause, "sqlite_errorcode", 0) & 0xFF == _SQLITE_IO
        # An error that the server reports has undone the transaction.
        return self._connection is None or bool(self._connection.raw.closed)

    def _drop_if_broken(self) -> None:
        with suppress(self._driver_error):
            self._let_go()

    def _let_go(self) -> None:
        """End the connection; a file that nobody else uses becomes whole."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with put_off():
            self._end_whole(connection.raw)

    def _end_whole(self, raw: Any) -> None:
        # One that was refused is left alone, but for a log that SQLite would work in anyway.
        file = self.file
        if file is None or not (self._is_ready or file.has_log or file.had_log):
            raw.close()
            return
        with file.leaving(raw) as may_close:
            if may_close:
                raw.close()
            else:
                sqlite_file.keep_for_ever(raw)

    def ping(self) -> None:
        """See that the database answers; raises if it does not."""
        with self.read() as connection:
            connection.execute("SELECT 1")

    def now(self, connection: Connection) -> float:
        """Seconds since 1970: the server's clock where machines may differ."""
        if self.clock is not None:
            return self.clock()
        if self.is_sqlite:
            return time.time()
        ((moment,),) = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(moment)

    def identity(self, study: int) -> str:
        """A text that this study has alone, whatever the database and whoever reaches it how.

        Another role in a PostgreSQL database may be allowed other things, and so has another.
        Raises `StorageError` if the database cannot be asked.
        """
        if self.file is not None:
            return f"{self.file.identity} {study}"
        connection = self._connection
        if connection is None or connection.raw.closed:
            with self.turn, _Translated(self):
                connection = self._connect()
        return f"{connection.raw.identity} {study}"

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the connection at once if the block fails, not when Python gets round to it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        with suppress(Exception):
            self.close_within(0.0)

    def close(self) -> None:
        """Close the connection; the next use opens another. Waits for a thread that uses it."""
        with self.turn:
            self._let_go()

    def close_within(self, seconds: float) -> None:
        """Close the connection, unless a thread uses it for longer."""
        if self.turn.acquire(timeout=max(0.0, seconds)):
            try:
                self._let_go()
            finally:
                self.turn.release()

    def close_for_fork(self) -> None:
        """Close a file, unless this very thread is amid a transaction."""
        if self._connection is not None and not self._connection.raw.in_transaction:
            self._let_go()

    def renew(self) -> None:
        """In a forked child: nobody uses what threads of the parent were using.

        A connection that they did not let go of is theirs.
        """
        self.turn, self.reader = threading.RLock(), None
        if self._connection is not None:
            _of_parents.append(self._connection)
            self._connection = None
            if self.file is not None:
                self.file.leave_to_parent()
        if self.at_fork is not None:
            self.at_fork()


class _Translated(put_off):
    """A block in which the drivers' errors become ours; the thread has the turn.

    Ctrl-C takes effect when it is over; pressed twice, at once.
    """

    __slots__ = ("_storage",)

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        except BaseException as interruption:
            self._storage.translate(interruption)
            raise
        if error is not None:
            self._storage.translate(error)


_open: WeakValueDictionary[int, Storage] = WeakValueDictionary()
_of_parents: list[Connection] = []
"""Kept for ever: to let go of such a connection would close the parent's, or its locks."""
_forking = threading.local()


def _opened() -> list[Storage]:
    """In one step: threads may open others meanwhile."""
    found = (reference() for reference in _open.valuerefs())
    return [storage for storage in found if storage is not None]


@atexit.register
def _close_all() -> None:
    """A program that ends leaves whole files behind, also if it closed nothing itself.

    Threads may still be at work: a connection that is closed under them crashes the process.
    What they keep is left as a kill would leave it.
    """
    deadline = time.monotonic() + _LAST_MOMENTS
    for storage in _opened():
        with suppress(Exception):
            storage.close_within(deadline - time.monotonic())


def _before_fork() -> None:
    """Close files: SQLite would believe in the child that it has the parent's locks.

    It has not, and so the parent could remove a log that the child writes to.
    """
    _forking.held = held = []
    for storage in _opened():
        if storage.is_sqlite and storage.turn.acquire(timeout=storage.patience):
            held.append(storage)
            with suppress(Exception):
                storage.close_for_fork()


def _after_in_parent() -> None:
    for storage in _forking.held:
        storage.turn.release()
    _forking.held = []


def _after_in_child() -> None:
    _forking.held = []
    for storage in _opened():
        storage.renew()


if hasattr(os, "register_at_fork"):  # Windows has no fork.
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
