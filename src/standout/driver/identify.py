"""The main task in one call: measure arms until it is certain, or probable, which stand out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from standout.core.arms import label_of
from standout.core.forecast import Forecaster, pool_like
from standout.core.method import Method
from standout.core.methods import default_method
from standout.core.prior import Earlier, PriorFacts
from standout.core.problem import ProblemLike
from standout.core.run import Run
from standout.errors import MeasureError, ProblemError, UndecidableWarning
from standout.estimation.chances import chances
from standout.estimation.lists import FALSE_SHARE
from standout.estimation.until import MOST_ARMS, Until, is_look_due
from standout.results import Identification, StopReason
from standout.text import plural

Progress = Callable[[Run], None]
DOUBT_AFTER = 1000
"""Pulls before the first test whether the run can ever end ..."""
DOUBT_AGAIN = 1.25
"""... and the factor by which pulls grow until the next test."""
WORTH_PLAYING = 10_000
"""Pulls from which an unfinished run spends half a second on the forecast for tolerances."""
CHUNKS = 256
"""Tasks into which a large round is split: a scheduler's overhead is per task."""

Measure = Callable[[Any], float]


def identify(
    measure: Measure,
    arms: Sequence[Any],
    problem: ProblemLike,
    method: str | Method | None = None,
    *,
    budget: int | None = None,
    until: str | Until | None = None,
    seed: int | np.random.Generator = 0,
    progress: Progress | None = None,
    executor: Executor | None = None,
    costs: Mapping[Any, float] | None = None,
    prior: Mapping[Any, Earlier] | None = None,
    known: Mapping[Any, float] | None = None,
) -> Identification:
    """Find the arms that stand out with few calls of `measure(arm)`.

    Args:
        measure: Measures one arm once: takes an arm as given in `arms`, returns one reward.
        arms: At least three distinct texts, numbers or other hashable values. The answer holds the
            same values, except that blanks around a text are removed, with a warning.
        problem: What stands out and how rewards scatter: a `Problem`, a mapping of its fields, or
            the noise alone, with the defaults of a `Problem`. The noise is `bernoulli`,
            `gaussian:SIGMA`, `gaussian`, `bounded:A,B` or `heavy:SIGMA`, in the rewards' unit;
            `recommend_noise` suggests one from a few rewards.
        method: A name of `METHODS`, with options after a colon, or a `Method`. The default is
            `focus`. With a budget or `until` its goal is the most useful answer at that point
            (`focus:goal=anytime`), otherwise the earliest certain one.
        budget: The largest number of pulls; by default the run ends with certainty only.
        until: Ends the run early, with reason `estimate`, as soon as the chances promise it:
            `errors=0.5`, or `false-share=0.05,missed-share=0.05` (an `Until` or its text). An
            answer with undecided arms has its `chances` (up to 20,000 arms). They are estimates and
            do not change the verdicts.
        seed: Drives the random choices of the method; 0 by default.
        progress: Called with the `Run` after every round.
        executor: Measures the pulls of a round in parallel (threads, processes, Dask's
            `client.get_executor()`). The answer does not depend on it.
        costs: The cost of a pull, by arm; 1 by default.
        prior: Earlier rewards by arm as (number, sum), with their standard deviation as a third
            entry for noise of unknown scale.
        known: Means that are known exactly, by arm; these arms are never pulled.

    Returns:
        The answer; after Ctrl-C the answer so far, with reason `interrupted`.

    Raises:
        ProblemError: The problem or the arms are not valid.
        MethodError: There is no such method, or it does not work for this problem.
        MeasureError: `measure` raised an exception or returned an unusable reward. The error names
            the arm and has the answer so far as `.partial`.

    Warns:
        UndecidableWarning: An arm looks undecidable; the run continues.

    Example:
        >>> rng = np.random.default_rng(7)
        >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
        >>> problem = Problem(noise="gaussian:0.05", k=2)
        >>> found = identify(lambda arm: rng.normal(means[arm], 0.05), list(means), problem)
        >>> found.outliers, str(found.reason)
        (('yew',), 'decided')
    """
    _check_measure(measure, arms)
    arms = list(arms)
    given = PriorFacts(costs=costs or {}, prior=prior or {}, known=known or {})
    chosen = default_method(budget, until) if method is None else method
    run = Run(problem, arms, chosen, np.random.default_rng(seed), budget=budget, given=given)
    as_given = dict(zip(run.arms, arms, strict=True))
    promise = Until.parse(until) if isinstance(until, str) else until
    if promise is not None:
        promise.check_arms(len(run.arms))
    look_at: float = DOUBT_AFTER
    reason: StopReason | None = None
    try:
        while planned := run.choose():
            before = run.pulls
            wanted = [(as_given[arm], amount) for arm, amount in planned]
            for arm, give_reward in _pulls(measure, wanted, run.pulls, executor):
                _observe(run, arm, give_reward)
            run.update()
            if progress is not None:
                progress(run)
            if promise is not None and _is_promised(run, promise, before):
                reason = StopReason.ESTIMATE
                break
            if run.pulls >= look_at:
                look_at = DOUBT_AGAIN * run.pulls
                if note := run.doubt():
                    warnings.warn(note, UndecidableWarning, stacklevel=2)
                    look_at = math.inf
    except KeyboardInterrupt:
        run.update()
        reason = StopReason.INTERRUPTED
    return _answer(run, promise, reason)


