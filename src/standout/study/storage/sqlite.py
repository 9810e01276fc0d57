"""Studies in a SQLite file, with the write-ahead log that SQLite keeps beside it.

A file that was moved, removed or replaced while in use is detected by its inode, before and after
each transaction. SQLite's locks belong to a process. A forked child has none of its parent's locks,
but its copy of SQLite assumes that it has them until the parent's connection is closed there.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote
from weakref import WeakSet

from standout.errors import MovedError, StorageError, StudyError, UnavailableError
from standout.study.storage.location import check_file
from standout.study.storage.session import PART, TABLES, Row, Session, schema
from standout.study.storage.store import Meanwhile, Store, milliseconds

_LOCKED = (5, 6)
"""SQLite's error codes for a lock of another connection."""
_READ_ONLY, _IO, _DAMAGED, _FULL, _CANNOT_OPEN, _FOREIGN = 8, 10, 11, 13, 14, 26
_FIRST_STEP, _LAST_STEP, _GROWTH = 0.001, 0.004, 1.5
"""Seconds between two attempts to lock, and their growth. SQLite's own steps grow to a tenth of a
second, in which a busy process takes the lock many times; shorter ones take its processor time."""
_HEADER, _MODES = 20, slice(18, 20)
Inode = tuple[int, int]


