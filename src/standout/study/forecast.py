"""How many pulls are left: the method played on, with rewards like those told so far."""

from __future__ import annotations

import math

import numpy as np

from standout.core.forecast import SECONDS, Forecaster, pool_of
from standout.core.state import copy_state
from standout.results import Ending, Forecast
from standout.study.events.state import StudyState
from standout.study.events.tables import RewardStatus

RECENT = 20_000
"""Rewards that stand for what is to come."""


class StudyForecaster:
    """A study at one moment, to be played on while others use it.

    Each arm's rewards are drawn from its recent ones, moved so that their mean is the
    arm's. An arm that happens to lie on the threshold takes for ever: no forecast then.
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
        """Pulls left, and between which numbers they probably are; None as in `pulls_left`."""
        if self.is_stopped:
            return Forecast(0, 0, 0)
        return None if self._forecaster is None else self._forecaster.forecast(seed)

    def endings(self, seed: int = 0) -> tuple[Ending, ...]:
        """Tolerances that would end the study; empty where nothing is undecided, or known."""
        return () if self._forecaster is None else self._forecaster.endings(seed)
