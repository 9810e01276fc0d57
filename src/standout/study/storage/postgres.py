"""Studies in a PostgreSQL database.

Every wait has a limit. The server ends transactions of clients that are frozen or gone
(`idle_in_transaction_session_timeout`), and locks and statements that take too long. A client gives
up if the server does not answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from standout.errors import StorageError, UnavailableError
from standout.extras import require
from standout.study.storage.location import Address
from standout.study.storage.session import PART, TABLES, Row, Session, schema
from standout.study.storage.store import Meanwhile, Store, milliseconds

require("postgres", "a PostgreSQL database")

import psycopg  # noqa: E402
from psycopg.conninfo import make_conninfo  # noqa: E402

CONNECT = 10
"""Seconds to wait for a connection."""
IDLE = 20.0
"""Seconds that a transaction may be idle before the server rolls it back. This is less than the
patience of other clients, so a frozen program delays them without an error."""
LONG = 3600.0
"""The same for a transaction that copies a whole store, and the limit for its statements."""
MARGIN = 5.0
"""Seconds beyond the server's statement timeout that an answer may take."""
_CREATING = 7382094
_IDLE_CODE = "25P03"

# Silence psycopg's messages about broken connections, because our errors report them.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class _SilentError(psycopg.OperationalError):
    """The server sent nothing for too long."""


