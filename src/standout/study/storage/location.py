"""The place of a study: a file or a database address, checked before anything is opened."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

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
_ADDRESS = re.compile(
    r"[\w+]+://"
    r"(?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?:\[(?P<ipv6>[^/?]+)\]|(?P<host>[^/:?]+))?(?::(?P<port>\d*))?"
    r"(?:/(?P<dbname>[^?]*))?"
    r"(?:\?(?P<query>.*))?"
)


@dataclass(frozen=True)
class Address:
    """A file, or a PostgreSQL database with its libpq options."""

    file: Path | None = None
    options: dict[str, str] = field(default_factory=dict, repr=False)
    is_in_query: frozenset[str] = frozenset()
    """The options that followed a question mark."""

    @property
    def passwords(self) -> list[str]:
        """The texts that must never be shown."""
        return [value for name, value in self.options.items() if "password" in name.lower()]

    def __str__(self) -> str:
        """A path, or an address without its password, for messages."""
        if self.file is not None:
            return str(self.file)
        given = {name: quote(value, safe="") for name, value in self.options.items()}
        hidden = {name: "***" if "password" in name.lower() else given[name] for name in given}
        first = {name: hidden[name] for name in hidden if name not in self.is_in_query}
        more = "&".join(f"{name}={hidden[name]}" for name in hidden if name in self.is_in_query)
        user = first.get("user", "") + (f":{first['password']}" if "password" in first else "")
        host = self.options["host"] if "host" in first else ""
        host = f"[{host}]" if ":" in host else host
        port = f":{first['port']}" if "port" in first else ""
        name = f"/{first['dbname']}" if "dbname" in first else ""
        at = f"{user}@" if user else ""
        return f"postgresql://{at}{host}{port}{name}" + (f"?{more}" if more else "")


def locate(place: str | os.PathLike[str]) -> Address:
    """The address of a file or of a PostgreSQL URL; never echoes a password."""
    text = os.fspath(place)
    if "://" not in text:
        if not text:
            raise StorageError("no file given for the study")
        if "\x00" in text:
            raise StorageError("a file name cannot contain the character NUL")
        return Address(Path(text).expanduser().absolute())
    scheme = text.partition("://")[0].lower()
    if scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        found = _ADDRESS.fullmatch(text)
        if found is None:
            raise StorageError(
                "the database address cannot be read; write postgresql://user@host:port/database "
                "and escape special characters of a password as %XX"
            )
        return _server(found.groupdict())
    if scheme == "sqlite":
        path = text.partition("://")[2].removeprefix("/")
        return locate(path)
    raise StorageError(f"no storage {scheme!r}; use a file or postgresql://user@host/database")


def _server(parts: dict[str, str | None]) -> Address:
    """The address from its PostgreSQL parts; repeated parts are passed to libpq as a list."""
    query = parse_qs(parts.pop("query") or "", keep_blank_values=True)
    parts["host"] = parts.pop("ipv6") or parts["host"]
    given = {name: unquote(value) for name, value in parts.items() if value}
    more = {name: ",".join(values) for name, values in query.items()}
    return Address(options={**given, **more}, is_in_query=frozenset(more))


def has_password(place: str) -> bool:
    """Whether an address contains a password (which process lists would show)."""
    return "://" in place and bool(locate(place).passwords)


def file_system(path: Path, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that holds `path`; empty if unknown."""
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
    """Refuse a file that is missing, or a place where SQLite is not safe.

    Only SQLite opens the file: opening and closing it here would release every lock that this
    process holds on it.
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
                f"no study at {path}; create one with Study.create or `standout study create`"
            )
        if not path.parent.is_dir():
            raise StorageError(f"there is no folder {path.parent} to put the study in")
        _refuse_left_log(path)
    elif 0 < path.stat().st_size < SMALLEST:
        raise StorageError(f"{path} is no SQLite database, or cut short; nothing was changed")


def _refuse_left_log(path: Path) -> None:
    """Refuse to create a file beside a left log, because SQLite would apply the log."""
    for ending in ("-wal", "-journal"):
        log = Path(os.path.realpath(path) + ending)
        if log.exists() and log.stat().st_size > 0:
            raise StorageError(
                f"{log} of an earlier file is here, maybe with its newest rewards; move it away"
            )
