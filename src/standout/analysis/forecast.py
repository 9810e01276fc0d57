"""How many pulls it will take, from simulated runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.results import Result
from standout.simulation import Simulation

LOW_QUANTILE, HIGH_QUANTILE = 0.1, 0.9


@dataclass(frozen=True)
class Forecast(Result):
    """Pulls of one method over many runs.

    Runs that reached the budget count with the budget, so that with `capped`
    above 0 the mean, and perhaps the quantiles, are too small.
    """

    method: str
    runs: int
    capped: int
    wrong: int
    pulls_mean: float
    pulls_low: float
    """10 % of the runs need fewer"""
    pulls_high: float
    """10 % of the runs need more"""
    seconds: float


def forecast(simulation: Simulation) -> tuple[Forecast, ...]:
    """Sum up each method's pulls."""
    return tuple(
        Forecast(
            method=result.method,
            runs=result.runs,
            capped=result.runs - result.stopped,
            wrong=result.wrong,
            pulls_mean=float(result.pulls.mean()),
            pulls_low=float(np.quantile(result.pulls, LOW_QUANTILE)),
            pulls_high=float(np.quantile(result.pulls, HIGH_QUANTILE)),
            seconds=sum(record.seconds for record in result.records),
        )
        for result in simulation.results
    )