class Bounded(psycopg.Connection[Any]):
    """A connection on which every answer must arrive within `silence` seconds."""

    silence = 65.0

    def __del__(self, *_: object) -> None:
        """Suppress psycopg's warning: the `Store` closes the connection, or else libpq does."""

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """As in psycopg; after a silence it closes the connection and raises an error."""
        return super().wait(self._bounded(gen), *args, **kwargs)

    def _bounded(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        last = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted  # psycopg yields "nothing" ten times a second while it waits.
                now = time.monotonic()
                if ready:
                    last = now
                elif now - last > self.silence:
                    self.pgconn.finish()
                    raise _SilentError(f"the database has not answered for {self.silence:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


@cache
def _marked(statement: str) -> str:
    return statement.replace("?", "%s")


class PostgresSession(Session):
    """A transaction on a server; a writer locks the row of its study."""

    is_sqlite = False

    def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        cursor = self.raw.execute(_marked(statement), values or None)
        found: list[Row] = cursor.fetchall() if cursor.description else []
        return found

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self.raw.cursor().executemany(_marked(statement), rows)

    def _time(self) -> float:
        ((moment,),) = self.run("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(moment)

    def lock(self, study: int) -> None:
        # Read the clock after locking, so that times increase with the numbers of events.
        found = self.run(
            "WITH locked AS MATERIALIZED (SELECT FROM standout_studies WHERE id = ? FOR UPDATE) "
            "SELECT extract(epoch FROM clock_timestamp())::float8 FROM locked",
            (study,),
        )
        if found and self._clock is None:
            self._now = float(found[0][0])

    def lock_names(self) -> None:
        self.run("LOCK TABLE standout_studies IN SHARE ROW EXCLUSIVE MODE")

    def has_tables(self) -> bool:
        # `to_regclass` may return a stale answer from before the wait for a lock.
        return bool(
            self.run(
                "SELECT 1 FROM pg_tables WHERE tablename = 'standout_store' "
                "AND schemaname = ANY(current_schemas(false))"
            )
        )

    def lock_making(self) -> None:
        self.run(f"SELECT pg_advisory_xact_lock({_CREATING})")

    def make_tables(self) -> None:
        for statement in schema("postgresql"):
            self.raw.execute(statement)

    def clear(self) -> None:
        # TRUNCATE would make a table look empty to concurrent readers.
        self.run(f"LOCK TABLE {', '.join(TABLES)} IN EXCLUSIVE MODE")
        for table in TABLES:
            self.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            self.run(f"DELETE FROM {table}")
            self.run(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def rows(self, table: str) -> Iterator[list[Row]]:
        with self.raw.cursor(name="standout_rows") as cursor:
            cursor.execute(f"SELECT * FROM {table}")
            while part := cursor.fetchmany(PART):
                yield part

    def insert(self, table: str, rows: list[Row]) -> None:
        with self.raw.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def missing_guards(self) -> list[str]:
        found = self.run(
            "SELECT t.tgname, p.prosrc FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid "
            "WHERE t.tgenabled = 'O' AND t.tgrelid IN "
            "('standout_events'::regclass, 'standout_deleted'::regclass)"
        )
        made = schema("postgresql")
        as_made = {name for name, text in found if any(f"${text}$" in each for each in made)}
        names = [text.split()[2] for text in made if text.startswith("CREATE TRIGGER")]
        return [name for name in names if name not in as_made]


class PostgresStore(Store):
    """A database on a server."""

    is_sqlite = False
    _driver_error = psycopg.Error
    _raw: Bounded | None

    def __init__(
        self, address: Address, create: bool, patience: float, clock: Callable[[], float] | None
    ) -> None:
        super().__init__(str(address), patience, clock)
        self._address = address
        self._prepare(create)

    def _connect(self) -> Bounded:
        raw: Bounded = Bounded.connect(self._conninfo(), autocommit=True)
        raw.silence = self.patience + MARGIN
        try:
            raw.execute(
                "SET synchronous_commit = on; "
                f"SET lock_timeout = {milliseconds(self.patience)}; "
                # One second longer, so that the clearer error of a lock comes first.
                f"SET statement_timeout = {milliseconds(self.patience + 1)}; "
                f"SET idle_in_transaction_session_timeout = {milliseconds(IDLE)}"
            )
        except BaseException:
            raw.close()
            raise
        return raw

    def _conninfo(self) -> str:
        limits: dict[str, str | int] = {
            "connect_timeout": min(CONNECT, max(2, int(self.patience))),
            "application_name": "standout",
            "keepalives": 1,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": milliseconds(self.patience + MARGIN),
            "client_encoding": "UTF8",
        }
        return make_conninfo("", **{**self._address.options, **limits})

    def _begin(
        self, *, writes: bool, is_long: bool, meanwhile: Meanwhile | None
    ) -> PostgresSession:
        assert self._raw is not None
        begin = "BEGIN" if writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        try:
            self._raw.execute(begin)
        except _SilentError:
            raise
        except psycopg.OperationalError:
            # The idle connection was lost, for example because the server was restarted.
            self._raw = self._connect()
            self._raw.execute(begin)
        self._raw.silence = LONG if is_long else self.patience + MARGIN
        if is_long:
            self._raw.execute(
                f"SET LOCAL statement_timeout = {milliseconds(LONG)}; "
                f"SET LOCAL idle_in_transaction_session_timeout = {milliseconds(LONG)}"
            )
        return PostgresSession(self._raw, self.clock)

    def _commit(self) -> None:
        assert self._raw is not None
        self._raw.execute("COMMIT")

    def _is_broken(self, error: Exception) -> bool:
        # An error from the server means that the transaction was rolled back, unless it ended the
        # session: then the commit may have come first. An idle client had not sent its commit.
        is_lost = self._raw is None or bool(self._raw.closed)
        return is_lost and getattr(error, "sqlstate", None) != _IDLE_CODE

    def _explain(self, error: Exception) -> StorageError:
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return UnavailableError(
                f"{self.shown} was busy for {self.patience:g} s; another process holds a long "
                "transaction; nothing was changed; try again",
                has_waited=True,
            )
        text = " ".join(str(error).split())
        for password in filter(None, self._address.passwords):
            text = text.replace(password, "***")
        message = f"{self.shown}: {text}"
        if getattr(error, "sqlstate", None) == _IDLE_CODE:
            return UnavailableError(message)
        if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return StorageError(message)
        has_waited = isinstance(error, psycopg.errors.QueryCanceled | _SilentError)
        return UnavailableError(message, has_waited=has_waited)
