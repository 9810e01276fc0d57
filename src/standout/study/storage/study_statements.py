"""The statements of `stored_study`: the run's row, changed arms, rounds under way."""

from __future__ import annotations

from typing import NamedTuple

from standout.study.storage.statements import Statement, insert_into

COUNTERS = ("seq", "pulls", "surplus", "log", "tickets", "failed", "last_round", "steps")

LOCKS = 7382095
"""What the numbers of studies are locked under on PostgreSQL."""


class RunRow(NamedTuple):
    """The row of a study's run."""

    seq: int
    pulls: int
    surplus: int
    log: int
    tickets: int
    failed: int
    last_round: int
    steps: int
    live: str
    reason: str
    stopped: float | None
    head: bytes
    rng: str
    scalars: str
    changed: str | None


_COLUMNS = ", ".join(RunRow._fields)
READ_RUN = Statement(
    f"SELECT {_COLUMNS} FROM standout_runs WHERE study = ?",
    # The server's clock comes with the row, since machines may differ.
    f"SELECT {_COLUMNS}, extract(epoch FROM clock_timestamp())::float8 FROM standout_runs "
    "WHERE study = ?",
)
LOCK_RUN = Statement(
    # On SQLite the transaction itself sees to it that nobody else writes.
    READ_RUN.sqlite,
    READ_RUN.postgresql.replace("%s", "?") + " FOR UPDATE",
)
READ_SEQ = Statement(
    "SELECT seq FROM standout_runs WHERE study = ?",
    "SELECT seq, extract(epoch FROM clock_timestamp())::float8 FROM standout_runs WHERE study = ?",
)
LOCK_SEQ = Statement(READ_SEQ.sqlite, READ_SEQ.postgresql.replace("%s", "?") + " FOR UPDATE")
QUEUE = Statement("SELECT 1", f"SELECT pg_advisory_xact_lock({LOCKS}, ?)")
"""Wait for one's turn. Who waits for a row instead finds it changed, and has to look again."""
READ_ARMS = Statement(
    "SELECT position, pulls, total, verdict, pending, failures, streak, paused, memory, held "
    "FROM standout_arms WHERE study = ? AND seq > ?"
)
ARM_VALUES = (
    "pulls", "total", "verdict", "pending", "failures", "streak", "paused", "memory", "held", "seq",
)  # fmt: skip
WRITE_ARM = Statement(
    f"UPDATE standout_arms SET {', '.join(f'{name} = ?' for name in ARM_VALUES)} "
    "WHERE study = ? AND position = ?"
)
_FAST = RunRow._fields[:-3]
WRITE_COUNTERS, WRITE_RUN = (
    Statement(
        f"UPDATE standout_runs SET {', '.join(f'{name} = ?' for name in names)} WHERE study = ?"
    )
    for names in (_FAST, RunRow._fields)
)
ADD_RUN = insert_into("standout_runs", (*RunRow._fields, "study"))
ADD_ROUND = insert_into("standout_rounds", ("study", "id", "arms", "amounts"))
READ_ROUNDS = Statement("SELECT id, arms, amounts FROM standout_rounds WHERE study = ? AND id > ?")
FIRST_DUE = Statement(
    "SELECT expires FROM standout_tickets INDEXED BY standout_tickets_due "
    "WHERE study = ? AND status = 0 ORDER BY expires LIMIT 1"
)
WRITE_FIELDS = Statement("UPDATE standout_studies SET fields = ? WHERE id = ?")
DROP_ROUND = Statement("DELETE FROM standout_rounds WHERE study = ? AND id = ?")
changed_since = Statement("SELECT position FROM standout_arms WHERE study = ? AND seq > ?")
"""The positions of the arms that have changed since a study was at a `seq`."""
