from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from standout import METHODS, MeasureError, MethodError, Problem, ProblemError, Run, identify
from standout.errors import RewardError
from standout.results import Identification, StopReason

MEANS = {"ash": 0.1, "elm": 0.2, "fir": 0.3, "oak": 0.15, "pine": 0.25, "yew": 0.95}
PROBLEM = Problem(noise="gaussian:0.02", k=2)


def measure_with(rng: np.random.Generator, means: dict[str, float]) -> Callable[[str], float]:
    return lambda arm: rng.normal(means[arm], 0.02)


def test_it_finds_the_arm_that_stands_out() -> None:
    seen: list[int] = []
    found = identify(
        measure_with(np.random.default_rng(1), MEANS),
        list(MEANS),
        PROBLEM,
        progress=lambda run: seen.append(run.pulls),
    )
    assert found.outliers == found.best_guess == ("yew",)
    assert found.normal == ("ash", "elm", "fir", "oak", "pine")
    assert found.undecided == ()
    assert found.reason is StopReason.DECIDED
    assert found.arms == tuple(MEANS)
    assert seen == sorted(seen)
    assert seen[-1] == found.pulls == found.pulls_by_arm.sum()
    assert len(seen) == found.rounds
    assert found.threshold.lower < found.threshold_estimate < found.threshold.upper
    assert (found.lower < found.means).all()
    assert (found.means < found.upper).all()


def test_the_answer_as_plain_values() -> None:
    measure = measure_with(np.random.default_rng(1), MEANS)
    found = identify(measure, list(MEANS), PROBLEM, budget=15)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["pulls"] == 15
    assert plain["reason"] == "budget"
    assert plain["undecided"] == list(found.undecided) != []
    assert plain["threshold"]["upper"] == found.threshold.upper


def test_low_outliers() -> None:
    means = {name: 1 - mean for name, mean in MEANS.items()}
    problem = Problem(noise="gaussian:0.02", k=2, side="low")
    found = identify(measure_with(np.random.default_rng(1), means), list(means), problem)
    assert found.outliers == ("yew",)
    assert found.means[5] == pytest.approx(0.05, abs=0.03)
    assert found.lower[5] < found.means[5] < found.upper[5] < found.threshold.lower


@pytest.mark.parametrize("budget", [1, 5, 6, 7, 100])
def test_measure_is_called_as_often_as_the_budget_says(budget: int) -> None:
    calls: list[str] = []

    def measure(arm: str) -> float:
        calls.append(arm)
        return 0.5

    found = identify(measure, list(MEANS), PROBLEM, "roai-lucb", budget=budget)
    assert len(calls) == found.pulls == budget
    assert found.reason is StopReason.BUDGET


def test_the_seed_decides_the_methods_own_choices() -> None:
    def pulls(seed: int | np.random.Generator) -> list[int]:
        measure = measure_with(np.random.default_rng(1), MEANS)
        return identify(
            measure, list(MEANS), PROBLEM, "random", seed=seed, budget=99
        ).pulls_by_arm.tolist()  # fmt: skip

    assert pulls(3) == pulls(3) == pulls(np.random.default_rng(3)) != pulls(4)


def failing(after: int, value: object) -> Callable[[str], float]:
    """Good rewards at first, then `value`, raised if it is an exception."""
    calls = 0

    def measure(arm: str) -> float:
        nonlocal calls
        calls += 1
        if calls <= after:
            return MEANS[arm]
        if isinstance(value, BaseException):
            raise value
        return value  # type: ignore[return-value]

    return measure


BAD_VALUES = [
    (math.nan, "reward nan is not finite"),
    (math.inf, "reward inf is not finite"),
    (None, "not a number"),
    ("0.5", "not a number"),
    ([0.5], "not a number"),
    (1 + 2j, "not a number"),
]


@pytest.mark.parametrize("after", [0, 3, 20])
@pytest.mark.parametrize(("value", "message"), BAD_VALUES)
def test_values_that_are_no_rewards(after: int, value: object, message: str) -> None:
    with pytest.raises(MeasureError, match=message) as caught:
        identify(failing(after, value), list(MEANS), PROBLEM, "roai-lucb")
    error = caught.value
    assert isinstance(error.__cause__, RewardError)
    assert f"measuring arm {error.arm!r} failed after {after} pulls" in str(error)
    assert error.arm in MEANS
    assert error.partial.pulls == error.partial.pulls_by_arm.sum() == after
    assert error.partial.reason is StopReason.INTERRUPTED


