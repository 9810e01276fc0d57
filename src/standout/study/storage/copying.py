"""Backup and restore: all studies of a place at one moment, checked before they count.

A study that is in use is more than its file: what was told last is in the log beside it.
So a file is copied by SQLite itself, and a PostgreSQL database row by row from one
snapshot, into a new file that gets its name only when it is whole and verified.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from standout.errors import NoStudyError, StorageError
from standout.results import CopiedStudy, Copy
from standout.study.storage import sqlite_file
from standout.study.storage.catalogue import study_names
from standout.study.storage.connection import Connection
from standout.study.storage.database import Storage
from standout.study.storage.location import check_file, locate
from standout.study.storage.schema import TABLES, columns_of
from standout.study.storage.sqlite_lock import is_locked
from standout.study.storage.statements import Statement, insert_columns
from standout.study.study import Study

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much: pages of a file, rows of a database."""

_PAGES = 2_000
_ROWS = 5_000
_BESIDE = ("-wal", "-shm", "-journal")


def backup(
    place: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Copy all studies and tokens of a place into one new file, while they are in use.

    The file appears when the copy is complete, checked by SQLite and verified
    study by study; with `force` it takes the place of one that is there.
    Raises `StorageError` if that is not possible; then nothing has changed.
    """
    target = _file_of(file)
    source = _opened(place)
    with closing(source):
        return _copy_to_file(source, target, force, progress)


def restore(
    file: str | os.PathLike[str],
    place: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Put the studies and tokens of a backup in place: a new file, or PostgreSQL.

    Whatever is at the place already is kept, unless `force` says to replace it;
    a place that somebody works on is refused in any case. Raises
    `StorageError`; then nothing has changed.
    """
    source = _opened(_file_of(file))
    with closing(source):
        if locate(place).file is not None:
            return _copy_to_file(source, _file_of(place), force, progress)
        return _copy_to_postgres(source, os.fspath(place), force, progress)


def _opened(place: str | os.PathLike[str]) -> Storage:
    source = Storage(place)
    with source.closed_on_error(), source.read() as connection:
        if not study_names(connection):
            raise NoStudyError(f"{source.shown} holds no study; there is nothing to copy")
    return source


def _file_of(place: str | os.PathLike[str]) -> Path:
    path = locate(place).file
    if path is None:
        raise StorageError("a backup is a file; for PostgreSQL's own copies use pg_dump")
    return path


def _remarks(source: Storage) -> list[str]:
    return [] if source.remark is None else [source.remark]


# Into a file ----------------------------------------------------------------------


def _copy_to_file(source: Storage, target: Path, force: bool, progress: Progress | None) -> Copy:
    if source.file is not None and target.exists() and target.samefile(source.file.path):
        raise StorageError(f"{target} is the study itself; name another file for the copy")
    if target.is_file() and not force:
        raise StorageError(f"{target} exists already; --force (force=True) replaces it")
    if not target.is_file():
        check_file(target, must_exist=False)
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with _clear_errors(target):
            _fill(source, part, progress)
            studies = _verified(str(part))
            size = part.stat().st_size
            aside = _put(part, target, force)
    finally:
        for ending in ("", *_BESIDE):
            Path(f"{part}{ending}").unlink(missing_ok=True)
    return Copy(source.shown, str(target), size, studies, (*_remarks(source), *aside))


@contextmanager
def _clear_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}") from None
    except sqlite3.Error as error:
        raise StorageError(f"{target} cannot be written: {error}") from None


def _fill(source: Storage, part: Path, progress: Progress | None) -> None:
    """Make the copy, readable by whoever may read the source."""
    mode = 0o600 if source.file is None else source.file.path.stat().st_mode & 0o777
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    if source.file is None:
        with (
            closing(Storage(part, create=True)) as target,
            source.read(is_long=True) as old,
            target.write() as new,
        ):
            _copy_rows(old, new, progress)
    else:
        with source.read() as connection, closing(sqlite3.connect(part)) as copy:
            connection.execute("PRAGMA schema_version")  # The moment begins.
            connection.raw.backup(copy, pages=_PAGES, progress=_by_page(progress))
            copy.execute("PRAGMA journal_mode=DELETE").fetchone()
            copy.execute(f"PRAGMA application_id={sqlite_file.APPLICATION}")
    part.chmod(mode)


def _by_page(progress: Progress | None) -> Callable[[int, int, int], None] | None:
    return progress and (lambda _, left, total: progress(total - left, total))


