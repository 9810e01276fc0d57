"""How many pulls it will take, from simulated runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.core.methods import USEFUL_METHOD
from standout.core.problem import Problem
from standout.results import Result
from standout.simulation import InstanceFamily, Simulation, simulate

LOW_QUANTILE, HIGH_QUANTILE = 0.1, 0.9
PROMISE = "errors=0.5"
"""The promise of a probable answer."""
MOST_LOOKED_AT = 1_000
"""With more arms, the chances in these runs would take minutes."""


@dataclass(frozen=True)
class Forecast(Result):
    """Pulls of one method over many runs.

    Runs that reached the budget count with the budget. So if `capped` is above 0, the mean and
    possibly the quantiles are too small.
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


@dataclass(frozen=True)
class ProbableForecast(Result):
    """Pulls to a probable answer: an estimate that at most half an arm is wrong, not a proof.

    `ended` of the `runs` ended on the promise within the budget, after `pulls_mean` pulls on
    average; `wrong` of these had a wrong arm. The others were decided or reached the budget.
    """

    method: str
    promise: str
    runs: int
    ended: int
    wrong: int
    pulls_mean: float | None


def forecast_probable(
    family: InstanceFamily, problem: Problem, n_arms: int, runs: int, seed: int, budget: int
) -> ProbableForecast | None:
    """Play runs that end on an estimate; None if there are too many arms."""
    if n_arms > MOST_LOOKED_AT:
        return None
    played = simulate(
        family, USEFUL_METHOD, problem, runs=runs, seed=seed, budget=budget, until=PROMISE
    )
    (result,) = played.results
    ended = [record.pulls for record in result.records if record.is_probable]
    return ProbableForecast(
        method=USEFUL_METHOD,
        promise=PROMISE,
        runs=result.runs,
        ended=len(ended),
        wrong=result.probable_wrong,
        pulls_mean=float(np.mean(ended)) if ended else None,
    )