@pytest.mark.parametrize(
    ("noise", "value", "message"),
    [("bernoulli", 0.5, "neither 0 nor 1"), ("bounded:0,1", 1.5, r"outside \[0, 1\]")],
)
def test_values_out_of_range(noise: str, value: float, message: str) -> None:
    with pytest.raises(MeasureError, match=message) as caught:
        identify(lambda arm: value, list(MEANS), Problem(noise=noise))
    assert isinstance(caught.value.__cause__, RewardError)
    assert caught.value.arm == "ash"


@pytest.mark.parametrize("name", METHODS)
def test_a_measure_that_raises(name: str) -> None:
    cause = OSError("the device is gone")
    problem = Problem(noise="bounded:0,1", k=2)
    with pytest.raises(MeasureError, match="failed after 10 pulls: the device is gone") as caught:
        identify(failing(10, cause), list(MEANS), problem, name)
    assert caught.value.__cause__ is cause
    partial = caught.value.partial
    assert partial.pulls == 10
    # What had been seen is in the answer, also the rewards of the unfinished round.
    expected = [
        MEANS[arm] if s else math.nan for arm, s in zip(MEANS, partial.pulls_by_arm, strict=True)
    ]
    assert partial.means.tolist() == pytest.approx(expected, nan_ok=True)


def test_ctrl_c_gives_the_answer_so_far() -> None:
    found = identify(failing(30, KeyboardInterrupt()), list(MEANS), PROBLEM, "roai-lucb")
    assert found.reason is StopReason.INTERRUPTED
    assert found.pulls == 30


def test_an_error_of_progress_is_not_the_measures() -> None:
    def progress(run: Run) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        identify(lambda arm: 0.0, list(MEANS), PROBLEM, progress=progress)


def test_truth_values_are_rewards() -> None:
    found = identify(lambda arm: arm == "yew", list(MEANS), Problem(noise="bernoulli"), budget=60)
    assert found.means.tolist() == [0.0] * 5 + [1.0]


@pytest.mark.parametrize("arms", [[], ["a"], ["a", "b"]])
def test_too_few_arms(arms: list[str]) -> None:
    with pytest.raises(ProblemError, match="at least 3 arms are needed"):
        identify(lambda arm: 0.0, arms, PROBLEM)


def test_duplicate_arms() -> None:
    with pytest.raises(ProblemError, match="arm 'a' is named twice"):
        identify(lambda arm: 0.0, ["a", "b", "a"], PROBLEM)


def test_methods_that_do_not_fit() -> None:
    with pytest.raises(MethodError, match=r"no method 'lucb'; choose from .*roai-lucb"):
        identify(lambda arm: 0.0, list(MEANS), PROBLEM, "lucb")
    with pytest.raises(MethodError, match="rr is defined for bounded rewards only"):
        identify(lambda arm: 0.0, list(MEANS), PROBLEM, "rr")
    with pytest.raises(ProblemError, match="budget must be a whole number"):
        identify(lambda arm: 0.0, list(MEANS), PROBLEM, budget=-1)


def test_three_arms_and_an_even_number_work() -> None:
    """n = 3 with k = 1: median 0.1, MAD 0.1 (the second largest deviation), theta 0.248."""
    problem = Problem(noise="gaussian:0.02", k=1)
    for means in ({"a": 0.0, "b": 0.1, "c": 0.9}, {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.9}):
        found = identify(measure_with(np.random.default_rng(2), means), list(means), problem)
        assert found.outliers == (list(means)[-1],)


@pytest.mark.parametrize(
    ("ends", "method"),
    [
        ({}, "focus"),
        ({"budget": 40}, "focus:goal=anytime"),
        ({"until": "errors=0.5"}, "focus:goal=anytime"),
    ],
)
def test_an_end_before_certainty_asks_for_the_most_useful_answer(
    ends: dict[str, Any], method: str
) -> None:
    """Unless a method is named: the default then answers exactly as that method does."""

    def answer(*named: str) -> Identification:
        rng = np.random.default_rng(4)
        return identify(
            lambda arm: rng.normal(MEANS[arm], 0.05), list(MEANS), PROBLEM, *named, **ends
        )

    assert answer().to_dict() == answer(method).to_dict()
