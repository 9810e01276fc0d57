"""Whether the append-only tables still refuse to be edited."""

from __future__ import annotations

from sqlalchemy import Connection, text

from standout.study.storage.versions import APPEND_ONLY, guard_body, guards

_TABLES = tuple(table for tables in APPEND_ONLY.values() for table in tables)
_SQLITE = text("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
_POSTGRESQL = text(
    "SELECT t.tgname, c.relname, t.tgenabled, t.tgtype, p.prosrc FROM pg_trigger t "
    "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND c.relnamespace = "
    "(SELECT relnamespace FROM pg_class WHERE oid = 'standout_rewards'::regclass)"
)
_BEFORE_CHANGES = 1 + 2 + 8 + 16
"""PostgreSQL's number for: for each row, before, delete, update."""


def check_guards(connection: Connection) -> list[str]:
    """What is wrong with the triggers; empty when all are there and as they were made."""
    dialect = connection.dialect.name
    found = _on_sqlite(connection) if dialect == "sqlite" else _on_postgresql(connection)
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
        row.name: row.sql == made.get(row.name)
        for row in connection.execute(_SQLITE)
        if row.tbl_name.startswith("standout_")
    }


def _on_postgresql(connection: Connection) -> dict[str, bool]:
    return {
        row.tgname: (
            row.tgname == f"{row.relname}_keep"
            and row.tgenabled in ("O", b"O")
            and row.tgtype == _BEFORE_CHANGES
            and row.prosrc == guard_body(row.relname)
        )
        for row in connection.execute(_POSTGRESQL)
        if row.relname.startswith("standout_")
    }
