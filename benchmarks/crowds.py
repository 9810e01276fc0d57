"""Processes that work on one store at once, compared with a program that only commits.

The number of durable commits per second differs from machine to machine and from minute to minute.
So a minimal program (one small row per transaction, the same durability, as many processes) takes
turns with the measured one, and the ratio is reported.
"""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

Unit = Callable[[], object]
SLICE = 0.5
"""Seconds that each of the two works before the other's turn."""


class Rate(NamedTuple):
    """The rate of one or several processes: units and processor seconds, per second."""

    units: float
    processor: float

    @property
    def cost(self) -> float:
        """Milliseconds of processor time per unit."""
        return 1000 * self.processor / self.units

    @classmethod
    def total(cls, parts: Iterable[Rate], share: float = 1.0) -> Rate:
        """The sum of several, or a `share` of it."""
        return cls(*(share * sum(column) for column in zip(*parts, strict=True)))


class Worker:
    """A process that repeats a unit of work for as long as it is asked to."""

    def __init__(self, prepare: Callable[[], Unit]) -> None:
        ours, theirs = os.pipe()
        back, answer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(theirs)
            os.close(back)
            code = 1
            try:
                _serve(prepare, ours, answer)
                code = 0
            finally:
                os._exit(code)
        os.close(ours)
        os.close(answer)
        self._to, self._from = theirs, back

    def begin(self, seconds: float) -> None:
        """Start working for this many seconds."""
        os.write(self._to, f"{seconds}\n".encode())

    def count(self, patience: float = 120.0) -> Rate:
        """The rate that it reached."""
        ready, _, _ = select.select([self._from], [], [], patience)
        if not ready:
            raise SystemExit("a worker of the benchmark hangs")
        count, clock, processor = map(float, os.read(self._from, 100).split())
        return Rate(count / clock, processor / clock)

    def end(self) -> None:
        """End the process."""
        os.close(self._to)
        os.close(self._from)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _serve(prepare: Callable[[], Unit], orders: int, answer: int) -> None:
    unit = prepare()
    for _ in range(10):
        unit()
    while order := os.read(orders, 100):
        begin = now = time.perf_counter()
        used = time.process_time()
        count, until = 0, begin + float(order)
        while now < until:
            unit()
            count += 1
            now = time.perf_counter()
        os.write(answer, f"{count} {now - begin} {time.process_time() - used}".encode())


@contextmanager
def crowd(prepare: Callable[[], Unit], processes: int) -> Iterator[list[Worker]]:
    """This many workers."""
    workers = [Worker(prepare) for _ in range(processes)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.end()


def rate(workers: list[Worker], seconds: float) -> Rate:
    """The rate of all workers together."""
    for worker in workers:
        worker.begin(seconds)
    return Rate.total(worker.count() for worker in workers)


def side_by_side(
    ours: Callable[[], Unit], raw: Callable[[], Unit], processes: int, seconds: float
) -> tuple[Rate, Rate]:
    """Rates of both, each measured for `seconds` in turns of half a second."""
    with crowd(ours, processes) as first, crowd(raw, processes) as second:
        turns = max(2, round(seconds / SLICE))
        rate(first, SLICE)
        rate(second, SLICE)
        pairs = [(rate(first, SLICE), rate(second, SLICE)) for _ in range(turns)]
    mine, others = zip(*pairs, strict=True)
    return Rate.total(mine, 1 / turns), Rate.total(others, 1 / turns)


def slow_down(seconds: float) -> None:
    """Delay every commit to SQLite, ours and bare ones, as on a slower disk."""

    class Slow(sqlite3.Connection):
        def execute(self, text: str, *params: Any) -> sqlite3.Cursor:
            if text == "COMMIT":
                time.sleep(seconds)
            return super().execute(text, *params)

    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **given: connect(*args, factory=Slow, **given)  # type: ignore[assignment]


def raw_sqlite(path: Path) -> Callable[[], Unit]:
    """One row per transaction into a file, safe when it returns."""

    def prepare() -> Unit:
        connection = sqlite3.connect(path, timeout=60, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS raw (id INTEGER PRIMARY KEY, value REAL)")

        def unit() -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO raw (value) VALUES (1.5)")
            connection.execute("COMMIT")

        return unit

    return prepare


def raw_postgresql(url: str) -> Callable[[], Unit]:
    """One row per transaction into a table, safe when it returns."""

    def prepare() -> Unit:
        import psycopg

        connection = psycopg.connect(url)
        connection.execute("SELECT pg_advisory_xact_lock(1)")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
            "value double precision)"
        )
        connection.commit()

        def unit() -> None:
            connection.execute("INSERT INTO raw (value) VALUES (1.5)")
            connection.commit()

        return unit

    return prepare
