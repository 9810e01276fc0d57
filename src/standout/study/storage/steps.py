"""Keeping steps: written with what they changed, and found again by their key."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from standout.errors import KeyUsedError
from standout.study.chain import COVERED, Step
from standout.study.storage.mirror import Mirror
from standout.study.storage.statements import Statement, insert_into

_ADD = insert_into("standout_steps", ("study", *COVERED, "digest"))
_FIND = Statement(
    "SELECT time, request, logged, repeated, surplus FROM standout_steps "
    "WHERE study = ? AND key = ?"
)


class Found(NamedTuple):
    """A step that was found by its key."""

    time: float
    request: bytes | None
    logged: int
    repeated: int
    surplus: int


def write(connection: Connection, mirror: Mirror, step: Step) -> None:
    """Keep a step, unless nothing happened in it."""
    if step.is_empty:
        return
    progress = mirror.progress
    row = step.row(progress.head, progress.totals.steps)
    _ADD.run(connection, mirror.key, *row.values())
    progress.totals.steps += 1
    progress.head = row["digest"]


def find(connection: Connection, mirror: Mirror, key: str, request: bytes | None) -> Found | None:
    """The step that had this key, None if there was none.

    `KeyUsedError` if it was told something else (`request` differs).
    """
    rows = _FIND(connection, mirror.key, key)
    if not rows:
        return None
    found = Found._make(rows[0])
    if request is not None and found.request is not None and bytes(found.request) != request:
        count = found.logged + found.repeated
        raise KeyUsedError(
            f"the key {key!r} was used to tell {count} other rewards; "
            "nothing was changed. Take a new key for what is new",
            found.time,
            count,
        )
    return found
