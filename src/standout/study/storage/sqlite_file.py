"""A SQLite file and the write-ahead log beside it: are they whole, and still the ones in use?

A file that is cleanly closed is one file: the log has been worked in, and the header says
so (rollback mode). While somebody works on it the header says that a log belongs to it.
So a file that asks for a log where there is none was copied without it, or lost it:
rewards may be missing. SQLite itself would say nothing.

SQLite changes the header just before it makes the log and just after it removes it. A
process may be killed in between, so each change is announced by a small file of its own
(`study.db-mode-…`), which is removed when it is done.
"""

from __future__ import annotations

import ctypes
import os
import random
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

try:
    import fcntl
except ImportError:  # Windows: there nothing says whether the maker of an announcement lives.
    fcntl = None  # type: ignore[assignment]

from standout.errors import MovedError, StorageError
from standout.study.storage.sqlite_lock import begin_immediate, is_locked

APPLICATION = 0x53744F75
"""SQLite's application id of files that standout closes as described above."""
INCOMPLETE = 0x53744F21
"""The same for a file of which the log was missing when it was opened."""

_HEADER, _MODES = 20, slice(18, 20)
_LEAVING = 50
"""How often those who leave at once try to be the last."""
_TICK = 0.02
"""Seconds, longer than the step in which a system counts the times of files."""

_LOG_PAGES = 4000

Identity = tuple[int, int]
_of_parents: set[Identity | None] = set()
"""Files that cannot be used in this process (`leave_to_parent`)."""


