"""What `verify` reads of a database, besides the log and its steps."""

from __future__ import annotations

from typing import NamedTuple

from standout.study.storage.connection import Connection, Row
from standout.study.storage.schema import TABLES
from standout.study.storage.statements import Statement


class Base(NamedTuple):
    """How a study of an older version stood when its steps began to be kept."""

    fields: str
    scalars: str
    pulls: int
    surplus: int
    log: int
    failed: int
    reason: str
    stopped: float | None


class BaseArm(NamedTuple):
    """How one of its arms stood."""

    position: int
    pulls: int
    total: float
    verdict: int
    failures: int
    streak: int
    paused: str | None
    memory: str


_OF_STUDIES = tuple(
    table for table in TABLES if table not in ("standout_tokens", "standout_deleted")
)
_KINDS = {
    "DOUBLE": "real", "INTEGER": "integer", "BIGINT": "integer", "SMALLINT": "integer",
    "TEXT": "text", "VARCHAR": "text", "BLOB": "blob",
}  # fmt: skip
"""How the name of a column's type begins, and what SQLite calls its values."""
_LOG = Statement("SELECT count(*), max(seq) FROM standout_rewards WHERE study = ?")
counted_until = Statement(
    "SELECT arm, count(*), sum(value) FROM standout_rewards "
    "WHERE study = ? AND counted AND seq <= ? GROUP BY arm"
)
"""Arm, number and sum of the rewards that are in the totals, up to a place in the log."""
waiting_until = Statement(
    "SELECT arm, value FROM standout_tickets WHERE study = ? AND status = 1 AND logged <= ?"
)
"""Arm and value of told rewards that wait, up to a place in the log."""
_LAST_TRACE = Statement("SELECT max(pulls) FROM standout_trace WHERE study = ? AND pulls <= ?")
_BASE = Statement(f"SELECT {', '.join(Base._fields)} FROM standout_bases WHERE study = ?")
_BASE_ARMS = Statement(
    f"SELECT {', '.join(BaseArm._fields)} FROM standout_base_arms WHERE study = ? ORDER BY position"
)
_FAILURE = Statement(
    "SELECT seq, time, arm, ticket, worker, reason FROM standout_failures "
    "WHERE study = ? AND seq = ?"
)


def complaints_of_sqlite(connection: Connection) -> list[str]:
    """What SQLite's own check of the file finds; nothing on PostgreSQL."""
    if not connection.is_sqlite:
        return []
    found = [str(text) for (text,) in connection.execute("PRAGMA integrity_check")]
    return [] if found == ["ok"] else found


def strange_values(connection: Connection, key: int) -> list[str]:
    """Columns with values of another kind than theirs, which SQLite takes; PostgreSQL does not."""
    if not connection.is_sqlite:
        return []
    found = []
    for table in _OF_STUDIES:
        mine = "id" if table == "standout_studies" else "study"
        columns = connection.execute(
            f"SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')"
        )
        wrong = ", ".join(f"sum({_is_strange(*column)})" for column in columns)
        counts = connection.execute(f"SELECT {wrong} FROM {table} WHERE {mine} = {key}")[0]
        found += [
            f"{table}.{column[0]}: {count} of another kind than the column's"
            for column, count in zip(columns, counts, strict=True)
            if count
        ]
    return found


def _is_strange(name: str, kind: str, is_needed: int) -> str:
    if kind == "BOOLEAN":
        return f"{name} IS NULL OR typeof({name}) <> 'integer' OR {name} NOT IN (0, 1)"
    word = next(word for start, word in _KINDS.items() if kind.startswith(start))
    words = f"'{word}'" if is_needed else f"'{word}', 'null'"
    return f"typeof({name}) NOT IN ({words})"


def size_of_log(connection: Connection, key: int) -> tuple[int, int]:
    """How many rewards are logged, and the last one's place."""
    count, last = _LOG(connection, key)[0]
    return int(count), int(last or 0)


def read_base(connection: Connection, key: int) -> Base | None:
    """How a study of an older version stood when its steps began; None if it is not older."""
    rows = _BASE(connection, key)
    return Base._make(rows[0]) if rows else None


def read_base_arms(connection: Connection, key: int) -> list[BaseArm]:
    """How its arms stood, in their order."""
    return [BaseArm._make(row) for row in _BASE_ARMS(connection, key)]


def last_trace(connection: Connection, key: int, pulls: int) -> int:
    """The pulls of the last row of the trace at `pulls` or before; 0 if there is none."""
    return int(_LAST_TRACE(connection, key, pulls)[0][0] or 0)


def read_failure(connection: Connection, key: int, number: int) -> Row | None:
    """A row of the log of failures, without the study's key; None if it is not there."""
    rows = _FAILURE(connection, key, number)
    return rows[0] if rows else None
