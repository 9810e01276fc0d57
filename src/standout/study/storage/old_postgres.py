"""PostgreSQL connections that notice when the other side falls silent.

A server that is gone refuses or resets; one that hangs, or a network that drops
everything, says nothing at all, and the operating system waits for minutes or
for ever. Three limits end that: the server's own on each statement and lock, the
system's on data that nobody acknowledges, and ours on an answer that does not
come although the connection stands.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import psycopg.abc
from psycopg import waiting
from psycopg.adapt import PyFormat, Transformer
from psycopg.conninfo import make_conninfo
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from standout.study.storage.connection import Connection
from standout.study.storage.driver_errors import SILENT

Call = tuple[str, Sequence[Any]]
"""A statement and its parameters."""
CONNECT = 10
"""Seconds to wait for a connection."""
MARGIN = 5.0
"""Seconds that an answer may take beyond what the server allows a statement."""
_FINE = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
_MOST_PARAMETERS = 300
"""Of one statement, about: each number of rows is one more that the server prepares."""
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
        "client_encoding": "UTF8",
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


# What it would print of a connection that broke, our errors say.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Watched(psycopg.Connection[Any]):
    """A connection of which every answer has to come within `silence` seconds."""

    silence: float = 65.0
    _given_up: str | None = None
    batch: Batch | None = None
    prepared: dict[str, bytes]
    """Statements that the server has worked out a plan for, and what they are called there."""
    transformer: psycopg.abc.Transformer
    identity: str
    """A text that connections to the same database by the same role have, and no others."""
    _numbers: Iterator[int]

    def __del__(self, *_: object) -> None:
        """Nothing to say: its `Storage` closes it, or libpq does if it is garbage before that.

        Of a cycle of garbage Python may take the connection first; psycopg would warn.
        """

    @property
    def is_begun(self) -> bool:
        """Whether a transaction is under way, and all is well with it."""
        return self.pgconn.transaction_status == TransactionStatus.INTRANS

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        """As in psycopg; what has been gathered is done before."""
        if self.batch is not None:
            self.batch.send()
        return super().cursor(*args, **kwargs)

    def exchange(self, calls: Sequence[Call], wanted: int) -> list[list[Any]]:
        """Carry out statements, all sent at once; the rows of the last `wanted`.

        Raises the error of the first that fails.
        """
        fresh = {text for text, _ in calls}.difference(self.prepared)
        # With its first word, for whoever reads the server's log.
        self.prepared.update(
            (text, f"standout_{next(self._numbers)}_{text.split()[0]}".encode()) for text in fresh
        )
        try:
            with self.lock:
                results = self._pipeline_of(fresh, calls)
            bad = next((one for one in results if one.status not in _FINE), None)
            if bad is not None:
                raise error_from_result(bad)
        except BaseException:
            for text in fresh:
                del self.prepared[text]
            raise
        return [self._rows(result) for result in results[len(results) - wanted :]]

    def _rows(self, result: PGresult) -> list[Any]:
        if not result.ntuples:
            return []
        self.transformer.set_pgresult(result)
        return self.transformer.load_rows(0, result.ntuples, tuple)

    def _pipeline_of(self, fresh: Collection[str], calls: Sequence[Call]) -> list[PGresult]:
        pgconn = self.pgconn
        pgconn.enter_pipeline_mode()
        try:
            for text in fresh:
                pgconn.send_prepare(self.prepared[text], _numbered(text))
            for text, params in calls:
                values = self.transformer.dump_sequence(params, [PyFormat.TEXT] * len(params))
                pgconn.send_query_prepared(self.prepared[text], values)
            pgconn.pipeline_sync()
            found: list[PGresult] = self.wait(_receive(pgconn))
            return found
        finally:
            with suppress(psycopg.Error):  # It is broken, or was interrupted: it will not be used.
                pgconn.exit_pipeline_mode()

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
                    self._given_up = f"the database {SILENT} {self.silence:g} s"
                    self.pgconn.finish()
                    raise psycopg.OperationalError(self._given_up)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


_IDENTITY = (
    "SELECT extract(epoch FROM pg_postmaster_start_time())::text, session_user, current_user, "
    "oid::text FROM pg_database WHERE datname = current_database()"
)
"""Which server since when, by which role, and which database. A copy of a server has all of its
numbers, but not the moment of its start."""


def connect(options: Mapping[str, str], patience: float) -> Watched:
    """A connection with all three limits, to where libpq's `options` say."""
    connection: Watched
    connection = Watched.connect(make_conninfo("", **{**options, **connect_options(patience)}))
    connection.silence = patience + MARGIN
    connection.prepared, connection._numbers = {}, itertools.count()
    connection.transformer = Transformer(connection)
    # We prepare ourselves; psycopg would throw ours away with its own after a rollback.
    connection.prepare_threshold = None
    try:
        for statement in limits(patience):
            connection.execute(statement)
        connection.identity = " ".join(*connection.execute(_IDENTITY))
        connection.commit()
    except BaseException:
        connection.close()
        raise
    return connection