def _identity(path: str | Path) -> Identity | None:
    """Device and inode; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _take(number: int) -> None:
    """Lock an open file, without waiting; raises OSError if somebody else has it."""
    if fcntl is not None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlink_if_dead(announcement: Path) -> None:
    """Remove what a process left behind that was killed amid a change.

    One that lives may still be at it, and be the last to close the file.
    """
    with suppress(OSError):
        number = os.open(announcement, os.O_RDWR | os.O_CLOEXEC)
        try:
            _take(number)
            announcement.unlink(missing_ok=True)
        finally:
            os.close(number)


class _CutShortError(Exception):
    """A change of the mode that did not come to its end."""


class SqliteFile:
    """A database file as this process has it open.

    `is_read_only`: file or folder cannot be written to, so that only reading
    is possible.
    """

    def __init__(self, path: Path, *, create: bool, patience: float) -> None:
        self.path, self.patience = path, patience
        self.log = Path(os.path.realpath(path) + "-wal")
        self._may_create, self._real = create, Path(os.path.realpath(path))
        self._name, self._log_name = str(path), str(self.log)  # Looked at with every change.
        self.is_read_only = path.exists() and not (
            _may_write(str(path)) and _may_write(str(self._real.parent))
        )
        self._file: Identity | None = None
        self._log: Identity | None = None
        self._frozen: tuple[int, int] | None = None
        self._waits = patience
        # How it is before anything of ours could have changed it.
        self.had_log = self.log.exists()
        self._was_left_amid = bool(self._announcements())
        self._before = self._stamp()
        if not self.had_log and not self._was_left_amid:
            self._let_clock_tick()

    def _let_clock_tick(self) -> None:
        """See that any later change of the file shows in its time, which goes in steps.

        A file that is changed again meanwhile is being opened or closed by others.
        """
        if abs(time.time_ns() - self._before[0]) < _TICK * 1e9:
            time.sleep(_TICK)
            first, self._before = self._before, self._stamp()
            self._was_left_amid = first != self._before or bool(self._announcements())

    def _stamp(self) -> tuple[int, int]:
        with suppress(OSError):
            found = os.stat(self.path)
            return found.st_mtime_ns, found.st_size
        return 0, 0

    def connect(self) -> sqlite3.Connection:
        """A connection to the file that was there at first.

        Raises `MovedError` if that is no longer there.
        """
        known, before = self._file, _identity(self.path)
        if before in _of_parents:
            raise StorageError(
                f"{self.path} was being written to by another thread when this process was forked, "
                "and cannot be used here; start processes before threads, or by spawning"
            )
        if known is not None and before != known:
            raise self._moved()
        connection = sqlite3.connect(
            self._address(),
            uri=True,
            timeout=self.patience,
            # BEGIN is ours to say (see `Storage.write`).
            isolation_level=None,
            check_same_thread=False,
        )
        # A commit is on disk before anybody sees it.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        # The log is worked in every 16 MB: most of its pages are then written once for many.
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        found = _identity(self.path)
        if before is not None and found != before:
            connection.close()
            raise self._moved()
        self._file, self._log, self._may_create = found, None, False
        self._waits = self.patience
        return connection

    def leave_to_parent(self) -> None:
        """In a forked child: the parent has it open, and SQLite here believes in its locks."""
        if self._file is not None:
            _of_parents.add(self._file)

    def _address(self) -> str:
        mode = "rwc" if self._may_create else "rw"
        if self.is_read_only:
            # Without its shared memory a file in WAL mode can only be read as one that nobody
            # changes: true as long as there is no log; `check_unchanged` looks again.
            is_frozen = self.asks_for_log() and not self.has_log_content()
            self._frozen = self._stamp() if is_frozen else None
            mode = "ro&immutable=1" if is_frozen else "ro"
        return f"file:{quote(str(self.path))}?mode={mode}"

    def asks_for_log(self) -> bool:
        """Whether the header of a read-only file says that a log belongs to it.

        Only for files that this process cannot have open for writing: to close a
        file lets go of every lock that the process holds on it.
        """
        try:
            with self.path.open("rb") as file:
                return 2 in file.read(_HEADER)[_MODES]
        except OSError as error:
            raise StorageError(f"{self.path} cannot be read: {error.strerror}") from None

    def has_log_content(self) -> bool:
        """Whether there is a log with something in it."""
        try:
            return os.stat(self.log).st_size > 0
        except OSError:
            return False

    def prepare(self, raw: sqlite3.Connection, application: int, mode: str) -> str | None:
        """Mark the file as ours and begin a log; a remark if rewards may be missing.

        `application` is the id and `mode` the journal mode that it was found with.
        """
        is_lost = self._lost_its_log(application, mode)
        if is_lost and not self.is_read_only:
            # While others are there they have its log: nothing is missing.
            is_lost = self.make_whole(raw)
        if not self.is_read_only:
            if is_lost or application == 0:
                self._at_once(raw, f"application_id={INCOMPLETE if is_lost else APPLICATION}")
            self.begin_log(raw)
        if not is_lost and application != INCOMPLETE:
            return None
        return (
            f"{self.path} was copied while in use, without its log, or the log was removed: "
            "rewards may be missing. Look for the original and its -wal; to accept the file "
            "as it is, `standout study restore` it to another place"
        )

    def _lost_its_log(self, application: int, mode: str) -> bool:
        """Whether it asks for a log that is not there.

        If it was changed meanwhile, somebody has just opened it, which is no loss.
        """
        if application != APPLICATION or self.had_log or self._was_left_amid:
            return False
        if self.is_read_only:
            return self._frozen is not None
        return mode == "wal" and not self.has_log_content() and self._stamp() == self._before

    @property
    def has_log(self) -> bool:
        """Whether this process writes to a log."""
        return self._log is not None

    def begin_log(self, raw: sqlite3.Connection) -> None:
        """Begin a write-ahead log, unless a lock of others forbids it now.

        To go on without one is as safe, but slower.
        """
        left = self._announcements()
        with self._announced():
            mode = self._at_once(raw, "journal_mode=WAL")
            if mode is None:
                return
            if mode != "wal":
                raise StorageError(
                    f"{self.path} cannot keep a write-ahead log here; use a local disk"
                )
            raw.execute("PRAGMA schema_version").fetchone()  # With a first look it is there.
            self._log = _identity(self.log)
        for each in left:
            _unlink_if_dead(each)

    def _announcements(self) -> list[Path]:
        """Changes of the mode under way, or cut short by a kill."""
        start = f"{self._real.name}-mode-"
        try:
            with os.scandir(self._real.parent) as found:
                return [Path(each.path) for each in found if each.name.startswith(start)]
        except OSError:
            return []

    def _announce(self) -> tuple[Path, int] | None:
        """Make an announcement and lock it, for as long as we live; None if that cannot be done.

        Until it is locked others may take it for that of a dead process, and remove it: then
        there has to be another.
        """
        with suppress(OSError):  # A full disk: then only a kill right now would be misread.
            for _ in range(_LEAVING):
                place = self._real.with_name(f"{self._real.name}-mode-{secrets.token_hex(4)}")
                number = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                with suppress(BlockingIOError):
                    _take(number)
                    found = os.fstat(number)
                    if _identity(place) == (found.st_dev, found.st_ino):
                        return place, number
                os.close(number)
        return None

    @contextmanager
    def _announced(self) -> Iterator[None]:
        """Announce a change of the mode, until the block ends well.

        What an error has cut short (a full disk) stays announced, as after a kill: the
        next one who opens the file takes the announcement away.
        """
        made = self._announce()
        try:
            yield
            if made is not None:
                with suppress(OSError):
                    made[0].unlink(missing_ok=True)
        except _CutShortError:
            pass
        finally:
            if made is not None:
                os.close(made[1])

    def _at_once(self, raw: sqlite3.Connection, pragma: str) -> Any:
        """Run a pragma without waiting for anybody; its value, None where a lock forbids it."""
        self._wait_for(raw, 0.0)
        try:
            row = raw.execute(f"PRAGMA {pragma}").fetchone()
        except sqlite3.Error as error:
            if not is_locked(error):
                raise
            return None
        finally:
            self._wait_for(raw, self.patience)
        return row[0] if row else None

    def begin_immediate(self, raw: sqlite3.Connection) -> None:
        """Begin to write: wait for the lock, `patience` seconds at most. Raises `MovedError`."""
        if not self.has_log:
            self.begin_log(raw)
        self._wait_for(raw, 0.0)
        begin_immediate(raw, self.patience)
        if not self.has_log:
            # Without a log a commit has to wait for those who read.
            self._wait_for(raw, self.patience)

    def begin(self, raw: sqlite3.Connection) -> None:
        """Begin to read. Raises `MovedError`."""
        self._wait_for(raw, self.patience)
        raw.execute("BEGIN")
        self.check()

    def _wait_for(self, raw: sqlite3.Connection, seconds: float) -> None:
        """Let SQLite wait for locks itself, for so long; it is told only when that changes."""
        if seconds != self._waits:
            raw.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")
            self._waits = seconds

    @property
    def identity(self) -> Identity | None:
        """Device and inode of the file that was opened."""
        return self._file

    @property
    def is_current(self) -> bool:
        """Whether file and log still have their names."""
        try:
            found = os.stat(self._name)
            if self._file != (found.st_dev, found.st_ino):
                return False
            if self._log is not None:
                found = os.stat(self._log_name)
                return self._log == (found.st_dev, found.st_ino)
        except OSError:
            return False
        return True

    def check(self, *, is_done: bool = False) -> None:
        """See that file and log still have their names; raises `MovedError`.

        `is_done`: something has just been written, which then may be lost.
        """
        if not self.is_current:
            raise self._moved(is_done=is_done)

    def check_unchanged(self) -> None:
        """See that nobody changed a file that was read without locks."""
        if self._frozen is not None and (self._stamp() != self._frozen or self.has_log_content()):
            raise StorageError(f"{self.path} was changed while it was read; try again")

    def _moved(self, *, is_done: bool = False) -> MovedError:
        what = "what was just written may be lost" if is_done else "nothing was written"
        if _identity(self.path) is None:
            happened = "is no longer there"
        elif _identity(self.path) != self._file:
            happened = "is another file now"
        else:
            happened = f"lost its log {self.log.name}"
        return MovedError(
            f"{self.path} {happened}: it was moved, removed or replaced while in use; {what}. "
            "Put it back, or open the study again"
        )

    @contextmanager
    def leaving(self, raw: sqlite3.Connection) -> Iterator[bool]:
        """Close `raw` within the block: a file that nobody else uses becomes one whole file.

        Gives False if it must stay open: SQLite removes the log by its name when it
        closes, and if the name belongs to another file by now, that file's rewards
        would be lost.
        """
        if self.is_read_only or not self.is_current:
            yield self.is_read_only
            return
        with self._announced():
            is_whole = self.make_whole(raw)
            yield True
            if not is_whole and not self._settle():
                raise _CutShortError

    def _settle(self) -> bool:
        """See that the last one to leave has left a whole file; False if that cannot be done.

        Two who leave at once may each find the other still there, and SQLite then
        removes the log without a word in the header.
        """
        for _ in range(_LEAVING):
            if self.log.exists() or _identity(self.path) != self._file:
                return True  # Somebody else is at work, and leaves later.
            with suppress(sqlite3.Error):
                raw = sqlite3.connect(f"file:{quote(str(self.path))}?mode=rw", uri=True, timeout=0)
                try:
                    if raw.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",):
                        return True
                finally:
                    raw.close()
            time.sleep(random.uniform(0.001, 0.01))
        return False

    def make_whole(self, raw: sqlite3.Connection) -> bool:
        """Work the log in and end it; False if others use the file, who will do it."""
        try:
            raw.rollback()
            is_whole = bool(self._at_once(raw, "journal_mode=DELETE") == "delete")
        except sqlite3.Error:
            return False
        self._log = None
        return is_whole


def keep_for_ever(connection: Any) -> None:
    """Never close a connection, not even when the program ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
