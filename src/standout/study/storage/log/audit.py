"""What `verify` reads of a database, besides the log and its steps."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from standout.study.storage import schema
from standout.study.storage.statements import Row, Statement

_LOG = Statement("SELECT count(*), max(seq) FROM standout_rewards WHERE study = ?")
_COUNTED = Statement(
    "SELECT arm, count(*), sum(value) FROM standout_rewards "
    "WHERE study = ? AND counted AND seq <= ? GROUP BY arm"
)
_WAITING = Statement(
    "SELECT arm, value FROM standout_tickets WHERE study = ? AND status = 1 AND logged <= ?"
)
_LAST_TRACE = Statement("SELECT max(pulls) FROM standout_trace WHERE study = ? AND pulls <= ?")


def complaints_of_sqlite(connection: Connection) -> list[str]:
    """What SQLite's own check of the file finds; nothing on PostgreSQL."""
    if connection.dialect.name != "sqlite":
        return []
    rows = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    return [] if rows == ["ok"] else [str(row) for row in rows]


def size_of_log(connection: Connection, key: int) -> tuple[int, int]:
    """How many rewards are logged, and the last one's place."""
    count, last = _LOG(connection, key)[0]
    return int(count), int(last or 0)


def counted_until(connection: Connection, key: int, place: int) -> list[Row]:
    """Arm, number and sum of the rewards that are in the totals, up to a place in the log."""
    return _COUNTED(connection, key, place)


def waiting_until(connection: Connection, key: int, place: int) -> list[Row]:
    """Arm and value of told rewards that wait, up to a place in the log."""
    return _WAITING(connection, key, place)


def read_base(connection: Connection, key: int) -> Any:
    """How a study of an older version stood when its steps began; None if it has no such row."""
    query = select(schema.bases).where(schema.bases.c.study == key)
    return connection.execute(query).one_or_none()


def read_base_arms(connection: Connection, key: int) -> list[Any]:
    """How its arms stood, in their order."""
    table = schema.base_arms
    query = select(table).where(table.c.study == key).order_by(table.c.position)
    return list(connection.execute(query).all())


def last_trace(connection: Connection, key: int, pulls: int) -> int:
    """The pulls of the last row of the trace at `pulls` or before; 0 if there is none."""
    return int(_LAST_TRACE(connection, key, pulls)[0][0] or 0)


def read_failure(connection: Connection, key: int, number: int) -> list[Any] | None:
    """A row of the log of failures, without the study's key; None if it is not there."""
    table = schema.failures
    query = select(table).where(table.c.study == key, table.c.seq == number)
    found = connection.execute(query).one_or_none()
    return None if found is None else list(found)[1:]
