"""Keeping steps: written with what they changed, and found again by their key."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from standout.errors import KeyUsedError
from standout.study import schema
from standout.study.chain import Step
from standout.study.ledger import Ledger
from standout.study.statements import Statement

_STEPS = schema.steps
_ADD = Statement(insert(_STEPS))
_FIND = Statement(
    select(
        _STEPS.c.time, _STEPS.c.request, _STEPS.c.logged, _STEPS.c.repeated, _STEPS.c.surplus
    ).where(_STEPS.c.study == bindparam("study"), _STEPS.c.key == bindparam("key"))
)


def write(connection: Connection, ledger: Ledger, step: Step) -> None:
    """Keep a step, unless nothing happened in it."""
    if step.is_empty:
        return
    desk = ledger.desk
    row = step.row(desk.head, desk.totals.steps)
    _ADD(connection, {"study": ledger.key, **row})
    desk.totals.steps += 1
    desk.head = row["digest"]


def find(connection: Connection, ledger: Ledger, key: str, request: bytes | None) -> Any:
    """The step that had this key, None if there was none.

    `KeyUsedError` if it was told something else (`request` differs).
    """
    rows = _FIND(connection, {"study": ledger.key, "key": key})
    if not rows:
        return None
    kept = rows[0].request
    if request is not None and kept is not None and bytes(kept) != request:
        raise KeyUsedError(
            f"the key {key!r} was used to tell {rows[0].logged + rows[0].repeated} other rewards; "
            "nothing was changed. Take a new key for what is new",
            rows[0].time,
            rows[0].logged + rows[0].repeated,
        )
    return rows[0]
