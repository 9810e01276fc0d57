"""A run by hand: asked and told pull by pull, in any order, with mistakes in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from standout import Problem, ProblemError, RewardError, Run, StopReason

ARMS = ["a", "b", "c", "d", "e"]
MEANS = dict(zip(ARMS, [0.0, 0.1, 0.2, 0.3, 3.0], strict=True))
PROBLEM = Problem(noise="gaussian:0.3", k=2)


def new_run(method: str = "focus", budget: int | None = None) -> Run:
    return Run(PROBLEM, ARMS, method, np.random.default_rng(1), budget=budget)


def tape() -> Callable[[str], float]:
    """Each arm's rewards in the order of its own pulls."""
    streams = {arm: np.random.default_rng(i) for i, arm in enumerate(ARMS)}
    return lambda arm: streams[arm].normal(MEANS[arm], 0.3)


def by_rounds(method: str) -> Run:
    run, reward = new_run(method), tape()
    while chosen := run.choose():
        for arm, amount in chosen:
            for _ in range(amount):
                run.tell(arm, reward(arm))
        run.update()
    return run


@pytest.mark.parametrize("method", ["focus", "roai-lucb", "roai-elim:batch=3"])
@pytest.mark.parametrize("n", [None, 1, 4, 10_000])
def test_pull_by_pull_is_round_by_round(method: str, n: int | None) -> None:
    run, reward = new_run(method), tape()
    while given := ([run.ask()] if n is None else run.ask(n)):
        if given == [None]:
            break
        for arm in reversed(given):
            assert arm is not None
            run.tell(arm, reward(arm))
    expected = by_rounds(method).identification()
    np.testing.assert_equal(vars(run.identification()), vars(expected))
    assert run.reason is StopReason.DECIDED


def test_what_is_out_is_waited_for() -> None:
    run = new_run()
    first = run.ask(1000)
    assert set(first) == set(ARMS)
    assert run.ask() is None
    assert run.ask(3) == []
    run.tell("a", 0.0)
    run.tell("a", 0.0)  # Once more than asked for: counted, and nobody else's.
    assert run.ask() is None
    for arm in first:
        if arm != "a":
            run.tell(arm, MEANS[arm])
    owed = first.count("a") - 2
    for _ in range(owed):
        run.tell("a", 0.0)
    assert run.ask() is not None


def test_mistakes_count_nothing() -> None:
    run = new_run()
    arm = run.ask()
    assert arm is not None
    for bad in (0, -1, 1.5, float("inf"), float("nan"), "2"):
        with pytest.raises(ProblemError, match="at least 1 pull"):
            run.ask(bad)  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="no arm 'z'"):
        run.tell("z", 1.0)
    for reward in (float("nan"), float("inf"), "x", None):
        with pytest.raises(RewardError):
            run.tell(arm, reward)  # type: ignore[arg-type]
    assert run.pulls == 0
    run.tell(arm, 0.1)
    assert run.pulls == 1


def test_a_budget_ends_it() -> None:
    run, reward = new_run(budget=7), tape()
    while (arm := run.ask()) is not None:
        run.tell(arm, reward(arm))
    assert (run.pulls, run.reason, run.ask(5)) == (7, StopReason.BUDGET, [])