def _inode(path: str | Path) -> Inode | None:
    """Device and inode; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _code(error: BaseException) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


class SqliteSession(Session):
    """A transaction on a file; a writer locks the whole file."""

    is_sqlite = True

    def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        found: list[Row] = self.raw.execute(statement, values).fetchall()
        return found

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self.raw.executemany(statement, rows)

    def lock(self, study: int) -> None:
        """Do nothing: `BEGIN IMMEDIATE` has locked the file."""

    def lock_names(self) -> None:
        """Do nothing, as in `lock`."""

    def lock_making(self) -> None:
        """Do nothing, as in `lock`."""

    def has_tables(self) -> bool:
        return bool(self.run("SELECT 1 FROM sqlite_master WHERE name = 'standout_store'"))

    def make_tables(self) -> None:
        for statement in schema("sqlite"):
            self.run(statement)

    def clear(self) -> None:
        for table in TABLES:
            self.run(f"DROP TABLE {table}")
        self.make_tables()

    def rows(self, table: str) -> Iterator[list[Row]]:
        cursor = self.raw.execute(f"SELECT * FROM {table}")
        while part := cursor.fetchmany(PART):
            yield part

    def insert(self, table: str, rows: list[Row]) -> None:
        marks = ", ".join("?" for _ in rows[0])
        self.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)

    def missing_guards(self) -> list[str]:
        found = self.run("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        as_made = {text: name for name, text in found}
        return [
            text.split()[2]
            for text in schema("sqlite")
            if text.startswith("CREATE TRIGGER") and text not in as_made
        ]


_stores: WeakSet[SqliteStore] = WeakSet()


class SqliteStore(Store):
    """A file; read-only if the file or its folder is not writable."""

    is_sqlite = True
    _driver_error = sqlite3.Error
    _raw: sqlite3.Connection | None

    def __init__(
        self, path: Path, create: bool, patience: float, clock: Callable[[], float] | None
    ) -> None:
        super().__init__(str(path), patience, clock)
        check_file(path, must_exist=not create)
        self.path, self._may_create = path, create
        self._log = Path(os.path.realpath(path) + "-wal")
        self._waits = patience
        self.is_read_only = path.exists() and not (
            os.access(path, os.W_OK) and os.access(self._log.parent, os.W_OK)
        )
        self._file: Inode | None = None
        self._log_inode: Inode | None = None
        self._frozen: tuple[int, int] | None = None
        _stores.add(self)
        self._prepare(create)

    @property
    def is_current(self) -> bool:
        """Whether file and log still have their names."""
        is_same = self._file is None or _inode(self.shown) == self._file
        return is_same and (self._log_inode is None or _inode(self._log) == self._log_inode)

    def _connect(self) -> sqlite3.Connection:
        """A connection to the file that was opened first; raises MovedError for another file."""
        before = _inode(self.path)
        if self._file is not None and before != self._file:
            raise self._moved("nothing was written")
        _close_inherited(before)
        raw = sqlite3.connect(
            self._address(),
            uri=True,
            timeout=milliseconds(self.patience) / 1000,
            isolation_level=None,  # The store begins transactions itself.
            check_same_thread=False,
        )
        try:
            self._check_length(raw)
            # A commit is on disk before another process sees it.
            raw.execute("PRAGMA synchronous=FULL")
            if not self.is_read_only:
                raw.execute("PRAGMA journal_mode=WAL").fetchone()
                raw.execute("PRAGMA schema_version").fetchone()  # The first read creates the log.
            found = _inode(self.path)
            if before is not None and found != before:
                raise self._moved("nothing was written")
        except BaseException:
            raw.close()
            raise
        self._file, self._may_create, self._waits = found, False, self.patience
        self._log_inode = None if self.is_read_only else _inode(self._log)
        return raw

    def _address(self) -> str:
        mode = "rwc" if self._may_create else "rw"
        if self.is_read_only:
            # Without shared memory, a file in WAL mode can be read only as immutable. This is right
            # while there is no log; `_commit` checks again.
            is_frozen = self._asks_for_log() and not self._has_log()
            self._frozen = self._stamp() if is_frozen else None
            mode = "ro&immutable=1" if is_frozen else "ro"
        return f"file:{quote(str(self.path))}?mode={mode}"

    def _asks_for_log(self) -> bool:
        """Whether the header of a read-only file says that a log belongs to it."""
        try:
            with self.path.open("rb") as file:
                return 2 in file.read(_HEADER)[_MODES]
        except OSError as error:
            raise StorageError(f"{self.path} cannot be read: {error.strerror}") from None

    def _check_length(self, raw: sqlite3.Connection) -> None:
        """Refuse a file without a log that is shorter than its header says.

        The file is not opened here, because closing it would release all locks of this process on
        it.
        """
        pages, size = (
            int(raw.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size")
        )
        # Check the log first: a checkpoint of another process extends the file before it ends.
        if not self._has_log() and self.path.stat().st_size < pages * size:
            raise StorageError(
                f"{self.path}: damaged or cut short (it ends too early); restore it from a copy"
            )

    def _has_log(self) -> bool:
        with suppress(OSError):
            return self._log.stat().st_size > 0
        return False

    def _stamp(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size

    def _begin(self, *, writes: bool, is_long: bool, meanwhile: Meanwhile | None) -> SqliteSession:
        assert self._raw is not None
        # Writers do not use SQLite's own wait; readers rarely wait.
        waits = 0.0 if writes else self.patience
        if waits != self._waits:
            self._raw.execute(f"PRAGMA busy_timeout={milliseconds(waits)}")
            self._waits = waits
        if writes:
            self._begin_immediate(self._raw, meanwhile)
        else:
            self._raw.execute("BEGIN")
        if not self.is_current:
            raise self._moved("nothing was written")
        return SqliteSession(self._raw, self.clock)

    def _begin_immediate(self, raw: sqlite3.Connection, meanwhile: Meanwhile | None) -> None:
        """Wait for the write lock in short random steps, and read in between."""
        deadline: float | None = None
        step = _FIRST_STEP
        while True:
            try:
                raw.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.Error as error:
                now = time.monotonic()
                deadline = now + self.patience if deadline is None else deadline
                if _code(error) not in _LOCKED or now > deadline:
                    raise
            time.sleep(random.uniform(0.5, 1.5) * step)
            step = min(step * _GROWTH, _LAST_STEP)
            if meanwhile is not None:
                with suppress(sqlite3.Error):  # The next attempt says what is wrong.
                    raw.execute("BEGIN")
                    meanwhile(SqliteSession(raw, self.clock))
                raw.rollback()

    def _commit(self) -> None:
        assert self._raw is not None
        self._raw.execute("COMMIT")
        if self._frozen is not None and (self._stamp() != self._frozen or self._has_log()):
            raise StorageError(f"{self.path} was changed while it was read; try again")
        if not self.is_current:
            consequence = (
                "what was just written may be lost" if self._is_committing else "try again"
            )
            raise self._moved(consequence)

    def _is_broken(self, error: Exception) -> bool:
        return _code(error) == _IO

    def _moved(self, consequence: str) -> MovedError:
        found = _inode(self.path)
        what = "is no longer there" if found is None else "is another file now"
        if found is not None and found == self._file:
            what = f"lost its log {self._log.name}"
        self._drop()
        return MovedError(
            f"{self.path} {what}: it was moved, removed or replaced while in use; {consequence}. "
            "Put it back, or open the study again"
        )

    def _explain(self, error: Exception) -> StorageError:
        code, text = _code(error), " ".join(str(error).split())
        if code in _LOCKED:
            return UnavailableError(
                f"{self.shown} was busy for {self.patience:g} s; another process holds a long "
                "transaction; nothing was changed; try again",
                has_waited=True,
            )
        if code == _FOREIGN:
            text = "this is not a study: it is no SQLite database"
        elif code == _DAMAGED or "decode" in text:
            text = f"damaged or cut short ({text}); restore it from a copy"
        elif code == _FULL:
            text = "the disk is full; make room and try again"
        elif code in (_READ_ONLY, _CANNOT_OPEN):
            text = self._no_access(code)
        return StorageError(f"{self.shown}: {text}")

    def _no_access(self, code: int) -> str:
        if self.is_read_only:
            return (
                "it is read-only here and cannot be read without writing: its newest rewards are "
                f"in {self._log.name}. Copy it with the files beside it to a folder that you can "
                "write to, and open it there"
            )
        what = "written to" if code == _READ_ONLY else "opened"
        return f"it cannot be {what}; check the permissions of file and folder"


def _close_inherited(file: Inode | None) -> None:
    """In a forked child, close the parent's connections to this file before opening a new one.

    Raises StudyError if a thread of the parent was inside a transaction.
    """
    for store in list(_stores):
        if store._pid == os.getpid() or store._raw is None or store._file != file:
            continue
        if store._turn.locked() or store._raw.in_transaction:
            raise StudyError(
                f"{store.shown} was in use by another thread when this process was forked, and "
                "cannot be used here; start processes before threads, or by spawning"
            )
        store._drop()
