"""Past measurements: what they prove already, and what to measure next."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from standout.analysis.columns import Layout
from standout.analysis.folders import FolderSums, read_folder
from standout.analysis.noise_advice import chosen_words, recommend_noise
from standout.analysis.tables import Rewards, Sums, read_table
from standout.analysis.thresholds import BOXES, can_bet, for_kept, narrow, possible, with_delta
from standout.core import engine
from standout.core.forecast import Forecaster, pool_like, pool_of
from standout.core.intervals.choice import interval_name
from standout.core.kinds import IntervalKind, Verdict
from standout.core.many_rewards import observe_many
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD, as_method
from standout.core.noise import Bernoulli, Bounded, HeavyTailed, Noise
from standout.core.prior import put_earlier
from standout.core.problem import Problem, ProblemLike, as_problem
from standout.core.run import NO_LIMIT, Run
from standout.core.typing import Floats
from standout.errors import ProblemError, RewardError
from standout.estimation.chances import chances
from standout.estimation.until import MOST_ARMS
from standout.results import Analysis, Identification, Next, StopReason
from standout.text import plural

ORDERED = (IntervalKind.BERNSTEIN, IntervalKind.BETTING, IntervalKind.HEAVY)
"""Intervals that bet on each reward before it is known, and therefore need the order."""
RECENT = 20_000
"""The number of rewards from which future rewards are drawn."""
MOST_NEXT = 10


def analyse(
    table: Any,
    problem: ProblemLike,
    method: str | Method = DEFAULT_METHOD,
    *,
    arm: str | None = None,
    value: str | None = None,
    wide: bool = False,
    sep: str | None = None,
    decimal: str = ".",
    drop_missing: bool = False,
    min_count: int = 1,
    is_complete: bool = True,
    is_ordered: bool | None = None,
    is_fixed: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    executor: Executor | None = None,
) -> Analysis:
    """Show what past measurements prove, what is probable, and what to measure next.

    The guarantee holds if the table has all rewards of its arms, in the order of measurement, and
    no reward was left out or selected by its value. The choice of the next arm may depend on
    earlier rewards. Otherwise pass `is_complete=False`: then nothing is certain, and the answer
    consists of best guesses and chances.

    Args:
        table: A CSV or Parquet file, a data frame (pandas, Polars, Arrow), a mapping of columns, or
            the result of `groupby`. It has one row per reward (`arm`, `value`), or one per arm
            (`arm`, `count` and `sum` or `mean`, and `std` for noise of unknown scale). Other forms:
            a series of rewards with an index of arms, a mapping from arms to their rewards, a wide
            table (see `wide`), or a folder of files, which may be larger than memory.
        problem: What stands out and how rewards scatter: a `Problem`, a mapping of its fields, or
            its noise alone. The noise `"auto"` means the suggestion of `recommend_noise(table)`;
            `notes` then says so.
        method: A name of `METHODS`, or a `Method`.
        arm: The column of the arms; `arm` or `name` by default.
        value: The column of the rewards; `value` or `reward` by default.
        wide: Each column is an arm, with a reward in each row; missing values at the end of a
            column are ignored. A data frame with only numbers is read this way by default.
        sep: The separator of a CSV file; by default a comma, and a tab in a `.tsv`.
        decimal: The decimal sign in a CSV file, `.` (the default) or `,`.
        drop_missing: Leave out rows without a reward; `notes` gives their number.
        min_count: Leave out arms with fewer rewards; `notes` names them.
        is_complete: Whether the table has all rewards of its arms; true by default.
        is_ordered: Whether an arm's rows are in the order of measurement. True by default for a
            table, false for a folder (true means its files in the order of their names). Intervals
            for bounded and for heavy-tailed noise need the order; without it, bounded rewards get
            a wider interval.
        is_fixed: Whether the number of rewards of each arm was fixed before its first reward. With
            40 arms or more, a population bet then narrows the threshold's interval, for rewards 0
            and 1, and for normal rewards whose scale is exact or unknown.
        seed: Drives the random draws of chances and forecasts, and the pilot of a population bet;
            0 by default.
        jobs: The number of cores that read a folder, or of tasks of an `executor`; by default up
            to four.
        executor: Reads a folder on workers that see the same files (Dask's
            `client.get_executor()`); the answer is the same to the last digit.

    Returns:
        What is certain, what is probable, what to measure next, and the assumptions.

    Raises:
        ProblemError: The table cannot be read, or the question is not valid.
        RewardError: The noise cannot produce a number of the table; the error names its row.

    Example:
        >>> rng = np.random.default_rng(7)
        >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
        >>> table = {arm: rng.normal(mean, 0.05, 60) for arm, mean in means.items()}
        >>> said = analyse(table, Problem(noise="gaussian:0.05", k=2))
        >>> said.found.outliers, said.rewards, str(said.found.reason)
        (('yew',), 300, 'decided')
    """
    layout = Layout(arm, value, wide, sep, decimal, drop_missing, min_count)
    chosen_noise: tuple[str, ...] = ()
    if asks_for_noise(problem):
        table = read_table(table, layout)
        problem, chosen_noise = with_noise_for(problem, table)
    problem = as_problem(problem)
    data = read_data(table, problem, layout, is_ordered, jobs=jobs, executor=executor)
    chosen, notes = _choose_method(as_method(method), problem, data, is_ordered)
    bets = is_fixed and can_bet(problem, chosen, len(data.arms))
    asked = for_kept(problem, len(data.arms), data.left_out)
    run = replay(data, with_delta(asked, BOXES * asked.delta) if bets else asked, chosen, seed)
    notes = [*notes, *(narrow(run, asked, seed) if bets else [NO_BET] if is_fixed else [])]
    found = replace(_answer(run, data, is_complete), problem=problem.question())
    interval = chosen.interval_for(problem)
    forecaster = _forecaster(run, data) if found.undecided else None
    left = None
    if forecaster is not None and is_complete:
        found, left = replace(found, endings=forecaster.endings(seed)), forecaster.forecast(seed)
    return Analysis(
        found=found,
        problem=problem.question(),
        method=chosen.label(),
        interval=interval_name(interval),
        rewards=data.total,
        is_complete=is_complete,
        assumptions=assumptions(problem.noise, interval, data, bets),
        otherwise=OTHERWISE,
        next=_next(run) if found.undecided else (),
        left=left,
        notes=(*chosen_noise, *data.notes, *notes),
        possible=possible(run, problem) if found.undecided and is_complete else (),
    )


def asks_for_noise(problem: ProblemLike) -> bool:
    """Whether the rewards choose the noise."""
    noise = problem.get("noise") if isinstance(problem, Mapping) else problem
    return isinstance(noise, str) and noise.strip().lower() == "auto"


def with_noise_for(problem: ProblemLike, data: Rewards | Sums) -> tuple[Problem, tuple[str, ...]]:
    """The problem with the noise that the rewards suggest, and a note about it."""
    advice = recommend_noise(data)
    fields = dict(problem) if isinstance(problem, Mapping) else {}
    return as_problem({**fields, "noise": advice.noise}), (chosen_words(advice),)


def read_data(
    table: Any,
    problem: Problem,
    layout: Layout | None = None,
    is_ordered: bool | None = None,
    **how: Any,
) -> Rewards | Sums:
    """A table, or the sums of a folder of files; `how` is passed to `read_folder`."""
    if isinstance(table, str | os.PathLike) and Path(table).is_dir():
        if isinstance(problem.noise, HeavyTailed) and not is_ordered:
            raise ProblemError(NO_ORDER + (f". {IN_ORDER}" if is_ordered is None else ""))
        layout = layout or Layout()
        if layout != Layout(layout.arm, layout.value):
            raise ProblemError(
                "files of a folder are read as they are: wide, sep, decimal, drop_missing and "
                "min_count are for a single table"
            )
        return read_folder(Path(table), problem.noise, layout.arm, layout.value, **how)
    return read_table(table, layout)


def replay(data: Rewards | Sums, problem: Problem, method: Method, seed: int = 0) -> Run:
    """A run that has received all rewards of the table, in order."""
    if not data.total:
        raise ProblemError("the table has no reward")
    rng = np.random.default_rng(seed)
    run = Run(problem, data.arms, method, rng)
    if isinstance(data, FolderSums) and method.interval_for(problem) in ORDERED:
        for codes, values in data.rows():
            observe_many(run.spec, run.state, codes, values)
    elif isinstance(data, Sums):
        places = np.arange(len(data.arms))
        counts = data.counts.astype(np.float64)
        put_earlier(problem, method, run.state, data.arms, places, counts, data.sums, data.std)
        engine.refresh(run.spec, run.state)
        return run
    else:
        check_rewards(problem.noise, data)
        observe_many(run.spec, run.state, data.codes, data.values)
    run.update()
    return run


def check_rewards(noise: Noise, data: Rewards) -> None:
    """Refuse rewards that the noise cannot produce, and name the row of the first."""
    bad = _suspects(noise, data.values)
    for row in bad[:1].tolist() if len(bad) else []:
        try:
            noise.check_reward(float(data.values[row]))
        except RewardError as error:
            name = data.arms[int(data.codes[row])]
            raise RewardError(f"reward {row + 1} of the table, of arm {name!r}: {error}") from None


def _suspects(noise: Noise, values: Floats) -> Any:
    """Rows to check one by one: those beyond the range that the extreme valid rewards allow."""
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
    method: Method, problem: Problem, data: Rewards | Sums, is_ordered: bool | None
) -> tuple[Method, list[str]]:
    """The method, with an interval that does not need the order if the order is unknown."""
    interval = method.interval_for(problem)
    if _has_order(data, is_ordered) or interval not in ORDERED:
        return method, []
    if isinstance(problem.noise, Bounded | Bernoulli):
        note = (
            f"the {interval.name.lower()} interval needs the order of the rewards; the wider "
            "beta-binomial interval is used, which needs only their number and sum"
        )
        if isinstance(data, FolderSums) and is_ordered is None:
            note += f". {IN_ORDER}"
        return replace(method, interval=IntervalKind.BERNOULLI), [note]
    assert isinstance(problem.noise, HeavyTailed)
    raise ProblemError(f"{NO_ORDER}: give a table with one row per reward, in order")


def _has_order(data: Rewards | Sums, is_ordered: bool | None) -> bool:
    if isinstance(data, FolderSums):
        return is_ordered is True
    return isinstance(data, Rewards) and is_ordered is not False


def _answer(run: Run, data: Rewards | Sums, is_complete: bool) -> Identification:
    found = replace(run.identification(), pulls=data.total)
    if not is_complete:
        found = replace(
            found, outliers=(), normal=(), undecided=found.arms, reason=StopReason.RUNNING,
            note="the table is not complete, so nothing in it is certain", endings=(),
        )  # fmt: skip
    if found.undecided and len(found.arms) <= MOST_ARMS:
        found = found.with_chances(chances(run))
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
    """Some pulls of the round that the method would start now, with the finished run."""
    state = run.state
    count = min(MOST_NEXT, engine.begin_round(run.spec, state, NO_LIMIT, run.rng))
    return tuple(
        Next(run.arms[arm], amount, _why(state.verdict[arm]))
        for arm, amount in zip(
            state.chosen[:count].tolist(), state.amount[:count].tolist(), strict=True
        )
    )


def _why(verdict: int) -> str:
    return "undecided" if verdict == Verdict.UNDECIDED else "moves the threshold"


NO_ORDER = (
    "with heavy-tailed noise, every interval needs the single rewards in the order of measurement"
)
IN_ORDER = (
    "Add is_ordered=True (--ordered) if an arm's rewards were measured in the order of the files' "
    "names and of the rows in each"
)
OTHERWISE = (
    "If one of these does not hold, nothing here is certain. The best guess and the chances then "
    "describe the rewards of the table, if these are typical of the arms. New measurements in a "
    "separate study have the full guarantee."
)


NO_BET = (
    "fixed numbers of rewards change nothing here: a population bet is for rewards 0 and 1 and for "
    "normal rewards, of 40 to 20,000 arms, with the methods focus and joint"
)


def assumptions(
    noise: Noise, interval: IntervalKind, data: Rewards | Sums, bets: bool = False
) -> tuple[str, ...]:
    """The assumptions of the guarantee for a table, in plain words."""
    told = [
        f"Nothing is missing: the table has every reward that was ever measured of its "
        f"{plural(len(data.arms), 'arm')}, and no decision to measure an arm again depended on "
        "a reward that is not in the table.",
        "The arms were not selected by these rewards (for example, as the best of many).",
        f"An arm's rewards scatter around one constant mean as {noise.spec()} noise does, and each "
        "is independent of those before it. The choice of the next arm may have depended on "
        "earlier rewards.",
    ]
    if interval in ORDERED:
        files = ", files by their names," if isinstance(data, Sums) else ""
        told.append(
            f"The rows of each arm{files} are in the order of measurement (the "
            f"{interval.name.lower()} interval needs it)."
        )
    if bets:
        told.append(
            "The number of rewards of each arm was fixed before its first reward, and no reward "
            "changed it."
        )
    if bets and not isinstance(noise, Bernoulli):
        scale = "" if math.isinf(noise.sigma) else f" of exactly {noise.sigma:g}"
        told.append(
            f"Rewards are normal, with a standard deviation{scale} in each arm; for the "
            "population bet, an upper bound is not enough."
        )
    return tuple(told)
