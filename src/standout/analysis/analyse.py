"""Past measurements: what they prove already, and what to measure next."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.folders import read_folder
from standout.analysis.tables import Rewards, Sums, read_table
from standout.core import engine
from standout.core.forecast import Forecaster, pool_like, pool_of
from standout.core.intervals.choice import INTERVALS
from standout.core.kinds import IntervalKind, Verdict
from standout.core.many_rewards import observe_many
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD, as_method
from standout.core.noise import Bernoulli, Bounded, HeavyTailed, Noise
from standout.core.prior import PriorFacts
from standout.core.problem import Problem
from standout.core.run import NO_LIMIT, Run
from standout.core.state import copy_state
from standout.core.typing import Floats
from standout.errors import ProblemError, RewardError
from standout.posterior.chances import chances
from standout.posterior.until import MOST_ARMS
from standout.results import Analysis, Identification, Next, StopReason
from standout.text import plural

ORDERED = (IntervalKind.BERNSTEIN, IntervalKind.BETTING, IntervalKind.HEAVY)
"""Intervals that bet on each reward before it comes, and so need their order."""
RECENT = 20_000
"""Rewards that stand for what is to come."""
MOST_NEXT = 10


def analyse(
    table: Any,
    problem: Problem,
    method: str | Method = DEFAULT_METHOD,
    *,
    arm: str | None = None,
    value: str | None = None,
    is_complete: bool = True,
    is_ordered: bool = True,
    seed: int = 0,
) -> Analysis:
    """What a table of past measurements proves, what is probable, and what to measure next.

    `table` is a CSV or Parquet file, a folder of such files (which may be larger than memory:
    they are added up by arm), a data frame (pandas, Polars, Arrow), or a mapping of columns;
    one row per reward (`arm`, `value`), or one per arm (`arm`, `count` and `sum` or
    `mean`, and `std` for noise of unknown scale). `arm` and `value` name these columns where
    they are called otherwise.

    The guarantee holds if the table has all rewards of its arms, in the order in which they
    came, and nothing was left out, chosen or stopped by a look at the rewards that are left
    out. Which arm was measured when may depend on earlier rewards. Say `is_complete=False` if
    that is not so: then nothing is certain, and best guesses and chances are all there is. Say
    `is_ordered=False` if the order is lost: an interval that does not need it is taken.

    Raises `ProblemError` for a table that cannot be read, `RewardError` for a number that the
    noise cannot produce, with its row.

    >>> rng = np.random.default_rng(7)
    >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
    >>> table = {arm: rng.normal(mean, 0.05, 60) for arm, mean in means.items()}
    >>> said = analyse(table, Problem(noise="gaussian:0.05", k=2))
    >>> said.found.outliers, said.rewards, str(said.found.reason)
    (('yew',), 300, 'decided')
    """
    if not isinstance(problem, Problem):
        raise ProblemError(
            "say what is asked: analyse(table, Problem(noise=...)); the noise is how rewards "
            "scatter around an arm's mean"
        )
    data = read_data(table, problem, arm, value)
    chosen, notes = _choose_method(as_method(method), problem, data, is_ordered)
    run = replay(data, problem, chosen, seed)
    found = _answer(run, data, is_complete)
    interval = chosen.interval_for(problem)
    forecaster = _forecaster(run, data) if found.undecided else None
    if forecaster is not None:
        found = replace(found, endings=forecaster.endings(seed) if is_complete else ())
    return Analysis(
        found=found,
        problem=problem.question(),
        method=chosen.label(),
        interval=next(name for name, kind in INTERVALS.items() if kind == interval),
        rewards=data.total,
        is_complete=is_complete,
        assumptions=assumptions(problem.noise, interval, data),
        otherwise=OTHERWISE,
        next=_next(run) if found.undecided else (),
        left=None if forecaster is None or not is_complete else forecaster.forecast(seed),
        notes=tuple(notes),
    )


def read_data(table: Any, problem: Problem, arm: str | None, value: str | None) -> Rewards | Sums:
    """A table, or a folder of files added up."""
    if isinstance(table, str | os.PathLike) and Path(table).is_dir():
        return read_folder(Path(table), problem.noise, arm, value)
    return read_table(table, arm, value)


def replay(data: Rewards | Sums, problem: Problem, method: Method, seed: int = 0) -> Run:
    """A run that has had all rewards of the table, in their order."""
    if not data.total:
        raise ProblemError("the table holds no reward")
    rng = np.random.default_rng(seed)
    if isinstance(data, Sums):
        return Run(problem, data.arms, method, rng, given=PriorFacts(prior=_prior(data)))
    check_rewards(problem.noise, data)
    run = Run(problem, data.arms, method, rng)
    observe_many(run.spec, run.state, data.codes, data.values)
    run.update()
    return run


def _prior(data: Sums) -> dict[str, tuple[int, float, float]]:
    columns = (data.counts.tolist(), data.sums.tolist(), data.std.tolist())
    return dict(zip(data.arms, zip(*columns, strict=True), strict=True))


def check_rewards(noise: Noise, data: Rewards) -> None:
    """Refuse what the noise cannot produce, and say in which row of the table it is."""
    bad = _suspects(noise, data.values)
    for row in bad[:1].tolist() if len(bad) else []:
        try:
            noise.check_reward(float(data.values[row]))
        except RewardError as error:
            name = data.arms[int(data.codes[row])]
            raise RewardError(f"reward {row + 1} of the table, of arm {name!r}: {error}") from None


def _suspects(noise: Noise, values: Floats) -> Any:
    """Rows to look at one by one: beyond what the largest and smallest good ones allow."""
    if isinstance(noise, Bernoulli):
        return np.flatnonzero((values != 0.0) & (values != 1.0))
    finite = np.isfinite(values)
    if not finite.all():
        return np.flatnonzero(~finite)
    ends = np.array([values.argmin(), values.argmax()])
    for row in ends.tolist():
        try:
            noise.check_reward(float(values[row]))
        except RewardError:
            return np.array([row])
    return ends[:0]


def _choose_method(
    method: Method, problem: Problem, data: Rewards | Sums, is_ordered: bool
) -> tuple[Method, list[str]]:
    """The method, with an interval that does without the order where that is lost."""
    interval = method.interval_for(problem)
    has_order = is_ordered and isinstance(data, Rewards)
    if has_order or interval not in ORDERED:
        return method, []
    if isinstance(problem.noise, Bounded | Bernoulli):
        note = (
            f"the {interval.name.lower()} interval needs the rewards in their order; the "
            "beta-binomial one was taken, which needs only their number and sum and is wider"
        )
        return replace(method, interval=IntervalKind.BERNOULLI), [note]
    assert isinstance(problem.noise, HeavyTailed)
    raise ProblemError(
        "with heavy-tailed noise every interval needs the single rewards in the order in which "
        "they came: give a table with one row per reward, in order"
    )


def _answer(run: Run, data: Rewards | Sums, is_complete: bool) -> Identification:
    pulls = np.bincount(data.codes, minlength=len(data.arms)) if isinstance(data, Rewards) else None
    found = run.identification()
    by_arm = found.earlier_by_arm if pulls is None else pulls
    none = np.zeros_like(found.pulls_by_arm)
    found = replace(found, pulls=data.total, pulls_by_arm=by_arm, earlier_by_arm=none)
    if not is_complete:
        found = replace(
            found, outliers=(), normal=(), undecided=found.arms, reason=StopReason.RUNNING,
            note="the table is not complete, so that nothing in it is certain", endings=(),
        )  # fmt: skip
    if found.undecided and len(found.arms) <= MOST_ARMS:
        found = replace(found, chances=chances(run))
    return found


def _forecaster(run: Run, data: Rewards | Sums) -> Forecaster | None:
    if len(run.arms) > MOST_ARMS or (run.state.pulls == 0).any():
        return None
    if isinstance(data, Rewards):
        pool = pool_of(run.state, data.codes[-RECENT:], data.values[-RECENT:])
    else:
        pool = pool_like(run.spec, run.state)
    return Forecaster(run.spec, run.state, pool)


def _next(run: Run) -> tuple[Next, ...]:
    """The round that the method would begin now; at most `MOST_NEXT` arms of it."""
    state = copy_state(run.state)
    count = engine.begin_round(run.spec, state, NO_LIMIT, run.rng)
    chosen = zip(state.chosen[:count].tolist(), state.amount[:count].tolist(), strict=True)
    return tuple(
        Next(run.arms[arm], amount, _why(state.verdict[arm]))
        for arm, amount in list(chosen)[:MOST_NEXT]
    )


def _why(verdict: int) -> str:
    return "undecided" if verdict == Verdict.UNDECIDED else "moves the threshold"


OTHERWISE = (
    "If one of these is not so, take nothing here for certain: the best guess and the chances "
    "describe the rewards of the table, as far as these stand for the arms. What is measured from "
    "now on, in a study of its own, has the whole guarantee again."
)


def assumptions(noise: Noise, interval: IntervalKind, data: Rewards | Sums) -> tuple[str, ...]:
    """What must be true of a table for the guarantee, in plain words."""
    told = [
        f"Nothing is missing: the table has every reward that was ever measured of its "
        f"{plural(len(data.arms), 'arm')}, and whether one was measured once more never "
        "depended on a reward that is not in the table.",
        "The arms themselves were not chosen by these rewards (not only the best of many).",
        f"An arm's rewards scatter around one mean, which does not move, as {noise.spec()} noise "
        "does; each is independent of those before it. Which arm was measured when may have "
        "depended on earlier rewards.",
    ]
    if interval in ORDERED and isinstance(data, Rewards):
        told.append(
            "The rows of each arm are in the order in which its rewards came "
            f"(the {interval.name.lower()} interval needs it)."
        )
    return tuple(told)
