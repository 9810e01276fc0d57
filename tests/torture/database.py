"""Where the studies are, and what can be done to it: a file's disk, a server's processes."""

from __future__ import annotations

import ctypes
import os
import random
import resource
import select
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.study.postgres import Server, start_server

_NEW_NAMESPACE, _REMOUNT, _PRIVATE = 0x20000, 0x20, 0x40000 | 0x4000
_DETACH = 2
_LARGE = "4g"
_OURS = "FROM pg_stat_activity WHERE application_name = 'standout'"
_SEGMENT = 16 << 20
"""Bytes of one file of PostgreSQL's log: a limit below stops it somewhere within."""

Event = Callable[[random.Random], str | None]
"""Does something to the database; what it was, None if that was not possible now."""


class Database(ABC):
    """The place of the studies; `port` is where its server listens, if it has one."""

    place: str
    port: int | None = None
    file: str | None = None

    @abstractmethod
    def events(self) -> list[Event]:
        """What the torturer may do to it."""

    @abstractmethod
    def settle(self) -> None:
        """Return when nothing is under way there any more, all workers being dead."""


# A file ---------------------------------------------------------------------------


class Sqlite(Database):
    """A file, on a small disk of its own where this process may make one."""

    def __init__(self, folder: Path) -> None:
        disk = folder / "disk"
        disk.mkdir()
        self._disk = str(disk)
        self.has_disk = _mount_private(self._disk)
        self.file = self.place = str(disk / "studies.db")

    def close(self) -> None:
        """Take the disk away, so that its folder can be removed."""
        if self.has_disk:
            ctypes.CDLL(None).umount2(self._disk.encode(), _DETACH)

    def events(self) -> list[Event]:
        return [self.fill_disk] if self.has_disk else []

    def settle(self) -> None:
        pass  # What a dead process had under way is undone by the next to look.

    def fill_disk(self, rng: random.Random) -> str | None:
        """No room for a moment, or next to none."""
        found = os.statvfs(self._disk)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        is_full = _mount(self._disk, f"size={used + 4096 * rng.choice((1, 2, 5, 20))}", _REMOUNT)
        try:
            time.sleep(rng.uniform(0.02, 0.25))
        finally:
            _mount(self._disk, f"size={_LARGE}", _REMOUNT)
        return "full disks" if is_full else None


def _mount_private(folder: str) -> bool:
    """A file system in memory that only this process and its children see; needs root."""
    libc = ctypes.CDLL(None)
    if os.getuid() != 0 or libc.unshare(_NEW_NAMESPACE) != 0:
        return False
    is_private = libc.mount(b"none", b"/", None, ctypes.c_ulong(_PRIVATE), None) == 0
    return is_private and _mount(folder, f"size={_LARGE}", 0)


def _mount(folder: str, options: str, flags: int) -> bool:
    libc = ctypes.CDLL(None)
    where, how = folder.encode(), options.encode()
    return bool(libc.mount(b"tmpfs", where, b"tmpfs", ctypes.c_ulong(flags), how) == 0)


# A server -------------------------------------------------------------------------


class Postgres(Database):
    """A database of a server that nobody else uses."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.place = server.new_database("torture")
        self.port = server.port

    def events(self) -> list[Event]:
        return [self.terminate, self.terminate, self.crash, self.fill_disk]

    def _ask(self, query: str) -> list[Any]:
        """Rows; none while the server recovers."""
        import psycopg

        with suppress(psycopg.Error), psycopg.connect(self._server.url()) as connection:
            return connection.execute(query).fetchall()
        return []

    def _backend(self, rng: random.Random) -> int | None:
        """A process that serves one of ours, and surely is one of this server's."""
        pids = [pid for (pid,) in self._ask(f"SELECT pid {_OURS} ORDER BY pid")]
        mine = [pid for pid in pids if _parent_of(pid) == self._server.process.pid]
        return rng.choice(mine) if mine else None

    def terminate(self, rng: random.Random) -> str | None:
        """As an administrator or a failover would: one of them, or all."""
        some = rng.choice(("", " ORDER BY random() LIMIT 1"))
        found = self._ask(f"SELECT pg_terminate_backend(pid) FROM (SELECT pid {_OURS}{some}) x")
        return "backends terminated" if found else None

    def crash(self, rng: random.Random) -> str | None:
        """Kill one, upon which the server ends all others and recovers from its log."""
        pid = self._backend(rng)
        if pid is None:
            return None
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return "backends killed (recovery)"

    def fill_disk(self, rng: random.Random) -> str | None:
        """Let one of them write no further than some byte of a file: its log, then, is full."""
        pid = self._backend(rng)
        is_done = pid is not None and _limit_files(pid, rng.randrange(_SEGMENT))
        return "full disks" if is_done else None

    def settle(self) -> None:
        while True:
            found = self._ask(f"SELECT (SELECT count(*) {_OURS})")
            if found == [(0,)]:
                return
            time.sleep(0.05)


def _parent_of(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])


def _limit_files(pid: int, size: int) -> bool:
    """Set the limit as the user who owns the process: that is always allowed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            owner = os.stat(f"/proc/{pid}")
            if os.getuid() != owner.st_uid:
                os.setgid(owner.st_gid)
                os.setuid(owner.st_uid)
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextmanager
def open_database(kind: str, folder: Path) -> Iterator[Database]:
    """`sqlite` or `postgresql`, gone afterwards."""
    if kind == "sqlite":
        database = Sqlite(folder)
        try:
            yield database
        finally:
            database.close()
        return
    with start_server() as server, _guarded(server.process.pid):
        yield Postgres(server)


@contextmanager
def _guarded(pid: int) -> Iterator[None]:
    """Somebody who ends the server if this process is killed, and cannot do it any more."""
    data, process = Path(os.readlink(f"/proc/{pid}/cwd")), os.pidfd_open(pid)
    reader, writer = os.pipe()
    guard = os.fork()
    if guard == 0:
        os.setpgid(0, 0)
        os.close(writer)
        if not os.read(reader, 1):  # Closed by the system, not by us.
            signal.pidfd_send_signal(process, signal.SIGQUIT)
            select.select([process], [], [])
            shutil.rmtree(data.parent, ignore_errors=True)
        os._exit(0)
    os.close(reader)
    try:
        yield
    finally:
        os.write(writer, b".")
        os.waitpid(guard, 0)
        os.close(writer)
        os.close(process)
