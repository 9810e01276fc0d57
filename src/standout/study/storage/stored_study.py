"""Reading and writing the progress of a study: only what changed since this process last looked."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from standout.core.state import PULLS
from standout.core.typing import Floats, Ints
from standout.errors import NoStudyError, StorageError, StudyError
from standout.results import StopReason
from standout.study.progress import Changes, Progress, Totals
from standout.study.rounds import SHORT, LiveRound, new_round, planned_of
from standout.study.settings import read_changed, write_changed
from standout.study.short_json import dumps
from standout.study.storage import study_statements as sql
from standout.study.storage.connection import Connection
from standout.study.storage.log.trace import TraceLog
from standout.study.storage.open_tickets import Looked
from standout.study.storage.packing import Layout, restore_derived, restore_touched
from standout.study.storage.statements import FEW, Statement, insert_columns, read_together

REASONS = {str(reason): reason for reason in StopReason}
_OWN = 3
_NEWS = 3
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, StudyError)
"""What reading rows raises that somebody has damaged."""


@contextmanager
def readable() -> Iterator[None]:
    """Reading rows that somebody may have damaged; then it is a `StorageError`."""
    try:
        yield
    except StorageError:
        raise
    except UNREADABLE as error:
        raise StorageError(f"the study's rows cannot be read ({error}); restore a copy") from None


class StoredStudy:
    """The rows of one study, and its progress in memory, which is what they say."""

    def __init__(self, key: int, progress: Progress, fields: list[list[Any]] | None = None) -> None:
        self.key = key
        self.progress = progress
        self.lock = threading.RLock()
        """Of the thread that reads or changes the progress."""
        self.layout = Layout(progress.problem, progress.method)
        self.fields = fields or self.layout.fields(progress.state)
        self._image = self._table()
        self._rng_text: str | None = None
        self._scalars_text = ""
        self._changed_text: str | None = None
        self.is_loaded = False
        self._is_alone = False
        """Whether nobody else had changed the study when it was last looked at."""
        self.first_due = -math.inf
        """Before this moment (seconds since 1970) no lease runs out."""
        self.tickets = Looked()
        self.trace = TraceLog(key)

    def _table(self, positions: Ints | slice = slice(None)) -> Floats:
        """What is compared to find the arms that changed: `_OWN` columns, then the memory."""
        progress = self.progress
        memory = self.layout.table(progress.state, positions)
        table = np.empty((len(memory), _OWN + memory.shape[1]))
        table[:, 0] = progress.state.pulls[positions]
        table[:, 1] = progress.state.sums[positions]
        table[:, 2] = progress.certified[positions]
        table[:, _OWN:] = memory
        return table

    # Reading -----------------------------------------------------------------

    def sync(self, connection: Connection, *, lock: bool, tickets: Sequence[int] = ()) -> float:
        """Bring the progress up to date, and give the time (seconds since 1970).

        With `lock` nobody else changes the study until the transaction ends.
        On SQLite the transaction itself sees to that. What is about to be told
        of (`tickets`) is looked up on the way.
        """
        self.progress.changes = Changes()
        known = self.progress.totals if self.is_loaded else Totals(seq=-1)
        run = ((sql.LOCK_RUN if lock else sql.READ_RUN), (self.key,))
        if connection.is_sqlite:
            self.tickets.forget()
            moment = time.time()
            if sql.READ_SEQ(connection, self.key) == [(known.seq,)]:
                return moment
            rows, *news = read_together(connection, [run, *self._news(known)])
            looked: list[Any] = []
        else:
            look = self.tickets.calls(self.key, tickets, held=bool(self.progress.held.any()))
            if lock:
                sql.QUEUE.run(connection, self.key)
            if self.is_loaded and self._is_alone:
                # Most likely nobody else was here since; among many it would be asked in vain.
                seq = ((sql.LOCK_SEQ if lock else sql.READ_SEQ), (self.key,))
                unknown = [] if self.tickets.knows(tickets) else look
                found, *news = read_together(connection, [seq, *unknown])
                if found and found[0][0] == known.seq:
                    if unknown:
                        self.tickets.remember(tickets, news, self.progress.held)
                    return float(found[0][1])
            rows, *news = read_together(connection, [run, *self._news(known), *look])
            moment = float(rows[0][-1]) if rows else 0.0
            self._is_alone = bool(rows) and rows[0][0] == known.seq
            news, looked = news[:_NEWS], news[_NEWS:]
        if not rows:
            raise NoStudyError("the study has been removed")
        row = sql.RunRow._make(rows[0][: len(sql.RunRow._fields)])
        with readable():
            if row.seq < known.seq:  # Another copy of the database was put in place.
                news = read_together(connection, self._news(Totals(seq=-1)))
                self.progress.rounds = []
            self._catch_up(row, *news)
        self.tickets.remember(tickets, looked, self.progress.held)
        return moment

    def _news(self, known: Totals) -> list[tuple[Statement, tuple[Any, ...]]]:
        """What to read when others have changed something since `known`."""
        last = known.last_round if known.seq >= 0 else -1
        return [
            (sql.READ_ARMS, (self.key, known.seq)),
            (sql.READ_ROUNDS, (self.key, last)),
            (sql.FIRST_DUE, (self.key,)),
        ]

    def _catch_up(
        self, row: sql.RunRow, arms: list[Any], rounds: list[Any], due: list[Any]
    ) -> None:
        self.first_due = due[0][0] if due else math.inf
        if self.is_loaded and row.seq == self.progress.totals.seq:
            return
        self._read_arms(arms)
        self._read_run(row, {number: plan for number, *plan in rounds})
        self.is_loaded = True

    def forget(self) -> None:
        """After a failed write: the progress is ahead of the database; read all of it again."""
        self.is_loaded = False
        self._rng_text = None  # Random numbers may have been drawn since.
        self._changed_text = ""  # Is that of no row: whatever it says is read again.
        self.progress.rounds = []
        self._scalars_text = ""
        self.trace.forget()
        self.tickets.forget()

    def renew(self) -> None:
        """In a forked child: a thread that is not there may have been amid a change."""
        if self.lock.acquire(blocking=False):
            self.lock.release()
        else:
            self.lock = threading.RLock()
            self.forget()

    def _read_arms(self, rows: list[Any]) -> None:
        if not rows:
            return
        progress, state = self.progress, self.progress.state
        columns: list[Any] = list(zip(*rows, strict=True))
        positions = np.array(columns[0], dtype=np.int64)
        state.pulls[positions] = columns[1]
        state.sums[positions] = columns[2]
        progress.certified[positions] = columns[3]
        progress.pending[positions] = columns[4]
        progress.failures[positions] = columns[5]
        progress.streak[positions] = columns[6]
        for position, why in zip(columns[0], columns[7], strict=True):
            if why is None:
                progress.paused.pop(position, None)
            else:
                progress.paused[position] = why
        progress.held[positions] = columns[9]
        self.layout.unpack_arms(state, positions, columns[8], self.fields)
        self._image[positions] = self._table(positions)

    def _read_run(self, row: sql.RunRow, plans: dict[int, list[str]]) -> None:
        progress = self.progress
        if row.changed != self._changed_text:
            progress.use(*read_changed(row.changed, progress.begun, len(progress.arms)))
            self._changed_text = row.changed
        progress.totals = Totals(**{name: int(getattr(row, name)) for name in sql.COUNTERS})
        progress.reason = REASONS[str(row.reason)]
        progress.stopped_at = row.stopped
        progress.head = bytes(row.head)
        if row.scalars != self._scalars_text:
            found = self.layout.unpack_run(progress.state, row.scalars)
            restore_derived(progress.spec, progress.state, found)
            self._scalars_text = row.scalars
        else:
            # No round has begun or ended meanwhile: there are more rewards, and nothing else.
            restore_touched(progress.state)
        progress.state.counters[PULLS] = progress.state.pulls.sum()
        if row.rng != self._rng_text:
            progress.rng.bit_generator.state = json.loads(row.rng)
            self._rng_text = row.rng
        known = {live.id: live for live in progress.rounds}
        progress.rounds = []
        for packed in json.loads(row.live):
            live = known.get(packed[0]) or _planned_round(packed, plans)
            live.unpack(packed)
            progress.rounds.append(live)

    # Writing -----------------------------------------------------------------

    def create(self, connection: Connection) -> None:
        """The first rows of a new study."""
        progress = self.progress
        everyone = np.arange(len(progress.arms))
        self._image = self._table()
        names = (*sql.ARM_VALUES, "study", "position", "name")
        rows = zip(self._arm_rows(everyone), progress.arms, strict=True)
        with_names = ((*row, name) for row, name in rows)
        insert_columns(connection, "standout_arms", names, with_names, len(progress.arms))
        sql.ADD_RUN.run(connection, *self._run_row(), *self._slow_row(), self.key)

    def flush(self, connection: Connection) -> None:
        """Write what has changed, and one more `seq`."""
        progress, changes = self.progress, self.progress.changes
        progress.totals.seq += 1
        self._write_rounds(connection)
        rows = self._changed_rows()
        if rows:
            sql.WRITE_ARM.many(connection, rows)
        if changes.is_wide or changes.is_planned:
            sql.WRITE_RUN.run(connection, *self._run_row(), *self._slow_row(), self.key)
        else:
            sql.WRITE_COUNTERS.run(connection, *self._run_row(), self.key)
        for moment, is_last in changes.ended:
            self.trace.add(connection, moment, is_last)

    def _write_rounds(self, connection: Connection) -> None:
        changes = self.progress.changes
        for live in changes.planned:
            if len(live.arms) > SHORT and self.progress.live_round(live.id) is not None:
                live.has_row = True
                plan = (json.dumps(part.tolist()) for part in (live.arms, live.amounts))
                sql.ADD_ROUND.run(connection, self.key, live.id, *plan)
        if changes.closed:
            sql.DROP_ROUND.many(connection, [(self.key, number) for number in changes.closed])

    def renew_fields(self, connection: Connection) -> None:
        """A later version remembers more or less of an arm: write all of them anew."""
        self.fields = self.layout.fields(self.progress.state)
        sql.WRITE_FIELDS.run(connection, json.dumps(self.fields), self.key)
        self.progress.changes.arms.update(range(len(self.progress.arms)))

    def _changed_rows(self) -> list[tuple[Any, ...]]:
        """The rows of the arms that have changed, for `WRITE_ARM`."""
        changes = self.progress.changes
        arms = changes.arms
        if changes.is_wide:
            table = self._table()
            # Bit by bit: what is no number equals itself.
            differs = (table.view(np.int64) != self._image.view(np.int64)).any(axis=1)
            self._image = table
            arms.update(np.flatnonzero(differs).tolist())
        if len(arms) <= FEW:
            return [self._arm_row(arm) for arm in sorted(arms)]
        positions = np.array(sorted(arms), dtype=np.int64)
        if not changes.is_wide:
            self._image[positions] = self._table(positions)
        return self._arm_rows(positions)

    def _arm_row(self, arm: int) -> tuple[Any, ...]:
        """The row of one arm in `_arm_rows`; brings `_image` up to date."""
        progress, state = self.progress, self.progress.state
        pulls, total, verdict = state.pulls.item(arm), state.sums.item(arm), progress.certified
        memory = self.layout.row(state, arm)
        self._image[arm] = (pulls, total, verdict.item(arm), *memory)
        return (
            pulls, total, verdict.item(arm), progress.pending.item(arm),
            progress.failures.item(arm), progress.streak.item(arm), progress.paused.get(arm),
            _as_json(memory), progress.held.item(arm), progress.totals.seq, self.key, arm,
        )  # fmt: skip

    def _arm_rows(self, positions: Ints) -> list[tuple[Any, ...]]:
        """`ARM_VALUES`, the study and the position of these arms; `_image` must be up to date."""
        progress = self.progress
        columns = (
            progress.state.pulls, progress.state.sums, progress.certified,
            progress.pending, progress.failures, progress.streak, progress.held,
        )  # fmt: skip
        places = positions.tolist()
        texts = map(_as_json, self._image[positions, _OWN:].tolist())
        values = zip(*(column[positions].tolist() for column in columns), strict=True)
        seq = progress.totals.seq
        return [
            (*row, progress.paused.get(place), text, held, seq, self.key, place)
            for place, (*row, held), text in zip(places, values, texts, strict=True)
        ]

    def _run_row(self) -> tuple[Any, ...]:
        """What changes with every call, in the order of `RunRow`."""
        progress = self.progress
        counters = vars(progress.totals).values()  # In the order of `COUNTERS`.
        live = str([live.pack() for live in progress.rounds])  # Whole numbers: this is JSON.
        return (*counters, live, str(progress.reason), progress.stopped_at, progress.head)

    def _slow_row(self) -> tuple[str, str, str | None]:
        """What changes with rounds only, or by hand."""
        progress = self.progress
        self._rng_text = rng = dumps(progress.rng.bit_generator.state)
        self._scalars_text = self.layout.pack_run(progress.state)
        self._changed_text = write_changed(progress.begun, progress.settings, progress.voided)
        return rng, self._scalars_text, self._changed_text


def _as_json(values: list[float]) -> str:
    """As `json.dumps`, which takes three times as long."""
    text = repr(values)
    return json.dumps(values) if "n" in text else text  # inf and nan have other names there.


def _planned_round(packed: list[Any], plans: dict[int, list[str]]) -> LiveRound:
    """A round by its plan, which comes with it or is among `plans`."""
    plan = planned_of(packed)
    has_row = plan is None
    if plan is None:
        plan = [json.loads(text) for text in plans[packed[0]]]
    arms, amounts = (np.array(part, dtype=np.int64) for part in plan)
    live = new_round(packed[0], arms, amounts)
    live.has_row = has_row
    return live
