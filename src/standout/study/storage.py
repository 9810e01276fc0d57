"""Connections and transactions: what SQLite and PostgreSQL need done differently.

The contract, on both: a transaction from `write` is alone in its study, sees
everything committed before it, and is on disk when the block is left. A
transaction from `read` sees one moment. One `Storage` belongs to one process
and is used by one thread at a time (`Study` holds a lock); after a fork the
child opens its own connection.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from standout.errors import LostConnectionError, NoStudyError, StorageError, UncertainError
from standout.study.migrations import STEPS, check_version, migrate, stored_version
from standout.study.places import check_file, check_length, locate, shown

PATIENCE = 60.0
"""Seconds to wait for other processes before giving up."""

_SQLITE_LOCKED = (5, 6)
_SQLITE_IO, _SQLITE_DAMAGED, _SQLITE_FOREIGN = 10, 11, 26


def _on_connect(is_sqlite: bool, patience: float, connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    if is_sqlite:
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
    else:
        cursor.execute("SET synchronous_commit = on")
        cursor.execute(f"SET lock_timeout = {int(patience * 1000)}")
        connection.commit()
    cursor.close()


def _is_broken(connection: Connection | None) -> bool:
    """Whether PostgreSQL's side of a connection is gone."""
    if connection is None or connection.closed or connection.invalidated:
        return True
    driver: Any = connection.connection.driver_connection
    return bool(driver is None or driver.closed)


