"""What one rater has done in a study, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import select

from standout.study import again, schema
from standout.study.study import Study
from standout.study.tickets import Ticket

_REWARDS, _FAILURES = schema.rewards, schema.failures


@dataclass
class Record:
    """The arms that a rater has answered, the latest last, and those it has given back."""

    answers: int = 0
    answered: dict[str, int] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)

    def add(self, arm: str) -> None:
        """One more answer."""
        self.answers += 1
        self.answered[arm] = self.answers


def read_record(study: Study, worker: str) -> Record:
    """Look it up; costs a look at the rater's own answers."""
    record = Record()
    names = study.arms
    with study._reading() as (connection, _):
        key = study._ledger.key
        rewards = (
            select(_REWARDS.c.arm)
            .where(_REWARDS.c.study == key, _REWARDS.c.worker == worker)
            .order_by(_REWARDS.c.seq)
        )
        for arm in connection.execute(rewards).scalars():
            record.add(names[arm])
        failures = (
            select(_FAILURES.c.arm)
            .distinct()
            .where(_FAILURES.c.study == key, _FAILURES.c.worker == worker)
        )
        record.skipped.update(names[arm] for arm in connection.execute(failures).scalars())
    return record


def held_ticket(study: Study, worker: str) -> Ticket | None:
    """The ticket that a rater was given and has not answered, if its lease has not run out."""
    with study._reading() as (connection, now):
        held = again.lost(connection, study._ledger, worker, (), 1, now)
    return held[0] if held else None
