"""What one rater has done in a study."""

from __future__ import annotations

from sqlalchemy import func, select

from standout.study import schema
from standout.study.study import Study

_REWARDS, _FAILURES = schema.rewards, schema.failures


def count_answers(study: Study, worker: str) -> int:
    """How many rewards a worker has told; costs a look at every reward of the study."""
    with study._reading() as (connection, _):
        query = (
            select(func.count())
            .select_from(_REWARDS)
            .where(_REWARDS.c.study == study._ledger.key, _REWARDS.c.worker == worker)
        )
        return int(connection.execute(query).scalar_one())


def skipped_arms(study: Study, worker: str) -> frozenset[str]:
    """The arms of which a worker has given a ticket back."""
    with study._reading() as (connection, _):
        query = (
            select(_FAILURES.c.arm)
            .distinct()
            .where(_FAILURES.c.study == study._ledger.key, _FAILURES.c.worker == worker)
        )
        names = study.arms
        return frozenset(names[arm] for arm in connection.execute(query).scalars())
