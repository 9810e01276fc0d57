"""Statements as constant text, run by the driver itself.

A single ask or tell runs a dozen small statements; preparing each anew takes
longer than running it, and on PostgreSQL to wait for each takes longer still: inside
`Storage.write(is_small=True)` they are gathered there (see `postgres.Batch`).
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from standout.study.storage.connection import Connection, Row

FEW = 50
"""Up to here, one statement per row is as quick as anything."""
_INDEXED = re.compile(r" INDEXED BY \w+")
_AS_EVER = nullcontext()


class Statement:
    """SQL with `?` for each parameter, of columns that need no conversion.

    `postgresql` is what that database gets in place of `sqlite`'s text, where they differ.
    `INDEXED BY` is for SQLite only, which otherwise takes a study's number for enough to go by.
    `group` is what is added to PostgreSQL's text per further row, if one statement can do several.
    """

    __slots__ = ("group", "postgresql", "sqlite")

    def __init__(self, sqlite: str, postgresql: str | None = None, group: str = "") -> None:
        self.sqlite, self.group = sqlite, group
        self.postgresql = _INDEXED.sub("", postgresql or sqlite).replace("?", "%s")

    def __call__(self, connection: Connection, *params: Any) -> list[Row]:
        """Run it and read its rows."""
        raw = connection.raw
        found: list[Row]
        if connection.is_sqlite:
            found = raw.execute(self.sqlite, params).fetchall()
        elif raw.batch is not None:
            (found,) = raw.batch.read([(self.postgresql, params)])
        else:
            found = raw.execute(self.postgresql, params).fetchall()
        return found

    def first(self, connection: Connection, *params: Any) -> Row | None:
        """Run it and read its first row; None if it gives none."""
        return next(iter(self(connection, *params)), None)

    def column(self, connection: Connection, *params: Any) -> list[Any]:
        """Run it and read the first value of each of its rows."""
        return [row[0] for row in self(connection, *params)]

    def number(self, connection: Connection, *params: Any) -> int:
        """Run it where it gives a number; 0 for none."""
        return int(self(connection, *params)[0][0] or 0)

    def parts(self, connection: Connection, size: int, *params: Any) -> Iterator[list[Row]]:
        """Run it and read its rows, up to `size` at a time."""
        raw, is_sqlite = connection.raw, connection.is_sqlite
        # PostgreSQL would send everything at once; a named cursor stays on the server.
        cursor = raw.cursor() if is_sqlite else raw.cursor(name="standout_parts")
        try:
            cursor.execute(self.sqlite if is_sqlite else self.postgresql, params)
            while rows := cursor.fetchmany(size):
                yield rows
        finally:
            cursor.close()

    def run(self, connection: Connection, *params: Any) -> None:
        """Run it where it gives no rows."""
        raw = connection.raw
        if connection.is_sqlite:
            raw.execute(self.sqlite, params)
        elif raw.batch is not None:
            raw.batch.add(self.postgresql, params, self.group)
        else:
            raw.execute(self.postgresql, params)

    def many(self, connection: Connection, rows: Iterable[Row]) -> None:
        """Run it for each of these parameters."""
        raw = connection.raw
        if connection.is_sqlite:
            raw.executemany(self.sqlite, rows)
        elif raw.batch is not None:
            for row in rows:
                raw.batch.add(self.postgresql, row, self.group)
        else:
            with raw.cursor() as cursor:
                cursor.executemany(self.postgresql, rows)


def read_together(
    connection: Connection, calls: Sequence[tuple[Statement, Row]]
) -> list[list[Row]]:
    """The rows of each, in order: one after the other, but sent together where that is quicker."""
    raw = connection.raw
    if connection.is_sqlite or not (raw.batch is not None or raw.is_begun):
        return [statement(connection, *params) for statement, params in calls]
    texts = [(one.postgresql, params) for one, params in calls]
    found: list[list[Row]]
    found = raw.exchange(texts, len(texts)) if raw.batch is None else raw.batch.read(texts)
    return found


def insert_into(table: str, names: Iterable[str]) -> Statement:
    """The statement that adds a row to a table, with a parameter for each of `names`."""
    columns = list(names)
    marks = ", ".join(["?"] * len(columns))
    text = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
    return Statement(text, group=f", ({marks})".replace("?", "%s"))


def without_collector(count: int) -> AbstractContextManager[None]:
    """Make many small objects without looking for garbage among them in between."""
    return _paused_collector() if count > FEW and gc.isenabled() else _AS_EVER


@contextmanager
def _paused_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def insert_columns(
    connection: Connection, table: str, names: Sequence[str], rows: Iterable[Any], count: int
) -> None:
    """Insert `count` rows given as tuples in the order of `names`: COPY for many on PostgreSQL."""
    if connection.is_sqlite or count <= FEW:
        _insert(table, tuple(names)).many(connection, rows)
        return
    command = f"COPY {table} ({', '.join(names)}) FROM STDIN"
    with connection.raw.cursor() as cursor, cursor.copy(command) as copy:
        for row in rows:
            copy.write_row(row)


@cache
def _insert(table: str, names: tuple[str, ...]) -> Statement:
    return insert_into(table, names)
