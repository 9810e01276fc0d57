"""The log of rewards and the log of failures: adding to them, and reading them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from standout.study.storage.connection import Connection, Row
from standout.study.storage.statements import Statement, insert_columns

PART = 20_000
"""Rows that are read at once."""
_REWARDS = ("study", "seq", "time", "arm", "value", "ticket", "asked", "worker", "counted")
_FAILURES = ("study", "seq", "time", "arm", "ticket", "worker", "reason")
_TOLD = "SELECT ticket, value FROM standout_rewards WHERE study = ? AND ticket "
_TOLD_ONE, _TOLD_ANY = Statement(_TOLD + "= ?"), Statement(_TOLD + "= ANY(?)")
told_by = Statement("SELECT time, worker FROM standout_rewards WHERE study = ? AND ticket = ?")
"""When a ticket was told, and by whom."""
_ANSWERED = Statement(
    "SELECT seq, arm FROM standout_rewards WHERE study = ? AND worker = ? ORDER BY seq"
)
_ANSWERED_BY_RATER = Statement(
    "SELECT seq, arm FROM standout_rewards INDEXED BY standout_rewards_rater "
    "WHERE study = ? AND worker = ? AND substr(worker, 1, 6) IN ('owner:', 'rater:', 'worker') "
    "ORDER BY seq"
)
arms_given_back = Statement(
    "SELECT DISTINCT arm FROM standout_failures INDEXED BY standout_failures_worker "
    "WHERE study = ? AND worker = ?"
)
"""The arms of which a worker gave a ticket back."""
latest = Statement(
    "SELECT seq, arm, value FROM standout_rewards WHERE study = ? AND seq > ? ORDER BY seq"
)
"""Place, arm and value of the rewards behind a place, in the order of telling."""
_SELECT = (
    "SELECT seq, time, arm, value, ticket, asked, worker, counted FROM standout_rewards "
    "WHERE study = ? "
)
_ALL = Statement(_SELECT + "ORDER BY seq")
read_part = Statement(f"{_SELECT} AND seq > ? AND seq <= ? ORDER BY seq LIMIT {PART}")
"""Some rows of the log behind one place, up to another."""
counted_values = Statement(
    "SELECT seq, value FROM standout_rewards WHERE study = ? AND arm = ? AND counted ORDER BY seq"
)
"""Place and value of an arm's rewards within the budget, in the order of telling."""
_AT = Statement("SELECT seq, arm, value, counted FROM standout_rewards WHERE study = ? AND seq = ?")
waiting_places = Statement("SELECT logged FROM standout_tickets WHERE study = ? AND status = 1")
"""The places in the log of told rewards that wait for an earlier pull."""
place_of = Statement("SELECT seq FROM standout_rewards WHERE study = ? AND ticket = ?")
"""The place in the log of a ticket's reward."""
of_arm = Statement(_SELECT + "AND arm = ? AND seq > ? AND seq <= ? ORDER BY seq")
"""The rows of one arm behind a place of the log, up to another; looks at all that lie there."""
newest_failures = Statement(
    f"SELECT {', '.join(_FAILURES[1:])} FROM standout_failures WHERE study = ? AND seq < ? "
    "ORDER BY seq DESC LIMIT ?"
)
"""Failures before a number, so many at most, newest first, without the study's key."""


def add(connection: Connection, rows: Sequence[Row]) -> None:
    """Log rewards: study, place, time, arm, value, ticket, asked, worker, counted of each."""
    insert_columns(connection, "standout_rewards", _REWARDS, rows, len(rows))


def add_failure(connection: Connection, row: Row) -> None:
    """Log a failure: study, number, time, arm, ticket, worker, reason."""
    insert_columns(connection, "standout_failures", _FAILURES, [row], 1)


def values_told(connection: Connection, key: int, numbers: Sequence[int]) -> dict[int, float]:
    """Values of tickets that are in the log."""
    if not numbers:
        return {}
    if connection.is_sqlite or len(numbers) == 1:
        rows = [row for number in numbers for row in _TOLD_ONE(connection, key, number)]
    else:
        rows = _TOLD_ANY(connection, key, list(numbers))
    return {ticket: value for ticket, value in rows}  # noqa: C416


def arms_told(connection: Connection, key: int, worker: str) -> list[Row]:
    """Place and arm of all rewards that a worker told, in the order of telling.

    Of one who is no rater by name (role:token:cookie), this looks through the whole log.
    """
    is_rater = worker[:6] in ("owner:", "rater:", "worker")
    return (_ANSWERED_BY_RATER if is_rater else _ANSWERED)(connection, key, worker)


def batches(connection: Connection, key: int) -> Iterator[list[Any]]:
    """The rows of the log, straight from the driver, some at a time."""
    return _ALL.parts(connection, PART, key)


def reward_at(connection: Connection, key: int, place: int) -> tuple[int, float, bool] | None:
    """Arm, value and whether it is within the budget, of the reward at a place of the log."""
    rows = _AT(connection, key, place)
    return (rows[0][1], rows[0][2], bool(rows[0][3])) if rows else None
