"""What a load on the service is measured with, made so as to take little of the machine itself.

One process speaks on all connections with plain sockets; a program that commits one
small row at a time says what the disk and the database allow at most.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import selectors
import socket
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path


def raw_commits(place: str, seconds: float) -> float:
    """Transactions a second of one small row each, by one program, as safe as a study's."""
    return _raw_sqlite(Path(place), seconds) if "://" not in place else _raw_pg(place, seconds)


def _raw_sqlite(place: Path, seconds: float) -> float:
    connection = sqlite3.connect(place.with_name("raw.db"), isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS raw (id INTEGER PRIMARY KEY, value REAL)")
    count, begin = 0, time.perf_counter()
    while (took := time.perf_counter() - begin) < seconds:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO raw (value) VALUES (?)", (0.5,))
        connection.execute("COMMIT")
        count += 1
    connection.close()
    return count / took


def _raw_pg(place: str, seconds: float) -> float:
    import psycopg

    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = on")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS raw (id bigserial PRIMARY KEY, value float8)"
        )
        count, begin = 0, time.perf_counter()
        while (took := time.perf_counter() - begin) < seconds:
            connection.execute("INSERT INTO raw (value) VALUES (%s)", (0.5,))
            count += 1
    return count / took


def cpu_of(pid: int) -> float:
    """Seconds of processor time that a process and its ended or living children have taken."""
    ticks = 0
    for one in _family(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            children = Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        found += map(int, children)
    return found


@dataclass
class Load:
    """What a number of clients saw: the times of their requests, in milliseconds."""

    seconds: float = 0.0
    cpu: float = 0.0
    times: list[float] = field(default_factory=list)
    told: list[int] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.times) / self.seconds

    def add(self, other: Load) -> None:
        """Take the requests of another stretch of time in."""
        self.seconds += other.seconds
        self.cpu += other.cpu
        self.times += other.times
        self.told += other.told

    def at(self, share: float) -> float:
        """The time within which so many of the requests were answered."""
        return sorted(self.times)[min(len(self.times) - 1, int(share * len(self.times)))]


class _Connection:
    """One client: tells the reward of its ticket and asks for the next, over and over."""

    def __init__(self, port: int, study: str, number: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.study, self.number = study, number
        self.ticket, self.sent_at, self.count = 0, 0.0, 0
        self._got = b""

    def send(self) -> None:
        """The first request asks, each later one tells and asks."""
        who = f"client {self.number}"
        if self.ticket:
            self.count += 1
            body = (
                f'{{"rewards":[{{"ticket":{self.ticket},"reward":{float(self.ticket % 7 < 3)}}}],'
                f'"ask":1,"worker":"{who}","key":"{who}, {self.ticket}"}}'
            )
            what = "tell"
        else:
            body, what = f'{{"n":1,"worker":"{who}"}}', "ask"
        head = (
            f"POST /api/v1/studies/{self.study}/{what} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.sent_at = time.perf_counter()
        self.socket.sendall((head + body).encode())

    def receive(self) -> bool:
        """Read on; whether the answer is complete. Raises if it is no success."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the server closed the connection")
        self._got += part
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return False
        _, _, length = head.lower().partition(b"content-length:")
        if len(body) < int(length.split(b"\r\n", 1)[0]):
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(body.decode())
        self._got = b""
        tickets = json.loads(body)["tickets"]
        if not tickets:
            raise RuntimeError("nothing left to measure")
        self.ticket = tickets[0]["ticket"]
        return True


def tell_and_ask(port: int, study: str, clients: int, seconds: float) -> Load:
    """Let so many clients tell and ask as fast as they are answered."""
    found = Load()
    choose = selectors.DefaultSelector()
    everyone = [_Connection(port, study, number) for number in range(clients)]
    for one in everyone:
        choose.register(one.socket, selectors.EVENT_READ, one)
        one.send()
    cpu, begin = _own_cpu(), time.perf_counter()
    is_over, waiting = False, len(everyone)
    while waiting:
        for key, _ in choose.select():
            one: _Connection = key.data
            told = one.ticket
            if not one.receive():
                continue
            now = time.perf_counter()
            if told:
                found.times.append((now - one.sent_at) * 1000)
                found.told.append(told)
            is_over = is_over or now - begin >= seconds
            if is_over:
                waiting -= 1
                choose.unregister(one.socket)
                one.socket.close()
            else:
                one.send()
    found.seconds, found.cpu = time.perf_counter() - begin, _own_cpu() - cpu
    return found


def watch_all(port: int, study: str, count: int, seconds: float, pipe: int) -> None:
    """So many open dashboards; writes views and milliseconds of processor time to `pipe`."""

    async def watch() -> int:
        found = [_watch(port, f"/api/v1/studies/{study}", seconds) for _ in range(count)]
        return sum(await asyncio.gather(*found))

    views = asyncio.run(watch())
    os.write(pipe, f"{views} {round(1000 * _own_cpu())}\n".encode())


async def _watch(port: int, path: str, seconds: float) -> int:
    """What an open dashboard does: listen, and fetch what changed at every event."""
    views, since = 0, ""
    events, asking = await asyncio.open_connection("127.0.0.1", port)
    asking.write(f"GET {path}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while line := await events.readline():
                if not line.startswith(b"event: change"):
                    continue
                writer.write(f"GET {path}/view{since} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                body = await reader.readexactly(length)
                seq = body.partition(b'"seq":')[2].partition(b",")[0]
                since = f"?since={int(seq)}"
                views += 1
    asking.close()
    writer.close()
    return views


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
