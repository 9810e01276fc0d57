"""Statements as constant text, run by the driver itself.

A single ask or tell runs a dozen small statements; preparing each anew takes
longer than running it, and on PostgreSQL to wait for each takes longer still: inside
`Storage.write(is_small=True)` they are gathered there (see `postgres.Batch`).
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection

Row = tuple[Any, ...]
FEW = 50
"""Up to here, one statement per row is as quick as anything."""
_INDEXED = re.compile(r" INDEXED BY \w+")


def driver(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.dbapi_connection


class Statement:
    """SQL with `?` for each parameter, of columns that need no conversion.

    `postgresql` is what that database gets in place of `sqlite`'s text, where they differ.
    `INDEXED BY` is for SQLite only, which otherwise takes a study's number for enough to go by.
    """

    def __init__(self, sqlite: str, postgresql: str | None = None) -> None:
        other = _INDEXED.sub("", postgresql or sqlite)
        self.texts = {"sqlite": sqlite, "postgresql": other.replace("?", "%s")}

    def __call__(self, connection: Connection, *params: Any) -> list[Row]:
        """Run it and read its rows."""
        raw = driver(connection)
        text = self.texts[connection.dialect.name]
        found: list[Row]
        if is_batch(raw):
            (found,) = raw.batch.read([(text, params)])
        else:
            found = raw.execute(text, params).fetchall()
        return found

    def parts(self, connection: Connection, size: int, *params: Any) -> Iterator[list[Row]]:
        """Run it and read its rows, up to `size` at a time."""
        raw = driver(connection)
        is_sqlite = connection.dialect.name == "sqlite"
        # PostgreSQL would send everything at once; a named cursor stays on the server.
        cursor = raw.cursor() if is_sqlite else raw.cursor(name="standout_parts")
        try:
            cursor.execute(self.texts[connection.dialect.name], params)
            while rows := cursor.fetchmany(size):
                yield rows
        finally:
            cursor.close()

    def run(self, connection: Connection, *params: Any) -> None:
        """Run it where it gives no rows."""
        raw = driver(connection)
        text = self.texts[connection.dialect.name]
        if is_batch(raw):
            raw.batch.add(text, params)
        else:
            raw.execute(text, params)

    def many(self, connection: Connection, rows: Iterable[Row]) -> None:
        """Run it for each of these parameters."""
        raw = driver(connection)
        text = self.texts[connection.dialect.name]
        if is_batch(raw):
            for row in rows:
                raw.batch.add(text, row)
            return
        if isinstance(rows, list) and len(rows) == 1:
            raw.execute(text, rows[0])
            return
        cursor = raw.cursor()
        try:
            cursor.executemany(text, rows)
        finally:
            cursor.close()


def is_batch(raw: Any) -> bool:
    """Whether statements are gathered, to be sent to a PostgreSQL server together."""
    return getattr(raw, "batch", None) is not None


def read_together(
    connection: Connection, calls: Sequence[tuple[Statement, Row]]
) -> list[list[Row]]:
    """The rows of each, in order: one after the other, but sent together where that is quicker."""
    raw, name = driver(connection), connection.dialect.name
    if name == "sqlite" or not (is_batch(raw) or raw.is_begun):
        return [statement(connection, *params) for statement, params in calls]
    texts = [(one.texts[name], params) for one, params in calls]
    found: list[list[Row]]
    found = raw.batch.read(texts) if is_batch(raw) else raw.exchange(texts, len(texts))
    return found


def insert_into(table: str, names: Iterable[str]) -> Statement:
    """The statement that adds a row to a table, with a parameter for each of `names`."""
    columns = list(names)
    marks = ", ".join(["?"] * len(columns))
    return Statement(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})")


@contextmanager
def without_collector(count: int) -> Iterator[None]:
    """Make many small objects without looking for garbage among them in between."""
    pause = count > FEW and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def insert_columns(
    connection: Connection, table: str, names: Sequence[str], rows: Iterable[Any], count: int
) -> None:
    """Insert `count` rows given as tuples in the order of `names`: COPY for many on PostgreSQL."""
    if connection.dialect.name == "sqlite" or count <= FEW:
        _insert(table, tuple(names)).many(connection, rows)
        return
    cursor: Any = driver(connection).cursor()
    try:
        with cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    finally:
        cursor.close()


@cache
def _insert(table: str, names: tuple[str, ...]) -> Statement:
    return insert_into(table, names)
