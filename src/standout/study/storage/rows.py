"""All rows of all tables, from one database into another that is empty."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, Table, func, insert, select

from standout.errors import StorageError
from standout.study.storage.schema import metadata, schema

_ROWS = 5_000


def _tables() -> list[Table]:
    """What a copy is made of; the version of the schema belongs to each database itself."""
    return [table for table in metadata.sorted_tables if table is not schema]


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def copy_rows(
    old: Connection, new: Connection, progress: Callable[[int, int], None] | None
) -> None:
    """Copy inside the transactions of both, and see that as many arrive as were sent."""
    total = sum(_count(old, table) for table in _tables())
    done = 0
    for table in _tables():
        found = old.execute(
            select(table), execution_options={"stream_results": True, "yield_per": _ROWS}
        )
        sent = 0
        for rows in found.mappings().partitions():
            new.execute(insert(table), [dict(row) for row in rows])
            sent += len(rows)
            if progress is not None:
                progress(done + sent, total)
        done += sent
        arrived = _count(new, table)
        if arrived != sent:
            raise StorageError(f"{arrived} of {sent} rows of {table.name} arrived; nothing is kept")


def empty_target(connection: Connection, place: str, force: bool) -> None:
    """Make room in a PostgreSQL database that nobody else uses.

    Raises `StorageError` while other programs are connected, and where there
    are studies or tokens unless `force`.
    """
    others = connection.exec_driver_sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'standout' AND pid <> pg_backend_pid()"
    ).scalar_one()
    if others:
        raise StorageError(f"{place} is in use; end the server and all runs on it first")
    names = ", ".join(table.name for table in _tables())
    # Whoever comes now waits until the copy is there.
    connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
    if not any(_count(connection, table) for table in _tables()):
        return
    if not force:
        raise StorageError(
            f"{place} holds studies or tokens already; --force (force=True) removes them all first"
        )
    connection.exec_driver_sql(f"TRUNCATE {names}")
