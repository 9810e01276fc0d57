"""The tables of a study database: one definition for SQLite and PostgreSQL.

A database may hold several studies. What grows with the rewards (`rewards`,
`failures`, `steps`) is an append-only log; what is needed to go on (`runs`,
`arms`, `tickets`, `rounds`) grows with the arms and with what is pending.
`trace` is thinned as it grows; `items` and the page are for people who rate,
`tokens` for whoever comes over HTTP; `bases` and `base_arms` are how a study of
an older version stood when its steps began to be kept.

These definitions are for reading and writing; tables are made by the frozen
statements of `versions`, and a test compares the two.
"""

from __future__ import annotations

from enum import IntEnum

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    literal_column,
)


class TicketStatus(IntEnum):
    """Where a ticket stands. A ticket whose reward is counted leaves the table for the log."""

    PENDING = 0
    """Handed out, owed a reward."""
    HELD = 1
    """Told, but not counted yet: in an ordered study, an earlier pull of its arm is pending."""
    EXPIRED = 2
    """Its lease ran out and the pull was handed out again, as another ticket."""
    CANCELLED = 3
    """Another ticket brought this pull's reward first."""
    FAILED = 4
    """PriorFacts back without a reward."""


metadata = MetaData()

schema = Table(
    "standout_schema",
    metadata,
    Column("version", Integer, nullable=False),
)

studies = Table(
    "standout_studies",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("problem", Text, nullable=False),
    Column("method", Text, nullable=False),
    # Names and widths of what `arms.memory` lists.
    Column("fields", Text, nullable=False),
    Column("budget", BigInteger),
    Column("lease", Double, nullable=False),
    Column("pause_after", Integer),
    # Whether an arm's rewards are counted in the order of asking.
    Column("ordered", Boolean, nullable=False),
    # How the rating page asks people, as JSON (version 2).
    Column("page", Text),
)

runs = Table(
    "standout_runs",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    # Goes up with every change; an arm carries the value at its own last change.
    Column("seq", BigInteger, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("surplus", BigInteger, nullable=False),
    Column("log", BigInteger, nullable=False),
    Column("tickets", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("last_round", BigInteger, nullable=False),
    Column("rng", Text, nullable=False),
    Column("scalars", Text, nullable=False),
    Column("live", Text, nullable=False),
    Column("reason", String(32), nullable=False),
    Column("stopped", Double),
    # How many steps there are, and the digest of the last one (version 3).
    Column("steps", BigInteger, nullable=False, server_default="0"),
    Column("head", LargeBinary),
)

arms = Table(
    "standout_arms",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    Column("verdict", SmallInteger, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("streak", Integer, nullable=False),
    Column("paused", Text),
    Column("memory", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    # Told rewards that wait for an earlier pull (version 3).
    Column("held", Integer, nullable=False, server_default="0"),
    Index("standout_arms_seq", "study", "seq"),
    sqlite_with_rowid=False,
)

tickets = Table(
    "standout_tickets",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("arm", Integer, nullable=False),
    # The first ticket of this pull; a pull handed out again keeps its slot.
    Column("slot", BigInteger, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("worker", Text, nullable=False),
    Column("asked", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("value", Double),
    # Place in the log of a reward that waits (version 3).
    Column("logged", BigInteger),
    # Of open tickets only: closed ones stay for late answers, and are many. The migrations
    # say so; to say it here would import PostgreSQL's dialect at every start.
    Index("standout_tickets_open", "study", "arm", "status", "slot"),
    Index("standout_tickets_due", "study", "expires", "id"),
    Index("standout_tickets_holder", "study", "worker", "id"),
    sqlite_with_rowid=False,
)

# Written out, not as parameters: only so do the databases see that a partial index serves.
IS_PENDING = tickets.c.status == literal_column(str(int(TicketStatus.PENDING)))
IS_OPEN = tickets.c.status <= literal_column(str(int(TicketStatus.HELD)))

rounds = Table(
    "standout_rounds",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("arms", Text, nullable=False),
    Column("amounts", Text, nullable=False),
)

rewards = Table(
    "standout_rewards",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("value", Double, nullable=False),
    Column("ticket", BigInteger),
    Column("asked", Double),
    Column("worker", Text, nullable=False),
    # False only for a reward beyond the budget: kept, but in no total.
    Column("counted", Boolean, nullable=False),
    Index("standout_rewards_ticket", "study", "ticket", unique=True),
    Index("standout_rewards_worker", "study", "worker", "seq"),
    sqlite_with_rowid=False,
)

failures = Table(
    "standout_failures",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("ticket", BigInteger, nullable=False),
    Column("worker", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("standout_failures_worker", "study", "worker", "arm"),
    sqlite_with_rowid=False,
)

# Since version 2 ------------------------------------------------------------------

items = Table(
    "standout_items",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    # JSON; only for arms that have something to show.
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

trace = Table(
    "standout_trace",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("pulls", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("lower", Double, nullable=False),
    Column("upper", Double, nullable=False),
    # The low side's threshold, where both sides are asked.
    Column("lower_low", Double),
    Column("upper_low", Double),
    Column("undecided", Integer, nullable=False),
    sqlite_with_rowid=False,
)

tokens = Table(
    "standout_tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("role", String(16), nullable=False),
    # The one study that it opens; all of them if null.
    Column("study", Text),
    Column("label", Text, nullable=False),
    Column("salt", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("created", Double, nullable=False),
    Column("revoked", Double),
)

# Since version 3 ------------------------------------------------------------------

steps = Table(
    "standout_steps",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    # By which version of the numbers it was worked out (`chain.ENGINE`).
    Column("engine", SmallInteger, nullable=False),
    # Who sends the same key again gets this step's receipt, and nothing is done.
    Column("key", Text),
    # Digest of what was sent with a key.
    Column("request", LargeBinary),
    # Place in the log of its first reward, and how many it has there.
    Column("first", BigInteger, nullable=False),
    Column("logged", Integer, nullable=False),
    Column("repeated", Integer, nullable=False),
    Column("surplus", Integer, nullable=False),
    # Places in the order in which they were counted; null: its own, in order.
    Column("counted", Text),
    # Positions that became certain, as JSON: the normal ones, the outliers.
    Column("decided", Text),
    # Whether intervals and verdicts were brought up to date at its end.
    Column("ended", Boolean, nullable=False),
    # Why the study stopped, if it did so here.
    Column("reason", String(32)),
    # What was paused or resumed, as JSON.
    Column("note", Text),
    # Covers the digest before, this row and its rewards (see `chain`).
    Column("digest", LargeBinary, nullable=False),
    Index("standout_steps_key", "study", "key", unique=True),
    sqlite_with_rowid=False,
)

bases = Table(
    "standout_bases",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("fields", Text, nullable=False),
    Column("scalars", Text, nullable=False),
    Column("pulls", BigInteger, nullable=False),
    Column("surplus", BigInteger, nullable=False),
    Column("log", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("reason", String(32), nullable=False),
    Column("stopped", Double),
)

base_arms = Table(
    "standout_base_arms",
    metadata,
    Column("study", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("pulls", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    Column("verdict", SmallInteger, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("streak", Integer, nullable=False),
    Column("paused", Text),
    Column("memory", Text, nullable=False),
    sqlite_with_rowid=False,
)
