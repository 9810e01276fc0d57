"""A transaction: all statements that read and write studies and events."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, ClassVar, NamedTuple

from standout.errors import NoStudyError, StorageError, StudyError, StudyExistsError
from standout.study.events.event import Event, Kind

Row = tuple[Any, ...]
Snapshot = tuple[int, bytes, list[bytes]]
"""The number of its last event, the state, and the rewards in parts."""
NEWEST = 2**62
"""Larger than the number of any event."""
BATCH, PART = 5_000, 2_000
"""The number of events read at once, and of rows copied at once."""
TABLES = tuple(
    f"standout_{name}"
    for name in (
        "store", "studies", "events", "snapshots", "items", "tokens", "sessions", "deleted",
    )
)  # fmt: skip

_EVENT = "number, time, kind, worker, key, digest, body"
_ADD_EVENT = f"INSERT INTO standout_events (study, {_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_EVENTS = (
    "SELECT number, time, kind, worker, key, digest, CASE number WHEN ? THEN '' ELSE body END "
    "FROM standout_events WHERE study = ? AND number BETWEEN ? AND ? "
    f"ORDER BY number LIMIT {BATCH}"
)
_EVENT_OF_KEY = f"SELECT {_EVENT} FROM standout_events WHERE study = ? AND key = ?"
_HEAD = "SELECT number, digest FROM standout_events WHERE study = ? ORDER BY number DESC LIMIT 1"


class Deleted(NamedTuple):
    """The record of a deleted study: its last numbers, who deleted it, when and why."""

    study: int
    name: str
    time: float
    worker: str
    reason: str
    pulls: int
    events: int
    head: str


_DELETED = ", ".join(Deleted._fields)


def schema(dialect: str) -> list[str]:
    """The statements that create the tables, in the dialect `sqlite` or `postgresql`."""
    text = files(__package__).joinpath("schema.sql").read_text("utf-8")
    other, binary = ("-- postgresql", "BLOB") if dialect == "sqlite" else ("-- sqlite", "BYTEA")
    return [
        "\n".join(line for line in part.strip().split("\n") if not line.startswith("--"))
        for part in text.replace("{bytes}", binary).split("\n\n")[1:]
        if not part.startswith(other)
    ]


class Session(ABC):
    """One transaction. It ends with the block of `Store.write` or `Store.read`."""

    is_sqlite: ClassVar[bool]

    def __init__(self, raw: Any, clock: Callable[[], float] | None) -> None:
        self.raw, self._clock = raw, clock
        self._now: float | None = None

    @property
    def now(self) -> float:
        """The time of this transaction, the same each time; after `lock`, when it was locked."""
        if self._now is None:
            self._now = self._time() if self._clock is None else self._clock()
        return self._now

    # Implemented by each database.

    def _time(self) -> float:
        return time.time()

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement with `?` for its values; return its rows."""

    @abstractmethod
    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""

    @abstractmethod
    def lock(self, study: int) -> None:
        """Wait for other writers of the study, and exclude them until the end."""

    @abstractmethod
    def lock_names(self) -> None:
        """Exclude other processes from creating studies until the end."""

    @abstractmethod
    def lock_making(self) -> None:
        """Exclude other processes from creating tables until the end."""

    @abstractmethod
    def has_tables(self) -> bool:
        """Whether this database is a store."""

    @abstractmethod
    def make_tables(self) -> None:
        """Create the empty tables."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all rows of all tables, including those that triggers protect."""

    @abstractmethod
    def rows(self, table: str) -> Iterator[list[Row]]:
        """All rows of a table, in parts."""

    @abstractmethod
    def insert(self, table: str, rows: list[Row]) -> None:
        """Add many whole rows."""

    @abstractmethod
    def missing_guards(self) -> list[str]:
        """The names of the triggers that protect events and are missing or changed."""

    # The store.

    def version(self) -> tuple[int, str, int]:
        """The version of the tables, the store's identity and its generation."""
        found = self.run("SELECT version, identity, generation FROM standout_store")
        if len(found) != 1:
            raise StorageError("the store has lost its identity; restore it from a copy")
        number, identity, generation = found[0]
        return int(number), str(identity), int(generation)

    def begin_again(self) -> None:
        """Empty the store and increase its generation, which marks a new history."""
        number, identity, generation = self.version()
        self.clear()
        self.put_version(number, identity, generation + 1)

    def put_version(self, number: int, identity: str, generation: int) -> None:
        """Store the version, identity and generation after the tables are created or cleared."""
        self.run(
            "INSERT INTO standout_store (version, identity, generation) VALUES (?, ?, ?)",
            (number, identity, generation),
        )

    def count(self, table: str) -> int:
        """The number of rows of a table."""
        return int(self.run(f"SELECT count(*) FROM {table}")[0][0])

    # Studies.

    def names(self) -> list[tuple[int, str]]:
        """Id and name of every study, oldest first."""
        return [
            (i, name) for i, name in self.run("SELECT id, name FROM standout_studies ORDER BY id")
        ]

    def find(self, name: str | None) -> tuple[int, str]:
        """Id and name of the study of this name, or of the only study if `name` is None.

        Raises NoStudyError, or StudyError if there are several studies and no name is given.
        """
        found = self.names()
        if not found:
            raise NoStudyError("there is no study here")
        if name is None:
            if len(found) > 1:
                known = ", ".join(repr(each) for _, each in found)
                raise StudyError(f"there are several studies here; name one of {known}")
            return found[0]
        for study, each in found:
            if each == name:
                return study, each
        raise NoStudyError(f"there is no study {name!r} here")

    def _claim(self, name: str) -> None:
        self.lock_names()
        if any(each == name for _, each in self.names()):
            raise StudyExistsError(
                f"there is a study {name!r} here already; open it, or give another name"
            )

    def create_study(self, name: str) -> int:
        """Add a study; return its id, which is never used again in this store."""
        self._claim(name)
        ((last,),) = self.run(
            "SELECT max(id) FROM (SELECT id FROM standout_studies "
            "UNION ALL SELECT study FROM standout_deleted) AS known"
        )
        study = 1 if last is None else int(last) + 1
        self.run("INSERT INTO standout_studies (id, name) VALUES (?, ?)", (study, name))
        return study

    def rename_study(self, study: int, old: str, name: str) -> None:
        """Rename a study and the tokens for it alone."""
        self._claim(name)
        self.run("UPDATE standout_studies SET name = ? WHERE id = ?", (name, study))
        self.run("UPDATE standout_tokens SET study = ? WHERE study = ?", (name, old))

    def copy_events(self, study: int, copy: int) -> None:
        """Copy all events of a study to a new one; digests do not depend on the study's name."""
        self.run(
            f"INSERT INTO standout_events (study, {_EVENT}) "
            f"SELECT {copy:d}, {_EVENT} FROM standout_events WHERE study = ?",
            (study,),
        )

    def delete_study(self, gone: Deleted) -> None:
        """Delete a study, record that, and revoke the tokens for it alone."""
        marks = ", ".join("?" for _ in gone)
        self.run(f"INSERT INTO standout_deleted ({_DELETED}) VALUES ({marks})", gone)
        self.revoke_tokens("study", gone.name, gone.time, gone.worker)
        for table in ("standout_events", "standout_snapshots", "standout_items"):
            self.run(f"DELETE FROM {table} WHERE study = ?", (gone.study,))
        self.run("DELETE FROM standout_studies WHERE id = ?", (gone.study,))

    def revoke_tokens(self, column: str, value: str, time: float, by: str) -> None:
        """Revoke the tokens with this value in a column, and end their logins."""
        self.run(
            "UPDATE standout_tokens SET revoked = ?, revoked_by = ? "
            f"WHERE {column} = ? AND revoked IS NULL",
            (time, by, value),
        )
        self.run(
            "DELETE FROM standout_sessions WHERE token IN "
            "(SELECT id FROM standout_tokens WHERE revoked IS NOT NULL)"
        )

    def deleted(self) -> list[Deleted]:
        """The records of deleted studies, oldest first."""
        found = self.run(f"SELECT {_DELETED} FROM standout_deleted ORDER BY time, study")
        return [Deleted(*row) for row in found]

    # Events.

    def events(
        self, study: int, first: int = 0, last: int | None = None, *, seen: int = -1
    ) -> Iterator[Event]:
        """The events from number `first` to `last` (to the newest if None), in order.

        The event `seen` comes with an empty body, which takes no time to read.
        """
        while True:
            found = self.run(_EVENTS, (seen, study, first, NEWEST if last is None else last))
            yield from map(_event, found)
            if len(found) < BATCH:
                return
            first = found[-1][0] + 1

    def append(self, study: int, events: Sequence[Event]) -> None:
        """Append events; a number or key that exists already is refused."""
        self.run_many(
            _ADD_EVENT,
            [
                (study, e.number, e.time, str(e.kind), e.worker, e.key, e.digest, e.body)
                for e in events
            ],
        )

    def event_of_key(self, study: int, key: str) -> Event | None:
        """The event with this key."""
        found = self.run(_EVENT_OF_KEY, (study, key))
        return _event(found[0]) if found else None

    def head(self, study: int) -> tuple[int, bytes] | None:
        """Number and digest of the newest event."""
        found = self.run(_HEAD, (study,))
        return (found[0][0], bytes(found[0][1])) if found else None

    # Snapshots.

    def snapshot(self, study: int) -> Snapshot | None:
        """The newest snapshot."""
        found = self.run(
            "SELECT number, data FROM standout_snapshots WHERE study = ? ORDER BY part", (study,)
        )
        if not found:
            return None
        data = [bytes(part) for _, part in found]
        return int(found[0][0]), data[0], data[1:]

    def newest_snapshot(self, study: int) -> tuple[int, bytes] | None:
        """The number of its last event, and the state."""
        found = self.run(
            "SELECT number, data FROM standout_snapshots WHERE study = ? AND part = 0", (study,)
        )
        return (int(found[0][0]), bytes(found[0][1])) if found else None

    def put_snapshot(
        self, study: int, number: int, state: bytes, rewards: bytes, *, is_alone: bool
    ) -> None:
        """Keep a snapshot up to event `number`.

        `rewards` are those since the newest snapshot or, if it `is_alone`, all of them.
        """
        if is_alone:
            self.drop_snapshots(study)
        ((last,),) = self.run(
            "SELECT coalesce(max(part), 0) FROM standout_snapshots WHERE study = ?", (study,)
        )
        self.run("DELETE FROM standout_snapshots WHERE study = ? AND part = 0", (study,))
        self.run_many(
            "INSERT INTO standout_snapshots (study, part, number, data) VALUES (?, ?, ?, ?)",
            [(study, 0, number, state), (study, int(last) + 1, number, rewards)],
        )

    def drop_snapshots(self, study: int) -> None:
        """Delete the snapshots; opening the study then takes longer, and nothing else changes."""
        self.run("DELETE FROM standout_snapshots WHERE study = ?", (study,))


def _event(row: Row) -> Event:
    number, moment, kind, worker, key, digest, body = row
    try:
        return Event(number, moment, Kind(kind), worker, key, body, bytes(digest))
    except (ValueError, TypeError):
        raise StorageError(f"event {number} is of no known kind ({kind!r})") from None
