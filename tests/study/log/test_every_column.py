"""Every column of every table: an edit of it is found by `verify`, or is listed here with why not.

Whoever edits it drops the triggers first and makes them again. Nothing that is edited may break
anything otherwise than by a `StandoutError`.
"""

from __future__ import annotations

import io
import os
import re
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from standout import Problem
from standout.errors import StandoutError
from standout.study import Study
from standout.study.storage.database import Storage
from standout.study.storage.old_tokens import create as create_token
from standout.study.storage.schema import TABLES
from tests.study.conftest import Clock
from tests.study.log.test_forgery import GUARDS

_NOT_LOGGED = "who holds a pull, since when and until when, is in no log before it is told"
_CHOICES = "what is measured next; no interval rests on how it was chosen"
_TOKENS = "tokens are of the place, not of a study: whoever writes the file can make one"
_DELETED = "nothing else is left of a deleted study"
UNPROVABLE = {
    "studies.fields": "where it says nothing, today's is taken; what a wrong one gives is found",
    "runs.seq": "counts changes, also those that no step is kept of; must not be below an arm's",
    "runs.last_round": "rounds that are over leave no row; must not be below one that is under way",
    "runs.scalars": f"{_CHOICES} (`RULE_MEMORY`), and what is worked out anew when it is read",
    "arms.memory": f"{_CHOICES} (`RULE_MEMORY`)",
    "runs.live": _CHOICES,
    "runs.rng": _CHOICES,
    "rounds.arms": _CHOICES,
    "rounds.amounts": _CHOICES,
    "arms.seq": "when others are to read an arm again; what they read is found if it is wrong",
    "tickets.status": "of two closed ones: whether it was handed out anew or came too late",
    "tickets.slot": "of a reward that waits: which pull it fills, before it is counted",
    "tickets.round": "of a pull that is not out any more",
    "tickets.worker": _NOT_LOGGED,
    "tickets.asked": _NOT_LOGGED,
    "tickets.expires": _NOT_LOGGED,
    **{
        f"tokens.{name}": _TOKENS
        for name in (
            "id", "role", "study", "label", "salt", "hash", "created", "revoked", "made_by",
            "revoked_by",
        )
    },
    **{
        f"deleted.{name}": _DELETED
        for name in ("study", "name", "time", "worker", "reason", "pulls", "steps", "head")
    },
}  # fmt: skip
"""Edits that pass, at least some of them. None of it bears on what is certain."""


def rich(path: Path) -> None:
    """A study with tickets of every status but one, a long round, and all that can be changed."""
    clock, rng = Clock(), np.random.default_rng(4)
    with Study.create(path, list("abc"), Problem(noise="bernoulli"), name="gone") as other:
        other.delete("gone")
    with closing(Storage(path)) as storage:
        create_token(storage, "owner", None, "mine", by="me")
    arms = [f"arm {number}" for number in range(20)]
    problem = Problem(noise="gaussian:0.1", k=2)
    items = {"arm 1": {"text": "one"}}
    with Study.create(
        path, arms, problem, "roai-lucb", budget=900, lease=50, items=items, page={"end": "Thanks"},
        clock=clock, pause_after=9,
    ) as study:  # fmt: skip
        for turn in range(6):
            clock.now += 1
            tickets = study.ask(9, worker=f"worker {turn % 2}")
            if turn == 2:
                study.fail(tickets.pop(), "dropped")
            values = [(t, rng.normal(2.0 if t.arm == "arm 3" else 0.1, 0.1)) for t in tickets]
            study.tell_many(values, worker=f"worker {turn % 2}")
        study.set(budget=800, reason="cheaper")
        study.void(3, reason="a slip")
        study.pause("arm 5", "broken")
        of_arm = defaultdict(list)
        for ticket in study.ask(30, worker="slow"):
            of_arm[ticket.arm].append(ticket)
        twice = next(tickets for tickets in of_arm.values() if len(tickets) > 1)
        study.tell(twice[-1], 0.5)
        clock.now += 100
        first, second, *_ = [t for t in study.ask(9, worker="late") if t.arm != twice[0].arm]
        study.tell(first, 0.1)
        study.fail(second, "no")
        assert study.status().waiting