def _check_measure(measure: object, arms: object) -> None:
    """Check the types of `measure` and `arms`, and point users of past data to `analyse`."""
    way = "for past data, use standout.analyse(table, problem)"
    if not callable(measure):
        raise ProblemError(
            f"measure must be a function that returns one reward of an arm, not a "
            f"{type(measure).__name__}; {way}"
        )
    if hasattr(arms, "columns") or hasattr(arms, "column_names") or isinstance(arms, str):
        raise ProblemError(f"arms must be a list of names, not a {type(arms).__name__}; {way}")


def _is_promised(run: Run, promise: Until, before: int) -> bool:
    """Whether an undecided run may end on its chances; `before` is its pulls at the last test."""
    is_last = run.reason is not StopReason.RUNNING
    if run.is_decided or not (is_last or is_look_due(before, run.pulls, len(run.arms))):
        return False
    return promise.is_met(chances(run, false_share=promise.flag_share))


def _answer(run: Run, promise: Until | None, reason: StopReason | None) -> Identification:
    """The answer, with chances if some arms are undecided."""
    found = run.identification(reason)
    if found.endings and run.pulls >= WORTH_PLAYING and not Forecaster.is_early(run.state):
        pool = pool_like(run.spec, run.state)
        found = replace(found, endings=Forecaster(run.spec, run.state, pool).endings())
    asked = None if promise is None else str(promise)
    if not found.undecided or len(run.arms) > MOST_ARMS:
        return replace(found, until=asked)
    share = FALSE_SHARE if promise is None else promise.flag_share
    return replace(found, until=asked).with_chances(chances(run, false_share=share))


def _pulls(
    measure: Measure,
    chosen: Sequence[tuple[Any, int]],
    first: int,
    executor: Executor | None,
) -> Iterator[tuple[Any, Callable[[], float]]]:
    """Each pull's arm, with a function that returns its reward or raises."""
    if executor is not None:
        yield from measure_round(executor, measure, chosen, first)
        return
    for arm, amount in chosen:
        for _ in range(amount):
            yield arm, partial(measure, arm)


def _observe(run: Run, arm: Any, give_reward: Callable[[], float]) -> None:
    try:
        run.tell(arm, give_reward())
    except Exception as error:
        run.update()
        arm = label_of(arm)
        seen = run.identification(StopReason.INTERRUPTED)
        raise MeasureError(
            f"measuring arm {arm!r} failed after {plural(run.pulls, 'pull')}: {error}", arm, seen
        ) from error


def measure_chunk(
    measure: Measure, arms: Sequence[Any], _first: int
) -> tuple[list[float], Exception | None]:
    """Measure arms one after the other, on a worker; stop at the first failure.

    `_first`, the number of the first pull, makes each call different. Dask would answer a repeated
    call from its cache.
    """
    rewards: list[float] = []
    for arm in arms:
        try:
            rewards.append(measure(arm))
        except Exception as error:
            return rewards, error
    return rewards, None


def measure_round(
    executor: Executor, measure: Measure, chosen: Sequence[tuple[Any, int]], first: int
) -> Iterator[tuple[Any, Callable[[], float]]]:
    """Each pull's arm, in the order of the plan, with a function that returns its reward or raises.

    Rewards count in this order, not in the order of arrival. So the answer is that of measuring one
    by one, for any number of workers. `first` is the number of pulls so far.
    """
    pulls = [arm for arm, amount in chosen for _ in range(amount)]
    size = max(1, len(pulls) // CHUNKS)
    chunks = [pulls[start : start + size] for start in range(0, len(pulls), size)]
    futures: list[Future[tuple[list[float], Exception | None]]] = []
    try:
        for number, chunk in enumerate(chunks):
            futures.append(executor.submit(measure_chunk, measure, chunk, first + number * size))
        for chunk, future in zip(chunks, futures, strict=True):
            try:
                rewards, error = future.result()
            except Exception as broken:
                # The worker itself failed: this chunk returned no reward.
                rewards, error = [], broken
            for arm, reward in zip(chunk, rewards, strict=False):
                yield arm, partial(_give, reward)
            if error is not None:
                yield chunk[len(rewards)], partial(_raise, error)
                return
    finally:
        for future in futures:
            future.cancel()


def _give(reward: float) -> float:
    return reward


def _raise(error: Exception) -> float:
    raise error
