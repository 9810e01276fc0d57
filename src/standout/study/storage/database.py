"""Connections and transactions: what SQLite and PostgreSQL need done differently.

The contract, on both: a transaction from `write` is alone in its study, sees
everything committed before it, and is on disk before anybody sees it. A
transaction from `read` sees one moment. One `Storage` belongs to one process
and is used by one thread at a time (`Study` holds a lock); after a fork the
child opens its own connection.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from standout.errors import NoStudyError, StorageError, UncertainError
from standout.extras import require
from standout.interruption import put_off
from standout.study.arguments import seconds
from standout.study.storage import sqlite_file
from standout.study.storage.driver_errors import explain
from standout.study.storage.location import check_file, check_length, locate, shown
from standout.study.storage.migrations import STEPS, check_version, migrate, stored_version
from standout.study.storage.sqlite_file import SqliteFile

__all__ = ["PATIENCE", "Connection", "Storage"]

PATIENCE = 60.0
"""Seconds to wait for other processes before giving up."""
_SQLITE_IO = 10


def _is_broken(connection: Connection | None) -> bool:
    """Whether PostgreSQL's side of a connection is gone."""
    if connection is None or connection.closed or connection.invalidated:
        return True
    driver: Any = connection.connection.driver_connection
    return bool(driver is None or driver.closed)


