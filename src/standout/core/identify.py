"""The main job in one call: measure arms until it is certain which stand out."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence

import numpy as np

from standout.core.identification import Identification
from standout.core.methods import DEFAULT_METHOD, Method
from standout.core.problem import Problem
from standout.core.run import Run
from standout.core.stopping import StopReason
from standout.errors import MeasureError, RewardError

Progress = Callable[[Run], None]


def identify(
    measure: Callable[[str], float],
    arms: Sequence[str],
    problem: Problem,
    method: str | Method = DEFAULT_METHOD,
    *,
    budget: int | None = None,
    seed: int | np.random.Generator = 0,
    progress: Progress | None = None,
) -> Identification:
    """Find the arms that stand out by calling `measure(arm)` as seldom as possible.

    `measure` gets an arm's name and gives one reward. `seed` drives the
    method's own random choices. `progress(run)` is called after every round.
    If `measure` raises, or gives something that is no reward, a `MeasureError`
    names the arm and carries what had been found until then as `.partial`.
    With Ctrl-C the answer so far is returned, with reason `interrupted`.

    >>> rng = np.random.default_rng(7)
    >>> means = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.2, "yew": 0.95}
    >>> found = identify(
    ...     lambda arm: rng.normal(means[arm], 0.05), list(means), Problem(noise="gaussian:0.05", k=2)
    ... )
    >>> found.outliers, str(found.reason)
    (('yew',), 'decided')
    """
    run = Run(problem, arms, method, np.random.default_rng(seed), budget=budget)
    try:
        while chosen := run.choose():
            for arm, amount in chosen:
                for _ in range(amount):
                    _measure_once(run, measure, arm)
            run.update()
            if progress is not None:
                progress(run)
    except KeyboardInterrupt:
        run.update()
        return run.identification(StopReason.INTERRUPTED)
    return run.identification()


def _measure_once(run: Run, measure: Callable[[str], float], arm: str) -> None:
    try:
        reward = measure(arm)
        if not isinstance(reward, numbers.Real) or isinstance(reward, bool | np.bool_):
            reward = _as_reward(reward)
        run.observe(arm, float(reward))
    except KeyboardInterrupt:
        raise
    except Exception as error:
        run.update()
        partial = run.identification(StopReason.INTERRUPTED)
        raise MeasureError(
            f"measuring arm {arm!r} failed after {run.pulls} pulls: {error}", arm, partial
        ) from error


def _as_reward(value: object) -> float:
    """Truth values count as 0 and 1; anything else that is no number is refused."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    raise RewardError(f"measure gave {value!r}, which is not a number")
