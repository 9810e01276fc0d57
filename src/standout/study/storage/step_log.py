"""Reading steps and rewards side by side, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, bindparam, select

from standout.study.storage import schema
from standout.study.storage.reward_log import read_part

_STEPS = schema.steps
_PART = 20_000
_READ = (
    select(_STEPS)
    .where(_STEPS.c.study == bindparam("study"), _STEPS.c.number > bindparam("after"))
    .order_by(_STEPS.c.number)
    .limit(_PART)
)


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
    while rows := connection.execute(_READ, {"study": key, "after": after}).mappings().all():
        for row in rows:
            yield {**row, "digest": bytes(row["digest"])}
        after = rows[-1]["number"]