def _end(connection: Connection) -> None:
    try:
        connection.close()
    except SQLAlchemyError:
        connection.invalidate()


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
        self.url = locate(place)
        self.shown = shown(self.url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.patience = patience = seconds("patience", patience)
        self.clock = clock
        self.remark: str | None = None
        self.file: SqliteFile | None = None
        if self.is_sqlite:
            path = Path(str(self.url.database))
            check_file(path, must_exist=not create)
            self.file = SqliteFile(path, create=create, patience=patience)
        self._is_ready = False
        self._engine = self._make_engine()
        self._connection: Connection | None = None
        self._owner = os.getpid()
        self._is_committing = False
        with self.closed_on_error():
            self._prepare(create)
        self._is_ready = True
        _open.add(self)

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written here."""
        return self.file is not None and self.file.is_read_only

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return self.file is None or self.file.is_current

    def _make_engine(self) -> Engine:
        options: dict[str, Any] = {"poolclass": NullPool, "hide_parameters": True}
        if self.file is not None:
            options["creator"] = self.file.connect
        if not self.is_sqlite:
            require("postgres", "a PostgreSQL database")
        engine = create_engine(self.url, **options)
        # Not methods: the engine would then hold on to the storage, and with it to the
        # connection, until Python looks for such circles.
        if self.is_sqlite:
            event.listen(engine, "connect", sqlite_file.set_up)
        else:
            from standout.study.storage.postgres import connector

            event.listen(engine, "do_connect", connector(self.patience))
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error
        return engine

    def _prepare(self, create: bool) -> None:
        """Check the version; make or upgrade the tables where that is wanted."""
        application, mode = 0, ""
        with self.read() as connection:
            version = stored_version(connection)
            if self.file is not None:
                pages, size, application = (
                    int(connection.exec_driver_sql(f"PRAGMA {name}").scalar() or 0)
                    for name in ("page_count", "page_size", "application_id")
                )
                mode = str(connection.exec_driver_sql("PRAGMA journal_mode").scalar())
                check_length(self.file.path, pages * size)
        check_version(version, self.shown)
        if version == 0 and not create:
            raise NoStudyError(f"{self.shown} is a database, but holds no study")
        if self.file is not None:
            with self._translated():
                self.remark = self.file.prepare(self._raw(), application, mode)
            if self.is_read_only:
                self._check_readable(version)
                return
        if version < len(STEPS):
            with self.write() as connection:
                if not self.is_sqlite:
                    # Two processes may create at once; the second waits here, then sees the tables.
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7382094)")
                migrate(connection, self.shown)

    def _check_readable(self, version: int) -> None:
        if version < len(STEPS):
            raise StorageError(
                f"{self.shown} was written by an older standout and is read-only here, so that it "
                "cannot be brought up to date; copy it to a folder that you can write to"
            )

    def _connect(self) -> Connection:
        if self._owner != os.getpid():
            # A connection must not be shared with the parent: leave the parent's alone.
            self._engine, self._connection = self._make_engine(), None
            self._owner = os.getpid()
        if self._connection is None or self._connection.closed or self._connection.invalidated:
            self._connection = self._engine.connect()
            if self._is_ready and self.file is not None and not self.is_read_only:
                self.file.begin_log(self._raw())
        return self._connection

    def _raw(self) -> Any:
        """The driver's own connection."""
        return self._connect().connection.driver_connection

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
        with self._translated():
            connection = self._connect()
            self._is_committing = False
            if self.file is not None:
                yield from self._write_file(connection, self.file)
            else:
                yield from self._write_server(connection, is_small)
            self._is_committing = False

    def _write_file(self, connection: Connection, file: SqliteFile) -> Iterator[Connection]:
        raw = self._raw()
        file.begin_immediate(raw)
        try:
            file.check()
            yield connection
            self._is_committing = True
            raw.execute("COMMIT")
        except Exception:
            raw.rollback()
            raise
        except BaseException:
            # SQLAlchemy may have closed it, which undoes all the same.
            with suppress(self._driver_error):
                raw.rollback()
            raise
        finally:
            connection.rollback()  # What SQLAlchemy takes for a transaction of its own.
        # Moved away in between: then it was written into a file that nobody looks at.
        file.check(is_done=True)

    def _write_server(self, connection: Connection, is_small: bool) -> Iterator[Connection]:
        from standout.study.storage.postgres import writing

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
        with self._translated():
            connection = self._connect()
            with connection.begin(), self._reading(connection, is_long):
                yield connection

    @contextmanager
    def _reading(self, connection: Connection, is_long: bool) -> Iterator[None]:
        if self.file is None:
            from standout.study.storage.postgres import reading

            with reading(connection, is_long=is_long):
                yield
            return
        self.file.begin(self._raw())
        yield
        self.file.check_unchanged()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the drivers' errors into ours, without the address's password.

        Ctrl-C takes effect when it is over; pressed twice, at once.
        """
        try:
            with put_off():
                yield
        except DBAPIError as error:
            found = self._error(error.orig)
            self._drop_if_broken()
            raise found from None
        except SQLAlchemyError as error:
            self._drop_if_broken()
            raise StorageError(f"{self.shown}: {error}") from None
        except UnicodeDecodeError:
            self._drop_if_broken()
            raise StorageError(f"{self.shown} is damaged; restore it from a copy") from None
        except self._driver_error as error:  # From what goes past SQLAlchemy.
            found = self._error(error)
            self._drop_if_broken()
            raise found from None
        except Exception:
            raise
        except BaseException:
            # Interrupted, maybe amid BEGIN or COMMIT: the next use must not find a transaction.
            self._is_committing = False
            self._drop_if_broken()
            raise

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
        return _is_broken(self._connection)

    def _drop_if_broken(self) -> None:
        with suppress(SQLAlchemyError, self._driver_error):
            if self._connection is not None and not self.is_sqlite:
                self._connection.invalidate()  # There is nobody to take it back with.
            self._let_go()

    def _let_go(self) -> None:
        """End the connection; a file that nobody else uses becomes whole."""
        connection, self._connection = self._connection, None
        if connection is None or connection.closed:
            return
        with put_off():
            self._end_whole(connection)

    def _end_whole(self, connection: Connection) -> None:
        # One that was refused is left alone, but for a log that SQLite would work in anyway.
        file = self.file
        is_ours = file is not None and (self._is_ready or file.has_log or file.had_log)
        if file is None or not is_ours or connection.invalidated:
            _end(connection)
            return
        raw: Any = connection.connection.driver_connection
        with file.leaving(raw) as may_close:
            if may_close:
                _end(connection)
            else:
                sqlite_file.keep_for_ever(connection)

    def ping(self) -> None:
        """See that the database answers; raises if it does not."""
        with self.read() as connection:
            connection.exec_driver_sql("SELECT 1").scalar()

    def now(self, connection: Connection) -> float:
        """Seconds since 1970: the server's clock where machines may differ."""
        if self.clock is not None:
            return self.clock()
        if self.is_sqlite:
            return time.time()
        value = connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar()
        return float(value or 0.0)

    def identity(self, study: int) -> str:
        """A text that this study has alone, whatever the database and whoever reaches it how.

        Another role in a PostgreSQL database may be allowed other things, and so has another.
        Raises `StorageError` if the database cannot be asked.
        """
        if self.file is not None:
            return f"{self.file.identity} {study}"
        with self._translated():
            return f"{self._raw().identity} {study}"

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
            self.close()

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        if self._owner == os.getpid():
            self._let_go()
        self._connection = None


_open: WeakSet[Storage] = WeakSet()


@atexit.register
def _close_all() -> None:
    """A program that ends leaves whole files behind, also if it closed nothing itself."""
    for storage in list(_open):
        with suppress(Exception):
            storage.close()
