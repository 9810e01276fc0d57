"""The schema's version and the numbered steps that lead to it.

A step takes a database from one version to the next, inside the transaction
that also writes the new version: a crash leaves the old version, whole. Steps
are never edited once released; a golden database of every version is opened in
the tests.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from standout.errors import StorageError
from standout.study.schema import metadata, schema, studies

Step = Callable[[Connection], None]


def _first(connection: Connection) -> None:
    """Version 1: the tables, and a log that refuses to be edited."""
    metadata.create_all(connection)
    for table in ("standout_rewards", "standout_failures"):
        for statement in _append_only(table, connection.dialect.name):
            connection.exec_driver_sql(statement)


def _second(connection: Connection) -> None:
    """Version 2: items and a page for raters, a trace of the threshold, tokens.

    A new database has it all from the first step already.
    """
    metadata.create_all(connection)
    columns = inspect(connection).get_columns(studies.name)
    if "page" not in {column["name"] for column in columns}:
        connection.exec_driver_sql(f"ALTER TABLE {studies.name} ADD COLUMN page TEXT")


def _append_only(table: str, dialect: str) -> list[str]:
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            for event in ("update", "delete")
        ]
    return [
        f"CREATE FUNCTION {table}_keep() RETURNS trigger LANGUAGE plpgsql AS "
        f"'BEGIN RAISE EXCEPTION ''{table} is append-only''; END'",
        f"CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {table}_keep()",
    ]


STEPS: tuple[Step, ...] = (_first, _second)
"""Step i leads from version i to version i + 1."""


def stored_version(connection: Connection) -> int:
    """The version of the database; 0 when it holds nothing of ours."""
    if not inspect(connection).has_table(schema.name):
        return 0
    version = connection.execute(text(f"SELECT max(version) FROM {schema.name}")).scalar()
    return int(version or 0)


def check_version(version: int, place: str, steps: tuple[Step, ...] = STEPS) -> None:
    """Refuse a database that a newer standout has written."""
    if version > len(steps):
        raise StorageError(
            f"{place} was written by a newer standout (schema {version}, this one knows "
            f"{len(steps)}); nothing was changed. Upgrade standout to open it"
        )


def migrate(connection: Connection, place: str, steps: tuple[Step, ...] = STEPS) -> None:
    """Bring the database to the newest version, inside the caller's transaction."""
    version = stored_version(connection)
    check_version(version, place, steps)
    for number in range(version, len(steps)):
        steps[number](connection)
    if version == 0:
        connection.execute(schema.insert().values(version=len(steps)))
    elif version < len(steps):
        connection.execute(schema.update().values(version=len(steps)))
