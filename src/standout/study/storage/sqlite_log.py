"""Writing to SQLite's write-ahead log side by side: the lock, and the wait for the disk.

A transaction is committed into the log and lets go of the lock before the log is
on disk; only then is the disk waited for, and only then does the call return. So
one process computes while another waits, and the disk serves several at once. A
transaction that is on disk has all that were committed before it on disk, too:
the log is one file. (What SQLite calls `synchronous=FULL` waits with the lock.)
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path

from standout.errors import StorageError, UncertainError

LOCKED = (5, 6)
"""SQLite's codes for a database or a table that somebody else has locked."""
_FIRST_STEP, _LAST_STEP, _GROWTH = 0.0003, 0.003, 1.5
"""Seconds between two looks at a lock that somebody else has.

Who has just written comes back at once, and finds the lock free while the disk is busy;
who has waited for long looks seldom. So a few go on for a while and then others do: each
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


class LogSync:
    """Makes what is in a log safe. SQLite takes no locks on this file: it may be opened again."""

    def __init__(self, log: Path, number: int) -> None:
        self._log, self._number = log, number
        self._failed: str | None = None

    @classmethod
    def of(cls, log: Path, identity: tuple[int, int] | None) -> LogSync | None:
        """For the log of this device and inode; None if that is not there (any more)."""
        try:
            made = cls(log, os.open(log, os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError:
            return None
        found = os.fstat(made._number)
        return made if (found.st_dev, found.st_ino) == identity else None

    def __call__(self) -> None:
        """Wait for the disk.

        Raises `UncertainError` if it fails, and then every time: the system
        reports an error once, and would say that all is well afterwards.
        """
        if self._failed is None:
            try:
                os.fdatasync(self._number)
                return
            except OSError as error:
                self._failed = str(error.strerror)
        raise UncertainError(
            f"{self._log}: the disk could not take what was written ({self._failed}); it may be "
            "lost. Check the disk, then open the study again"
        )

    def check(self) -> None:
        """Refuse to write on after a failure; raises `StorageError`."""
        if self._failed is not None:
            raise StorageError(
                f"{self._log}: the disk failed before ({self._failed}); nothing was written. "
                "Check the disk, then open the study again"
            )

    def __del__(self) -> None:
        os.close(self._number)
