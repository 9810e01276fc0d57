"""PostgreSQL connections that notice when the other side falls silent.

A server that is gone refuses or resets; one that hangs, or a network that drops
everything, says nothing at all, and the operating system waits for minutes or
for ever. Three limits end that: the server's own on each statement and lock, the
system's on data that nobody acknowledges, and ours on an answer that does not
come although the connection stands.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

CONNECT = 10
"""Seconds to wait for a connection."""
MARGIN = 5.0
"""Seconds that an answer may take beyond what the server allows a statement."""
LONG = 3600.0
"""Seconds that one statement on a whole study may take (verify, backup)."""


def connect_options(patience: float) -> dict[str, Any]:
    """What libpq is told; times in seconds, but the user timeout in milliseconds."""
    return {
        "connect_timeout": min(CONNECT, max(2, int(patience))),
        "application_name": "standout",
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": int(1000 * (patience + MARGIN)),
    }


def limits(patience: float) -> list[str]:
    """Statements that bound what the server does for us: locks and statements, in ms."""
    most = int(1000 * patience)
    return [
        "SET synchronous_commit = on",
        f"SET lock_timeout = {most}",
        # So that a lock's own, clearer error comes first.
        f"SET statement_timeout = {most + 1000}",
    ]


# What they would print of a connection that broke, our errors say.
for _name in ("psycopg", "sqlalchemy"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Watched(psycopg.Connection[Any]):
    """A connection of which every answer has to come within `silence` seconds."""

    silence: float = 65.0
    _given_up: str | None = None

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """As in psycopg; raises OperationalError when nothing comes for too long.

        And at once from then on, or taking back the transaction would wait as long.
        """
        if self._given_up is not None:
            raise psycopg.OperationalError(self._given_up)
        return super().wait(self._bounded(gen), *args, **kwargs)

    def _bounded(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        last = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                # psycopg says "nothing" ten times a second while it waits.
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    last = now
                elif now - last > self.silence:
                    self._given_up = f"the database has not answered for {self.silence:g} s"
                    self.pgconn.finish()
                    raise psycopg.OperationalError(self._given_up)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


def connector(patience: float) -> Callable[..., Watched]:
    """What SQLAlchemy calls to connect: with all three limits."""

    def connect(_dialect: Any, _record: Any, args: Any, options: Any) -> Watched:
        connection: Watched = Watched.connect(*args, **{**options, **connect_options(patience)})
        connection.silence = patience + MARGIN
        for statement in limits(patience):
            connection.execute(statement)
        connection.commit()
        return connection

    return connect


_QUICKLY = "SET LOCAL synchronous_commit = off"
_MAKE_SAFE = "SELECT pg_logical_emit_message(true, 'standout', '')"
"""A transaction that only waits for the disk: all that was committed before it is safe, too."""


@contextmanager
def writing(connection: Connection, *, is_small: bool) -> Iterator[Callable[[], None]]:
    """A transaction, to be ended with the function that is given; undone otherwise.

    A small one (without COPY) is sent without waiting for each statement; not with a
    libpq older than PostgreSQL 14's. It lets go of its locks before it is on disk, and
    waits for that afterwards: the server then makes those of many clients safe at once.
    """
    raw: Any = connection.connection.dbapi_connection

    def commit_quickly() -> None:
        raw.execute("COMMIT")
        raw.execute(_MAKE_SAFE)
        line.sync()

    try:
        if is_small and psycopg.Pipeline.is_supported():
            with raw.pipeline() as line:
                try:
                    raw.execute(_QUICKLY)
                    yield commit_quickly
                except BaseException:
                    _take_back(raw)
                    raise
        else:
            yield raw.commit
    except BaseException:
        _take_back(raw)
        raise
    finally:
        with suppress(SQLAlchemyError):
            connection.rollback()  # What SQLAlchemy takes for a transaction of its own.


def _take_back(raw: Any) -> None:
    """Undo what is under way; where the connection is broken, the server does."""
    with suppress(psycopg.Error):
        raw.rollback()


@contextmanager
def reading(connection: Connection, *, is_long: bool) -> Iterator[None]:
    """Make a transaction see one moment; with `is_long`, without the limit on a statement."""
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    if not is_long:
        yield
        return
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    driver: Any = connection.connection.driver_connection
    before, driver.silence = driver.silence, LONG
    try:
        yield
    finally:
        driver.silence = before
