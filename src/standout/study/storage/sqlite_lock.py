"""Waiting for SQLite's write lock.

A commit waits for the disk before it lets go of the lock, and before anybody sees it
(`synchronous=FULL`): what is shown is safe. Those who wait meanwhile share the next commit
(`standout.study.inbox`), so that to wait with the lock costs them little.
"""

from __future__ import annotations

import random
import sqlite3
import time

LOCKED = (5, 6)
"""SQLite's codes for a database or a table that somebody else has locked."""
_FIRST_STEP, _LAST_STEP, _GROWTH = 0.0003, 0.003, 1.5
"""Seconds between two looks at a lock that somebody else has.

Who has waited for long looks seldom. So a few go on for a while and then others do: each
change of hands costs the next one a look at what was written meanwhile.
"""


def is_locked(error: sqlite3.Error) -> bool:
    """Whether it says that somebody else has a lock."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in LOCKED


def begin_immediate(raw: sqlite3.Connection, patience: float) -> None:
    """Wait for the write lock in short random steps, for `patience` seconds at most.

    SQLite's own waiting grows to a tenth of a second a step, in which a
    busy neighbour takes the lock many times over: the connection must have none of it.
    """
    deadline: float | None = None
    step = _FIRST_STEP
    while True:
        try:
            raw.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.Error as error:
            now = time.monotonic()
            deadline = now + patience if deadline is None else deadline
            if not is_locked(error) or now > deadline:
                raise
        time.sleep(random.uniform(0.5, 1.5) * step)
        step = min(step * _GROWTH, _LAST_STEP)
