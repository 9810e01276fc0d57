"""Whether the append-only tables still refuse to be edited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from standout.study.storage.connection import Connection
from standout.study.storage.statements import Statement
from standout.study.storage.versions import APPEND_ONLY, guard_body, guards

_TABLES = tuple(table for tables in APPEND_ONLY.values() for table in tables)
_SQLITE = Statement("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
_POSTGRESQL = Statement(
    "SELECT t.tgname, c.relname, c.relispartition, t.tgenabled, t.tgtype, p.prosrc "
    "FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND c.relnamespace = "
    "(SELECT relnamespace FROM pg_class WHERE oid = 'standout_rewards'::regclass)"
)
_BEFORE_CHANGES = 1 + 2 + 8 + 16
"""PostgreSQL's number for: for each row, before, delete, update."""


@contextmanager
def lifted(connection: Connection) -> Iterator[None]:
    """Let rows of the append-only tables be deleted, inside the caller's transaction."""
    dialect = connection.dialect
    for table in _TABLES:
        for name in guards(table, dialect):
            if connection.is_sqlite:
                connection.execute(f"DROP TRIGGER {name}")
            else:
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
    yield
    for table in _TABLES:
        for name, statement in guards(table, dialect).items():
            if connection.is_sqlite:
                connection.execute(statement)
            else:
                connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER {name}")


def check_append_only(connection: Connection) -> list[str]:
    """What is wrong with the triggers; empty when all are there and as they were made."""
    dialect = connection.dialect
    found = _on_sqlite(connection) if connection.is_sqlite else _on_postgresql(connection)
    problems = []
    expected: set[str] = set()
    for table in _TABLES:
        for name in guards(table, dialect):
            expected.add(name)
            if name not in found:
                problems.append(f"the trigger {name} is missing: {table} could be edited")
            elif not found[name]:
                problems.append(f"the trigger {name} is not ours: {table} could be edited")
    strange = sorted(set(found) - expected)
    problems += [f"there is a trigger {name} that is not ours" for name in strange]
    return problems


def _on_sqlite(connection: Connection) -> dict[str, bool]:
    """The triggers of our tables, and whether each is as it was made."""
    made = {name: sql for table in _TABLES for name, sql in guards(table, "sqlite").items()}
    return {
        name: text == made.get(name)
        for name, table, text in _SQLITE(connection)
        if table.startswith("standout_")
    }


def _on_postgresql(connection: Connection) -> dict[str, bool]:
    """The same. A table that its owner has partitioned has a copy of its trigger on every part,
    and each must be as good as the table's own."""
    found: dict[str, bool] = {}
    for name, table, is_part, enabled, kind, body in _POSTGRESQL(connection):
        if not (is_part or table.startswith("standout_")):
            continue
        guarded = name.removesuffix("_keep") if is_part else table
        is_good = (
            name == f"{guarded}_keep"
            and enabled in ("O", b"O")
            and kind == _BEFORE_CHANGES
            and body == guard_body(guarded)
        )
        found[name] = found.get(name, True) and is_good
    return found