class Storage:
    """One database, opened."""

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        create: bool = False,
        patience: float = PATIENCE,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.url = locate(place)
        self.shown = shown(self.url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.patience = patience
        self.clock = clock
        if self.is_sqlite:
            check_file(Path(str(self.url.database)), must_exist=not create)
        self._engine = self._make_engine()
        self._connection: Connection | None = None
        self._owner = os.getpid()
        self._is_committing = False
        with self.closed_on_error():
            self._prepare(create)

    def _make_engine(self) -> Engine:
        options: dict[str, Any] = {"poolclass": NullPool, "hide_parameters": True}
        if self.is_sqlite:
            # isolation_level=None: BEGIN is ours to say (see `write`).
            options["connect_args"] = {
                "isolation_level": None,
                "check_same_thread": False,
                "timeout": self.patience,
            }
        else:
            options["connect_args"] = {"connect_timeout": 10, "application_name": "standout"}
        try:
            engine = create_engine(self.url, **options)
        except ModuleNotFoundError as error:
            raise StorageError(
                f"the package {error.name} is missing; install standout[studies]"
            ) from None
        # Not a method: the engine would then hold on to the storage, and with it to the
        # connection, until Python looks for such circles.
        event.listen(engine, "connect", partial(_on_connect, self.is_sqlite, self.patience))
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error
        return engine

    def _prepare(self, create: bool) -> None:
        """Check the version; make or upgrade the tables where that is wanted."""
        with self.read() as connection:
            version = stored_version(connection)
            if self.is_sqlite:
                pages, size = (
                    int(connection.exec_driver_sql(f"PRAGMA {name}").scalar() or 0)
                    for name in ("page_count", "page_size")
                )
                check_length(Path(str(self.url.database)), pages * size)
        check_version(version, self.shown)
        if version == 0 and not create:
            raise NoStudyError(f"{self.shown} is a database, but holds no study")
        if self.is_sqlite:
            self._use_wal()
        if version < len(STEPS):
            with self.write() as connection:
                if not self.is_sqlite:
                    # Two processes may create at once; the second waits here, then sees the tables.
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7382094)")
                migrate(connection, self.shown)

    def _use_wal(self) -> None:
        with self._translated():
            connection = self._connect()
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
            if mode != "wal":
                mode = connection.exec_driver_sql("PRAGMA journal_mode=WAL").scalar()
            connection.rollback()
        if mode != "wal":
            raise StorageError(f"{self.shown} cannot keep a write-ahead log here; use a local disk")

    def _connect(self) -> Connection:
        if self._owner != os.getpid():
            # A connection must not be shared with the parent: leave the parent's alone.
            self._engine, self._connection = self._make_engine(), None
            self._owner = os.getpid()
        if self._connection is None or self._connection.closed or self._connection.invalidated:
            self._connection = self._engine.connect()
        return self._connection

    @contextmanager
    def write(self, *, is_small: bool = False) -> Iterator[Connection]:
        """A transaction that may change the database; commits when the block ends well.

        A small one (without COPY) sends PostgreSQL its statements without
        waiting for each: three round trips instead of nine.
        """
        with self._translated():
            connection = self._connect()
            pipeline = self._pipeline(connection) if is_small else nullcontext()
            self._is_committing = False
            with pipeline, connection.begin():
                if self.is_sqlite:
                    self._begin_immediate(connection)
                yield connection
                self._is_committing = True
            self._is_committing = False

    def _pipeline(self, connection: Connection) -> AbstractContextManager[object]:
        if self.is_sqlite:
            return nullcontext()
        from psycopg import Pipeline

        driver: Any = connection.connection.driver_connection
        # Not with a client library older than PostgreSQL 14's.
        found: AbstractContextManager[object]
        found = driver.pipeline() if Pipeline.is_supported() else nullcontext()
        return found

    def _begin_immediate(self, connection: Connection) -> None:
        """Wait for the write lock in short random steps.

        SQLite's own waiting grows to a tenth of a second a step, in which a
        busy neighbour takes the lock many times over.
        """
        cursor = connection.connection.cursor()
        cursor.execute("PRAGMA busy_timeout=0")
        deadline = time.monotonic() + self.patience
        step = 0.0005
        try:
            while True:
                try:
                    cursor.execute("BEGIN IMMEDIATE")
                    return
                except self._driver_error as error:
                    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                    if code not in _SQLITE_LOCKED or time.monotonic() > deadline:
                        raise
                time.sleep(random.uniform(0.5, 1.5) * step)
                step = min(step * 1.3, 0.002)
        finally:
            cursor.execute(f"PRAGMA busy_timeout={int(self.patience * 1000)}")
            cursor.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one moment and changes nothing."""
        with self._translated():
            connection = self._connect()
            with connection.begin():
                connection.exec_driver_sql(
                    "BEGIN"
                    if self.is_sqlite
                    else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
                )
                yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the drivers' errors into ours, without the address's password."""
        try:
            yield
        except DBAPIError as error:
            found = self._error(error.orig)
            self._drop_if_broken()
            raise found from None
        except SQLAlchemyError as error:
            self._drop_if_broken()
            raise StorageError(f"{self.shown}: {error}") from None
        except self._driver_error as error:  # From what goes past SQLAlchemy.
            found = self._error(error)
            self._drop_if_broken()
            raise found from None

    def _error(self, cause: BaseException | None) -> StorageError:
        """A driver's error as ours; says whether what was under way may have been done."""
        message = self._explain(cause)
        was_committing, self._is_committing = self._is_committing, False
        if self.is_sqlite:
            is_lost = getattr(cause, "sqlite_errorcode", 0) & 0xFF == _SQLITE_IO and was_committing
        else:
            # An error that the server reports has undone the transaction.
            is_lost = _is_broken(self._connection)
        if is_lost and was_committing:
            return UncertainError(
                f"{message}; this may have been done or not. To tell again with the same key is "
                "safe: it counts once"
            )
        if "nothing was changed" not in message.lower():
            message += "; nothing was changed"
        return LostConnectionError(message) if is_lost else StorageError(message)

    def _drop_if_broken(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except SQLAlchemyError:
                connection.invalidate()

    def _explain(self, cause: BaseException | None) -> str:
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        text = " ".join(str(cause).split())
        if code in _SQLITE_LOCKED or type(cause).__name__ == "LockNotAvailable":
            return (
                f"{self.shown} was busy for {self.patience:g} s; another process holds a long "
                "transaction. Nothing was changed; try again"
            )
        if code == _SQLITE_FOREIGN:
            return f"{self.shown} is not a study: it is no SQLite database; nothing was changed"
        if code == _SQLITE_DAMAGED:
            return f"{self.shown} is damaged or cut short ({text}); restore it from a copy"
        if code == 8:
            return f"{self.shown} cannot be written to; check the permissions of file and folder"
        if code == 14:
            return f"{self.shown} cannot be opened; check the permissions of file and folder"
        if self.url.password:
            text = text.replace(str(self.url.password), "***")
        return f"{self.shown}: {text}"

    def now(self, connection: Connection) -> float:
        """Seconds since 1970: the server's clock where machines may differ."""
        if self.clock is not None:
            return self.clock()
        if self.is_sqlite:
            return time.time()
        value = connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar()
        return float(value or 0.0)

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Let go of the connection at once if the block fails, not when Python gets round to it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """Let go of the connection; the next use opens another."""
        if self._owner == os.getpid() and self._connection is not None:
            self._connection.close()
        self._connection = None
