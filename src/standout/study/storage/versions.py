"""The statements that lead from one version of the schema to the next, word for word.

They are never edited once released, whatever becomes of the tables since: an
old database goes through the same steps as it always did. `{bytes}` and
`{tail}` differ between the databases, see `write_for`.
"""

from __future__ import annotations

FIRST = (
    "CREATE TABLE standout_studies (id INTEGER NOT NULL, name TEXT NOT NULL, "
    "created DOUBLE PRECISION NOT NULL, problem TEXT NOT NULL, method TEXT NOT NULL, "
    "fields TEXT NOT NULL, budget BIGINT, lease DOUBLE PRECISION NOT NULL, pause_after INTEGER, "
    "ordered BOOLEAN NOT NULL, PRIMARY KEY (id))",
    "CREATE TABLE standout_runs (study INTEGER NOT NULL, seq BIGINT NOT NULL, "
    "pulls BIGINT NOT NULL, surplus BIGINT NOT NULL, log BIGINT NOT NULL, "
    "tickets BIGINT NOT NULL, failed BIGINT NOT NULL, last_round BIGINT NOT NULL, "
    "rng TEXT NOT NULL, scalars TEXT NOT NULL, live TEXT NOT NULL, reason VARCHAR(32) NOT NULL, "
    "stopped DOUBLE PRECISION, PRIMARY KEY (study))",
    "CREATE TABLE standout_arms (study INTEGER NOT NULL, position INTEGER NOT NULL, "
    "name TEXT NOT NULL, pulls BIGINT NOT NULL, total DOUBLE PRECISION NOT NULL, "
    "verdict SMALLINT NOT NULL, pending INTEGER NOT NULL, failures INTEGER NOT NULL, "
    "streak INTEGER NOT NULL, paused TEXT, memory TEXT NOT NULL, seq BIGINT NOT NULL, "
    "PRIMARY KEY (study, position)) {tail}",
    "CREATE INDEX standout_arms_seq ON standout_arms (study, seq)",
    "CREATE TABLE standout_tickets (study INTEGER NOT NULL, id BIGINT NOT NULL, "
    "arm INTEGER NOT NULL, slot BIGINT NOT NULL, round BIGINT NOT NULL, status SMALLINT NOT NULL, "
    "worker TEXT NOT NULL, asked DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL, "
    "value DOUBLE PRECISION, PRIMARY KEY (study, id)) {tail}",
    "CREATE INDEX standout_tickets_expires ON standout_tickets (study, status, expires)",
    "CREATE INDEX standout_tickets_arm ON standout_tickets (study, arm)",
    "CREATE TABLE standout_rounds (study INTEGER NOT NULL, id BIGINT NOT NULL, "
    "arms TEXT NOT NULL, amounts TEXT NOT NULL, PRIMARY KEY (study, id))",
    "CREATE TABLE standout_rewards (study INTEGER NOT NULL, seq BIGINT NOT NULL, "
    "time DOUBLE PRECISION NOT NULL, arm INTEGER NOT NULL, value DOUBLE PRECISION NOT NULL, "
    "ticket BIGINT, asked DOUBLE PRECISION, worker TEXT NOT NULL, counted BOOLEAN NOT NULL, "
    "PRIMARY KEY (study, seq)) {tail}",
    "CREATE UNIQUE INDEX standout_rewards_ticket ON standout_rewards (study, ticket)",
    "CREATE TABLE standout_failures (study INTEGER NOT NULL, seq BIGINT NOT NULL, "
    "time DOUBLE PRECISION NOT NULL, arm INTEGER NOT NULL, ticket BIGINT NOT NULL, "
    "worker TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (study, seq)) {tail}",
)
"""Version 1: studies, what is pending, and the log."""

SECOND = (
    "ALTER TABLE standout_studies ADD COLUMN page TEXT",
    "CREATE TABLE standout_items (study INTEGER NOT NULL, position INTEGER NOT NULL, "
    "content TEXT NOT NULL, PRIMARY KEY (study, position)) {tail}",
    "CREATE TABLE standout_trace (study INTEGER NOT NULL, pulls BIGINT NOT NULL, "
    "time DOUBLE PRECISION NOT NULL, lower DOUBLE PRECISION NOT NULL, "
    "upper DOUBLE PRECISION NOT NULL, lower_low DOUBLE PRECISION, upper_low DOUBLE PRECISION, "
    "undecided INTEGER NOT NULL, PRIMARY KEY (study, pulls)) {tail}",
    "CREATE TABLE standout_tokens (id VARCHAR(16) NOT NULL, role VARCHAR(16) NOT NULL, "
    "study TEXT, label TEXT NOT NULL, salt VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL, "
    "created DOUBLE PRECISION NOT NULL, revoked DOUBLE PRECISION, PRIMARY KEY (id))",
)
"""Version 2: items and a page for raters, a trace of the threshold, tokens."""

