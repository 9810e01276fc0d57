"""Recompute every total from the append-only log, and compare."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from standout.core.state import PULLS
from standout.core.typing import Floats, Ints
from standout.study import schema
from standout.study.ledger import Ledger
from standout.study.memory import copy_state
from standout.study.schema import TicketStatus

_REWARDS, _TICKETS, _FAILURES = schema.rewards, schema.tickets, schema.failures


@dataclass(frozen=True)
class Verification:
    """What a check of the whole study found; `problems` is empty when all is well."""

    rewards: int
    tickets: int
    problems: tuple[str, ...] = field(default=())

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.is_ok


def verify(connection: Connection, ledger: Ledger) -> Verification:
    """Check the log against the totals, the tickets, the rounds and the budget."""
    checks = _Checks(connection, ledger)
    checks.integrity()
    checks.log()
    checks.totals()
    checks.tickets()
    checks.rounds()
    checks.failures()
    totals = ledger.desk.totals
    return Verification(totals.log, totals.tickets, tuple(checks.problems))


class _Checks:
    def __init__(self, connection: Connection, ledger: Ledger) -> None:
        self.connection, self.ledger, self.desk = connection, ledger, ledger.desk
        self.problems: list[str] = []

    def _expect(self, what: str, found: Any, expected: Any) -> None:
        if found != expected:
            self.problems.append(f"{what}: {found}, but {expected} by the log")

    def _scalar(self, what: Any, table: Any, *where: Any) -> int:
        query = select(what).where(table.c.study == self.ledger.key, *where)
        return int(self.connection.execute(query).scalar() or 0)

    def integrity(self) -> None:
        """SQLite's own check of the file."""
        if self.connection.dialect.name == "sqlite":
            rows = self.connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            if rows != ["ok"]:
                self.problems.extend(f"SQLite: {row}" for row in rows)

    def log(self) -> None:
        """The log is gapless and as long as the counters say."""
        totals = self.desk.totals
        count = self._scalar(func.count(), _REWARDS)
        self._expect("rewards logged", totals.log, count)
        self._expect(
            "last place in the log", self._scalar(func.max(_REWARDS.c.seq), _REWARDS), count
        )
        surplus = self._scalar(func.count(), _REWARDS, _REWARDS.c.counted.is_(False))
        self._expect("surplus rewards", totals.surplus, surplus)
        self._expect("pulls", totals.pulls, count - surplus)
        budget = self.desk.budget
        if budget is not None and totals.pulls + self.desk.out > budget:
            self.problems.append(
                f"budget: {totals.pulls} pulls and {self.desk.out} pending exceed {budget}"
            )

    def totals(self) -> None:
        """Every arm's pulls and sum, from the log without what is held back."""
        state = self.desk.state
        pulls, sums = self._sums()
        self._expect("pulls of all arms", int(state.counters[PULLS]), int(pulls.sum()))
        scale = np.maximum(1.0, np.maximum(np.abs(sums), pulls))
        totals = state.sums + state.pulls * state.origin
        wrong = (pulls != state.pulls) | (np.abs(sums - totals) > 1e-9 * scale)
        for arm in np.flatnonzero(wrong)[:10]:
            kept, logged = float(totals[arm]), float(sums[arm])
            self.problems.append(
                f"arm {self.desk.arms[arm]!r}: {state.pulls[arm]} pulls, sum {kept!r}, "
                f"but {pulls[arm]} and {logged!r} by the log"
            )

    def _sums(self) -> tuple[Ints, Floats]:
        state = copy_state(self.desk.state)
        pulls, sums = state.pulls, state.sums
        pulls[:], sums[:] = 0, 0.0
        query = (
            select(_REWARDS.c.arm, func.count(), func.sum(_REWARDS.c.value))
            .where(_REWARDS.c.study == self.ledger.key, _REWARDS.c.counted.is_(True))
            .group_by(_REWARDS.c.arm)
        )
        for arm, count, total in self.connection.execute(query):
            pulls[arm], sums[arm] = count, total
        held = select(_TICKETS.c.arm, _TICKETS.c.value).where(
            _TICKETS.c.study == self.ledger.key, _TICKETS.c.status == int(TicketStatus.HELD)
        )
        for arm, value in self.connection.execute(held):
            pulls[arm] -= 1
            sums[arm] -= value
        return pulls, sums

    def tickets(self) -> None:
        """Every ticket is open, closed or told: exactly one of them."""
        open_count = self._scalar(
            func.count(), _TICKETS, _TICKETS.c.status != int(TicketStatus.HELD)
        )
        told = self._scalar(func.count(_REWARDS.c.ticket), _REWARDS)
        self._expect("tickets", self.desk.totals.tickets, open_count + told)
        both = select(func.count()).select_from(
            _TICKETS.join(
                _REWARDS,
                (_TICKETS.c.study == _REWARDS.c.study) & (_TICKETS.c.id == _REWARDS.c.ticket),
            )
        ).where(_TICKETS.c.study == self.ledger.key)  # fmt: skip
        held = self._scalar(
            func.count(), _TICKETS, _TICKETS.c.status == int(TicketStatus.HELD), _TICKETS.c.id > 0
        )
        self._expect(
            "told tickets that are held", held, int(self.connection.execute(both).scalar() or 0)
        )
        pending = (
            select(_TICKETS.c.arm, func.count())
            .where(
                _TICKETS.c.study == self.ledger.key,
                _TICKETS.c.status == int(TicketStatus.PENDING),
            )
            .group_by(_TICKETS.c.arm)
        )
        counts = np.zeros_like(self.desk.pending)
        for arm, count in self.connection.execute(pending):
            counts[arm] = count
        for arm in np.flatnonzero(counts != self.desk.pending)[:10]:
            self._expect(
                f"pending pulls of {self.desk.arms[arm]!r}",
                int(self.desk.pending[arm]),
                int(counts[arm]),
            )

    def rounds(self) -> None:
        """What the rounds wait for is what is pending."""
        self._expect("pulls that rounds wait for", self.desk.out, int(self.desk.pending.sum()))

    def failures(self) -> None:
        """The failures counted per arm are those in the log."""
        count = self._scalar(func.count(), _FAILURES)
        self._expect("failures logged", self.desk.totals.failed, count)
        self._expect("failures of all arms", int(self.desk.failures.sum()), count)
