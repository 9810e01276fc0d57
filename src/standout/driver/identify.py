"""The main job in one call: measure arms until it is certain, or probable, which stand out."""

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
from standout.core.methods import DEFAULT_METHOD
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
"""Pulls after which it is first asked whether the run can end ..."""
DOUBT_AGAIN = 1.25
"""... and then each time that they have grown by this."""
WORTH_PLAYING = 10_000
"""Pulls from which on half a second is spent on what other tolerances would take."""
CHUNKS = 256
"""Tasks that a large round is cut into: a scheduler's overhead is per task."""

Measure = Callable[[Any], float]


def identify(
    measure: Measure,
    arms: Sequence[Any],
    problem: ProblemLike,
    method: str | Method = DEFAULT_METHOD,
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
    """Find the arms that stand out by calling `measure(arm)` as seldom as possible.

    Args:
        measure: Measures one arm once: gets the arm as it stands in `arms`, returns one reward.
        arms: At least three distinct texts, numbers or other hashable values. They stay what they
            are in the answer, except that texts lose blanks at their ends, with a warning.
        problem: What stands out and how rewards scatter: a `Problem`, a mapping of its fields,
            or the noise alone, with the defaults of a `Problem`. Noise is `bernoulli`,
            `gaussian:SIGMA`, `gaussian`, `bounded:A,B` or `heavy:SIGMA`, in the rewards' unit;
            `recommend_noise` looks at a few rewards and suggests one.
        method: A name of `METHODS`, with options after a colon, or a `Method`.
        budget: The largest number of pulls; None ends with certainty only.
        until: Ends the run earlier, with reason `estimate`, as soon as the chances promise it:
            `errors=0.5`, or `false-share=0.05,missed-share=0.05` (an `Until` or its text). An
            answer that is not all certain has the chances as `chances` (up to 20,000 arms); they
            are estimates and change nothing about what is certain.
        seed: Drives the random choices of the method.
        progress: Called with the `Run` after every round.
        executor: Measures the pulls of a round side by side (threads, processes, Dask's
            `client.get_executor()`); the answer does not depend on it.
        costs: What a pull of an arm costs, 1 where not given.
        prior: Earlier rewards by arm as (number, sum); with their standard deviation as a third
            for noise of unknown scale.
        known: Means known exactly, by arm; these arms are never pulled.

    Returns:
        The answer; after Ctrl-C the answer so far, with reason `interrupted`.

    Raises:
        ProblemError: The question or the arms are not valid.
        MethodError: There is no such method, or it cannot be used for this problem.
        MeasureError: `measure` raised, or returned what is no reward. The error names the arm, and
            has the answer so far as `.partial`.

    Warns:
        UndecidableWarning: Some arm looks as if it could never be decided; the run goes on.

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
    run = Run(problem, arms, method, np.random.default_rng(seed), budget=budget, given=given)
    as_given = dict(zip(run.arms, arms, strict=True))
    promise = Until.parse(until) if isinstance(until, str) else until
    if promise is not None:
        promise.check_arms(len(run.arms))
    look_at: float = DOUBT_AFTER
    reason: StopReason | None = None
    try:
        while chosen := run.choose():
            before = run.pulls
            wanted = [(as_given[arm], amount) for arm, amount in chosen]
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
    """Say where data that is there already goes."""
    way = "for data that you have already there is standout.analyse(table, problem)"
    if not callable(measure):
        raise ProblemError(
            f"measure must be a function that gives one reward of an arm, not a "
            f"{type(measure).__name__}; {way}"
        )
    if hasattr(arms, "columns") or hasattr(arms, "column_names") or isinstance(arms, str):
        raise ProblemError(f"arms must be a list of names, not a {type(arms).__name__}; {way}")


def _is_promised(run: Run, promise: Until, before: int) -> bool:
    """Whether the run, not decided yet, may end on its chances; `before` are its pulls then."""
    is_last = run.reason is not StopReason.RUNNING
    if run.is_decided or not (is_last or is_look_due(before, run.pulls, len(run.arms))):
        return False
    return promise.is_met(chances(run, false_share=promise.flag_share))


def _answer(run: Run, promise: Until | None, reason: StopReason | None) -> Identification:
    """What was found; with chances where not all of it is certain."""
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
    """Each pull's arm, with a function that gives its reward or raises."""
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
    """Measure arms one after the other, on a worker; stop at the first that fails.

    `_first`, the number of the first pull, makes each call different: Dask
    would give a call that it knows already the result of the former one.
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
    """Each pull's arm, in the order of the plan, with a function that gives its reward or raises.

    Rewards are counted in that order, whatever order they come in: the answer is that of measuring
    one by one, on any number of workers. `first` is the number of pulls so far.
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
                # The worker itself failed: no reward of this chunk has come back.
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
