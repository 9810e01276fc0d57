"""Backup and restore: copies of all studies of a place, each verified before it counts."""

from __future__ import annotations

import os

from standout.errors import StorageError
from standout.results import CopiedStudy, Copy
from standout.study.events.verify import verify_and_fold
from standout.study.storage.backup import Progress, copy_store
from standout.study.storage.session import Session


def backup(
    place: str | os.PathLike[str],
    copy: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Copy all studies and tokens of a place to another, as of one moment, while they are in use.

    Args:
        place: A file or a PostgreSQL address.
        copy: Where to: a new file (it appears when it is whole), or a PostgreSQL address.
        force: Let the copy take the place of the studies and tokens that are there.
        progress: Called with how many rows are done, and of how many.

    Returns:
        What was copied.

    Raises:
        StorageError: It is not possible, or a study does not pass `verify`; nothing has changed.

    Example:
        >>> backup("beans.db", "copies/monday.db").studies  # doctest: +SKIP
        (CopiedStudy(name='main', pulls=812, rewards=812),)
    """
    return copy_store(place, copy, _verified, force=force, progress=progress)


def restore(
    copy: str | os.PathLike[str],
    place: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Copy:
    """Put the studies and tokens of a backup in place.

    With `force` they replace what is there in one step; programs that use the place see what
    was or what is now, and go on with that.

    Args:
        copy: What `backup` made.
        place: A file or a PostgreSQL address.
        force: Replace the studies and tokens that are there.
        progress: Called with how many rows are done, and of how many.

    Returns:
        What was copied.

    Raises:
        StorageError: It is not possible, or a study does not pass `verify`; nothing has changed.

    Example:
        >>> restore("copies/monday.db", "beans.db", force=True).target  # doctest: +SKIP
        'beans.db'
    """
    return copy_store(copy, place, _verified, force=force, progress=progress)


def _verified(session: Session) -> tuple[CopiedStudy, ...]:
    """All studies of a store, folded again from their events."""
    found = []
    for study, name in session.names():
        result, state = verify_and_fold(session.events(study))
        if not result.is_ok or state is None:
            problems = "; ".join(result.problems[:3])
            raise StorageError(f"study {name!r} is not sound and was not copied: {problems}")
        found.append(CopiedStudy(name, state.totals.pulls, result.rewards))
    return tuple(found)
