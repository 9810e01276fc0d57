"""Copies of whole stores, between any two places of either database, while they are in use.

Everything is read at one moment and written in one transaction. A new file gets its name only when
it is complete. An existing store is emptied and filled in one step, so its users see either the old
or the new content. Its generation shows that the history has changed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from standout.errors import NoStudyError, StorageError
from standout.results import CopiedStudy, Copy
from standout.study.events.event import NO_DIGEST, digest_of
from standout.study.storage.location import check_file, locate
from standout.study.storage.session import TABLES, Session
from standout.study.storage.store import open_store

try:
    import fcntl
except ImportError:  # Windows has no such locks, so dead backups cannot be recognised.
    fcntl = None  # type: ignore[assignment]

Progress = Callable[[int, int], None]
"""Called with the number of copied rows, and of all rows."""
Check = Callable[[Session], tuple[CopiedStudy, ...]]
"""Verifies all studies of a store; raises if one is inconsistent."""
_COPIED = tuple(table for table in TABLES if table != "standout_store")
_BESIDE = ("-wal", "-shm", "-journal", "")


def copy_store(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    check: Check,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Copy all studies and tokens from one place to another, if they pass the `check`.

    With `force` they replace existing ones. Raises `StorageError` if this is not possible; then
    nothing has changed.
    """
    with closing(open_store(source)) as store, store.read(is_long=True) as old:
        _check_apart(source, target)
        if not old.names():
            raise NoStudyError(f"{store.shown} holds no study; there is nothing to copy")
        address = locate(target)
        if address.file is not None:
            check_file(address.file, must_exist=False)
        is_new_file = address.file is not None and not address.file.exists()
        if not is_new_file and not force:
            _check_empty(target)
        studies = check(old)
        if is_new_file:
            assert address.file is not None
            file = locate(source).file
            mode = 0o600 if file is None else file.stat().st_mode & 0o777
            _copy_to_new_file(old, address.file, mode, progress)
        else:
            _copy_into(old, target, force, progress)
        size = None if address.file is None else address.file.stat().st_size
        return Copy(store.shown, str(address), size, studies)


def _check_apart(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    one, other = locate(source), locate(target)
    is_same = one == other
    if one.file is not None and other.file is not None and other.file.exists():
        is_same = other.file.samefile(one.file)
    if is_same:
        raise StorageError(f"{other} is the study itself; name another place for the copy")


# Into a store that is there -------------------------------------------------------


def _check_empty(target: str | os.PathLike[str]) -> None:
    """Refuse early a target that `_copy_into` would refuse."""
    is_file = locate(target).file is not None
    with closing(open_store(target, create=not is_file)) as store, store.read() as session:
        _check_free(session, store.shown)


def _check_free(session: Session, shown: str) -> None:
    if any(session.count(table) for table in _COPIED):
        raise StorageError(
            f"{shown} holds studies or tokens already; --force (force=True) replaces them all"
        )


def _copy_into(
    old: Session, target: str | os.PathLike[str], force: bool, progress: Progress | None
) -> None:
    is_file = locate(target).file is not None
    with (
        closing(open_store(target, create=not is_file)) as store,
        store.write(is_long=True) as new,
    ):
        if not force:
            _check_free(new, store.shown)
        new.begin_again()
        _copy_rows(old, new, progress)


def _copy_rows(old: Session, new: Session, progress: Progress | None) -> None:
    """Copy all tables inside the transactions of both, and check that everything arrives."""
    counts = {table: old.count(table) for table in _COPIED}
    total, done = sum(counts.values()), 0
    for table in _COPIED:
        for rows in old.rows(table):
            new.insert(table, rows)
            done += len(rows)
            if progress is not None:
                progress(done, total)
        if new.count(table) != counts[table]:
            raise StorageError(f"not all rows of {table} arrived; nothing is kept")
    for study, name in old.names():
        if _head_of(new, study) != old.head(study):
            raise StorageError(f"study {name!r} did not arrive as it was; nothing is kept")


def _head_of(session: Session, study: int) -> tuple[int, bytes] | None:
    """Number and digest of the newest event, with all digests recomputed."""
    number, digest = -1, NO_DIGEST
    for e in session.events(study):
        number = e.number
        digest = digest_of(digest, number, e.time, e.kind.value, e.worker, e.key, e.body)
    return None if number < 0 else (number, digest)


# Into a new file ------------------------------------------------------------------


def _copy_to_new_file(old: Session, target: Path, mode: int, progress: Progress | None) -> None:
    """Make the copy, with the source's permissions; it appears when it is complete."""
    try:
        with _part(target) as part:
            with closing(open_store(part, create=True)) as store, store.write(is_long=True) as new:
                _copy_rows(old, new, progress)
            part.chmod(mode)
            _sync(part)
            os.link(part, target)  # Fails if another process was faster.
        _sync(target.parent)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}") from None


@contextmanager
def _part(target: Path) -> Iterator[Path]:
    """A temporary file beside the target, locked while in use and removed at the end."""
    for left in target.parent.glob(f"{target.name}.*.part"):
        _remove_if_dead(left)
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    number = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(number, fcntl.LOCK_EX)
        yield part
    finally:
        _remove(part)
        os.close(number)


def _remove_if_dead(part: Path) -> None:
    """Remove the temporary file of a backup that was killed."""
    with suppress(OSError):
        number = os.open(part, os.O_RDWR)
        try:
            if fcntl is not None:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(part)
        finally:
            os.close(number)


def _remove(part: Path) -> None:
    for ending in _BESIDE:
        Path(f"{part}{ending}").unlink(missing_ok=True)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
