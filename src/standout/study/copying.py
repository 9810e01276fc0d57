"""Backup and restore: all studies of a place, copied after each was verified."""

from __future__ import annotations

import os

from standout.errors import StorageError
from standout.results import CopiedStudy, Copy
from standout.study.events.fold import begin, fold
from standout.study.storage.backup import Progress, copy_store
from standout.study.storage.session import Session


def backup(
    place: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Copy all studies of a place into one file, also while they are in use.

    Args:
        place: A file, or the address of a PostgreSQL database.
        file: The file to write; it appears when it is complete.
        force: Replace the studies that are in `file`.
        progress: Called with the rows that are copied, and how many there are.

    Raises:
        StorageError: If a study does not verify or a place cannot be used; nothing is changed.
    """
    return copy_store(place, file, _verified, force=force, progress=progress)


def restore(
    file: str | os.PathLike[str],
    place: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Put the studies of a backup in place, in a new file or in a PostgreSQL database.

    The arguments and the errors are those of `backup`. Programs that use the place at the same time
    notice the new generation of the store, and read it again.
    """
    return copy_store(file, place, _verified, force=force, progress=progress)


def _verified(session: Session) -> tuple[CopiedStudy, ...]:
    """Each study with its size; raises `StorageError` for one that does not verify."""
    found = []
    for key, name in session.names():
        try:
            events = session.events(key)
            state = begin(next(events))
            for event in events:
                fold(state, event)
        except (StorageError, StopIteration) as error:
            raise StorageError(f"study {name!r} does not verify: {error}") from None
        found.append(CopiedStudy(name, state.totals.pulls, state.ledger.size))
    return tuple(found)
