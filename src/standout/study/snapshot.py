"""A study at one moment, with its whole log: what a report is made from."""

from __future__ import annotations

from dataclasses import dataclass

from standout.core.method import Method
from standout.estimation.until import MOST_ARMS
from standout.results import Chances, Change, StudyView, Trace, Verification
from standout.study.forecast import StudyForecaster
from standout.study.log.reward_table import RewardTable, read_reward_table
from standout.study.study import Study
from standout.study.view import view


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All of it belongs together: nothing was told between two of these."""

    seen: StudyView
    method: Method
    log: RewardTable
    trace: Trace
    verified: Verification
    guess: tuple[str, ...]
    """The outliers if one had to name them now, without guarantee."""
    chances: Chances | None
    """Estimates for what is not certain; None where all is, and for very many arms."""
    forecaster: StudyForecaster
    """What a forecast plays on from."""
    changes: tuple[Change, ...]
    """What was changed by hand, oldest first."""


def read_snapshot(study: Study) -> Snapshot:
    """Read it in one transaction; takes seconds for a log of a million rewards.

    Others may tell meanwhile. Whoever uses this very handle waits.
    """
    with study._reading(is_long=True) as (connection, _):
        # First: it reads anew what this process thinks it knows.
        verified = study.verify()
        seen = view(study)
        is_open = bool(seen.counts.pulls and seen.counts.undecided)
        return Snapshot(
            seen=seen,
            method=study.method,
            log=read_reward_table(study),
            trace=study.trace(),
            verified=verified,
            guess=study.identification().best_guess,
            chances=study.chances() if is_open and len(study.arms) <= MOST_ARMS else None,
            forecaster=StudyForecaster(connection, study._stored),
            changes=tuple(study.changes()),
        )
