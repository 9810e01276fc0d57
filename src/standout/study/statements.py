"""Statements as constant text, run by the driver itself.

A single ask or tell runs a dozen small statements; preparing each anew takes
longer than running it. Whatever reads rows inside `Storage.write(is_small=True)`
must be one of these: SQLAlchemy's own results do not wait for a pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

Row = tuple[Any, ...]
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
        text = self.texts[connection.dialect.name]
        found: list[Row] = driver(connection).execute(text, params).fetchall()
        return found

    def run(self, connection: Connection, *params: Any) -> None:
        """Run it where it gives no rows."""
        driver(connection).execute(self.texts[connection.dialect.name], params)

    def many(self, connection: Connection, rows: Iterable[Row]) -> None:
        """Run it for each of these parameters."""
        cursor = driver(connection).cursor()
        try:
            cursor.executemany(self.texts[connection.dialect.name], rows)
        finally:
            cursor.close()


def insert_into(table: str, names: Iterable[str]) -> Statement:
    """The statement that adds a row to a table, with a parameter for each of `names`."""
    columns = list(names)
    marks = ", ".join(["?"] * len(columns))
    return Statement(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})")