def _verified(place: str) -> tuple[CopiedStudy, ...]:
    """What is in a copy; raises `StorageError` if anything in it does not fit together."""
    with closing(Storage(place)) as storage, storage.read() as connection:
        names = [name for _, name in study_names(connection)]
    found = []
    for name in names:
        with Study.open(place, name) as study:
            result = study.verify()
            if not result.is_ok:
                raise StorageError(
                    f"the copy of study {name!r} is not sound and was not kept: "
                    + "; ".join(result.problems[:3])
                )
            found.append(CopiedStudy(name, study.status().pulls, result.rewards))
    return tuple(found)


def _put(part: Path, target: Path, force: bool) -> list[str]:
    """Give the copy its name, at once and for good; what was set aside for it."""
    _sync(part)
    with _claimed(target):
        aside = _set_aside(target)
        if force:
            part.replace(target)
        else:
            os.link(part, target)  # Fails if somebody was quicker.
            part.unlink()
        _sync(target.parent)
    return aside


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def _claimed(target: Path) -> Iterator[None]:
    """Make a file that is to be replaced whole, and keep everybody else out of it."""
    if not target.exists():
        yield
        return
    address = f"file:{quote(str(target))}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=0, isolation_level=None)) as held:
        try:
            held.execute("PRAGMA journal_mode=DELETE").fetchone()
            held.execute("BEGIN EXCLUSIVE")
            is_free = held.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        except sqlite3.Error as error:
            # No database, or a damaged one: there is nothing to lock.
            is_free = not is_locked(error)
        if not is_free:
            raise StorageError(f"{target} is in use; end the server and all runs on it first")
        yield


def _set_aside(target: Path) -> list[str]:
    """Move a log away that belongs to a file that is gone: the new file would be spoilt by it."""
    said = []
    for ending in _BESIDE:
        left = Path(os.path.realpath(target) + ending)
        with suppress(FileNotFoundError):
            if ending == "-shm" or left.stat().st_size == 0:
                left.unlink()
                continue
            kept = left.with_name(f"{left.name}.leftover-{secrets.token_hex(2)}")
            left.rename(kept)
            said.append(f"{left.name} of an earlier file was there; it is now {kept.name}")
    return said


# Into PostgreSQL ------------------------------------------------------------------


def _copy_to_postgres(source: Storage, place: str, force: bool, progress: Progress | None) -> Copy:
    with (
        closing(Storage(place, create=True)) as target,
        source.read(is_long=True) as old,
        target.write() as new,
    ):
        _empty_target(new, target.shown, force)
        _copy_rows(old, new, progress)
    return Copy(source.shown, target.shown, None, _verified(place), tuple(_remarks(source)))


def _count(connection: Connection, table: str) -> int:
    return Statement(f"SELECT count(*) FROM {table}").number(connection)


def _copy_rows(old: Connection, new: Connection, progress: Progress | None) -> None:
    """Copy all tables inside the transactions of both, and see that as many arrive as were sent."""
    total = sum(_count(old, table) for table in TABLES)
    done = 0
    for table in TABLES:
        names = columns_of(old, table)
        sent = 0
        for rows in Statement(f"SELECT {', '.join(names)} FROM {table}").parts(old, _ROWS):
            # As many, so that PostgreSQL reads text: it takes SQLite's 0 and 1 for no boolean else.
            insert_columns(new, table, names, rows, _ROWS)
            sent += len(rows)
            if progress is not None:
                progress(done + sent, total)
        done += sent
        arrived = _count(new, table)
        if arrived != sent:
            raise StorageError(f"{arrived} of {sent} rows of {table} arrived; nothing is kept")


def _empty_target(connection: Connection, place: str, force: bool) -> None:
    """Make room in a PostgreSQL database that nobody else uses.

    Raises `StorageError` while other programs are connected, and where there
    are studies or tokens unless `force`.
    """
    ((others,),) = connection.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'standout' AND pid <> pg_backend_pid()"
    )
    if others:
        raise StorageError(f"{place} is in use; end the server and all runs on it first")
    names = ", ".join(TABLES)
    # Whoever comes now waits until the copy is there.
    connection.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
    if not any(_count(connection, table) for table in TABLES):
        return
    if not force:
        raise StorageError(
            f"{place} holds studies or tokens already; --force (force=True) removes them all first"
        )
    connection.execute(f"TRUNCATE {names}")