def old(path: Path) -> None:
    """A study that was begun before steps were kept."""
    path.write_bytes((Path(__file__).parents[1] / "storage" / "golden" / "v2.db").read_bytes())
    with closing(Storage(path)):
        pass


@pytest.fixture(scope="module")
def places() -> Iterator[list[Path]]:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        made = []
        for make in (rich, old):
            made.append(Path(folder) / f"{make.__name__}.db")
            make(made[-1])
        yield made


def edits(value: Any, other: Any) -> Iterator[Any]:
    """What to put in place of a value: emptied, of another kind, beside it, that of another row."""
    yield from (None, "", "x", other)
    if isinstance(value, int | float):
        yield from (value + 1, value - 1, value + 0.5, -5, 10**12)
    elif isinstance(value, str):
        yield from (f"{value}x", "[]", "0", 7)
        for found in re.finditer(r"(?<![\d.])\d+", value):
            yield value[: found.start()] + str(int(found[0]) + 1) + value[found.end() :]
    elif isinstance(value, bytes):
        yield b"x" * len(value)
    else:
        yield from (1, 0.5)


def rows_of(connection: sqlite3.Connection, table: str) -> Iterator[tuple[sqlite3.Row, list[Any]]]:
    """One row of each kind, with all of its kind."""
    kinds = ["1"]
    if table == "standout_tickets":
        kinds = [f"status = {status}" for status in range(5)]
    for kind in kinds:
        found = connection.execute(f"SELECT * FROM {table} WHERE {kind}")
        if rows := found.fetchall():
            yield rows[len(rows) // 2], rows


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def forged(path: Path, copy: Path, table: str, column: str, row: Any, value: Any) -> bool:
    """Edit one value of a copy; False if SQLite does not let it be, or nothing changes."""
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        names = columns(connection, table)
        for name in GUARDS:
            connection.execute(f"DROP TRIGGER {name}")
        same = " AND ".join(f"{name} IS ?" for name in names)
        try:
            connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE {same}", [value, *(row[n] for n in names)]
            )
        except (sqlite3.Error, OverflowError):
            return False
        for sql in GUARDS.values():
            connection.execute(sql)
        connection.commit()
        left = f"SELECT count(*) FROM {table} WHERE {same}"
        is_changed: bool = connection.execute(left, [row[n] for n in names]).fetchone() == (0,)
    os.utime(copy, (0, 0))  # Whoever opens a file that was written just now waits a moment.
    return is_changed


def is_found(path: Path) -> bool:
    """Whether opening or `verify` says so; everything else may do so, but must not break."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM standout_studies")]
    try:
        study = Study.open(path, names[0] if len(names) == 1 else None)
    except StandoutError:
        return True
    with study:
        for look in (
            study.status, study.pending, study.failures, study.history, study.trace, study.changes,
            lambda: study.export(io.StringIO()), lambda: study.export(io.StringIO(), "json"),
        ):  # fmt: skip
            with suppress(StandoutError):
                look()
        try:
            return study.verify().problems != ()
        except StandoutError:
            return True


@pytest.mark.parametrize("table", TABLES)
def test_an_edit_is_found_or_listed(places: list[Path], folder: Path, table: str) -> None:
    passed: dict[str, list[Any]] = {}
    tried = 0
    for path in [places[1] if table in ("standout_bases", "standout_base_arms") else places[0]]:
        with closing(sqlite3.connect(path)) as connection:
            connection.row_factory = sqlite3.Row
            names = columns(connection, table)
            picked = list(rows_of(connection, table))
        for row, alike in picked:
            for column in names:
                passed.setdefault(f"{table[9:]}.{column}", [])
                other = next((one[column] for one in alike if one[column] != row[column]), None)
                for value in edits(row[column], other):
                    if forged(path, folder / "forged.db", table, column, row, value):
                        tried += 1
                        if not is_found(folder / "forged.db"):
                            passed[f"{table[9:]}.{column}"].append(value)
    assert passed, "no study has a row there"
    assert tried >= len(passed)
    listed = {name for name in UNPROVABLE if name.startswith(f"{table[9:]}.")}
    assert {name: values for name, values in passed.items() if values and name not in listed} == {}
    assert [name for name in listed if not passed[name]] == [], "found by now: take it off the list"
