"""How a study stands, as plain values, and what waits for what."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, bindparam, func, select

from standout.core.identification import Interval
from standout.core.state import ROUNDS
from standout.study import schema

if TYPE_CHECKING:
    from standout.study.ledger import Ledger

_TICKETS = schema.tickets
_PENDING = (
    _TICKETS.c.study == bindparam("key"),
    schema.IS_PENDING,
)
_EXPIRED = (
    select(func.count())
    .select_from(_TICKETS)
    .where(*_PENDING, _TICKETS.c.expires <= bindparam("now"))
)
_FIRST_OUT = (
    select(_TICKETS.c.arm, _TICKETS.c.id, _TICKETS.c.worker, _TICKETS.c.expires)
    .where(*_PENDING)
    .order_by(_TICKETS.c.slot)
)


@dataclass(frozen=True)
class Waiting:
    """Told rewards of an arm that are counted as soon as `ticket` is told or given back.

    `worker` has that ticket; when it has `expired`, the next to ask gets its pull.
    """

    arm: str
    rewards: int
    ticket: int
    worker: str
    expired: bool


@dataclass(frozen=True)
class Status:
    """How a study stands at one moment; arms by name.

    `pulls` are the rewards counted, `pending` the pulls handed out and owed a
    reward; of these `expired` wait to be handed out again. `surplus` rewards
    came beyond the budget and are in no total. `failures` counts tickets given
    back, per arm that had any; `paused` says why an arm is handed out no more;
    `waiting` are the told rewards, per arm, that wait for an earlier pull.
    `head` is the digest that covers all that was told (see docs/studies.md).
    `threshold_low` is the low side's when both are asked; `note` says why what
    is left may never be decided, if that shows.
    """

    name: str
    pulls: int
    pending: int
    expired: int
    surplus: int
    budget: int | None
    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    threshold: Interval
    stopped: bool
    reason: str
    rounds: int
    threshold_low: Interval | None = None
    note: str | None = None
    failures: dict[str, int] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    head: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; an end that is not known yet is null."""
        return {
            "name": self.name,
            "pulls": self.pulls,
            "pending": self.pending,
            "expired": self.expired,
            "surplus": self.surplus,
            "budget": self.budget,
            "outliers": list(self.outliers),
            "normal": list(self.normal),
            "undecided": list(self.undecided),
            "threshold": _ends(self.threshold),
            "threshold_low": None if self.threshold_low is None else _ends(self.threshold_low),
            "note": self.note,
            "stopped": self.stopped,
            "reason": self.reason,
            "rounds": self.rounds,
            "failures": self.failures,
            "paused": self.paused,
            "waiting": [asdict(one) for one in self.waiting],
            "head": self.head,
        }


def read_status(connection: Connection, ledger: Ledger, name: str, now: float) -> Status:
    """The status at a moment; costs O(arms), whatever the number of rewards."""
    desk = ledger.desk
    found = desk.identification()
    expired = connection.execute(_EXPIRED, {"key": ledger.key, "now": now}).scalar_one()
    return Status(
        name=name,
        pulls=desk.totals.pulls,
        pending=desk.out,
        expired=int(expired),
        surplus=desk.totals.surplus,
        budget=desk.budget,
        outliers=found.outliers,
        normal=found.normal,
        undecided=found.undecided,
        threshold=found.threshold,
        threshold_low=found.threshold_low,
        note=found.note,
        stopped=desk.is_stopped,
        reason=str(desk.reason),
        rounds=int(desk.state.counters[ROUNDS]),
        failures={desk.arms[i]: int(desk.failures[i]) for i in np.flatnonzero(desk.failures)},
        paused={desk.arms[i]: why for i, why in sorted(desk.paused.items())},
        waiting=_waiting(connection, ledger, now),
        head=desk.head.hex(),
    )


def _waiting(connection: Connection, ledger: Ledger, now: float) -> tuple[Waiting, ...]:
    """What waits for what; arms with the most waiting rewards first."""
    desk = ledger.desk
    arms = set(np.flatnonzero(desk.held).tolist())
    if not arms:
        return ()
    first: dict[int, Any] = {}
    for row in connection.execute(_FIRST_OUT, {"key": ledger.key}):
        if row.arm in arms:
            first.setdefault(row.arm, row)
    order = sorted(first, key=lambda arm: (-int(desk.held[arm]), arm))
    return tuple(
        Waiting(
            desk.arms[arm], int(desk.held[arm]), first[arm].id, first[arm].worker,
            bool(first[arm].expires <= now),
        )
        for arm in order
    )  # fmt: skip


def _ends(interval: Interval) -> dict[str, float | None]:
    return {"lower": _finite(interval.lower), "upper": _finite(interval.upper)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
