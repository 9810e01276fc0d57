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
    "AND (r.ticket = t.id OR t.id = -t.logged) "
    "WHERE t.study = ? AND t.status = 1 AND r.seq IS NULL LIMIT 10"
)

_IMPOSSIBLE = Statement(
    "SELECT id FROM standout_tickets WHERE study = ? AND (arm < 0 OR arm >= ? OR id > ? "
    "OR slot < 0 OR slot > ? OR round < 0 OR round > ? OR status < 0 OR status > 4 OR worker = '' "
    "OR (id > 0 AND (slot < 1 OR slot > id)) "
    "OR (status <> 1 AND (id < 1 OR round < 1 OR value IS NOT NULL OR logged IS NOT NULL))) "
    "ORDER BY id LIMIT 10"
)
_OUT = Statement(
    f"SELECT round, count(*) FROM standout_tickets {_OF_STUDY} AND status = 0 GROUP BY round"
)
_PULLS_OF_TWO = Statement(
    f"SELECT slot FROM standout_tickets {_OF_STUDY} AND status <> 1 GROUP BY slot "
    "HAVING min(arm) <> max(arm) OR min(round) <> max(round) "
    "OR sum(CASE WHEN status = 0 THEN 1 ELSE 0 END) > 1 ORDER BY slot LIMIT 10"
)
_GIVEN_BACK = Statement(
    "SELECT t.id FROM standout_tickets t LEFT JOIN standout_failures f "
    "ON f.study = t.study AND f.ticket = t.id AND f.arm = t.arm WHERE t.study = ? "
    "AND t.status <> 1 AND (t.status = 4) <> (f.ticket IS NOT NULL) ORDER BY t.id LIMIT 10"
)
_NEWEST_ARM = Statement(f"SELECT min(seq), max(seq) FROM standout_arms {_OF_STUDY}")


def check_counters(connection: Connection, stored: StoredStudy) -> list[str]:
    """Numbers that only ever grow, and by which others notice what is new."""
    totals, rounds = stored.progress.totals, [live.id for live in stored.progress.rounds]
    first, last = _NEWEST_ARM(connection, stored.key)[0]
    problems = []
    if not 0 <= first <= last <= totals.seq:
        problems.append(f"changes: {totals.seq}, but the arms changed from {first} to {last}")
    if any(not 1 <= number <= totals.last_round for number in rounds):
        problems.append(f"last round: {totals.last_round}, but {rounds} are under way")
    return problems


def check_tickets(connection: Connection, stored: StoredStudy) -> list[str]:
    """What does not fit: every ticket is open, closed or told, exactly one of them."""
    key, progress, totals = stored.key, stored.progress, stored.progress.totals

    def count(statement: Statement, *more: int) -> int:
        return int(statement(connection, key, *more)[0][0])

    pairs = [
        ("tickets", totals.tickets, count(_NOT_HELD) + count(_TOLD)),
        ("told tickets that wait", count(_HELD_TICKETS), count(_LOGGED_TICKETS, key)),
        ("told rewards that wait", int(progress.held.sum()), count(_HELD_REWARDS)),
        ("pulls that rounds wait for", progress.out, int(progress.pending.sum())),
        ("failures logged", totals.failed, count(_FAILURES)),
    ]
    problems = [
        f"{what}: {found}, but {expected} by the log"
        for what, found, expected in pairs
        if found != expected
    ]
    problems += [
        f"there cannot be a ticket {number} of this arm, pull or value"
        for number in _IMPOSSIBLE.column(
            connection, key, len(progress.arms), totals.tickets, totals.tickets, totals.last_round
        )
    ]
    problems += [
        f"pull {slot} is of two arms or rounds, or out twice"
        for slot in _PULLS_OF_TWO.column(connection, key)
    ]
    problems += [
        f"ticket {number} was given back by its row or by the log of failures, not by both"
        for number in _GIVEN_BACK.column(connection, key)
    ]
    return problems + _check_pending(connection, stored) + _check_held(connection, stored)


def _check_pending(connection: Connection, stored: StoredStudy) -> list[str]:
    progress = stored.progress
    counts = np.zeros_like(progress.pending)
    for arm, number in _PENDING(connection, stored.key):
        if 0 <= arm < len(counts):
            counts[arm] = number
    out: dict[int, int] = dict(_OUT(connection, stored.key))
    planned = {live.id: live.out for live in progress.rounds if live.out}
    problems = [f"pulls out by round: {out}, but {planned} are planned"] if out != planned else []
    return problems + [
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
