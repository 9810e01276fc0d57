"""Reading and writing a desk: only what has changed since this process last looked."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, update

from standout.core.state import PULLS
from standout.core.stopping import StopReason
from standout.core.typing import Floats, Ints
from standout.errors import NoStudyError, StorageError, StudyError
from standout.study import schema
from standout.study.bulk import insert_rows
from standout.study.desk import Changes, Desk, Totals
from standout.study.ledger_sql import (
    ADD_ROUND,
    ARM_VALUES,
    COUNTERS,
    DROP_ROUND,
    LOCK_RUN_AND_TIME,
    READ_ARMS,
    READ_ROUND,
    READ_RUN,
    READ_RUN_AND_TIME,
    WRITE_ARM,
    WRITE_COUNTERS,
    WRITE_RUN,
)
from standout.study.memory import Layout, restore_derived
from standout.study.rounds import LiveRound, new_round
from standout.study.trace import TraceLog

REASONS = {str(reason): reason for reason in StopReason}
_OWN = 3
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, StudyError)
"""What reading rows raises that somebody has damaged."""


class Ledger:
    """The rows of one study, and the desk that mirrors them."""

    def __init__(self, key: int, desk: Desk, fields: list[list[Any]] | None = None) -> None:
        self.key = key
        self.desk = desk
        self.layout = Layout(desk.problem, desk.method)
        self.fields = fields or self.layout.fields(desk.state)
        self._image = self._table()
        self._rng_text = ""
        self.is_loaded = False
        self.trace = TraceLog(key)

    def _table(self, positions: Ints | slice = slice(None)) -> Floats:
        """What is compared to find the arms that changed: `_OWN` columns, then the memory."""
        desk = self.desk
        memory = self.layout.table(desk.state, positions)
        table = np.empty((len(memory), _OWN + memory.shape[1]))
        table[:, 0] = desk.state.pulls[positions]
        table[:, 1] = desk.state.sums[positions]
        table[:, 2] = desk.certified[positions]
        table[:, _OWN:] = memory
        return table

    # Reading -----------------------------------------------------------------

    def sync(self, connection: Connection, *, lock: bool) -> float:
        """Bring the desk up to date, and give the time (seconds since 1970).

        With `lock` nobody else changes the study until the transaction ends.
        On SQLite the transaction itself sees to that.
        """
        self.desk.changes = Changes()
        if connection.dialect.name == "sqlite":
            rows = READ_RUN(connection, {"key": self.key})
            moment = time.time()
        else:
            read = LOCK_RUN_AND_TIME if lock else READ_RUN_AND_TIME
            rows = read(connection, {"key": self.key})
            moment = float(rows[0].moment) if rows else 0.0
        if not rows:
            raise NoStudyError("the study has been removed")
        self._catch_up(connection, rows[0])
        return moment

    def _catch_up(self, connection: Connection, row: Any) -> None:
        since = self.desk.totals.seq if self.is_loaded else -1
        if row.seq == since:
            return
        if row.seq < since:
            since = -1  # Another copy of the database was put in place.
        try:
            self._read_arms(connection, since)
            self._read_run(connection, row)
        except UNREADABLE as error:
            raise StorageError(
                f"the study's rows cannot be read ({error}); restore a copy"
            ) from None
        self.is_loaded = True

    def forget(self) -> None:
        """After a failed write: the desk is ahead of the database; read all of it again."""
        self.is_loaded = False
        self._rng_text = ""  # Random numbers may have been drawn since.
        self.desk.rounds = []
        self.trace.forget()

    def _read_arms(self, connection: Connection, since: int) -> None:
        rows = READ_ARMS(connection, {"key": self.key, "since": since})
        if not rows:
            return
        desk, state = self.desk, self.desk.state
        columns: list[Any] = list(zip(*rows, strict=True))
        positions = np.array(columns[0], dtype=np.int64)
        state.pulls[positions] = columns[1]
        state.sums[positions] = columns[2]
        desk.certified[positions] = columns[3]
        desk.pending[positions] = columns[4]
        desk.failures[positions] = columns[5]
        desk.streak[positions] = columns[6]
        for position, why in zip(columns[0], columns[7], strict=True):
            if why is None:
                desk.paused.pop(position, None)
            else:
                desk.paused[position] = why
        desk.held[positions] = columns[9]
        self.layout.unpack_arms(state, positions, columns[8], self.fields)
        self._image[positions] = self._table(positions)

    def _read_run(self, connection: Connection, row: Any) -> None:
        desk = self.desk
        desk.totals = Totals(**{name: int(getattr(row, name)) for name in COUNTERS})
        desk.reason = REASONS[str(row.reason)]
        desk.stopped_at = row.stopped
        desk.head = bytes(row.head)
        found = self.layout.unpack_run(desk.state, row.scalars)
        desk.state.counters[PULLS] = desk.state.pulls.sum()
        restore_derived(desk.spec, desk.state, found)
        if row.rng != self._rng_text:
            desk.rng.bit_generator.state = json.loads(row.rng)
            self._rng_text = row.rng
        known = {live.id: live for live in desk.rounds}
        desk.rounds = []
        for packed in json.loads(row.live):
            live = known.get(packed[0]) or self._read_round(connection, packed[0])
            live.unpack(packed)
            desk.rounds.append(live)

    def _read_round(self, connection: Connection, number: int) -> LiveRound:
        (found,) = READ_ROUND(connection, {"key": self.key, "round": number})
        plan = (np.array(json.loads(text), dtype=np.int64) for text in found)
        return new_round(number, *plan)

    # Writing -----------------------------------------------------------------

    def create(self, connection: Connection) -> None:
        """The first rows of a new study."""
        desk = self.desk
        everyone = np.arange(len(desk.arms))
        self._image = self._table()
        rows = [
            {"study": self.key, "position": i, "name": name, **values}
            for i, (name, values) in enumerate(
                zip(desk.arms, self._arm_rows(everyone), strict=True)
            )
        ]
        insert_rows(connection, schema.arms, rows)
        connection.execute(
            insert(schema.runs).values(study=self.key, **self._run_row(), **self._slow_row())
        )

    def flush(self, connection: Connection) -> None:
        """Write what has changed, and one more `seq`."""
        desk, changes = self.desk, self.desk.changes
        desk.totals.seq += 1
        for live in changes.planned:
            if live.id not in changes.closed:
                ADD_ROUND(
                    connection,
                    {
                        "study": self.key,
                        "id": live.id,
                        "arms": json.dumps(live.arms.tolist()),
                        "amounts": json.dumps(live.amounts.tolist()),
                    },
                )
        if changes.closed:
            DROP_ROUND(
                connection, [{"key": self.key, "round": number} for number in changes.closed]
            )
        positions = self._changed_arms()
        if len(positions):
            rows = self._arm_rows(positions)
            for place, row in zip(positions.tolist(), rows, strict=True):
                row["key"], row["place"] = self.key, place
            WRITE_ARM(connection, rows)
        if changes.is_wide or changes.is_planned:
            row = {**self._run_row(), **self._slow_row()}
            WRITE_RUN(connection, {"key": self.key, **row})
        else:
            WRITE_COUNTERS(connection, {"key": self.key, **self._run_row()})
        for moment, is_last in changes.ended:
            self.trace.add(connection, moment, is_last)

    def renew_fields(self, connection: Connection) -> None:
        """A later version remembers more or less of an arm: write all of them anew."""
        self.fields = self.layout.fields(self.desk.state)
        connection.execute(
            update(schema.studies)
            .where(schema.studies.c.id == self.key)
            .values(fields=json.dumps(self.fields))
        )
        self.desk.changes.arms.update(range(len(self.desk.arms)))

    def _changed_arms(self) -> Ints:
        changes = self.desk.changes
        named = np.array(sorted(changes.arms), dtype=np.int64)
        if not changes.is_wide:
            if len(named):
                self._image[named] = self._table(named)
            return named
        table = self._table()
        differs = (table != self._image) & ~(np.isnan(table) & np.isnan(self._image))
        self._image = table
        wide = differs.any(axis=1)
        wide[named] = True
        return np.flatnonzero(wide)

    def _arm_rows(self, positions: Ints) -> list[dict[str, Any]]:
        """The rows of these arms, of which `_image` is up to date."""
        desk = self.desk
        columns = (
            desk.state.pulls, desk.state.sums, desk.certified,
            desk.pending, desk.failures, desk.streak,
        )  # fmt: skip
        held = desk.held
        texts = map(json.dumps, self._image[positions, _OWN:].tolist())
        values = zip(*(column[positions].tolist() for column in columns), strict=True)
        return [
            dict(
                zip(
                    ARM_VALUES,
                    (*row, desk.paused.get(place), text, int(held[place]), desk.totals.seq),
                    strict=True,
                )
            )
            for place, row, text in zip(positions.tolist(), values, texts, strict=True)
        ]

    def _run_row(self) -> dict[str, Any]:
        desk = self.desk
        row: dict[str, Any] = {name: getattr(desk.totals, name) for name in COUNTERS}
        row["live"] = json.dumps([live.pack() for live in desk.rounds])
        row["reason"] = str(desk.reason)
        row["stopped"] = desk.stopped_at
        row["head"] = desk.head
        return row

    def _slow_row(self) -> dict[str, Any]:
        """What changes with rounds only."""
        state = self.desk.rng.bit_generator.state
        self._rng_text = json.dumps(state)
        return {"rng": self._rng_text, "scalars": self.layout.pack_run(self.desk.state)}
