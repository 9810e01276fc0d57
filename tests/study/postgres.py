"""A PostgreSQL server of the tests' own: in a temporary folder, on a free port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.patience import HANGS

PASSWORD = "s3cr3t-Pa55/word@"
"""With characters that need escaping in an address."""


def find_programs() -> Path | None:
    """The folder with initdb and postgres: Debian's, or that of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    if found:
        folders.append(Path(found).resolve().parent)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


@dataclass
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]

    def url(self, database: str = "postgres", user: str = "postgres", password: str = "") -> str:
        secret = ":" + password if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def new_database(self, name: str) -> str:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            # Copied as files: through the log, as is usual since 15, takes three times as long.
            how = "STRATEGY FILE_COPY" if connection.info.server_version >= 150000 else ""
            connection.execute(f'CREATE DATABASE "{name}" {how}')
        return self.url(name)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def start_server(*, durable: bool = False) -> Iterator[Server]:
    """Make a cluster, start it, and remove both when done.

    Tests kill clients, not the machine, and so need not wait for the disk;
    benchmarks ask for a `durable` server.
    """
    programs = find_programs()
    assert programs is not None
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and not durable else None
    folder = Path(tempfile.mkdtemp(prefix="standout-pg-", dir=memory))
    # The server refuses to run as root.
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        who = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N",
         "--locale=C.UTF-8"],
        check=True, stdout=subprocess.DEVNULL, cwd=folder, **who,
    )  # fmt: skip
    # One user has to give a password, so that tests can see it is never shown.
    guarded = "host all guarded,guarded_here 127.0.0.1/32 scram-sha-256"
    rules = f"{guarded}\nhost all all 127.0.0.1/32 trust\n"
    (data / "pg_hba.conf").write_text(rules)
    port = _free_port()
    # What a server does for its next years, or for a crash of the machine, is for nothing here.
    spared = ["fsync=off", "full_page_writes=off", "autovacuum=off"]
    spared += ["wal_level=minimal", "max_wal_senders=0"]
    options = [word for one in spared if not durable for word in ("-c", one)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), "-k", folder,
             "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60",
             "-c", "shared_buffers=64MB", *options],
            stdout=log, stderr=log, cwd=folder, **who,
        )  # fmt: skip
    server = Server(port, process)
    try:
        _wait_until_ready(server, folder / "log")
        yield server
    finally:
        process.send_signal(signal.SIGINT)  # A fast shutdown.
        try:
            process.wait(HANGS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(server: Server, log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + HANGS
    while True:
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}") from None
            time.sleep(0.05)
