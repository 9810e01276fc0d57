"""A forecast of the pulls left: simulation with rewards drawn from those recorded so far."""

from __future__ import annotations

import math

import numpy as np

from standout.core.forecast import SECONDS, Forecaster, pool_of
from standout.core.state import copy_state
from standout.results import Ending, Forecast
from standout.study.events.state import StudyState
from standout.study.events.tables import RewardStatus

RECENT = 20_000
"""The number of latest rewards from which future rewards are drawn."""


class StudyForecaster:
    """A study at one moment, to be simulated while others use it.

    Each arm's rewards are drawn from its recent ones, shifted to the arm's mean. An arm very near
    the threshold would take forever: there is no forecast then.
    """

    def __init__(self, study: StudyState) -> None:
        self.is_stopped = study.is_stopped
        self._forecaster: Forecaster | None = None
        if Forecaster.is_early(study.state):
            return
        ledger = study.ledger
        rows = np.flatnonzero(ledger.status[: ledger.size] == RewardStatus.COUNTED)[-RECENT:]
        arms, values = ledger.arm[rows].astype(np.int64), ledger.value[rows]
        state = copy_state(study.state)
        budget = study.budget
        room = math.inf if budget is None else budget - study.totals.pulls
        self._forecaster = Forecaster(study.spec, state, pool_of(state, arms, values), room)

    def pulls_left(self) -> int | None:
        """About how many pulls are left; None if it is not known (yet)."""
        if self.is_stopped:
            return 0
        return None if self._forecaster is None else self._forecaster.play(0, SECONDS)

    def forecast(self, seed: int = 0) -> Forecast | None:
        """Pulls left, with an interval; None as in `pulls_left`."""
        if self.is_stopped:
            return Forecast(0, 0, 0)
        return None if self._forecaster is None else self._forecaster.forecast(seed)

    def endings(self, seed: int = 0) -> tuple[Ending, ...]:
        """Tolerances that would end the study; empty if all is decided or nothing is known."""
        return () if self._forecaster is None else self._forecaster.endings(seed)
