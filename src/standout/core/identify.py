"""The main job in one call: measure arms until it is certain which stand out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

import numpy as np

from standout.core.executor import measure_round
from standout.core.method import Method
from standout.core.methods import DEFAULT_METHOD
from standout.core.prior import PriorFacts
from standout.core.problem import Problem
from standout.core.run import Run
from standout.errors import MeasureError, UndecidableWarning
from standout.results import Identification, StopReason

Progress = Callable[[Run], None]
DOUBT_AFTER = 1000
"""Pulls after which it is first asked whether the run can end ..."""
DOUBT_AGAIN = 1.25
"""... and then each time that they have grown by this."""


def identify(
    measure: Callable[[str], float],
    arms: Sequence[str],
    problem: Problem,
    method: str | Method = DEFAULT_METHOD,
    *,
    budget: int | None = None,
    seed: int | np.random.Generator = 0,
    progress: Progress | None = None,
    executor: Executor | None = None,
    costs: Mapping[str, float] | None = None,
    prior: Mapping[str, tuple[int, float]] | None = None,
    known: Mapping[str, float] | None = None,
) -> Identification:
    """Find the arms that stand out by calling `measure(arm)` as seldom as possible.

    `measure` gets an arm's name and gives one reward; `arms` are distinct
    names, at least three; `method` is a name of `METHODS`, with options after a
    colon, or a `Method`. `budget` is the largest number of pulls, None for no
    end but certainty. `seed` drives the method's own random choices.
    `progress(run)` is called after every round. Raises `ProblemError` or
    `MethodError` for what cannot be run.
    If `measure` raises, or gives something that is no reward, a `MeasureError`
    names the arm and carries what had been found until then as `.partial`.
    With Ctrl-C the answer so far is returned, with reason `interrupted`.
    `executor` (threads, processes, Dask's `client.get_executor()`) measures the
    pulls of a round side by side; the answer does not depend on it.

    `costs` (per pull, by arm), `prior` (earlier rewards as (number, sum) by arm)
    and `known` (means known exactly, by arm; never pulled) say what is known
    beforehand. When it looks as if some arm could never be decided, an
    `UndecidableWarning` says so once and the run goes on.

    >>> rng = np.random.default_rng(7)
    >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
    >>> problem = Problem(noise="gaussian:0.05", k=2)
    >>> found = identify(lambda arm: rng.normal(means[arm], 0.05), list(means), problem)
    >>> found.outliers, str(found.reason)
    (('yew',), 'decided')
    """
    given = PriorFacts(costs=costs or {}, prior=prior or {}, known=known or {})
    run = Run(problem, arms, method, np.random.default_rng(seed), budget=budget, given=given)
    look_at: float = DOUBT_AFTER
    try:
        while chosen := run.choose():
            for arm, give_reward in _pulls(measure, chosen, run.pulls, executor):
                _observe(run, arm, give_reward)
            run.update()
            if progress is not None:
                progress(run)
            if run.pulls >= look_at:
                look_at = DOUBT_AGAIN * run.pulls
                if note := run.doubt():
                    warnings.warn(note, UndecidableWarning, stacklevel=2)
                    look_at = math.inf
    except KeyboardInterrupt:
        run.update()
        return run.identification(StopReason.INTERRUPTED)
    return run.identification()


def _pulls(
    measure: Callable[[str], float],
    chosen: Sequence[tuple[str, int]],
    first: int,
    executor: Executor | None,
) -> Iterator[tuple[str, Callable[[], float]]]:
    """Each pull's arm, with a function that gives its reward or raises."""
    if executor is not None:
        yield from measure_round(executor, measure, chosen, first)
        return
    for arm, amount in chosen:
        for _ in range(amount):
            yield arm, partial(measure, arm)


def _observe(run: Run, arm: str, give_reward: Callable[[], float]) -> None:
    try:
        run.tell(arm, give_reward())
    except Exception as error:
        run.update()
        seen = run.identification(StopReason.INTERRUPTED)
        raise MeasureError(
            f"measuring arm {arm!r} failed after {run.pulls} pulls: {error}", arm, seen
        ) from error
