"""The time of SQLite alone: the statements of tell-and-ask, repeated without our code.

The statements are recorded with their parameters, then run on a copy of the file in its earlier
state, by a loop that does nothing else. The difference from the full time is the cost of our code.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from standout.study.storage.store import Store

Call = tuple[str, tuple[Any, ...]]
PART = 200
"""Transactions per turn."""


class _Recorder:
    """A connection that records its statements."""

    def __init__(self, raw: sqlite3.Connection, calls: list[Call]) -> None:
        self._raw, self._calls = raw, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def execute(self, text: str, params: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        self._calls.append((text, params))
        return self._raw.execute(text, params)

    def executemany(self, text: str, rows: Iterable[tuple[Any, ...]]) -> None:
        for row in rows:
            self.execute(text, row)


def record(store: Store, unit: Callable[[], object], count: int) -> list[list[Call]]:
    """The statements of `count` units, transaction by transaction."""
    store.ping()
    raw, found = store._raw, []
    for _ in range(count):
        calls: list[Call] = []
        store._raw = _Recorder(raw, calls)
        try:
            unit()
        finally:
            store._raw = raw
        found.append([call for call in calls if not call[0].startswith("PRAGMA")])
    return found


def beside(copy: Path, transactions: list[list[Call]], raw: Callable[[], object]) -> float:
    """The number of recorded transactions per commit of `raw`, measured in turns."""
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    ours = others = 0.0
    for first in range(0, len(transactions), PART):
        part = transactions[first : first + PART]
        begin = time.perf_counter()
        for calls in part:
            for text, params in calls:
                connection.execute(text, params).fetchall()
        middle = time.perf_counter()
        for _ in part:
            raw()
        ours += middle - begin
        others += time.perf_counter() - middle
    connection.close()
    return others / ours
