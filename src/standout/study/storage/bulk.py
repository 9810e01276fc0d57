"""Many rows at once: the fast way of each database."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table

from standout.study.storage.statements import Statement, driver, insert_into

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


def insert_columns(
    connection: Connection, table: Table, names: Sequence[str], rows: Iterable[Any], count: int
) -> None:
    """Insert `count` rows given as tuples in the order of `names`: COPY for many on PostgreSQL."""
    if connection.dialect.name == "sqlite" or count <= FEW:
        _insert(table.name, tuple(names)).many(connection, rows)
        return
    cursor: Any = driver(connection).cursor()
    try:
        with cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    finally:
        cursor.close()


@cache
def _insert(table: str, names: tuple[str, ...]) -> Statement:
    return insert_into(table, names)
