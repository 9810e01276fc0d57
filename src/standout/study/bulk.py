"""Many rows at once: the fast way of each database."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Table

FEW = 50
"""Up to here, one statement per row is as quick as anything."""


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


def insert_rows(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows given as dicts with the same keys."""
    if rows:
        names = list(rows[0])
        insert_columns(connection, table, names, (tuple(row.values()) for row in rows), len(rows))


def insert_columns(
    connection: Connection, table: Table, names: Sequence[str], rows: Iterable[Any], count: int
) -> None:
    """Insert `count` rows given as tuples in the order of `names`: COPY for many on PostgreSQL."""
    columns = ", ".join(names)
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite or count <= FEW:
        marks = ", ".join(["?" if is_sqlite else "%s"] * len(names))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", list(rows)
        )
        return
    cursor: Any = connection.connection.cursor()
    try:
        with cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    finally:
        cursor.close()
