"""Whether the tickets, what is pending and the rounds under way fit together."""

from __future__ import annotations

import numpy as np

from standout.study.storage.connection import Connection
from standout.study.storage.statements import Statement
from standout.study.storage.stored_study import StoredStudy

_OF_STUDY = "WHERE study = ?"
_HELD = "FROM standout_tickets WHERE study = ? AND status = 1"
_TOLD = Statement(f"SELECT count(*) FROM standout_rewards {_OF_STUDY} AND ticket IS NOT NULL")
_NOT_HELD = Statement(f"SELECT count(*) FROM standout_tickets {_OF_STUDY} AND status <> 1")
_HELD_TICKETS = Statement(f"SELECT count(*) {_HELD} AND id > 0")
_LOGGED_TICKETS = Statement(
    f"SELECT count(*) FROM standout_tickets {_OF_STUDY} AND id IN "
    "(SELECT ticket FROM standout_rewards WHERE study = ?)"
)
_HELD_REWARDS = Statement(f"SELECT count(*) {_HELD}")
_FAILURES = Statement(f"SELECT count(*) FROM standout_failures {_OF_STUDY}")
_PENDING = Statement(
    f"SELECT arm, count(*) FROM standout_tickets {_OF_STUDY} AND status = 0 GROUP BY arm"
)
_NOT_IN_LOG = Statement(
    "SELECT t.id, t.logged FROM standout_tickets t LEFT JOIN standout_rewards r "
    "ON r.study = t.study AND r.seq = t.logged AND r.arm = t.arm AND r.value = t.value "
    "WHERE t.study = ? AND t.status = 1 AND r.seq IS NULL LIMIT 10"
)

_IMPOSSIBLE = Statement(
    "SELECT id FROM standout_tickets WHERE study = ? AND (arm < 0 OR arm >= ? OR id > ? "
    "OR (status = 0 AND (id < 1 OR slot < 1 OR slot > id OR value IS NOT NULL "
    "OR logged IS NOT NULL))) ORDER BY id LIMIT 10"
)


def check_tickets(connection: Connection, stored: StoredStudy) -> list[str]:
    """What does not fit: every ticket is open, closed or told, exactly one of them."""
    key, progress = stored.key, stored.progress

    def count(statement: Statement, *more: int) -> int:
        return int(statement(connection, key, *more)[0][0])

    pairs = [
        ("tickets", progress.totals.tickets, count(_NOT_HELD) + count(_TOLD)),
        ("told tickets that wait", count(_HELD_TICKETS), count(_LOGGED_TICKETS, key)),
        ("told rewards that wait", int(progress.held.sum()), count(_HELD_REWARDS)),
        ("pulls that rounds wait for", progress.out, int(progress.pending.sum())),
        ("failures logged", progress.totals.failed, count(_FAILURES)),
    ]
    problems = [
        f"{what}: {found}, but {expected} by the log"
        for what, found, expected in pairs
        if found != expected
    ]
    problems += [
        f"there cannot be a ticket {number} of this arm, pull or value"
        for (number,) in _IMPOSSIBLE(connection, key, len(progress.arms), progress.totals.tickets)
    ]
    return problems + _check_pending(connection, stored) + _check_held(connection, stored)


def _check_pending(connection: Connection, stored: StoredStudy) -> list[str]:
    progress = stored.progress
    counts = np.zeros_like(progress.pending)
    for arm, number in _PENDING(connection, stored.key):
        if 0 <= arm < len(counts):
            counts[arm] = number
    return [
        f"pending pulls of {progress.arms[arm]!r}: {progress.pending[arm]},"
        f" but {counts[arm]} tickets"
        for arm in np.flatnonzero(counts != progress.pending)[:10]
    ]


def _check_held(connection: Connection, stored: StoredStudy) -> list[str]:
    """A reward that waits is the one in the log."""
    return [
        f"the reward that waits as ticket {number} is not that at place {place} of the log"
        for number, place in _NOT_IN_LOG(connection, stored.key)
    ]
