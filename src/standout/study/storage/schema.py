"""The tables of a study database, the same in SQLite and PostgreSQL.

A database may hold several studies. What grows with the rewards (`rewards`,
`failures`, `steps`) is an append-only log; what is needed to go on (`runs`,
`arms`, `tickets`, `rounds`) grows with the arms and with what is pending.
`trace` is thinned as it grows; `items` and the page are for people who rate,
`tokens` for whoever comes over HTTP; `bases` and `base_arms` are how a study of
an older version stood when its steps began to be kept; `deleted` is what is left of studies
that were deleted: their numbers, never given again, and the last digest of each.

The columns are in `versions`, whose frozen statements make the tables. What their names
do not say:

- `studies.fields`: names and widths of what `arms.memory` lists; `page`: how the rating
  page asks people, as JSON; `ordered`: whether an arm's rewards are counted in the order
  of asking.
- `runs.seq` goes up with every change, and `arms.seq` is its value at an arm's last change;
  `runs.steps` and `head`: how many steps there are, and the digest of the last one; `changed`:
  settings that are not those of `studies` any more, and places in the log that are void, as JSON.
- `arms.held`: told rewards that wait for an earlier pull.
- `tickets.slot`: the first ticket of this pull; a pull handed out again keeps its slot.
  `logged`: place in the log of a reward that waits.
- `rewards.counted`: false only beyond the budget; such a reward is kept, but in no total. One
  that was made void later is in no total either: `runs.changed` and the step say so.
- `items.content`: JSON, only for arms that have something to show.
- `trace.lower_low`, `upper_low`: the low side's threshold, where both sides are asked.
- `tokens.study`: the one study that it opens; all of them if null; `made_by`, `revoked_by`: empty
  where that was not kept.
- `steps.engine`: by which version of the numbers it was worked out (`chain.ENGINE`); `key`: who
  sends the same again gets this step's receipt, and nothing is done; `request`: digest of what
  was sent with a key; `first`, `logged`: place in the log of its first reward, and how many it
  has there; `counted`: places in the order in which they were counted, null for its own in
  order; `decided`: positions that became certain, as JSON (the normal ones, the outliers);
  `ended`: whether intervals and verdicts were brought up to date at its end; `reason`: why the
  study stopped, if it did so here; `note`: what was paused, resumed, set or made void, as
  JSON; `digest` covers the digest before, this row and its rewards (see `chain`).
"""

from __future__ import annotations

from enum import IntEnum

from standout.study.storage.connection import Connection
from standout.study.storage.statements import Statement


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
    """Given back without a reward."""


TABLES = tuple(
    f"standout_{name}"
    for name in (
        "studies", "runs", "arms", "tickets", "rounds", "rewards", "failures", "items", "trace",
        "tokens", "steps", "bases", "base_arms", "deleted",
    )
)  # fmt: skip
"""All but the one that holds the version of the schema."""

_COLUMNS = Statement(
    "SELECT name FROM pragma_table_info(?)",
    "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 "
    "AND NOT attisdropped ORDER BY attnum",
)


def columns_of(connection: Connection, table: str) -> list[str]:
    """The columns of a table, as they are in the database; none if there is no such table."""
    return [name for (name,) in _COLUMNS(connection, table)]