THIRD = (
    "ALTER TABLE standout_runs ADD COLUMN steps BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE standout_runs ADD COLUMN head {bytes}",
    "ALTER TABLE standout_arms ADD COLUMN held INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE standout_tickets ADD COLUMN logged BIGINT",
    "CREATE TABLE standout_steps (study INTEGER NOT NULL, number BIGINT NOT NULL, "
    "time DOUBLE PRECISION NOT NULL, kind SMALLINT NOT NULL, engine SMALLINT NOT NULL, key TEXT, "
    "request {bytes}, first BIGINT NOT NULL, logged INTEGER NOT NULL, repeated INTEGER NOT NULL, "
    "surplus INTEGER NOT NULL, counted TEXT, decided TEXT, ended BOOLEAN NOT NULL, "
    "reason VARCHAR(32), note TEXT, digest {bytes} NOT NULL, PRIMARY KEY (study, number)) {tail}",
    "CREATE UNIQUE INDEX standout_steps_key ON standout_steps (study, key)",
    "CREATE TABLE standout_bases (study INTEGER NOT NULL, fields TEXT NOT NULL, "
    "scalars TEXT NOT NULL, pulls BIGINT NOT NULL, surplus BIGINT NOT NULL, log BIGINT NOT NULL, "
    "failed BIGINT NOT NULL, reason VARCHAR(32) NOT NULL, stopped DOUBLE PRECISION, "
    "PRIMARY KEY (study))",
    "CREATE TABLE standout_base_arms (study INTEGER NOT NULL, position INTEGER NOT NULL, "
    "pulls BIGINT NOT NULL, total DOUBLE PRECISION NOT NULL, verdict SMALLINT NOT NULL, "
    "failures INTEGER NOT NULL, streak INTEGER NOT NULL, paused TEXT, memory TEXT NOT NULL, "
    "PRIMARY KEY (study, position)) {tail}",
    # Status 1: told rewards that wait for an earlier pull of their arm.
    "UPDATE standout_tickets SET logged = (SELECT seq FROM standout_rewards "
    "WHERE standout_rewards.study = standout_tickets.study "
    "AND standout_rewards.ticket = standout_tickets.id) WHERE status = 1",
    "UPDATE standout_arms SET held = (SELECT count(*) FROM standout_tickets "
    "WHERE standout_tickets.study = standout_arms.study "
    "AND standout_tickets.arm = standout_arms.position AND standout_tickets.status = 1)",
    "INSERT INTO standout_bases (study, fields, scalars, pulls, surplus, log, failed, reason, "
    "stopped) SELECT r.study, s.fields, r.scalars, r.pulls, r.surplus, r.log, r.failed, r.reason, "
    "r.stopped FROM standout_runs r JOIN standout_studies s ON s.id = r.study",
    "INSERT INTO standout_base_arms (study, position, pulls, total, verdict, failures, streak, "
    "paused, memory) SELECT study, position, pulls, total, verdict, failures, streak, paused, "
    "memory FROM standout_arms",
)
"""Version 3: steps with keys and digests, and how older studies stood when these began."""

FOURTH = (
    "DROP INDEX standout_tickets_arm",
    "DROP INDEX standout_tickets_expires",
    # Status 0: pending, 1: told but waiting. Closed tickets are kept for late answers, and are in
    # no index: there may be millions.
    "CREATE INDEX standout_tickets_open ON standout_tickets (study, arm, status, slot) "
    "WHERE status <= 1",
    "CREATE INDEX standout_tickets_due ON standout_tickets (study, expires, id) WHERE status = 0",
    "CREATE INDEX standout_tickets_holder ON standout_tickets (study, worker, id) WHERE status = 0",
    "CREATE INDEX standout_rewards_worker ON standout_rewards (study, worker, seq)",
    "CREATE INDEX standout_failures_worker ON standout_failures (study, worker, arm)",
)
"""Version 4: indexes that do not grow with what is over."""

FIFTH = (
    "ALTER TABLE standout_runs ADD COLUMN changed TEXT",
    "CREATE TABLE standout_deleted (study INTEGER NOT NULL, name TEXT NOT NULL, "
    "time DOUBLE PRECISION NOT NULL, worker TEXT NOT NULL, reason TEXT NOT NULL, "
    "pulls BIGINT NOT NULL, steps BIGINT NOT NULL, head {bytes} NOT NULL, PRIMARY KEY (study))",
)
"""Version 5: settings that were changed and rewards made void; what is left of deleted studies."""

SIXTH = (
    "ALTER TABLE standout_tokens ADD COLUMN made_by TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE standout_tokens ADD COLUMN revoked_by TEXT NOT NULL DEFAULT ''",
)
"""Version 6: who made and who revoked a token."""

SEVENTH = (
    # Raters are called role:token:cookie. Whoever measures under another name is never looked
    # for by it, and need not pay for one more index with every reward.
    "DROP INDEX standout_rewards_worker",
    "CREATE INDEX standout_rewards_rater ON standout_rewards (study, worker, seq) "
    "WHERE substr(worker, 1, 6) IN ('owner:', 'rater:', 'worker')",
)
"""Version 7: less to write with a reward; short rounds are kept with the run."""

SEVENTH_ON_SQLITE = (
    "DROP INDEX standout_tickets_open",
    # As before, in words that SQLite does not take for the bounds of a search.
    "CREATE INDEX standout_tickets_open ON standout_tickets (study, arm, status, slot) "
    "WHERE status + 0 <= 1",
)

APPEND_ONLY = {
    1: ("standout_rewards", "standout_failures"),
    3: ("standout_steps", "standout_bases", "standout_base_arms"),
}
"""The tables that refuse to be edited, by the version that made them."""


def write_for(dialect: str, statement: str) -> str:
    """A statement in the words of SQLite or PostgreSQL."""
    is_sqlite = dialect == "sqlite"
    return statement.format(
        bytes="BLOB" if is_sqlite else "BYTEA", tail="WITHOUT ROWID" if is_sqlite else ""
    ).rstrip()


def guards(table: str, dialect: str) -> dict[str, str]:
    """The triggers of an append-only table, by name: the statement that makes each."""
    if dialect == "sqlite":
        return {
            f"{table}_no_{event}": f"CREATE TRIGGER {table}_no_{event} BEFORE {event} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            for event in ("update", "delete")
        }
    return {
        f"{table}_keep": f"CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {table}_keep()"
    }


def guard_body(table: str) -> str:
    """What PostgreSQL's trigger of an append-only table runs."""
    return f"BEGIN RAISE EXCEPTION '{table} is append-only'; END"
