"""What one rater has done in a study, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from standout.study.storage.log import reward_log
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
    """How many seconds ago a ticket was told, and by whom; None if it was not."""
    with study._reading() as (connection, now):
        found = reward_log.told_by.first(connection, study._stored.key, ticket)
    return None if found is None else (now - found[0], found[1])


def read_record(study: Study, worker: str) -> Record:
    """Look it up; costs a look at the rater's own answers."""
    record = Record()
    names = study.arms
    with study._reading() as (connection, _):
        key = study._stored.key
        void = study._stored.progress.voided
        for place, arm in reward_log.arms_told(connection, key, worker):
            if place not in void:
                record.add(names[arm])
        skipped = reward_log.arms_given_back.column(connection, key, worker)
        record.skipped.update(names[arm] for arm in skipped)
    return record
