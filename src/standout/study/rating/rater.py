"""What one rater has done in a study, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from standout.study.events.tables import RewardStatus
from standout.study.queries import place_of
from standout.study.study import Study


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


def told_when(study: Study, ticket: int) -> tuple[float, str] | None:
    """How many seconds ago a ticket was answered, and by whom; None if it was not."""
    with study._reading() as session:
        log, place = study._state.ledger, place_of(study._state, ticket)
        if not place:
            return None
        return session.now - log.time.item(place - 1), log.workers[log.worker.item(place - 1)]


def read_record(study: Study, worker: str) -> Record:
    """Look it up; looks through the whole log, some milliseconds per million rewards."""
    record = Record()
    with study._reading():
        state = study._state
        log = state.ledger
        code = log.codes.get(worker, -1)
        mine = (log.worker[: log.size] == code) & (log.status[: log.size] != RewardStatus.VOID)
        for arm in log.arm[np.flatnonzero(mine)].tolist():
            record.add(state.arms[arm])
        record.skipped.update(one.arm for one in state.failed if one.worker == worker)
    return record
