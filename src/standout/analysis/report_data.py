"""The data of a report: a study at one moment, with its whole log as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.method import Method
from standout.core.typing import Floats, Ints
from standout.estimation.until import MOST_ARMS
from standout.results import Chances, Change, StudyView, Trace, Verification
from standout.study.events.tables import RewardStatus, TicketStatus
from standout.study.forecast import StudyForecaster
from standout.study.study import Study
from standout.study.view import view

LOST = (TicketStatus.EXPIRED, TicketStatus.CANCELLED, TicketStatus.FAILED)
"""The final states of tickets without a reward."""


@dataclass(frozen=True)
class RewardTable:
    """Every counted reward, in the order of telling; one entry per reward in each array.

    `arm` is a position among the study's arms, `worker` one in `workers`; `time` is in seconds
    since 1970. `delay` is the number of seconds from asking to telling. For a reward that was told
    without asking, `ticket` is 0 and `delay` is NaN. `closed` counts the tickets without a reward,
    by their final state: `expired`, `cancelled` (another ticket was first) or `failed`.
    """

    arm: Ints
    reward: Floats
    worker: Ints
    time: Floats
    ticket: Ints
    delay: Floats
    workers: tuple[str, ...]
    surplus: int
    closed: dict[str, int]
    is_ordered: bool
    lease: float
    file: str | None
    """Name of the study's file, without its folder; None for a PostgreSQL database."""
    names: tuple[str, ...] = ()
    """The workers' names for people."""

    def __len__(self) -> int:
        return len(self.arm)


def read_reward_table(study: Study) -> RewardTable:
    """Read the whole log."""
    with study.memory.reading():
        state, shown = study._state, study.rater_names()
        log, tickets = state.ledger, state.tickets
        rows = np.flatnonzero(log.status[: log.size] == RewardStatus.COUNTED)
        ticket = log.ticket[rows]
        asked = np.where(ticket > 0, tickets.asked[np.maximum(ticket, 1) - 1], np.nan)
        surplus = np.count_nonzero(log.status[: log.size] == RewardStatus.SURPLUS)
        by_status = np.bincount(tickets.status[: tickets.size], minlength=len(TicketStatus))
        return RewardTable(
            arm=log.arm[rows].astype(np.int64),
            reward=log.value[rows],
            worker=log.worker[rows].astype(np.int64),
            time=log.time[rows],
            ticket=ticket,
            delay=log.time[rows] - asked,
            workers=tuple(log.workers),
            surplus=int(surplus),
            closed={status.name.lower(): int(by_status[status]) for status in LOST},
            is_ordered=state.is_ordered,
            lease=state.lease,
            file=study.file,
            names=tuple(shown.get(worker, worker) for worker in log.workers),
        )


@dataclass(frozen=True, eq=False)
class ReportData:
    """The data of a report, all from the same moment."""

    seen: StudyView
    method: Method
    log: RewardTable
    trace: Trace
    verified: Verification
    guess: tuple[str, ...]
    """The best guess of the outliers, without guarantee."""
    chances: Chances | None
    """Estimates for undecided arms; None if all arms are decided, and for very many arms."""
    forecaster: StudyForecaster
    """The state from which a forecast is simulated."""
    changes: tuple[Change, ...]
    """The changes made by hand, oldest first."""


def read_report_data(study: Study) -> ReportData:
    """Read it in one transaction; takes seconds for a log of a million rewards.

    Other processes may write at the same time; other users of this handle wait.
    """
    with study.memory.reading():
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
