"""The schema's version and the numbered steps that lead to it.

A step takes a database from one version to the next, inside the transaction
that also writes the new version: a crash leaves the old version, whole. Steps
are never edited once released; a golden database of every version is opened in
the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from standout.errors import StorageError
from standout.study.storage.connection import Connection
from standout.study.storage.log import chain_start
from standout.study.storage.schema import columns_of
from standout.study.storage.versions import (
    APPEND_ONLY,
    FIFTH,
    FIRST,
    FOURTH,
    SECOND,
    SEVENTH,
    SEVENTH_ON_SQLITE,
    SIXTH,
    THIRD,
    guard_body,
    guards,
    write_for,
)

Step = Callable[[Connection], None]


def _first(connection: Connection) -> None:
    """Version 1: the tables, and a log that refuses to be edited."""
    _run(connection, ("CREATE TABLE standout_schema (version INTEGER NOT NULL)", *FIRST))
    _guard(connection, 1)


def _third(connection: Connection) -> None:
    """Version 3: every change is a step with a key and a digest.

    Where a study of an older version stands is kept, as what its steps begin
    from; their first digest covers it, together with the log so far.
    """
    _run(connection, THIRD)
    _guard(connection, 3)
    chain_start.begin_all(connection)


def _seventh(connection: Connection) -> None:
    """Version 7: less to write with a reward. Rounds under way stay in their table to the end."""
    _run(connection, SEVENTH)
    if connection.is_sqlite:
        _run(connection, SEVENTH_ON_SQLITE)


def _run(connection: Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(write_for(connection.dialect, statement))


def _guard(connection: Connection, version: int) -> None:
    """Let the tables of a version refuse to be edited."""
    dialect = connection.dialect
    for table in APPEND_ONLY[version]:
        if not connection.is_sqlite:
            body = guard_body(table).replace("'", "''")
            connection.execute(
                f"CREATE FUNCTION {table}_keep() RETURNS trigger LANGUAGE plpgsql AS '{body}'"
            )
        for statement in guards(table, dialect).values():
            connection.execute(statement)


STEPS: tuple[Step, ...] = (
    _first,
    partial(_run, statements=SECOND),  # items and a page for raters, a trace, tokens
    _third,
    partial(_run, statements=FOURTH),  # asking and telling cost the same however much there was
    partial(_run, statements=FIFTH),  # settings may change, rewards be void, studies deleted
    partial(_run, statements=SIXTH),  # a token says who made and who revoked it
    _seventh,
)
"""Step i leads from version i to version i + 1."""


def stored_version(connection: Connection) -> int:
    """The version of the database; 0 when it holds nothing of ours."""
    if not columns_of(connection, "standout_schema"):
        return 0
    ((version,),) = connection.execute("SELECT max(version) FROM standout_schema")
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
        connection.execute(f"INSERT INTO standout_schema (version) VALUES ({len(steps)})")
    elif version < len(steps):
        connection.execute(f"UPDATE standout_schema SET version = {len(steps)}")
