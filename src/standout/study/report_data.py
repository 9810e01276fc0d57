"""A study at one moment, with its whole log: the data that a report is made from."""

from __future__ import annotations

from dataclasses import dataclass

from standout.core.method import Method
from standout.estimation.until import MOST_ARMS
from standout.results import Chances, Change, StudyView, Trace, Verification
from standout.study.forecast import StudyForecaster
from standout.study.reward_table import RewardTable, read_reward_table
from standout.study.study import Study
from standout.study.view import view


@dataclass(frozen=True, eq=False)
class ReportData:
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


def read_report_data(study: Study) -> ReportData:
    """Read it in one transaction; takes seconds for a log of a million rewards.

    Other processes may write meanwhile. Other users of this handle wait.
    """
    with study._reading():
        verified = study.verify()
        seen = view(study)
        is_open = bool(seen.counts.pulls and seen.counts.undecided)
        return ReportData(
            seen=seen,
            method=study.method,
            log=read_reward_table(study),
            trace=study.trace(),
            verified=verified,
            guess=study.identification().best_guess,
            chances=study.chances() if is_open and len(study.arms) <= MOST_ARMS else None,
            forecaster=StudyForecaster(study._state),
            changes=tuple(study.changes()),
        )
