"""Where a study lives: a file or a database address, checked before anything is opened."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from standout.errors import NoStudyError, StorageError

NETWORK_SYSTEMS = frozenset(
    (
        "9p", "afs", "afpfs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.glusterfs",
        "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gfs", "gfs2", "glusterfs",
        "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb2", "smb3", "smbfs",
    )
)  # fmt: skip
"""File systems on which SQLite's locks and shared memory cannot be relied upon."""

SMALLEST = 512
"""Bytes of the smallest SQLite database."""


def locate(place: str | os.PathLike[str]) -> URL:
    """The address of a file or of a PostgreSQL URL; never echoes a password."""
    text = os.fspath(place)
    if "://" not in text:
        if not text:
            raise StorageError("no file given for the study")
        if "\x00" in text:
            raise StorageError("a file name cannot contain the character NUL")
        return URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    scheme = text.partition("://")[0].lower()
    if scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        try:
            return make_url(text).set(drivername="postgresql+psycopg")
        except (ArgumentError, ValueError):
            raise StorageError(
                "the database address cannot be read; write postgresql://user@host:port/database "
                "and escape special characters of a password as %XX"
            ) from None
    if scheme == "sqlite":
        path = text.partition("://")[2].removeprefix("/")
        return locate(path)
    raise StorageError(f"no storage {scheme!r}; use a file or postgresql://user@host/database")


def shown(url: URL) -> str:
    """How to name a place in messages: a path, or an address without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    hidden = {key: "***" for key in url.query if "password" in key.lower()}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)


def has_password(place: str) -> bool:
    """Whether an address carries a password (which process lists would show)."""
    if "://" not in place:
        return False
    url = locate(place)
    return url.password is not None or any("password" in key.lower() for key in url.query)


def file_system(path: Path, mounts: str = "/proc/self/mounts") -> str:
    """The type of file system that holds `path`; empty where it cannot be known."""
    try:
        lines = Path(mounts).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    real = os.path.realpath(path)
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape", errors="replace")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), fields[2]
    return kind


def check_file(path: Path, *, must_exist: bool) -> None:
    """Refuse a file that is missing or where SQLite is not safe.

    The file itself is left to SQLite: to open and close it here would let go of
    every lock that this process holds on it.
    """
    kind = file_system(path.parent)
    if kind.lower() in NETWORK_SYSTEMS:
        raise StorageError(
            f"{path} is on a network file system ({kind}), where SQLite's locks do not hold; "
            "use a local disk, or PostgreSQL for several machines"
        )
    if path.is_dir():
        raise StorageError(f"{path} is a folder; name a file for the study")
    if not path.exists():
        if must_exist:
            raise NoStudyError(
                f"no study at {path}; make one with Study.create or `standout study create`"
            )
        if not path.parent.is_dir():
            raise StorageError(f"there is no folder {path.parent} to put the study in")
    elif 0 < path.stat().st_size < SMALLEST:
        raise StorageError(f"{path} is no SQLite database, or cut short; nothing was changed")


def check_length(path: Path, expected: int) -> None:
    """Refuse a file of which the end is missing (unless its newest pages are in the log beside)."""
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > 0:
        return
    size = path.stat().st_size
    if size < expected:
        raise StorageError(
            f"{path} is cut short ({size:,} bytes of {expected:,}); nothing was changed. "
            "Restore it from a copy"
        )
