"""Steps as rows: written with what they changed, found again by their key, read with the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from standout.errors import KeyUsedError
from standout.study.log.chain import COVERED, Kind, Step
from standout.study.storage.connection import Connection
from standout.study.storage.log.reward_log import read_part
from standout.study.storage.statements import Statement, insert_into
from standout.study.storage.stored_study import StoredStudy

_NAMES = (*COVERED, "digest")
_ADD = insert_into("standout_steps", ("study", *_NAMES))
_FIND = Statement(
    "SELECT time, request, logged, repeated, surplus FROM standout_steps "
    "WHERE study = ? AND key = ?"
)
_PART = 20_000
_READ = Statement(
    f"SELECT {', '.join(_NAMES)} FROM standout_steps WHERE study = ? AND number > ? "
    f"ORDER BY number LIMIT {_PART}"
)
_KINDS = ", ".join(str(int(kind)) for kind in (Kind.PAUSE, Kind.RESUME, Kind.SET, Kind.VOID))
read_by_hand = Statement(
    "SELECT number, time, kind, note FROM standout_steps "
    f"WHERE study = ? AND kind IN ({_KINDS}) ORDER BY number"
)
"""Number, time, kind and note of the steps that somebody made by hand, in order."""


class Found(NamedTuple):
    """A step that was found by its key."""

    time: float
    request: bytes | None
    logged: int
    repeated: int
    surplus: int


def write(connection: Connection, stored: StoredStudy, step: Step) -> None:
    """Keep a step, unless nothing happened in it."""
    if step.is_empty:
        return
    progress = stored.progress
    row = step.row(progress.head, progress.totals.steps)
    _ADD.run(connection, stored.key, *row)
    progress.totals.steps += 1
    progress.head = row[-1]


def find(
    connection: Connection, stored: StoredStudy, key: str, request: bytes | None
) -> Found | None:
    """The step that had this key, None if there was none.

    `KeyUsedError` if it was told something else (`request` differs).
    """
    rows = _FIND(connection, stored.key, key)
    if not rows:
        return None
    found = Found._make(rows[0])
    if request is not None and found.request is not None and bytes(found.request) != request:
        count = found.logged + found.repeated
        before = f"to tell {count} other rewards" if count else "for something else"
        raise KeyUsedError(
            f"the key {key!r} was used {before}; "
            "nothing was changed. Take a new key for what is new",
            found.time,
            count,
        )
    return found


class Log:
    """The rewards behind a place of the log, in order."""

    def __init__(self, connection: Connection, key: int, after: int) -> None:
        self._connection, self._key, self._after = connection, key, after
        self._rows: list[Any] = []
        self._next = 0

    def take(self, count: int) -> list[Any]:
        """The next so many, fewer at the end."""
        while len(self._rows) - self._next < count:
            more = read_part(self._connection, self._key, self._after, 2**62)
            if not more:
                break
            self._after = more[-1][0]
            self._rows = self._rows[self._next :] + more
            self._next = 0
        found = self._rows[self._next : self._next + count]
        self._next += len(found)
        return found


def read_steps(connection: Connection, key: int) -> Iterator[dict[str, Any]]:
    """The rows of all steps, in order, some thousand at a time."""
    after = -1
    while rows := _READ(connection, key, after):
        for values in rows:
            row = dict(zip(_NAMES, values, strict=True))
            yield {**row, "ended": bool(row["ended"]), "digest": bytes(row["digest"])}
            after = row["number"]