class Batch:
    """Statements of one transaction, sent together: whenever rows are wanted, and at the end.

    A round trip takes longer than what a server does for such a statement, and lets
    whoever waits for the same study wait longer. Each is prepared when a connection first
    needs it, since to work out its plan takes the server longer than to follow it.
    """

    def __init__(self, raw: Watched) -> None:
        self._raw = raw
        self._calls = [("BEGIN", ())]
        self._groups: dict[str, int] = {}
        """Where in `_calls` the rows of a statement are gathered."""

    _calls: list[Call]

    def add(self, text: str, params: Sequence[Any], group: str = "") -> None:
        """Something to be done before whatever comes next.

        With a `group`, rows of the same statement are sent as one: what adds rows may come a
        little earlier than what changes others, but never before what was read.
        """
        place = self._groups.get(text) if group else None
        if place is not None and len(self._calls[place][1]) < _MOST_PARAMETERS:
            grown, before = self._calls[place]
            self._calls[place] = (grown + group, [*before, *params])
            return
        if group:
            self._groups[text] = len(self._calls)
        self._calls.append((text, params))

    def read(self, calls: Sequence[Call]) -> list[list[Any]]:
        """The rows of each of these."""
        self._calls += calls
        return self._send(len(calls))

    def send(self) -> None:
        """Let everything be done that was added."""
        if self._calls:
            self._send(0)

    def commit(self) -> None:
        """End the transaction: the server waits for the disk, and only then shows it to others."""
        self._calls.append(("COMMIT", ()))
        self._send(0)

    def _send(self, wanted: int) -> list[list[Any]]:
        """Send everything; the rows of the last `wanted` statements."""
        calls, self._calls, self._groups = self._calls, [], {}
        return self._raw.exchange(calls, wanted)


def _numbered(text: str) -> bytes:
    """A statement with `$1` and so on in place of each `%s`."""
    first, *parts = text.split("%s")
    return (first + "".join(f"${i}{part}" for i, part in enumerate(parts, start=1))).encode()


def _receive(pgconn: PGconn) -> Generator[Any, Any, list[PGresult]]:
    """Send what has been gathered in pipeline mode, and read everything up to its end."""
    while pgconn.flush():
        while not (ready := (yield waiting.WAIT_RW)):
            pass
        if ready & waiting.READY_R:  # Else both sides might wait until the other has read.
            pgconn.consume_input()
    results: list[PGresult] = []
    is_between = False
    while True:
        while pgconn.is_busy():
            while not (yield waiting.WAIT_R):
                pass
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None and is_between:
            # Without more to come, and without an end: the connection is lost.
            if any(one.status == ExecStatus.FATAL_ERROR for one in results):
                return results
            raise psycopg.OperationalError("the connection is lost")
        is_between = result is None
        if result is None:
            continue
        if result.status == ExecStatus.PIPELINE_SYNC:
            return results
        results.append(result)


@contextmanager
def writing(connection: Connection, *, is_small: bool) -> Iterator[Callable[[], None]]:
    """A transaction, to be ended with the function that is given; undone otherwise.

    The statements of a small one (without COPY) are gathered in a `Batch`.
    """
    raw = connection.raw
    try:
        if is_small:
            raw.autocommit = True
            raw.batch = Batch(raw)
            yield raw.batch.commit
        else:
            yield raw.commit
    except BaseException:
        raw.batch = None
        _take_back(raw)
        raise
    finally:
        raw.batch = None
        if is_small:
            with suppress(psycopg.Error):
                raw.autocommit = False


def _take_back(raw: Any) -> None:
    """Undo what is under way; where the connection is broken, the server does."""
    with suppress(psycopg.Error):
        raw.rollback()


@contextmanager
def reading(connection: Connection, *, is_long: bool) -> Iterator[None]:
    """A transaction that sees one moment; with `is_long`, without the limit on a statement."""
    raw = connection.raw
    before = raw.silence
    try:
        raw.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if is_long:
            raw.execute("SET LOCAL statement_timeout = 0")
            raw.silence = LONG
        yield
        raw.commit()
    except BaseException:
        _take_back(raw)
        raise
    finally:
        raw.silence = before
